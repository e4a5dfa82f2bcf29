"""Errors name what other libraries call by another name, and reprs stay short."""

from __future__ import annotations

import re

import numpy as np
import pytest

import onehot_fast
from onehot_fast import Encoder

SIZES = {"size": ["S", "L", "S"], "zip": np.array([1, 2, 3])}


@pytest.mark.parametrize(("form", "meant"), [("sparse", "csr"), ("dense", "numpy")])
def test_forms_of_other_libraries(form, meant):
    encoder = Encoder(["size"]).fit(SIZES)

    with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
        encoder.transform(SIZES, form)
    with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
        encoder.set_output(transform=form)


@pytest.mark.parametrize("drop", ["S", ["S"], 3])
def test_a_category_to_drop_is_named_with_its_column(drop):
    category = drop[0] if isinstance(drop, list) else drop
    remedy = re.escape(f"drop={{'column': {category!r}}}")

    with pytest.raises((ValueError, TypeError), match=remedy):
        Encoder(drop=drop)
    assert Encoder(["size"], drop={"size": "S"}).fit(SIZES).features["name"].tolist() == ["size_L"]


HINTS = [
    (
        lambda encoder: encoder.transform(SIZES, dtype="f4"),
        "'dtype' is not an option: use dtype= of",
    ),
    (
        lambda encoder: encoder.fit_transform(SIZES, dtype="i1"),
        "'dtype' is not an option: use dtype=",
    ),
    (lambda encoder: encoder.fit_transform(SIZES, None, "csr"), r"argument 'csr': .*output='csr'"),
    (lambda _: onehot_fast.one_hot([0], num_classes=3), "'num_classes' .* option: use depth="),
    (lambda _: onehot_fast.multi_hot([[0]], num_classes=2), "'num_classes' .* option: use depth="),
    (lambda _: onehot_fast.multi_hot(rows=[[0]], num_classes=2), "'num_classes' .*: use depth="),
    (lambda _: onehot_fast.one_hot([0]), r"requires depth.*one_hot\(indices, depth\)"),
    (lambda _: onehot_fast.one_hot([0], 3, dim=0), "'dim' is not an option: use axis="),
    (lambda _: onehot_fast.decode([[0, 1]], dim=0), "'dim' is not an option: use axis="),
    # No hint names an option that the function lacks.
    (lambda _: onehot_fast.multi_hot([[0]], 2, dim=0), "'dim' is not an option: use one of"),
    (lambda _: onehot_fast.decode([[0, 1]], num_classes=2), "'num_classes' .* option: use one of"),
    (lambda _: onehot_fast.one_hot([0], 2, all_off=-1), "'all_off' is not an option: use one of"),
]


@pytest.mark.parametrize(("call", "message"), HINTS)
def test_names_of_arguments(call, message):
    with pytest.raises(TypeError, match=message):
        call(Encoder(["size"]).fit(SIZES))


@pytest.mark.parametrize(
    "encoder",
    [
        Encoder([f"column{i}" for i in range(1000)]),
        Encoder(["c"], categories=[f"category {i}" for i in range(1000)]),
        Encoder(categories={f"c{i}": [*"abcdefghijklmnopqrstuvwxyz"] for i in range(100)}),
        Encoder(["c"], categories=["x" * 10_000, "y"], prefix="p" * 10_000),
    ],
)
def test_a_repr_is_short(encoder):
    assert len(repr(encoder)) < 2000
    assert "…" in repr(encoder)


def test_the_categories_of_a_column_choose_it():
    """A column of integers is not encoded by default; its categories name it."""
    encoder = Encoder(categories={"zip": [3, 2, 1]}, remainder="drop").fit(SIZES)

    assert encoder.columns == ("size", "zip")
    assert encoder.categories["zip"].tolist() == [3, 2, 1]
    with pytest.raises(ValueError, match="must be one of the encoded columns"):
        Encoder(["size"], categories={"zip": [1]}).fit(SIZES)


@pytest.mark.parametrize("drop", [None, "last"])
def test_infrequent_categories(drop):
    encoder = Encoder(["size", "zip"], min_frequency=2, drop={"size": drop}).fit(SIZES)

    found = {name: values.tolist() for name, values in encoder.infrequent_categories.items()}
    assert found == {"size": ["L"], "zip": [1, 2, 3]}
    assert Encoder(["size"]).fit(SIZES).infrequent_categories["size"].tolist() == []


def test_to_sklearn_without_missing_values():
    """The default works where `fit` saw no missing value; elsewhere the error names the option."""
    pytest.importorskip("sklearn")
    pd = pytest.importorskip("pandas")
    theirs = Encoder(["size"]).fit(SIZES).to_sklearn()
    assert theirs.transform(pd.DataFrame({"size": ["S"]})).tolist() == [[0, 1]]

    with pytest.raises(ValueError, match="handle_missing='error'"):
        Encoder(["size"]).fit({"size": ["S", None]}).to_sklearn()

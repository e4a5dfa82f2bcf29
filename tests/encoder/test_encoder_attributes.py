"""Attributes of an encoder: options can be read and not assigned; pickles and skops."""

from __future__ import annotations

import copy
import pickle
import pickletools
import warnings
from decimal import Decimal

import numpy as np
import pytest

from onehot_fast import Column, Encoder

TABLE = {
    "size": ["S", "L", None, "S"],
    "zip": np.array([1, 2, 2, 1]),
    "bytes": [b"a", b"b", b"a", b"b"],
    "mixed": [Decimal("1.5"), (1, "a"), 2**70, None],
    "day": np.array(["2024-01-01"] * 4, "M8[D]"),
    "coded": Column(np.array([0, 1, -1, 1], "i1"), np.array(["S", "M", "L"]), True, "category"),
}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dtype", r"'dtype' is an option: call set_params\(dtype=...\)"),
        ("columns", r"set_params\(columns=...\)"),
        ("categories", r"set_params\(categories=...\)"),
        (
            "handle_unknwon",
            r"no attribute 'handle_unknwon': did you mean 'handle_unknown'\?.*set_par",
        ),
        ("anything", r"no attribute 'anything': set_params\(...\) changes options"),
    ],
)
def test_a_public_attribute_cannot_be_assigned(name, message):
    """It would be ignored, as an option is checked where it is passed."""
    encoder = Encoder().fit({"size": ["S"]})
    before = encoder.to_json()

    with pytest.raises(AttributeError, match=message):
        setattr(encoder, name, "float32")
    assert encoder.to_json() == before


def test_what_can_be_assigned(monkeypatch):
    """Private names, which scikit-learn assigns, methods, and anything on a subclass."""
    encoder = Encoder()
    encoder._parent_callback_ctx = 1
    encoder._sklearn_output_config = {"transform": "csr"}
    encoder.transform = lambda table: table
    assert encoder.transform(3) == 3

    class Mine(Encoder):
        pass

    mine = Mine(["size"])
    mine.note = "kept"
    assert copy.deepcopy(mine).note == "kept"


def test_options_can_be_read():
    options = {
        "drop": "first", "handle_missing": "indicator", "handle_unknown": {"size": "ignore"},
        "min_frequency": 2, "max_categories": 5, "dtype": "f4", "prefix": "p", "prefix_sep": ".",
        "remainder": "drop",
    }  # fmt: skip
    for encoder in (Encoder(["size"], **options), Encoder(["size"]).set_params(**options)):
        assert {name: getattr(encoder, name) for name in options} == options
    assert Encoder(["size"]).columns == ("size",)


@pytest.mark.parametrize("fitted", [True, False])
def test_copies_and_pickles_do_the_same(fitted):
    encoder = Encoder([*TABLE], drop="first", handle_unknown={"size": "ignore"}, dtype="f4")
    encoder = encoder.set_output(transform="numpy")
    if fitted:
        encoder.fit(TABLE).transform(TABLE)
    copies = [pickle.loads(pickle.dumps(encoder)), copy.copy(encoder), copy.deepcopy(encoder)]

    for other in copies:
        assert other == encoder
        assert repr(other) == repr(encoder)
        assert other.get_params() == encoder.get_params()
        assert other._sklearn_output_config == encoder._sklearn_output_config
        if fitted:
            np.testing.assert_array_equal(other.transform(TABLE), encoder.transform(TABLE))
            assert other.to_json() == encoder.to_json()
            assert other.partial_fit(TABLE) == copy.copy(encoder).partial_fit(TABLE)


def test_a_copy_does_not_repeat_the_warning():
    """The encoder warned of its columns when it was fitted."""
    with pytest.warns(UserWarning, match="an identifier"):
        encoder = Encoder().fit({"id": [f"n{i}" for i in range(300)], "n": np.arange(300)})

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pickle.loads(pickle.dumps(encoder)).n_features == encoder.n_features


def test_pickles_name_only_the_public_class():
    encoder = Encoder([*TABLE], handle_missing="indicator", drop={"size": "S"}).fit(TABLE)
    encoder.transform(TABLE)
    names = [text for _, text, _ in pickletools.genops(pickle.dumps(encoder, 2)) if text]

    assert {name for name in names if str(name).startswith("onehot_fast")} == {
        "onehot_fast.encoder Encoder"
    }


@pytest.mark.parametrize("dtype", [bool, "f4", np.float32])
def test_skops_asks_for_the_public_class_and_types_of_categories_only(dtype):
    skops = pytest.importorskip("skops.io")
    encoder = Encoder([*TABLE], handle_missing="indicator", drop={"size": "S"}, dtype=dtype)
    encoder.fit(TABLE)
    text = skops.dumps(encoder)

    types = ["decimal.Decimal", "onehot_fast.encoder.Encoder"]
    assert skops.get_untrusted_types(data=text) == types
    again = skops.loads(text, trusted=types)
    assert again == encoder
    assert again.to_json() == encoder.to_json()
    np.testing.assert_array_equal(
        again.transform(TABLE, "numpy"), encoder.transform(TABLE, "numpy")
    )

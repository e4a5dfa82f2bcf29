"""Errors name what other libraries call by another name, and reprs stay short."""

from __future__ import annotations

import re

import numpy as np
import pytest

import onehot_fast
from onehot_fast import Encoder

SIZES = {"size": ["S", "L", "S"], "zip": np.array([1, 2, 3])}


@pytest.mark.parametrize(("form", "meant"), [("sparse", "csr"), ("dense", "numpy")])
def test_forms_of_other_libraries_lead_to_ours(form, meant):
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
    (lambda _: Encoder(drop=True), "got True; did you mean drop='first'"),
    (lambda _: Encoder(drop=False), "got False; did you mean drop=None"),
]


@pytest.mark.parametrize(("call", "message"), HINTS)
def test_misspelt_arguments_lead_to_the_right_ones(call, message):
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
def test_infrequent_categories_are_listed_by_column(drop):
    encoder = Encoder(["size", "zip"], min_frequency=2, drop={"size": drop}).fit(SIZES)

    found = {name: values.tolist() for name, values in encoder.infrequent_categories.items()}
    assert found == {"size": ["L"], "zip": [1, 2, 3]}
    assert Encoder(["size"]).fit(SIZES).infrequent_categories["size"].tolist() == []


def test_attributes_of_scikit_learn_are_named():
    """All that its encoders have after `fit`, and their options that an Encoder lacks."""
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    encoder = Encoder(["size"]).fit(SIZES)
    theirs: set[str] = set()
    for kind in (preprocessing.OneHotEncoder, preprocessing.OrdinalEncoder):
        fitted = kind(min_frequency=2).fit(np.array([["a"], ["b"], ["b"]], object))
        names = {*vars(fitted), *dir(type(fitted))}
        theirs |= {name for name in names if not name.startswith("_")}
    labels = preprocessing.LabelBinarizer().fit(["a", "b"])
    theirs |= {name for name in vars(labels) if name.endswith("_") and "_type_" not in name}
    theirs -= {"get_metadata_routing", "neg_label", "sparse_input_"}

    for name in sorted(theirs):
        if not hasattr(encoder, name):
            with pytest.raises(AttributeError, match=rf"no attribute '{name}': use "):
                getattr(encoder, name)
    with pytest.raises(AttributeError, match=r"'Encoder' object has no attribute 'nonsense'$"):
        _ = encoder.nonsense
    with pytest.raises(AttributeError, match="not fitted: call fit"):
        _ = Encoder().n_features_in_


def test_a_frame_leads_to_a_sparse_matrix():
    """Each error of the chain names the call of the accessor that works at last."""
    pd = pytest.importorskip("pandas")
    pytest.importorskip("scipy")
    pytest.importorskip("onehot_fast.integrations.pandas")
    n = 1200
    frame = pd.DataFrame(
        {"id": [f"i{i}" for i in range(n)], "c": "x", "day": pd.Timestamp("2024-01-01")}
    )

    to_csr = r"\.onehot\.to_csr\(\.\.\., remainder='drop'\)"
    with (
        pytest.warns(UserWarning, match="identifier"),
        pytest.raises(ValueError, match=to_csr),
    ):
        frame.onehot()
    with pytest.raises(TypeError, match=r"'output' .* call \.onehot\.to_csr\(.*remainder='drop'"):
        frame.onehot(["id"], output="csr")
    with pytest.raises(TypeError, match=r"'output' .*fit_transform\(frame, output='codes'\)"):
        frame.onehot(["id"], output="codes")
    with pytest.raises(ValueError, match=r"'c' is not numeric.* pass remainder='drop'"):
        frame.onehot.to_csr(["id"])
    assert frame.onehot.to_csr(["id"], remainder="drop").shape == (n, n)


def test_a_result_beyond_the_memory_leads_to_a_sparse_matrix():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("onehot_fast.integrations.pandas")
    frame = pd.DataFrame({"id": range(300_000)})  # 720 GB of features

    with pytest.raises(MemoryError, match=r"\.onehot\.to_csr\(\.\.\., remainder='drop'\)"):
        frame.onehot(["id"], dtype="float64")


def test_the_options_of_accessors_are_listed_completely():
    """The error about an unknown option lists the options of the signature too, e.g. `sparse`."""
    pd = pytest.importorskip("pandas")
    pytest.importorskip("onehot_fast.integrations.pandas")
    frame = pd.DataFrame({"p": ["a"]})

    for data in (frame, frame["p"]):
        with pytest.raises(TypeError, match="'nonsense' is not an option") as caught:
            data.onehot(nonsense=1)
        for name in ("sparse", "num_threads", "dtype", "prefix", "drop", "handle_unknown"):
            assert repr(name) in str(caught.value)


def test_an_error_about_arrow_names_the_remedy():
    pa = pytest.importorskip("pyarrow")
    arrow = pytest.importorskip("onehot_fast.integrations.arrow")
    table = pa.table({"plan": ["free", "pro"], "city": ["x", "y"]})
    encoder = Encoder().fit(table)

    with pytest.raises(TypeError, match=r"argument \['a', 'b'\]: .*categories="):
        arrow.one_hot(table["plan"], ["a", "b"])
    with pytest.raises(ValueError, match=r"field .* \['plan', 'city'\], got 'plans';.*'plan'"):
        arrow.expression(encoder, "plans")
    for layout in ("tensor", "array", "struct", "dictionary"):
        encoded = arrow.encode(table, encoder, layout=layout)
        with pytest.raises(ValueError, match=f"'plan'.* pass layout='{layout}'"):
            arrow.decode(encoded, encoder)
        assert arrow.decode(encoded, encoder, layout=layout).equals(table)
    with pytest.raises(ValueError, match="no column 'plan_free'"):
        arrow.decode(table, encoder)


def test_a_lazy_frame_leads_to_its_own_fit():
    pl = pytest.importorskip("polars")
    pytest.importorskip("onehot_fast.integrations.polars")
    lazy = pl.LazyFrame({"p": ["a"]})

    with pytest.raises(TypeError, match=r"onehot\.fit\(columns\).*lazyframe\.onehot\(encoder\)"):
        Encoder().fit(lazy)


@pytest.mark.parametrize("name", ["one_hot", "decode"])
def test_torch_names_the_axis(name):
    torch = pytest.importorskip("torch")
    module = pytest.importorskip("onehot_fast.integrations.torch")

    with pytest.raises(TypeError, match="'dim' is not an option: use axis="):
        getattr(module, name)(torch.tensor([0, 1]), dim=0)
    with pytest.raises(TypeError, match="'depth' is not an option: use num_classes="):
        module.one_hot(torch.tensor([0, 1]), depth=2)
    with pytest.raises(TypeError, match="'nonsense' is not an option: use one of"):
        getattr(module, name)(torch.tensor([0, 1]), nonsense=0)


def test_to_sklearn_works_where_fit_saw_no_missing_value():
    """The default works where `fit` saw no missing value; elsewhere the error names the option."""
    pytest.importorskip("sklearn")
    pd = pytest.importorskip("pandas")
    theirs = Encoder(["size"]).fit(SIZES).to_sklearn()
    assert theirs.transform(pd.DataFrame({"size": ["S"]})).tolist() == [[0, 1]]

    with pytest.raises(ValueError, match="handle_missing='error'"):
        Encoder(["size"]).fit({"size": ["S", None]}).to_sklearn()

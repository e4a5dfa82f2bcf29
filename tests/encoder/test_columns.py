"""The columns that `transform` returns: the same ones in every output form."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast import Encoder
from support.libraries import LIBRARIES

MATRICES = ("numpy", "csr", "csr_matrix", "csc", "implicit")  # the last one has products
TRAIN = {"age": [1.5, 2.5, 3.5], "plan": ["a", "b", "a"], "n": [4, 5, 6], "kind": ["x", "x", "y"]}
NAMES = ["age", "plan_a", "plan_b", "n", "kind_x", "kind_y"]
ROWS = [[1.5, 1, 0, 4, 1, 0], [2.5, 0, 1, 5, 1, 0], [3.5, 1, 0, 6, 0, 1]]


def fitted(library, **options):
    return Encoder(["plan", "kind"], **options).fit(library.table(TRAIN))


def dense(matrix):
    """Return a matrix of any form as an array."""
    if hasattr(matrix, "toarray"):
        return matrix.toarray()
    return matrix if isinstance(matrix, np.ndarray) else matrix.to_numpy()


def reordered(*names, **more):
    """Return columns of TRAIN in another order, and further columns."""
    return {name: TRAIN[name] for name in names} | more


@pytest.mark.parametrize("form", ["numpy", "csr", "csc", "arrow", "category"])
def test_columns_come_out_in_the_order_of_fit(library, form):
    encoder = fitted(library)
    table = library.table(reordered("kind", "n", "plan", "age", new=[True, False, True]))

    if form == "category" and library.name == "numpy":
        pytest.skip("a mapping has no categories")
    result = encoder.transform(table, form)

    if form in MATRICES:  # without the column that fit did not see
        assert dense(result).tolist() == ROWS
    else:
        names = [*TRAIN] if form == "category" else NAMES
        columns = result.column_names if hasattr(result, "column_names") else result.columns
        assert list(columns) == [*names, "new"]


@pytest.mark.parametrize("form", MATRICES)
def test_a_matrix_needs_the_columns_that_fit_saw(library, form):
    table = library.table(reordered("plan", "age", "kind"))

    with pytest.raises(ValueError, match="lacks the column 'n', but a matrix must have"):
        fitted(library).transform(table, form)
    assert fitted(library, remainder="drop").transform(table, form).shape == (3, 4)
    with pytest.raises(ValueError, match="no column 'plan'"):
        fitted(library).transform(library.table(reordered("n", "age", "kind")), form)


def test_a_frame_is_returned_without_absent_columns_and_one_warning_names_them(library):
    table = library.table(reordered("kind", "plan"))

    with pytest.warns(UserWarning, match="lacks the columns 'age', 'n', which fit saw") as caught:
        result = fitted(library).transform(table, "arrow")

    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert result.column_names == ["plan_a", "plan_b", "kind_x", "kind_y"]


def test_missing_numbers_are_nan(library):
    """They turn integers and Booleans into float64; float32 stays float32 beside float32."""
    columns = {"p": ["a", "b"], "n": [1, None], "b": [None, True], "whole": [2, 3]}
    table = library.table(columns)
    encoder = Encoder(["p"], dtype="uint8").fit(table)

    if library.name == "pandas":  # whose columns of Booleans and None are objects
        table = table.astype({"n": "Int64", "b": "boolean"})
        encoder.fit(table)
    matrix = encoder.transform(table, "numpy")

    expected = [[1, 0, 1, np.nan, 2], [0, 1, np.nan, 1, 3]]
    np.testing.assert_array_equal(matrix, expected)
    assert matrix.dtype == np.float64
    for form in ("csr", "csc", "csr_matrix"):
        sparse = encoder.transform(table, form)
        np.testing.assert_array_equal(sparse.toarray(), expected)
        assert sparse.has_canonical_format
        assert sparse.nnz == 8  # zeros are not stored


@pytest.mark.parametrize(
    ("features", "other", "common"),
    [
        ("bool", "bool", "bool"),
        ("uint8", "bool", "uint8"),
        ("uint8", "int64", "int64"),
        ("float32", "int16", "float32"),
        ("float32", "float64", "float64"),
    ],
)
def test_the_dtype_is_the_common_one(features, other, common):
    table = {"n": np.ones(999, other), "p": ["a", "b", "a"] * 333}
    encoder = Encoder(["p"], dtype=features).fit(table)

    for form in ("numpy", "csr", "csc"):
        matrix = encoder.transform(table, form)
        assert matrix.dtype == common
        assert dense(matrix)[:3].tolist() == [[1, 1, 0], [1, 0, 1], [1, 1, 0]]
    both = Encoder(["n", "p"], dtype={"n": other, "p": features})
    assert both.fit_transform(table, output="numpy").dtype == common


@pytest.mark.parametrize(
    "values",
    [
        [dt.date(2024, 1, 1)] * 2,
        [dt.datetime(2024, 1, 1)] * 2,
        [dt.timedelta(1)] * 2,
        [Decimal("1.5")] * 2,
        ["x", "y"],
    ],
    ids=["date", "datetime", "duration", "decimal", "text"],
)
@pytest.mark.parametrize("form", ["numpy", "csr"])
def test_other_columns_that_are_not_numeric_raise_an_error(library, values, form):
    table = library.table({"p": ["a", "b"], "other": values})
    encoder = Encoder(["p"]).fit(table)

    with pytest.raises(
        ValueError,
        match=r"column 'other' is not numeric .*convert or drop .*columns=.*remainder='dr",
    ):
        encoder.transform(table, form)
    assert Encoder(["p"], remainder="drop").fit(table).transform(table, form).shape == (2, 2)


def test_every_form_is_decoded(library):
    """Other columns come back from a matrix in its dtype; a matrix of features is enough."""
    encoder = fitted(library)
    for form in MATRICES:
        decoded = encoder.inverse_transform(encoder.transform(library.table(TRAIN), form))
        assert {name: values.tolist() for name, values in decoded.items()} == TRAIN
        assert list(decoded) == list(TRAIN)
        assert decoded["n"].dtype == np.float64
    alone = encoder.inverse_transform(np.array([[1, 0, 0, 1]]))
    assert {name: values.tolist() for name, values in alone.items()} == {
        "plan": ["a"],
        "kind": ["y"],
    }
    with pytest.raises(ValueError, match=r"\(n_rows, 4\) or \(n_rows, 6\), got \(1, 5\)"):
        encoder.inverse_transform(np.zeros((1, 5)))


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"], indirect=True)
def test_a_table_of_categories_is_decoded(library):
    """A null is a missing value, or an unknown one where those alone are ignored."""
    table = library.table({"n": [1, 2, 3, 4], "p": ["a", "b", None, "z"], "q": [7, 8, 7, 7]})
    train = library.table({"n": [1, 2, 3, 4], "p": ["a", "b", None, "a"], "q": [7, 8, 7, 7]})
    options: dict[str, Any] = {"handle_unknown": "ignore", "drop": "first", "dtype": "float32"}
    words = {"missing": "-", "unknown": "?", "infrequent": "*"}

    def decoded(**more):
        encoder = Encoder(["p", "q"], **options | more).fit(train)
        return library.columns(
            encoder.inverse_transform(encoder.transform(table, "category"), **words)
        )

    assert decoded()["p"] == ["a", "b", "-", "-"]
    assert decoded(handle_missing="indicator")["p"] == ["a", "b", "-", "?"]
    assert decoded(drop="last", min_frequency={"p": 2})["p"] == ["a", "*", "-", "-"]
    assert decoded()["q"] == [7, 8, 7, 7]
    assert list(decoded()) == ["n", "p", "q"]
    encoder = Encoder(["p", "q"], **options).fit(train)
    with pytest.raises(ValueError, match="column 'p', row 3: 'z' is not one of the encoder's cat"):
        encoder.inverse_transform(table)


def test_names_follow_the_rule_for_other_input_columns(library):
    encoder = fitted(library)
    names = ["new", "kind", "n", "plan", "age"]
    extra = [] if library.name == "numpy" else ["new"]

    assert encoder.get_feature_names_out(names).tolist() == [*NAMES, *extra]
    encoder.set_output(transform="csr")
    assert encoder.get_feature_names_out(names).tolist() == NAMES
    with pytest.raises(ValueError, match="lacks the column 'age'"):
        encoder.get_feature_names_out(["kind", "n", "plan"])
    encoder.set_output(transform="codes")
    assert encoder.get_feature_names_out().tolist() == ["plan", "kind"]


@pytest.mark.parametrize("version", [1, 2])
def test_other_columns_of_old_documents_are_unknown(library, version):
    """Tables keep the columns that they have, and a matrix has the features."""
    document = json.loads(fitted(library).to_json())
    document["version"] = version
    del document["fitted"]["input"], document["written by"]
    encoder = Encoder.from_json(json.dumps(document))
    table = library.table(reordered("kind", "n", "plan", "age"))

    assert encoder.transform(table, "numpy").shape == (3, 4)
    assert encoder.transform(table, "arrow").column_names == [
        *("plan_a", "plan_b", "n", "kind_x", "kind_y", "age")
    ]
    assert encoder.get_feature_names_out().tolist() == ["plan_a", "plan_b", "kind_x", "kind_y"]


def test_a_document_whose_columns_do_not_fit_is_rejected(library):
    document = json.loads(fitted(library).to_json())
    for columns in (["age", "plan"], ["kind", "plan"], ["plan", "plan", "kind"], [["plan"]], None):
        document["fitted"]["input"]["columns"] = columns
        with pytest.raises(ValueError, match="not a complete encoder"):
            Encoder.from_json(json.dumps(document))


def test_merge_keeps_the_other_columns(library):
    old = json.loads(fitted(library).to_json())
    old["version"], old["fitted"]["input"] = 2, None
    unknown = Encoder.from_json(json.dumps(old))
    other = Encoder(["plan", "kind"]).fit(library.table(reordered("n", "plan", "kind")))

    assert unknown.merge(fitted(library)).get_feature_names_out().tolist() == NAMES
    assert fitted(library).merge(unknown).get_feature_names_out().tolist() == NAMES
    with pytest.raises(ValueError, match=r"the same columns, but only some .* \['age'\]"):
        fitted(library).merge(other)
    more = fitted(library).partial_fit(library.table(reordered("kind", "plan")))
    assert more.get_feature_names_out().tolist() == NAMES


@pytest.mark.parametrize("library", ["pandas", "polars"], indirect=True)
def test_the_accessor_of_a_frame_has_every_form(library):
    pytest.importorskip(f"onehot_fast.integrations.{library.name}")
    accessor = library.table(TRAIN).onehot

    matrix = accessor.to_numpy(["plan", "kind"])
    assert (matrix.tolist(), matrix.dtype) == (ROWS, np.float64)
    features = accessor.to_numpy(["plan"], remainder="drop")
    assert (features.tolist(), features.dtype) == ([[1, 0], [0, 1], [1, 0]], np.float32)
    assert accessor.to_csr(fitted(library)).toarray().tolist() == ROWS
    table = accessor.to_arrow(["plan", "kind"])
    assert table.column_names == NAMES
    assert str(table.schema.field("plan_a").type) == "bool"


def wide(n):
    """Return a column of n categories in 3 * n rows, and one of two."""
    return {"id": [f"id{i % n}" for i in range(3 * n)], "size": ["S", "L", "S"] * n}


def test_dense_results_of_columns_chosen_by_default_are_limited(library):
    table = library.table(wide(1001))
    encoder = Encoder().fit(table)
    message = (
        "the columns that were chosen by default must have at most 1,000 features, got 1,003:"
        r" 'id' 1,001, 'size' 2; pass columns=\[...\].* or output='csr'"
    )

    for output in (None, "numpy", "arrow"):
        for each in (encoder, pickle.loads(pickle.dumps(encoder))):
            with pytest.raises(ValueError, match=message):
                each.transform(table, output)
        with pytest.raises(ValueError, match=message):
            Encoder().fit_transform(table, output=output)
    for form in ("csr", "csc", "codes", "indices"):
        assert encoder.transform(table, form).shape[0] == 3003
    assert Encoder(["id", "size"]).fit_transform(table, output="numpy").shape == (3003, 1003)
    assert Encoder.from_json(encoder.to_json()).transform(table, "numpy").shape == (3003, 1003)
    alone = library.table({"id": wide(1001)["id"]})
    assert Encoder().fit_transform(alone, output="numpy").shape == (3003, 1001)
    assert Encoder(max_categories=3).fit_transform(table, output="numpy").shape == (3003, 5)


def check_products(matrix, expected):
    """Compare products of an implicit matrix, in which numbers stand between features."""
    np.testing.assert_array_equal(matrix.to_csr().toarray(), expected)
    present = ~np.isnan(expected).any(axis=1)
    part, whole = matrix[present], expected[present]
    weights = np.arange(len(whole)) % 5.0
    gram = (whole * weights[:, None]).T @ whole
    np.testing.assert_array_equal(
        part @ np.arange(whole.shape[1]), whole @ np.arange(whole.shape[1])
    )
    np.testing.assert_array_equal(part.T @ weights, whole.T @ weights)
    np.testing.assert_array_equal(part.gram(weights), gram)
    np.testing.assert_array_equal(part.gram(weights, output="csr").toarray(), gram)


KINDS = {
    "text": st.sampled_from(["a", "b", "c", None]),
    "whole": st.integers(-3, 3),
    "real": st.sampled_from([0.0, 1.5, -2.0]) | st.none(),
    "flag": st.booleans(),
}


@given(data=st.data())
def test_every_form_holds_the_same_numbers(library, data):
    """Random columns, options and orders: a matrix is the table, column by column."""
    kinds = data.draw(st.lists(st.sampled_from([*KINDS]), min_size=1, max_size=6))
    n_rows = data.draw(st.sampled_from([1, 3, 40]))
    names = [f"{kind}{i}" for i, kind in enumerate(kinds)]
    rows = {
        name: data.draw(st.lists(KINDS[kind], min_size=n_rows, max_size=n_rows))
        for name, kind in zip(names, kinds, strict=True)
    }
    for name, kind in zip(names, kinds, strict=True):
        if kind in ("real", "text"):  # at least one value, so that libraries know the type
            rows[name][0] = 2.5 if kind == "real" else "a"
    encoded = [name for name in names if name.startswith("text") or data.draw(st.booleans())]
    options = {
        "drop": data.draw(st.sampled_from([None, "first"])),
        "dtype": data.draw(st.sampled_from(["bool", "uint8", "float32"])),
        "remainder": data.draw(st.sampled_from(["passthrough", "drop"])),
    }
    if options["dtype"] == "float32":
        options["handle_missing"] = data.draw(st.sampled_from(["ignore", "propagate"]))
    encoder = Encoder(encoded, **options).fit(library.table(rows))
    shuffled = data.draw(st.permutations(names))
    table = library.table({name: rows[name] for name in shuffled})

    frame = encoder.transform(table, "arrow")
    columns = {
        name: [np.nan if value is None else value for value in values]
        for name, values in zip(frame.column_names, frame.to_pydict().values(), strict=True)
    }
    assert encoder.get_feature_names_out().tolist() == list(columns)
    expected = np.array([*columns.values()], float).reshape(len(columns), n_rows).T
    for form in MATRICES:
        matrix = encoder.transform(table, form)
        np.testing.assert_array_equal(np.asarray(dense(matrix), float), expected)
    assert matrix.column_names == tuple(columns)
    check_products(matrix, expected)


def test_a_lazy_frame_has_the_columns_and_limits_of_a_frame():
    pl = pytest.importorskip("polars")
    pytest.importorskip("onehot_fast.integrations.polars")
    encoder = fitted(LIBRARIES["polars"]())
    lazy = pl.LazyFrame(reordered("kind", "n", "plan", "age", new=[1, 2, 3]))

    assert lazy.onehot(encoder).collect_schema().names() == [*NAMES, "new"]
    with pytest.warns(UserWarning, match="lacks the column 'n', which fit saw"):
        assert "n" not in lazy.drop("n").onehot(encoder).collect_schema()
    frame = pl.DataFrame(wide(1001))
    with pytest.raises(ValueError, match="got 1,003"):
        frame.lazy().onehot(frame.onehot.fit())
    named = frame.onehot.fit(["id", "size"])
    assert len(frame.lazy().onehot(named).collect_schema()) == 1003


def test_columns_that_numpy_cannot_hold_raise_the_same_error():
    """A list, a wide integer or a column of nulls is named like any column that is not numeric."""
    pl = pytest.importorskip("polars")
    others = {"lists": [[1], [2]], "nulls": [None, None]}
    if hasattr(pl, "Int128"):
        others["wide"] = pl.Series([1, 2], dtype=pl.Int128)
    for name, values in others.items():
        frame = pl.DataFrame({"p": ["a", "b"], name: values})
        with pytest.raises(ValueError, match=rf"column '{name}' is not numeric \(dtype"):
            Encoder(["p"]).fit_transform(frame, output="numpy")


def test_sparse_columns_of_pandas_are_numbers():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"p": ["a", "b"], "n": pd.arrays.SparseArray([0.0, np.nan])})

    matrix = Encoder(["p"]).fit_transform(frame, output="numpy")

    np.testing.assert_array_equal(matrix, [[1, 0, 0], [0, 1, np.nan]])


def test_columns_of_one_name_are_not_lost_in_a_mapping():
    """They keep their order. A mapping cannot hold both of them; the features alone are decoded."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[1, "a", 2]], columns=["n", "p", "n"])
    encoder = Encoder(["p"]).fit(frame)
    matrix = encoder.transform(frame, "numpy")

    assert matrix.tolist() == [[1, 1, 2]]
    assert encoder.transform(frame.iloc[:, [1, 0, 2]]).columns.tolist() == ["n", "p_a", "n"]
    with pytest.raises(ValueError, match="two columns are named 'n', but the result is a dict"):
        encoder.inverse_transform(matrix)
    assert encoder.inverse_transform(matrix[:, 1:2])["p"].tolist() == ["a"]


def test_names_that_are_scalars_of_numpy_survive_json():
    pd = pytest.importorskip("pandas")
    columns = pd.Index(["p", np.int64(3)], dtype=object)
    encoder = Encoder(["p"]).fit(pd.DataFrame([["a", 1]], columns=columns))

    names = Encoder.from_json(encoder.to_json()).get_feature_names_out()
    assert names.tolist() == ["p_a", 3]

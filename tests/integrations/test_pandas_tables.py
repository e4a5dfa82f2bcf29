"""How tables of pandas enter the core, how they leave it, and the encoder on them."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from frame_strategies import PANDAS_3, frames, series  # noqa: E402  after the skips above
from strategies import examples  # noqa: E402

from onehot_fast import Encoder, Special  # noqa: E402
from onehot_fast.adapter import (  # noqa: E402
    CodedColumn,
    Decoded,
    Outputs,
    PassThrough,
)
from onehot_fast.column import read_column  # noqa: E402
from onehot_fast.integrations.pandas import wrap  # noqa: E402
from onehot_fast.table import read_table  # noqa: E402

TIMES = ["2024-02-29 10:00", None, "1969-12-31", "2024-02-29 10:00"]

FRAME = pd.DataFrame(
    {
        "text": ["b", None, "a", "b"],
        "number": [1.5, 2.5, np.nan, 0.5],
        "size": pd.Categorical(["S", None, "L", "S"], categories=["S", "M", "L"]),
        "whole": pd.array([1, None, 300, 1], dtype="Int64"),
        "time": pd.to_datetime(TIMES, format="mixed"),
        "zoned": pd.to_datetime(TIMES, format="mixed").tz_localize("Europe/Paris"),
        "period": pd.PeriodIndex(["2024-02", "NaT", "2024-01", "2024-02"], freq="M"),
        "range": pd.cut([1.0, np.nan, 4.0, 1.5], 2),
        "bool": [True, False, True, True],
        "object": pd.Series([("t",), None, 3, ("t",)], dtype=object),
    },
    index=list("wxyz"),
)


def outputs(names: tuple[str, ...], n_rows: int, dtype: str = "bool") -> Outputs:
    """Return outputs of which the first is on in every row."""
    column = CodedColumn(np.zeros(n_rows, np.int8), None, len(names))
    return Outputs(names, (column,), np.dtype(dtype))


@given(data=series())
def test_codes_and_categories_give_the_values_back(data):
    """A code is the position of the row's value among the categories, negative if it is missing."""
    zeros = {str(value) for value in data.dropna() if isinstance(value, float)}
    assume(not (isinstance(data.dtype, pd.ArrowDtype) and {"0.0", "-0.0"} <= zeros))  # pandas fails

    column = read_column(data)

    missing = data.isna().to_numpy(bool)
    np.testing.assert_array_equal(column.codes < 0, missing)
    found = pd.Index(column.categories).astype(object)[column.codes[~missing]]
    assert found.tolist() == data[~missing].astype(object).tolist()
    assert isinstance(column.categories, np.ndarray)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("int8", "int8"),
        ("Int16", "int16"),
        ("float32", "float32"),
        ("Float64", "float64"),
        ("boolean", "bool"),
        ("uint8[pyarrow]", "uint8"),
        ("string[pyarrow]", "object"),
    ],
)
def test_categories_are_numpys_where_numpy_has_a_dtype(dtype, expected):
    assert read_column(pd.Series([1, 0], dtype="int8").astype(dtype)).categories.dtype == expected


@given(table=frames(), data=st.data())
def test_wrap_keeps_columns_as_they_are(table, data):
    """Input columns have their dtype, their place among the outputs, and the labels of the rows."""
    source = read_table(table)
    positions = data.draw(st.permutations(range(table.shape[1])))
    new = outputs(("new", "newer"), len(table))

    result = wrap(source, [PassThrough(positions[0]), new, *map(PassThrough, positions[1:])])

    order = [positions[0], *positions[1:]]
    kept = result.iloc[:, [0, *range(3, result.shape[1])]]
    expected = table.iloc[:, order].set_axis(kept.columns, axis=1)
    pd.testing.assert_frame_equal(kept, expected)
    assert kept.columns.tolist() == table.columns[order].tolist()
    assert result.columns[1:3].tolist() == ["new", "newer"]
    assert result["new"].all()
    assert not result["newer"].any()


def test_outputs_are_one_block_and_nothing_of_the_input():
    """Outputs of one dtype are a block of memory; writing to it leaves the input alone."""
    table = pd.DataFrame({"n": [1, 2]})

    result = wrap(read_table(table), [outputs(("a", "b"), 2, "uint8"), PassThrough(0)])
    first, second = (result[name].to_numpy() for name in ("a", "b"))
    result.iloc[0, 2] = 100

    assert second.ctypes.data - first.ctypes.data == first.nbytes
    assert table["n"].tolist() == [1, 2]


def test_the_labels_of_one_result_are_not_those_of_the_next():
    """Labels are made once; what a user calls them is no other frame's."""
    table = read_table(pd.DataFrame({"n": [1, 2]}))
    first = wrap(table, [outputs(("a",), 2)])

    first.columns.name = "renamed"

    assert wrap(table, [outputs(("a",), 2)]).columns.name is None


def test_decoded_columns_keep_their_dtype():
    parts = [Decoded("n", np.array([2, 1])), Decoded("s", np.array(["x", None], object))]

    result = wrap(read_table(pd.DataFrame({"a": [0, 0]}, index=["u", "v"])), parts)

    expected = pd.DataFrame({"n": [2, 1], "s": ["x", None]}, index=["u", "v"])
    pd.testing.assert_frame_equal(result, expected, check_dtype=False)
    assert result["n"].dtype == np.int64


OBJECTS = [
    ["x", "y"], ["x", None], ["", "x", float("nan")], [None], [1, "x"], [True, None], [b"x"],
    [dt.date(2020, 1, 1)], [dt.datetime(2020, 1, 1), None], [Special.UNKNOWN, "x"], [2**70], [],
]  # fmt: skip


@examples(0.5)
@given(data=st.data(), kinds=st.lists(st.sampled_from(OBJECTS), min_size=1, max_size=4))
def test_decoded_objects_become_what_pandas_makes_of_all_rows(data, kinds):
    """What differs is looked at once, and all columns of texts together."""
    n_rows = data.draw(st.integers(1, 6)) if all(kinds) else 0
    parts = []
    for i, kind in enumerate(kinds):
        distinct = np.empty(len(kind) if n_rows else 0, object)
        distinct[:] = kind[: len(distinct)]
        n_more = max(0, n_rows - len(distinct))
        more = [data.draw(st.integers(0, len(kind) - 1)) for _ in range(n_more)]
        positions = np.array([*range(len(distinct)), *more][: max(n_rows, 0)], np.intp)
        parts.append(Decoded(f"c{i}", distinct[: len(positions)], positions))

    result = wrap(read_table(pd.DataFrame({"a": np.zeros(n_rows)})), parts)

    expected = pd.DataFrame({part.name: pd.Series(part.values) for part in parts})
    pd.testing.assert_frame_equal(result, expected)
    if n_rows:
        result.iloc[0, 0] = None  # a column of one frame is not another's memory
        pd.testing.assert_frame_equal(result.iloc[:, 1:], expected.iloc[:, 1:])


def test_wrap_of_another_library_counts_the_rows():
    """A table that pandas did not read has no labels of rows."""
    source = read_table({"n": np.array([1, 2]), "s": ["x", None]})

    result = wrap(source, [PassThrough(0), outputs(("a",), 2), PassThrough(1)])

    expected = pd.DataFrame({"n": [1, 2], "a": [True, True], "s": ["x", None]})
    pd.testing.assert_frame_equal(result, expected)


def test_wrap_without_pieces_keeps_the_rows():
    table = pd.DataFrame({"n": [1, 2]}, index=["x", "y"])

    assert wrap(read_table(table), []).index.tolist() == ["x", "y"]


def test_frames_keep_their_columns_and_rows():
    """By default texts and categoricals are encoded, where they stand; all else stays."""
    encoded = Encoder().fit_transform(FRAME[["number", "text", "size", "bool"]])

    assert list(encoded.columns) == [
        "number", "text_a", "text_b", "size_S", "size_M", "size_L", "bool",
    ]  # fmt: skip
    assert list(encoded.index) == list("wxyz")
    pd.testing.assert_series_equal(encoded["number"], FRAME["number"])
    assert encoded["size_M"].tolist() == [False] * 4
    assert encoded["text_b"].tolist() == [True, False, False, True]


@pytest.mark.parametrize("output", ["pandas", "numpy", "csr"])
@pytest.mark.parametrize("name", FRAME.columns)
def test_values_of_every_dtype_come_back(name, output):
    """Each dtype of pandas is encoded and decoded, before and after a trip through text."""
    options = {"handle_missing": "indicator", "dtype": "int8", "remainder": "drop"}
    encoder = Encoder([name], **options).fit(FRAME)
    copy = Encoder.from_json(encoder.to_json())
    decoded = copy.inverse_transform(copy.transform(FRAME[[name]], output))[name]
    wanted = [None if pd.isna(value) else value for value in FRAME[name]]

    assert copy.to_json() == encoder.to_json()
    assert [None if pd.isna(v) else v for v in pd.Series(decoded, dtype=object)] == wanted


@given(
    st.lists(st.sampled_from(["a", "b", "c", None]), max_size=20),
    # Before pandas 3 astype("str") makes a text of a missing value, too.
    st.sampled_from(["category", "string", *(["object", "str"] if PANDAS_3 else [])]),
)
def test_every_kind_of_text_column_gives_the_same(values, dtype):
    series = pd.Series(values, dtype=object)
    plain = Encoder(["p"]).fit({"p": values})
    encoder = Encoder(["p"]).fit(pd.DataFrame({"p": series.astype(dtype)}))
    encoded = encoder.transform(pd.DataFrame({"p": series.astype(dtype)}), "numpy")

    assert tuple(encoder.get_feature_names_out()) == tuple(plain.get_feature_names_out())
    np.testing.assert_array_equal(encoded, plain.transform({"p": values}))


def test_parts_of_a_frame_merge():
    """Encoders of parts are the encoder of the whole, also where a part has other dtypes."""
    whole = Encoder(list(FRAME.columns)).fit(FRAME)
    parts = [Encoder(list(FRAME.columns)).fit(FRAME.iloc[i : i + 1]) for i in range(4)]
    merged = parts[3].merge(parts[0].merge(parts[2]), parts[1])

    assert tuple(merged.get_feature_names_out()) == tuple(whole.get_feature_names_out())
    assert merged.to_json() == whole.to_json()


@pytest.mark.parametrize("output", ["numpy", "csr", "pandas"])
def test_categories_that_come_again_mean_the_same(output):
    """What is kept of an index of categories holds for other rows, but not for their checks."""
    dtype = pd.CategoricalDtype(["b", "a", "c"])
    tables = [pd.DataFrame({"x": pd.Series(rows, dtype=dtype)}) for rows in (["a", "c"], ["b"])]
    tables += [pd.DataFrame({"x": pd.Categorical(["c", "a"])}), tables[0]]
    learned = pd.DataFrame({"x": ["a", "b", "c"]})
    encoder = Encoder(handle_missing="error").fit(learned)
    for table in tables:
        texts = table.astype({"x": object})
        encoded, expected = (encoder.transform(each, "numpy") for each in (table, texts))
        np.testing.assert_array_equal(encoded, expected)
        other = encoder.transform(table, output)
        np.testing.assert_array_equal(getattr(other, "toarray", lambda o=other: o)(), expected)
    lacking = pd.DataFrame({"x": pd.Series(["a", None], dtype=dtype)})
    strange = pd.DataFrame({"x": pd.Categorical(["a", "z"])})
    for _ in range(2):
        with pytest.raises(ValueError, match="row 1: the value is missing"):
            encoder.transform(lacking, output)
        with pytest.raises(ValueError, match="'z' is unknown"):
            encoder.transform(strange, output)

"""Small tables: what an encoder remembers from one call to the next never shows in a result."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from onehot_fast import Encoder

MAKERS = {
    "dict": dict,
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "arrow": pa.table,
}
TRAIN: dict[str, list[Any]] = {
    "size": ["S", "L", "M", None, "S", "XL"],
    "city": ["Rome", "Oslo", "Rome", "Lima", None, "Oslo"],
}


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest) -> Any:
    """Return what makes a table of columns."""
    return MAKERS[request.param]


def columns_of(table: Any) -> dict[str, list[Any]]:
    """Return the names and values of any table; a row of a matrix is its own name."""
    if isinstance(table, np.ndarray):
        return {str(i): column for i, column in enumerate(table.T.tolist())}
    if isinstance(table, pd.DataFrame):
        return {name: column.tolist() for name, column in table.items()}
    return table.to_pydict() if isinstance(table, pa.Table) else table.to_dict(as_series=False)


def row(columns: dict[str, list[Any]], i: int) -> dict[str, list[Any]]:
    """Return one row of columns."""
    return {name: values[i : i + 1] for name, values in columns.items()}


def test_few_values_that_are_no_texts() -> None:
    """They are read, or refused, as many are."""
    encoder = Encoder(["x"], handle_unknown="indicator").fit({"x": ["1", "\ufffd"]})
    broken = pa.StringArray.from_buffers(
        1, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")
    )
    late = pa.array([2**30], pa.int32()).cast(pa.date32())
    for values in (pa.array([1]), pa.array([b"1"]), broken, pa.array([1.5])):
        assert encoder.transform(pa.table({"x": values}), "numpy").tolist() == [[0, 0, 1]]
    for values in ([1], [b"1"], [1.5], np.array([1], "M8[ns]")):
        assert encoder.transform(pd.DataFrame({"x": values}), "numpy").tolist() == [[0, 0, 1]]
    many = pd.DataFrame({"x": pd.arrays.ArrowExtensionArray(pa.concat_arrays([late] * 20))})
    for frame in (many, many[:1]):
        with pytest.raises((ValueError, OverflowError, TypeError)):
            encoder.transform(frame, "numpy")


@pytest.mark.parametrize("output", ["numpy", "csr", "csc"])
def test_every_matrix_of_few_rows(make: Any, output: str) -> None:
    """Also where there are more outputs than look-up tables are worth."""
    levels = [f"level {i}" for i in range(70_000)]
    encoder = Encoder(["a", "b"], handle_unknown="ignore").fit({"a": levels, "b": levels})
    matrix = encoder.transform(make({"a": ["level 5", None], "b": ["?", "level 69999"]}), output)
    dense = matrix if output == "numpy" else matrix.toarray()

    expected = np.zeros((2, encoder.n_features), bool)
    names = encoder.get_feature_names_out().tolist()
    expected[0, names.index("a_level 5")] = expected[1, names.index("b_level 69999")] = True
    np.testing.assert_array_equal(dense, expected)


def test_an_encoder_that_has_changed(make: Any) -> None:
    """What was remembered before `partial_fit`, `merge` and `fit` is not used after it."""
    encoder = Encoder(handle_unknown="ignore").fit({"size": ["S", "L"]})
    table = make({"size": ["M"]})

    def names() -> list[str]:
        return list(columns_of(encoder.transform(table)))

    before = names()
    assert any(columns_of(encoder.transform(make({"size": ["S"]}))).values())
    merged = encoder.merge(Encoder(handle_unknown="ignore").fit({"size": ["M"]}))
    assert sum(map(sum, columns_of(merged.transform(table)).values())) == 1
    assert names() == before
    assert not any(map(any, columns_of(encoder.transform(table)).values()))
    encoder.partial_fit({"size": ["M"]})
    assert len(names()) == 3
    assert any(map(any, columns_of(encoder.transform(table)).values()))
    encoder.fit({"size": ["M"]})
    assert len(names()) == 1


def test_tables_of_other_columns(make: Any) -> None:
    """Another order, another dtype and another column are told apart, in any sequence."""
    encoder = Encoder(["size", "n"], handle_unknown="ignore").fit({"size": ["S", "L"], "n": [1, 2]})
    tables = [
        {"size": ["S"], "n": [2]},
        {"n": [2], "size": ["S"]},
        {"size": ["S"], "n": [2.0]},
        {"size": ["S"], "extra": [7], "n": [True]},
        {"size": ["S"], "extra": ["x"], "n": [2]},
        {"size": [None], "extra": [7.5], "n": [3]},
    ]
    for columns in tables * 2:
        encoded = encoder.transform(make(columns))
        fresh = pickle.loads(pickle.dumps(encoder)).transform(make(columns))
        np.testing.assert_equal(columns_of(encoded), columns_of(fresh))
        for part in ("schema", "dtypes"):
            assert str(getattr(encoded, part, "")) == str(getattr(fresh, part, ""))
        if not isinstance(encoded, np.ndarray):
            names = [name for name in columns if name == "extra"]
            assert sorted(columns_of(encoded)) == sorted(["size_L", "size_S", "n_1", "n_2", *names])


def test_schemas_of_arrow_differ_in_more_than_names() -> None:
    """Types and metadata of columns that stay are those of the table at hand."""
    encoder = Encoder(["size"]).fit({"size": ["S"]})
    alone = Encoder(["size"], remainder="drop").fit({"size": ["S"]})
    for field in (pa.field("n", pa.int8()), pa.field("n", pa.int64(), metadata={"unit": "m"})):
        schema = pa.schema([pa.field("size", pa.string()), field], metadata={"of": str(field)})
        table = pa.Table.from_pydict({"size": ["S"], "n": [1]}, schema=schema)
        encoded = encoder.transform(table)
        assert encoded.schema.field("n").equals(field, check_metadata=True)
        assert encoded.schema.metadata == schema.metadata
        for rows in (table, pa.concat_tables([table] * 2)):
            features = alone.transform(rows)
            feature = pa.field("size_S", pa.bool_(), nullable=False)
            assert features.schema.equals(pa.schema([feature], schema.metadata), True)


def test_names_that_are_equal_and_yet_differ() -> None:
    """1 and True are one key, but two names."""
    encoder = Encoder(["size"]).fit({"size": ["S"]})
    for name in (1, True, 1.0):
        frame = pd.DataFrame({"size": ["S"], name: [5]}, columns=pd.Index(["size", name], object))
        assert repr(encoder.transform(frame).columns.tolist()) == repr(["size_S", name])


def test_a_column_of_the_name_of_an_output_is_refused_each_time(make: Any) -> None:
    """Nothing is remembered of a table that was refused."""
    encoder = Encoder(["size"]).fit({"size": ["S"]})
    if make is dict:
        return
    for _ in range(2):
        with pytest.raises(ValueError, match="two output columns would be named 'size_S'"):
            encoder.transform(make({"size": ["S"], "size_S": [1]}))


def test_threads_that_encode_different_rows(make: Any) -> None:
    """Each has its own row, also where all of them are the first."""
    expected = [columns_of(Encoder().fit(TRAIN).transform(make(row(TRAIN, i)))) for i in range(6)]
    for _ in range(5):
        encoder = Encoder().fit(TRAIN)
        rows = [make(row(TRAIN, i % 6)) for i in range(60)]
        with ThreadPoolExecutor(6) as pool:
            assert [*map(columns_of, pool.map(encoder.transform, rows))] == expected * 10


def test_nobody_sees_what_another_one_writes() -> None:
    """Rows of polars share columns, frames of pandas labels: both only as long as nobody writes."""
    encoder = Encoder().fit(TRAIN)
    frame = pl.DataFrame(row(TRAIN, 0))
    first, expected = encoder.transform(frame), encoder.transform(frame).to_dict(as_series=False)
    first[0, "size_L"] = True
    first.to_series(2)[0] = True
    first.columns = [f"other {i}" for i in range(first.width)]
    first.extend(first)
    assert encoder.transform(frame).to_dict(as_series=False) == expected

    table = pd.DataFrame(row(TRAIN, 0))
    other, fresh = encoder.transform(table), encoder.transform(table)
    other.columns.name = "feature"
    other.iloc[0, :] = True
    assert encoder.transform(table).equals(fresh)
    assert fresh.columns.name is None


def test_categories_of_one_dtype_are_nobodys() -> None:
    """The labels of a category dtype are remembered; a name that one sets is not."""
    series = pd.Series(["b", "a"], dtype=pd.CategoricalDtype(["b", "a", "c"], ordered=True))
    frame = series.onehot()
    frame.columns.name = "level"
    for again in (series.onehot(), series.iloc[:1].onehot()):
        assert again.columns.name is None
        assert again.columns.equals(pd.get_dummies(series).columns)
    pd.testing.assert_frame_equal(series.onehot(), pd.get_dummies(series))
    pd.testing.assert_frame_equal(
        series.cat.rename_categories(["x", "y", "z"]).onehot(),
        pd.get_dummies(series.cat.rename_categories(["x", "y", "z"])),
    )


@pytest.mark.parametrize("shape", ["one dtype", "several dtypes", "another order"])
def test_decoding_any_table(make: Any, shape: str) -> None:
    """Features may have any dtype of numbers and stand in any order."""
    if make is dict and shape != "one dtype":
        return
    encoder = Encoder(handle_missing="indicator").fit(TRAIN)
    many = {name: values * 20 for name, values in TRAIN.items()}
    encoded = encoder.transform(make(many))
    if not isinstance(encoded, np.ndarray):
        features = columns_of(encoded)
        if shape == "several dtypes":
            features = {
                name: [kind(value) for value in values]
                for kind, (name, values) in zip(
                    [int, float, bool] * 9, features.items(), strict=False
                )
            }
        elif shape == "another order":
            features = dict(reversed(features.items()))
        encoded = make(features)
    decoded = encoder.inverse_transform(encoded)
    values = decoded if isinstance(decoded, dict) else columns_of(decoded)
    for name, column in many.items():
        assert [None if v != v else v for v in list(values[name])] == column


def test_features_that_are_dictionaries() -> None:
    """Their values count, and not the codes that stand for them."""
    encoder = Encoder().fit({"size": ["S", "L"]})
    values = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array([1, 0]))
    table = pa.table({"size_L": values, "size_S": pa.array([0, 1], pa.int8())})
    assert encoder.inverse_transform(table).to_pydict() == {"size": ["L", "S"]}
    both = pa.table({"size_L": values, "size_S": values.take(pa.array([1, 0]))})
    assert encoder.inverse_transform(both).to_pydict() == {"size": ["L", "S"]}


@pytest.mark.parametrize("output", ["numpy", "csr", "csc", "pandas", "polars", "arrow"])
def test_a_wrong_number_of_threads(output: str) -> None:
    """It is refused, however small the result is."""
    encoder = Encoder().fit(TRAIN)
    with pytest.raises(ValueError, match="num_threads must be at least 1"):
        encoder.transform(row(TRAIN, 0), output, num_threads=0)
    assert encoder.transform(row(TRAIN, 0), output, num_threads=2) is not None

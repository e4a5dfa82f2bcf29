"""What every integration does alike with columns of any type: read, encode, wrap and decode.

The strategies draw slices, chunks, nulls, categories, dictionaries and extension types.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast import Encoder
from onehot_fast.adapter import (
    CodedColumn,
    Decoded,
    FeatureBlock,
    PassThrough,
    integration,
    read_table,
)
from support import encoder_oracle as oracle
from support.libraries import cells, equal, plain
from support.strategies import policies

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

from support import arrow_strategies, polars_strategies  # noqa: E402  after the skips above
from support import frame_strategies as pandas_strategies  # noqa: E402

every_library = pytest.mark.parametrize("library", ["pandas", "polars", "arrow"], indirect=True)
POLICIES = policies(
    handle_missing=["ignore", "indicator", "propagate"], handle_unknown=oracle.UNKNOWN_RULES[1:]
)


# pandas cannot compare views.
IN_PANDAS = [kind for kind in arrow_strategies.PLAIN if "view" not in str(kind)]


@dataclass(frozen=True)
class Native:
    """A column of a library, its values as Python's, and the categories that it declares."""

    column: Any
    values: list[Any]
    declared: list[Any] | None = None


@st.composite
def pandas_columns(draw, n_rows):
    """Return a Series of a dtype of NumPy or pandas, or in Arrow memory."""
    if draw(st.booleans()):
        native = draw(arrow_columns(n_rows, IN_PANDAS, ("plain",)))
        return replace(native, column=pd.Series(pd.arrays.ArrowExtensionArray(native.column)))
    series = draw(pandas_strategies.columns(n_rows))
    declared = None
    if isinstance(series.dtype, pd.CategoricalDtype):
        declared = series.dtype.categories.tolist()
    objects = series.astype(object)
    return Native(series, plain(objects.where(objects.notna(), None)), declared)


@st.composite
def polars_columns(draw, n_rows):
    series = draw(polars_strategies.series(n_rows=n_rows))
    declared = series.dtype.categories.to_list() if series.dtype == pl.Enum else None
    return Native(series, plain(series.to_list()), declared)


@st.composite
def arrow_columns(
    draw,
    n_rows,
    kinds=arrow_strategies.PLAIN,
    forms=("plain", "dictionary", "runs"),
):
    """Return the first rows of a column; a short column is repeated in chunks."""
    drawn = draw(arrow_strategies.columns(kinds, forms))
    if n_rows and not drawn.values:
        drawn = arrow_strategies.Drawn(pa.array([None, "a"]), [None, "a"])
    repeats = -(-n_rows // max(1, len(drawn.values)))
    chunks = getattr(drawn.column, "chunks", [drawn.column]) * repeats
    column = pa.chunked_array(chunks, drawn.column.type).slice(0, n_rows)
    return Native(column, plain(drawn.values * repeats)[:n_rows])


COLUMNS = {
    "pandas": pandas_columns,
    "polars": polars_columns,
    "arrow": arrow_columns,
}


def part(table, start, stop):
    return table.iloc[start:stop] if isinstance(table, pd.DataFrame) else table[start:stop]


@every_library
@given(data=st.data(), policies=POLICIES, n_rows=st.integers(0, 20))
def test_any_column_is_encoded_as_by_the_oracle(library, data, policies, n_rows):
    fitted = data.draw(COLUMNS[library.name](n_rows))
    other = data.draw(st.just(fitted) | COLUMNS[library.name](data.draw(st.integers(0, 5))))
    if (fitted.declared or [None])[0] is None or fitted is not other:
        policies = {"handle_unknown": "ignore", **policies}
    dtype = "float32"
    table, rows = (library.table({"c": native.column}) for native in (fitted, other))
    encoder = Encoder(["c"], dtype=dtype, **policies).fit(table)
    options = oracle.Options(**policies, categories=fitted.declared)

    matrix = encoder.transform(rows, "numpy")

    n_features = len(oracle.labels(fitted.values, options))
    expected = np.array(oracle.encode(other.values, fitted.values, options), dtype)
    expected = expected.reshape(len(other.values), n_features)
    np.testing.assert_array_equal(matrix, expected)
    native = encoder.transform(rows)
    assert type(native) is type(table)
    np.testing.assert_array_equal(cells(library, native, len(expected)), expected)
    for i in range(len(expected)):
        row = part(rows, i, i + 1)
        np.testing.assert_array_equal(encoder.transform(row, "numpy"), expected[i : i + 1])
        np.testing.assert_array_equal(
            cells(library, encoder.transform(row), 1), expected[i : i + 1]
        )


@every_library
@given(data=st.data(), n_rows=st.integers(0, 12))
def test_other_columns_and_the_input_stay_as_they_are(library, data, n_rows):
    drawn = {name: data.draw(COLUMNS[library.name](n_rows)) for name in "abc"}
    table = library.table({name: native.column for name, native in drawn.items()})
    before = table.copy(deep=True) if library.name == "pandas" else part(table, 0, n_rows)
    encoder = Encoder(["b"], prefix="new", handle_missing="indicator").fit(table)

    encoded = encoder.transform(table)

    names = [str(name) for name in encoder.get_feature_names_out()]
    found = encoded.column_names if library.name == "arrow" else [*encoded.columns]
    assert found == ["a", *(name for name in names if name not in ("a", "c")), "c"]
    select = {"arrow": "select", "polars": "select"}.get(library.name, "__getitem__")
    kept, expected = (getattr(each, select)(["a", "c"]) for each in (encoded, table))
    assert equal(kept, expected)
    assert equal(table, before)


@every_library
@given(data=st.data(), n_rows=st.integers(1, 12))
def test_values_come_back_in_their_type(library, data, n_rows):
    """Values are decoded in the type of the fitted column, also after JSON, pickle and merge."""
    drawn = data.draw(COLUMNS[library.name](n_rows))
    table = library.table({"c": drawn.column})
    drop = data.draw(st.sampled_from([None, "first"]))
    encoder = Encoder(["c"], handle_missing="indicator", drop=drop).fit(table)
    copy = Encoder.from_json(encoder.to_json())
    pickled = pickle.loads(pickle.dumps(encoder))
    others = st.sampled_from([encoder, copy, pickled, encoder.merge(encoder)])

    assert copy.to_json() == pickled.to_json() == encoder.to_json()
    decoded = data.draw(others).inverse_transform(copy.transform(table))
    assert plain(library.columns(decoded)["c"]) == drawn.values
    if library.name == "arrow":
        assert decoded["c"].type == drawn.column.type
    else:
        assert decoded["c"].dtype == drawn.column.dtype
    matrix = copy.transform(table, "numpy")
    values = copy.inverse_transform(matrix)["c"]
    missing = [value is None for value in drawn.values]
    np.testing.assert_array_equal(pd.isna(pd.Series(values, dtype=object)), missing)
    np.testing.assert_array_equal(copy.transform({"c": values}, "numpy"), matrix)


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow", "narwhals"], indirect=True)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32"])
def test_features_have_the_names_and_the_type_of_the_encoder(library, dtype):
    encoder = Encoder(["b"], dtype=dtype).fit({"a": [0, 1], "b": ["x", "y"]})

    for rows in ([], ["y"], ["y", None, "x"]):
        table = library.table({"a": list(range(len(rows))), "b": rows})
        encoded = encoder.transform(table)
        assert type(encoded) is type(table)
        expected = {"a": [*range(len(rows))], "b_x": [r == "x" for r in rows]}
        assert library.columns(encoded) == {**expected, "b_y": [r == "y" for r in rows]}
        native = encoded.to_native() if library.name == "narwhals" else encoded
        kinds = native.schema.types if library.name == "arrow" else [*native.dtypes]
        names = {str(kind).lower().replace("boolean", "bool") for kind in kinds[1:]}
        assert names == {"float" if (library.name, dtype) == ("arrow", "float32") else dtype}


@every_library
def test_wrap_takes_columns_of_other_libraries_and_decoded_values(library):
    source = read_table({"n": np.array([1, 2]), "s": ["x", None]})
    wrap = integration(library.name).wrap
    coded = CodedColumn(np.zeros(2, np.int8), None, 2)
    ones = FeatureBlock(("first", "second"), (coded,), np.dtype(bool))
    [schema] = Encoder().fit({"x": ["x"]}).schema.columns
    values = {"v": np.array([2, 1]), "w": np.array(["y", None], object)}
    decoded = [Decoded(name, own, np.arange(2), schema) for name, own in values.items()]

    table = wrap(source, [PassThrough("n", 0), ones, PassThrough("s", 1), *decoded])

    assert library.columns(table) == {
        "n": [1, 2],
        "first": [True, True],
        "second": [False, False],
        "s": ["x", None],
        "v": [2, 1],
        "w": ["y", None],
    }
    if library.name != "polars":  # whose oldest versions have no height without columns
        assert len(wrap(source, [])) == 2


@every_library
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32"])
def test_features_are_one_block_of_memory(library, dtype):
    table = Encoder(["c"], dtype=dtype).fit_transform(
        {"c": ["x", "y", "z"] * 50}, output=library.name
    )

    if library.name == "pandas":
        columns = [table[name].to_numpy().ctypes.data for name in table]
    else:
        series = [table[name] for name in ("c_x", "c_y", "c_z")]
        arrays = [s.chunk(0) if library.name == "arrow" else s.to_arrow() for s in series]
        columns = [array.buffers()[1].address for array in arrays]
    first, second = np.diff(columns).tolist()
    assert first == second > 0

"""Decoded columns have the type that `fit` saw: every type of pyarrow, one case for each."""

import json
import pickle
import uuid
from decimal import Decimal

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from onehot_fast import Encoder  # noqa: E402
from onehot_fast.integrations.arrow import decode, encode  # noqa: E402
from onehot_fast.integrations.arrow._types import type_name, type_of_name  # noqa: E402
from support import arrow_types  # noqa: E402  after the skip above

every_type = pytest.mark.parametrize(
    ("kind", "values"), arrow_types.EVERY, ids=[str(kind) for kind, _ in arrow_types.EVERY]
)


def test_every_type_of_pyarrow_is_tested():
    classes = {type(kind) for kind, _ in arrow_types.EVERY}
    others = {"BaseExtensionType", "ExtensionType", "UnionType", "UnknownExtensionType"}
    names = others | {"PyExtensionType", "FixedShapeTensorType", "FixedSizeListType", "MapType"}
    names |= {f"{size}List{view}Type" for size in ("", "Large") for view in ("", "View")}
    names |= {"DenseUnionType", "SparseUnionType", "StructType"}

    assert not arrow_types.unknown_ids()
    assert not {cls.__name__ for cls in arrow_types.subclasses() - classes} - names


@every_type
def test_the_name_of_a_type_is_read_as_this_type(kind, values):
    assert type_of_name(type_name(kind)) == kind


@every_type
def test_a_type_comes_back(kind, values):
    """Every Arrow type is decoded from a table, a batch and a stream, also by a copied encoder."""
    table = arrow_types.table([(kind, values)])
    encoder = Encoder(["0"], handle_missing="indicator").fit(table)
    encoded = encoder.transform(table)
    copies = [
        encoder,
        encoder.merge(encoder),
        Encoder(["0"], handle_missing="indicator").partial_fit(table).partial_fit(table[:1]),
    ]
    copies += [Encoder.from_json(encoder.to_json()), pickle.loads(pickle.dumps(encoder))]

    for copy in copies:
        decoded = copy.inverse_transform(encoded)
        decoded.validate(full=True)
        assert same(decoded, table)
        assert same(decode(encoded, copy), table)
        assert copy.transform(decoded).equals(encoded)  # other libraries can read it
    assert same(encoder.inverse_transform(encoded.to_batches()[0]), table)
    assert same(decode(encoded.to_reader(max_chunksize=2), encoder).read_all(), table)
    assert same(encoder.inverse_transform(encoded[:0]), table[:0])
    assert decode(encoded.to_reader(), encoder).schema == table.schema


@pytest.mark.parametrize("layout", ["struct", "array", "tensor", "dictionary"])
def test_every_type_comes_back_from_every_layout(layout):
    table = arrow_types.table(arrow_types.EVERY)
    encoder = Encoder([*table.column_names], handle_missing="ignore").fit(table)

    decoded = decode(encode(table, encoder, layout=layout), encoder, layout=layout)

    assert same(decoded, table)


def test_every_type_comes_back_from_categorical_columns():
    table = arrow_types.table(arrow_types.EVERY)
    encoder = Encoder([*table.column_names], handle_unknown="ignore").fit(table)

    assert same(encoder.inverse_transform(encoder.transform(table, "category")), table)


CASES = [
    # The type in fit, its values, a substitute, and the type of the decoded column.
    (pa.int8(), [1, 2], None, pa.int8()),
    (pa.int8(), [1, 2], 3, pa.int8()),
    (pa.int8(), [1, 2], 300, pa.int64()),
    (pa.float32(), [1.5], 0.5, pa.float32()),
    (pa.float32(), [1.5], 1e300, None),
    (pa.timestamp("s"), [arrow_types.NOON], arrow_types.NOON.replace(microsecond=1), None),
    (pa.decimal128(5, 2), ["1.50"], "9.99", pa.decimal128(5, 2)),
    (pa.decimal128(5, 2), ["1.50"], "9.999", None),
    (pa.large_string(), ["a"], "?", pa.large_string()),
    (pa.large_string(), ["a"], 5, None),
    (pa.string(), ["a"], b"?", None),
    (pa.binary(2), [b"ab"], b"xyz", pa.binary()),
    (pa.dictionary(pa.int8(), pa.string_view()), ["a"], "a", ...),
    (pa.dictionary(pa.int8(), pa.string_view(), True), ["a"], "?", ...),
    (pa.run_end_encoded(pa.int16(), pa.int8()), [1], 2, ...),
    (pa.run_end_encoded(pa.int16(), pa.int8()), [1], 300, pa.int64()),
    (pa.uuid(), [bytes(16)], uuid.UUID(int=1), ...),
    (pa.uuid(), [bytes(16)], b"?" * 16, None),
    (pa.bool8(), [1], False, ...),
    (pa.bool8(), [1], "?", None),
    (pa.null(), [], "?", pa.string()),
    (pa.null(), [], 5, None),
]


@pytest.mark.parametrize(("kind", "values", "missing", "expected"), CASES)
def test_a_substitute_must_fit_the_type(kind, values, missing, expected):
    """The type is that of the categories, also without a missing value; or an error names it."""
    if pa.types.is_decimal(kind):
        values, missing = [Decimal(values[0])], Decimal(missing)
    table = arrow_types.table([(kind, values)])
    encoder = Encoder(["0"]).fit(table)
    encoded = encoder.transform(table)
    if expected is None:
        with pytest.raises(TypeError, match=r"missing must be of type .* column '0'"):
            decode(encoded, encoder, missing=missing)
        return

    decoded = decode(encoded, encoder, missing=missing)

    assert decoded.schema.types == [kind if expected is ... else expected]
    assert decoded["0"].to_pylist()[-1] == missing
    assert plain(decoded["0"])[: len(values)] == values
    for rows in (encoded[:0], encoded.to_reader()):
        assert decode(rows, encoder, missing=missing).schema == decoded.schema


def test_a_substitute_that_is_never_decoded_does_not_change_the_type():
    table = pa.table({"c": pa.array([1, 2], pa.int8())})
    encoder = Encoder(["c"], handle_missing="error", handle_unknown="error").fit(table)

    assert decode(encoder.transform(table), encoder, missing="?").equals(table)


def test_more_categories_than_the_indices_count_widen_them():
    """Dictionaries of several chunks or tables: the indices become int32."""
    kind = pa.dictionary(pa.int8(), pa.string())
    chunks = [[f"{i}{j}" for j in range(100)] for i in range(2)]
    table = pa.table({"c": pa.chunked_array([arrow_types.column(kind, c) for c in chunks])})
    encoder = Encoder(["c"]).fit(table)

    for decoded in (
        decode(encoder.transform(table), encoder),
        encoder.inverse_transform(encoder.transform(table)),
    ):
        assert decoded["c"].type == pa.dictionary(pa.int32(), pa.string())
        assert decoded["c"].to_pylist() == table["c"].to_pylist()


def test_runs_may_exceed_the_largest_run_end():
    """A table has chunks, and a stream has more batches."""
    kind = pa.run_end_encoded(pa.int16(), pa.int8())
    values = [1, 2] * 20_000
    table = pa.table({"c": pa.array(values, pa.int8())})
    encoder = Encoder(["c"]).fit(pa.table({"c": arrow_types.column(kind, [1, 2])}))
    encoded = encoder.transform(table)

    for decoded in (
        encoder.inverse_transform(encoded),
        decode(encoded, encoder),
        decode(encoded.to_reader(), encoder).read_all(),
    ):
        assert decoded["c"].type == kind
        assert plain(decoded["c"].slice(0, 10)) == values[:10]
        assert pa.chunked_array([c.values for c in decoded["c"].chunks]).to_pylist() == values


def test_an_unused_category_stays_in_an_ordered_dictionary():
    levels = pa.array(["S", "M", "L"], pa.string_view())
    sizes = pa.DictionaryArray.from_arrays(pa.array([2, 0], pa.int8()), levels, ordered=True)
    table = pa.table({"c": sizes})
    encoder = Encoder(["c"]).fit(table)

    for decoded in (
        decode(encoder.transform(table), encoder),
        encoder.inverse_transform(encoder.transform(table)),
    ):
        assert decoded["c"].chunk(0).dictionary.to_pylist() == ["S", "M", "L"]
        assert decoded["c"].to_pylist() == ["L", "S"]


def test_tables_of_several_types_have_a_common_one():
    """The common type, or without one the type of the categories."""
    tables = [
        [pa.int8(), pa.int32(), pa.int32()],
        [pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("ms")],
        [pa.opaque(pa.string(), "a", "b"), pa.string(), pa.string()],
        [pa.string(), pa.string_view(), pa.string()],
    ]
    values = {pa.int8(): 1, pa.timestamp("s"): arrow_types.NOON}
    for first, second, expected in tables:
        value = values.get(first, "a")
        parts = [pa.table({"c": arrow_types.column(kind, [value])}) for kind in (first, second)]
        encoder = Encoder(["c"]).partial_fit(parts[0]).partial_fit(parts[1])
        assert decode(encoder.transform(parts[0]), encoder).schema.types == [expected]


def test_another_library_has_no_arrow_type():
    encoder = Encoder(["c"]).fit({"c": np.array([1, 2], np.int8)})
    encoded = encoder.transform({"c": [1]}, "arrow")

    assert decode(encoded, encoder).schema.types == [pa.int64()]


def test_a_float_is_rounded_to_the_type():
    table = pa.table({"c": pa.array([1.5, None], pa.float32())})
    encoder = Encoder(["c"]).fit(table)

    decoded = decode(encoder.transform(table), encoder, missing=0.1)["c"]

    assert decoded.type == pa.float32()
    assert decoded.to_pylist() == [1.5, float(np.float32(0.1))]


@pytest.mark.parametrize(
    "name",
    ["ipc:", "ipc:!!!", "ipc:AAAA", "list<item: int8>", "struct<a: int8>", "", "decimal128(99, 2)",
     "dictionary<values=, indices=int8, ordered=0>", "fixed_size_binary[999999999999]",
     "dictionary<values=" * 50, "run_end_encoded<run_ends: int8, values: string>"],
)  # fmt: skip
def test_a_name_without_a_type_gives_the_type_of_the_values(name):
    """A document of another version, or a hostile one: the column has the type of its values."""
    with pytest.raises(ValueError, match=r"type|precision|run"):
        type_of_name(name)
    table = pa.table({"c": pa.array([1], pa.int8())})
    encoder = Encoder(["c"]).fit(table)
    text = encoder.to_json().replace('"arrow:int8"', json.dumps(f"arrow:{name}"))
    encoder = Encoder.from_json(text)

    assert decode(encoder.transform(table), encoder).schema.types == [pa.int64()]
    assert encoder.inverse_transform(encoder.transform(table)).schema.types == [pa.int64()]


def same(table, expected):
    """Tell whether tables have the same types and, as Python's, the same values."""
    assert table.schema.types == expected.schema.types
    pairs = zip(table.columns, expected.columns, strict=True)
    for i, (column, other) in enumerate(pairs):
        assert plain(column) == plain(other), f"column {i} of type {other.type}"
    return True


def plain(column):
    """Return the values of a column, without extension types, as Python objects."""
    return [value for chunk in column.chunks for value in plain_chunk(chunk)]


def plain_chunk(chunk):
    """Return the values of an array; pyarrow cannot decode some dictionaries and runs."""
    if isinstance(chunk.type, pa.BaseExtensionType):
        return plain_chunk(chunk.storage)
    if pa.types.is_dictionary(chunk.type):
        words = plain_chunk(chunk.dictionary)
        return [None if code is None else words[code] for code in chunk.indices.to_pylist()]
    if not pa.types.is_run_end_encoded(chunk.type):
        return chunk.to_pylist()
    runs = list(zip(plain_chunk(chunk.values), chunk.run_ends.to_pylist(), strict=True))
    rows = range(chunk.offset, chunk.offset + len(chunk))
    return [next(value for value, end in runs if end > row) for row in rows]

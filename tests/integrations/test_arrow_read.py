"""Arrow columns as codes and categories: of every type, however they lie in memory."""

import datetime
import itertools
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given

from support.libraries import assert_read, plain

pa = pytest.importorskip("pyarrow")
pc = pytest.importorskip("pyarrow.compute")

from onehot_fast import Encoder, multi_hot  # noqa: E402
from onehot_fast._categories.values import read_column  # noqa: E402
from onehot_fast.integrations.arrow import encode  # noqa: E402
from onehot_fast.table import read_table  # noqa: E402
from support.arrow_strategies import INTEGERS, columns  # noqa: E402  after the skip above

STORED = {
    "opaque": ["1", None, "2"],
    "json_": ["1", None, "2"],
    "decimal32": [Decimal("1.50"), None, Decimal("2.00")],  # Arrow cannot hash it as it is
    "decimal64": [Decimal("1.50"), None, Decimal("2.00")],
}


@pytest.mark.parametrize("name", [name for name in STORED if hasattr(pa, name)])
def test_columns_of_rare_types_are_read_by_their_storage(name):
    arguments = {"opaque": (pa.string(), "a type", "a vendor"), "json_": ()}.get(name, (4, 2))
    kind = getattr(pa, name)(*arguments)
    storage = pa.array(STORED[name], getattr(kind, "storage_type", kind))
    extended = isinstance(kind, pa.BaseExtensionType)
    array = pa.ExtensionArray.from_storage(kind, storage) if extended else storage

    assert_read(array, STORED[name])
    assert_read(pa.chunked_array([array]), STORED[name])


@pytest.mark.parametrize("index", INTEGERS, ids=str)
def test_indices_of_a_proper_dictionary_are_not_copied(index):
    indices = pa.array([1, 0, 1], index)
    column = read_column(
        pa.DictionaryArray.from_arrays(indices, pa.array(["S", "L"])).slice(1)
    ).encode()

    assert column.codes.ctypes.data == indices.buffers()[1].address + index.bit_width // 8
    assert column.codes.tolist() == [0, 1]
    assert column.source == "dictionary"


def test_chunks_with_and_without_nulls_have_codes_of_one_dtype():
    texts = pa.array([*map(str, range(200))])
    indices = [pa.array(rows, pa.uint8()) for rows in ([199, 0], [None, 199])]
    chunks = [pa.DictionaryArray.from_arrays(rows, texts) for rows in indices]

    assert_read(pa.chunked_array(chunks), ["199", "0", None, "199"])


SIZES = ["S", "M", "L", "XL"]


def sizes(codes, values, ordered=True):
    """Return indices of a dictionary, ordered by default."""
    indices = pa.array(codes, pa.int8())
    return pa.DictionaryArray.from_arrays(indices, pa.array(values, pa.string()), ordered=ordered)


CHUNKS = [
    sizes([0, 1], SIZES),
    sizes([3, None], SIZES),
    sizes([0], ["XS", "S"]),
    sizes([1, 0], ["M", "S", "L", "XL"]),
    sizes([], []),
    sizes([0, 1, 2], ["S", "M", "S"]),
    sizes([0, 1, 2], ["S", None, "M"]),
]


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("unify", [True, False])
def test_a_chunked_dictionary_declares_what_its_batches_declare(ordered, unify):
    proper = CHUNKS[:-1] if unify else CHUNKS  # pyarrow cannot unify dictionaries with nulls
    for chunks in itertools.chain(*(itertools.permutations(proper, n) for n in (1, 2, 3))):
        arrays = [sizes(c.indices.to_pylist(), c.dictionary.to_pylist(), ordered) for c in chunks]
        table = pa.table({"c": pa.chunked_array(arrays)})
        table = table.unify_dictionaries() if unify else table
        of_batches = Encoder(["c"])
        for batch in [table.schema.empty_table(), *table.to_batches()]:
            of_batches.partial_fit(batch)

        of_table = Encoder(["c"]).fit(table)

        assert of_table.to_json() == of_batches.to_json()
        np.testing.assert_array_equal(
            of_table.transform(table, "numpy"),
            of_table.transform({"c": table["c"].to_pylist()}, "numpy"),
        )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array([1, None], pa.int16()), np.dtype("int16")),
        (pa.array([1.5], pa.float32()), np.dtype("float32")),
        (pa.array([True]), np.dtype("bool")),
        (pa.array([1], pa.timestamp("ms")), np.dtype("M8[ms]")),
        (pa.array([1], pa.duration("ns")), np.dtype("m8[ns]")),
        (pa.array(["a"]), np.dtype(object)),
        (pa.array([Decimal(1)]), np.dtype(object)),
        (pa.array([datetime.date(2024, 2, 29)]), np.dtype(object)),
    ],
    ids=lambda value: str(getattr(value, "type", value)),
)
def test_categories_have_a_dtype_of_numpy_if_one_exists(values, expected):
    assert read_column(values).encode().categories.dtype == expected


OUT_OF_RANGE = pa.DictionaryArray.from_arrays(pa.array([0, 7]), ["a"], safe=False)


@pytest.mark.parametrize(
    ("column", "error", "match"),
    [
        (pa.array([[[1]]]), TypeError, "Arrow type list<.*>"),
        (pa.array([{"a": 1}]), TypeError, "struct<a: int64> cannot be encoded"),
        (pa.array([1], pa.time64("ns")), ValueError, "nanoseconds"),
        (OUT_OF_RANGE, ValueError, r"must be in \[0, 1\), got 7"),
    ],
    ids=["list", "struct", "time", "index"],
)
def test_an_error_names_the_column(column, error, match):
    table = pa.table({"c": column})
    fitted = Encoder(["c"]).fit({"c": ["a"]})

    for call in (Encoder(["c"]).fit, lambda table: encode(table, fitted)):
        with pytest.raises(error, match=rf"column 'c': .*{match}"):
            call(table)


def test_texts_bytes_and_dictionaries_are_encoded_by_default():
    kinds = {
        "s": pa.large_string(),
        "b": pa.binary(),
        "f": pa.binary(2),
        "d": pa.dictionary(pa.int8(), pa.int64()),
        "r": pa.run_end_encoded(pa.int32(), pa.string()),
        "i": pa.int8(),
        "t": pa.timestamp("s"),
        "l": pa.list_(pa.string()),
        "q": pa.run_end_encoded(pa.int32(), pa.int8()),
    }
    table = read_table(pa.schema(kinds).empty_table())

    assert dict(zip(table.names, table.encodable, strict=True)) == {
        name: name in "sbfdrl" for name in kinds
    }


@given(drawn=columns())
def test_values_are_handed_to_other_libraries_one_for_a_row(drawn):
    found = read_table(pa.table({"c": drawn.column})).to_numpy(0)

    assert plain(found) == plain(drawn.values)


@pytest.mark.parametrize("kind", ["list_", "large_list", "list_view", "large_list_view"])
@pytest.mark.parametrize("starts", [[0, 3, 1, 4], [0, 2**30, 2**30, 4], [2, 1, 2, 3]])
def test_lists_outside_their_elements_are_rejected(kind, starts):
    """Pyarrow ends the process over them."""
    if not hasattr(pa, kind):
        pytest.skip("this pyarrow has no such lists")
    elements = pa.array([0, 1, 0, 1])
    offsets = np.array(starts, np.int64 if "large" in kind else np.int32)
    parts = [offsets] if "view" not in kind else [offsets[:3], offsets[1:]]
    buffers = [None, *map(pa.py_buffer, parts)]
    lists = pa.Array.from_buffers(getattr(pa, kind)(pa.int64()), 3, buffers, children=[elements])

    with pytest.raises(ValueError, match=r"is a list of .* from position"):
        multi_hot(lists, 2)

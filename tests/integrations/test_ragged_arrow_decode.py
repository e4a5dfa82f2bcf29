"""Streams of Arrow whose rows have several labels are decoded, against a slow oracle."""

from __future__ import annotations

import decimal
import uuid
import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onehot_fast import Encoder
from support import ragged_oracle
from support.encoder_oracle import Options
from support.ragged_strategies import KEYWORDS, OPTIONS, ROWS, TEXTS
from support.strategies import examples

pa = pytest.importorskip("pyarrow")
arrow = pytest.importorskip("onehot_fast.integrations.arrow")

LAYOUTS = ["columns", "struct", "array", "tensor"]
DTYPES = ["float32", "float64"]
TEXT = pa.string()


def fitted_encoder(column, options, dtype, **others):
    """Return an encoder of the column ``g``."""
    chosen = {name: getattr(options, name) for name in KEYWORDS}
    encoder = Encoder(["g"], dtype=dtype, **chosen, **others)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return encoder.fit(pa.table({"g": column}))


def decoded_stream(column, encoder, layout, size, **substitutes):
    """Return the decoded column of a stream of batches of some size, which is encoded and decoded.

    Every batch must be valid and have the type that was announced before the first one.
    """
    table = pa.table({"kept": range(len(column)), "g": column})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        encoded = arrow.encode(table.to_reader(size), encoder, layout=layout)
        reader = arrow.decode(encoded, encoder, layout=layout, **substitutes)
        found = pa.Table.from_batches(list(reader), reader.schema)
    found.validate(full=True)
    assert found["kept"].equals(table["kept"])
    return found["g"]


@pytest.mark.parametrize("layout", LAYOUTS)
@given(
    fitted=ROWS, rows=ROWS, options=OPTIONS, dtype=st.sampled_from(DTYPES), size=st.integers(1, 5)
)
@examples(0.5)
@example(
    fitted=[["a", "b"], ["b"]],
    rows=[["b", "a"], [], None, ["z", None]],
    options=Options(handle_unknown="indicator", handle_missing="indicator"),
    dtype="float32",
    size=2,
)
def test_decoded_streams_equal_the_oracle(layout, fitted, rows, options, dtype, size):
    """Decoded streams equal the oracle in each layout for several labels and for any batch size."""
    encoder = fitted_encoder(pa.array(fitted, pa.list_(pa.string())), options, dtype)
    if layout != "columns" and not encoder.schema.n_features:
        return  # lists of length 0 have no rows
    column = pa.array(rows, pa.list_(pa.string()))
    found = decoded_stream(column, encoder, layout, size, **TEXTS)
    assert found.type == column.type
    assert found.to_pylist() == ragged_oracle.decode(rows, fitted, options)


def lists_of(kind, labels=TEXT):
    """Return some rows of lists, with empty and missing ones, as a type."""
    return pa.array([["x", "y"], [], None, ["y", "x", "y"], ["z"]], kind(labels))


def lists_over(labels):
    """Return lists whose elements are an array of five labels."""
    return pa.ListArray.from_arrays(pa.array([0, 2, 2, 5, 5], pa.int32()), labels)


def uuids():
    """Return five UUIDs."""
    stored = [uuid.UUID(int=i % 3).bytes for i in range(5)]
    return pa.ExtensionArray.from_storage(pa.uuid(), pa.array(stored, pa.binary(16)))


LISTS = {
    "list": lambda: lists_of(pa.list_),
    "large list": lambda: lists_of(pa.large_list, pa.large_string()),
    "view": lambda: lists_of(pa.list_view),
    "large view": lambda: lists_of(pa.large_list_view),
    "string views": lambda: lists_of(pa.list_, pa.string_view()),
    "named element": lambda: lists_of(lambda kind: pa.list_(pa.field("element", kind))),
    "bytes": lambda: pa.array([[b"x"], [], None, [b"\xff", b"x"]], pa.list_(pa.binary())),
    "int16": lambda: pa.array([[3, 1], [], None, [2, 3]], pa.list_(pa.int16())),
    "half floats": lambda: lists_over(pa.array(np.array([1, 2, 1, 3, 2], np.float16))),
    "decimals": lambda: pa.array(
        [[decimal.Decimal("1.50")], [], [decimal.Decimal("2.25")]],
        pa.list_(pa.decimal128(5, 2)),
    ),
    "dates": lambda: lists_over(pa.array([1, 2, 1, 3, 2], pa.int32()).cast(pa.date32())),
    "dictionary": lambda: lists_over(pa.array(["x", "y", "x", "z", "y"]).dictionary_encode()),
    "uuid": lambda: lists_over(uuids()),
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("size", [1, 100])
def test_lists_have_the_type_that_fit_saw(name, size):
    """Lists are decoded in the type that `fit` saw, each label once in order, also without rows."""
    column = LISTS[name]()
    encoder = fitted_encoder(column, Options(handle_missing="indicator"), bool)
    found = decoded_stream(column, encoder, "columns", size)
    assert found.type == column.type
    order = list(encoder.categories["g"])
    expected = [
        None if row is None else [label for label in order if label in row]
        for row in column.to_pylist()
    ]
    assert found.to_pylist() == expected
    assert decoded_stream(column.slice(0, 0), encoder, "columns", size).type == column.type


def test_lists_of_a_fixed_size_become_lists_of_any_size():
    """A row has lost equal labels, which no row may decide; runs of labels become plain labels."""
    column = pa.array([[1, 1], None, [2, 1]], pa.list_(pa.int16(), 2))
    encoder = fitted_encoder(column, Options(), bool)
    found = decoded_stream(column, encoder, "columns", 2)
    assert (found.type, found.to_pylist()) == (pa.list_(pa.int16()), [[1], [], [1, 2]])
    runs = lists_over(pa.compute.run_end_encode(pa.array(["x", "x", "y", "y", "x"])))
    encoder = fitted_encoder(runs, Options(), bool)
    found = decoded_stream(runs, encoder, "columns", 2)
    assert (found.type, found.to_pylist()) == (
        pa.list_(pa.string()),
        [["x"], [], ["x", "y"], []],
    )


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
@pytest.mark.parametrize("missing", [None, "none"])
def test_texts_are_joined_again(kind, missing):
    """Decoding joins texts by the separator of `fit`, in their type; a dictionary becomes texts."""
    texts = ["b; a", "", None, "c; c", "a"]
    column = pa.array(texts, kind)
    encoder = fitted_encoder(column, Options(handle_missing="indicator"), bool, sep="; ")
    found = decoded_stream(column, encoder, "columns", 2, missing=missing)
    assert (found.type, found.to_pylist()) == (kind, ["a; b", "", missing, "c", "a"])
    coded = pa.array(texts).dictionary_encode()
    encoder = fitted_encoder(coded, Options(handle_missing="indicator"), bool, sep={"g": "; "})
    found = decoded_stream(coded, encoder, "columns", 2, missing=missing)
    assert (found.type, found.to_pylist()) == (pa.string(), ["a; b", "", missing, "c", "a"])


def test_labels_that_are_no_texts_cannot_be_joined():
    """Null leaves them out. For another value, the error names column, row and argument."""
    column = pa.array(["a|b", "a"])
    encoder = fitted_encoder(column, Options(handle_unknown="indicator"), bool, sep="|")
    rows = pa.array(["a", "b", "a|z"])
    with pytest.raises(ValueError, match=r"row 2: column 'g', row 0: .*unknown="):
        decoded_stream(rows, encoder, "columns", 2, unknown=5)
    assert decoded_stream(rows, encoder, "columns", 2).to_pylist() == ["a", "b", "a"]
    found = decoded_stream(rows, encoder, "columns", 2, unknown="?")
    assert found.to_pylist() == ["a", "b", "a|?"]
    with pytest.raises(TypeError, match="missing must be a str"):
        decoded_stream(rows, encoder, "columns", 2, missing=1)


def test_a_missing_row_has_the_substitute_as_its_label():
    """A substitute replaces missing labels and is the label of a missing row, if its type fits."""
    column = pa.array([["a"], None, ["a", None], []], pa.list_(pa.string()))
    encoder = fitted_encoder(column, Options(handle_missing="indicator"), bool)
    found = decoded_stream(column, encoder, "columns", 2, missing="?")
    assert found.to_pylist() == [["a"], ["?"], ["a", "?"], []]
    with pytest.raises(TypeError, match="missing must be of type string"):
        decoded_stream(column, encoder, "columns", 2, missing=1)


def test_a_substitute_that_is_never_decoded_has_any_type():
    """A row of zeros has no labels, so that it is neither missing nor unknown."""
    column = pa.array([[1], None, []], pa.list_(pa.int8()))
    encoder = fitted_encoder(column, Options(handle_unknown="ignore"), bool)
    found = decoded_stream(column, encoder, "columns", 2, missing="?", unknown="?")
    assert (found.type, found.to_pylist()) == (column.type, [[1], [], []])


def test_other_numbers_than_0_and_1_are_refused():
    """The error names the feature; a null counts as 0, as in other columns."""
    encoder = fitted_encoder(pa.array([["a", "b"]]), Options(), "uint8")
    table = pa.table({"g_a": [1, None], "g_b": [1, 0]})
    assert arrow.decode(table, encoder)["g"].to_pylist() == [["a", "b"], []]
    table = pa.table({"g_a": [1, 0], "g_b": [1, 2]})
    with pytest.raises(ValueError, match="'g', row 1: 'g_b' is 2"):
        arrow.decode(table, encoder)

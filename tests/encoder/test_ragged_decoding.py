"""`inverse_transform`, frames and JSON of columns with several labels, against a slow oracle."""

import datetime
import json
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from onehot_fast import Encoder, Special
from support import ragged_oracle
from support.encoder_oracle import Options
from support.ragged_strategies import KEYWORDS, LABELS, OPTIONS, ROWS, TEXTS
from support.strategies import examples


def fitted_encoder(table, options, **others):
    chosen = {name: getattr(options, name) for name in KEYWORDS}
    encoder = Encoder(["g"], dtype="float32", **chosen, **others)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return encoder.fit(table)


def table_of(kind, rows):
    """Return a table of one column of lists, in the form of a library."""
    if kind == "pandas":
        pd = pytest.importorskip("pandas")
        return pd.DataFrame({"g": pd.Series(rows, dtype=object)})
    if kind == "polars":
        pl = pytest.importorskip("polars")
        return pl.DataFrame({"g": pl.Series(rows, dtype=pl.List(pl.String))})
    if kind == "arrow":
        pa = pytest.importorskip("pyarrow")
        return pa.table({"g": pa.array(rows, pa.list_(pa.string()))})
    return {"g": rows}


def rows_of(kind, table):
    """Return the column of a decoded table as Python lists."""
    column = table["g"]
    return (
        column.tolist()
        if kind in ("dict", "pandas")
        else column.to_list()
        if kind == "polars"
        else column.to_pylist()
    )


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "arrow"])
@given(fitted=ROWS, rows=ROWS, options=OPTIONS)
@examples(0.5)
@example(
    fitted=[["a", "a"], None], rows=[["b", "c", "b"]], options=Options(handle_unknown="ignore")
)
@example(fitted=[["a"]], rows=[None, [], ["a"]], options=Options(handle_missing="propagate"))
@example(fitted=[[]], rows=[["a"], []], options=Options(handle_unknown="ignore"))
def test_decoded_rows_equal_the_oracle(kind, fitted, rows, options):
    """The features and the decoded rows of each library's frame equal those of the oracle."""
    fitted = fitted if any(row is not None for row in fitted) else [[], *fitted]
    encoder = fitted_encoder(table_of(kind, fitted), options)
    encoded = encoder.transform(table_of(kind, rows))

    expected = np.array(ragged_oracle.encode(rows, fitted, options), np.float32)
    matrix = encoder.transform(table_of(kind, rows), "numpy")
    np.testing.assert_array_equal(matrix, expected.reshape(matrix.shape))
    if kind != "dict":
        names = encoder.get_feature_names_out().tolist()
        columns = [np.asarray(encoded[name], np.float32) for name in names]
        np.testing.assert_array_equal(np.array(columns).reshape(matrix.T.shape), matrix.T)

    decoded = encoder.inverse_transform(encoded, **TEXTS)
    assert rows_of(kind, decoded) == ragged_oracle.decode(rows, fitted, options)


@pytest.mark.parametrize("form", ["csr", "csc", "csr_matrix"])
@given(rows=ROWS, options=OPTIONS)
@examples(0.3)
def test_sparse_matrices_are_decoded_as_dense_ones(form, rows, options):
    pytest.importorskip("scipy")
    encoder = fitted_encoder({"g": [[], *rows]}, options)
    table = {"g": rows}
    dense = encoder.inverse_transform(encoder.transform(table, "numpy"))["g"]
    sparse = encoder.inverse_transform(encoder.transform(table, form))["g"]
    assert sparse.tolist() == dense.tolist()


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "arrow"])
@given(rows=st.lists(st.none() | st.lists(st.sampled_from(LABELS), max_size=3), min_size=1))
@examples(0.5)
@pytest.mark.filterwarnings("ignore:no text of column")
def test_texts_are_joined_again(kind, rows):
    """Decoding joins the sorted labels of a text, each of them once, by the separator of `fit`."""
    texts = [None if row is None else "; ".join(row) for row in rows]
    assume(any(text is not None for text in texts))
    encoder = Encoder(["g"], sep="; ", handle_missing="indicator").fit({"g": texts})
    table = {"g": texts} if kind == "dict" else _text_table(kind, texts)
    decoded = rows_of(kind, encoder.inverse_transform(encoder.transform(table)))
    expected = [None if row is None else "; ".join(sorted({*row})) for row in rows]
    assert [None if text != text else text for text in decoded] == expected


def _text_table(kind, texts):
    if kind == "pandas":
        return pytest.importorskip("pandas").DataFrame({"g": texts}, dtype=object)
    if kind == "polars":
        pl = pytest.importorskip("polars")
        return pl.DataFrame({"g": pl.Series(texts, dtype=pl.String)})
    pa = pytest.importorskip("pyarrow")
    return pa.table({"g": pa.array(texts, pa.string())})


def test_labels_that_are_no_texts_cannot_be_joined():
    """The error names the argument that gives a text; None leaves such labels out."""
    encoder = Encoder(["g"], sep="|", handle_unknown="indicator").fit({"g": ["a|b"]})
    encoded = encoder.transform({"g": ["a|z"]})
    with pytest.raises(ValueError, match=r"'g', row 0: Special.UNKNOWN .* unknown="):
        encoder.inverse_transform(encoded)
    assert encoder.inverse_transform(encoded, unknown="?")["g"].tolist() == ["a|?"]
    assert encoder.inverse_transform(encoded, unknown=None)["g"].tolist() == ["a"]


def test_special_labels_are_elements():
    encoder = Encoder(
        ["g"], min_frequency=2, handle_unknown="indicator", handle_missing="indicator"
    ).fit({"g": [["a", "b"], ["a"]]})
    encoded = encoder.transform({"g": [["a", "b", "z", None], None, [None], []]})
    expected = [["a", Special.INFREQUENT, Special.UNKNOWN, None], None, None, []]
    assert encoder.inverse_transform(encoded)["g"].tolist() == expected
    decoded = encoder.inverse_transform(encoded, missing="-")["g"].tolist()
    assert decoded[1:] == [["-"], ["-"], []]
    assert decoded[0][3] == "-"


@pytest.mark.parametrize("value", [0.5, 2, -1, np.nan])
def test_a_value_that_is_neither_0_nor_1_is_named(value):
    """A value other than 0 and 1 in a dense or sparse matrix is an error that names its place."""
    encoder = Encoder(["g"], dtype="float64").fit({"g": [["a", "b"]]})
    encoded = np.array([[1.0, 0.0], [1.0, value]])
    with pytest.raises(ValueError, match=r"'g', row 1: 'g_b' is .*expected 0 or 1"):
        encoder.inverse_transform(encoded)
    scipy = pytest.importorskip("scipy.sparse")
    with pytest.raises(ValueError, match=r"'g', row 1: 'g_b' is .*expected 0 or 1"):
        encoder.inverse_transform(scipy.csr_array(encoded))


def _arrow_types():
    pa = pytest.importorskip("pyarrow")
    labels = [
        pa.int8(), pa.uint64(), pa.float32(), pa.string(), pa.large_string(), pa.binary(),
        pa.date32(), pa.timestamp("ns", "Europe/Berlin"), pa.decimal128(9, 2),
        pa.dictionary(pa.int8(), pa.string()), pa.bool_(),
    ]  # fmt: skip
    kinds = [make(label) for make in (pa.list_, pa.large_list) for label in labels]
    if hasattr(pa, "ListViewArray"):
        kinds += [pa.list_view(pa.string()), pa.large_list_view(pa.int16())]
    return kinds


def test_lists_of_arrow_come_back_in_their_type():
    """Lists of Arrow come back in their type, by an encoder from JSON or in a pandas frame."""
    pa = pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    for kind in _arrow_types():
        label = kind.value_type.value_type if "dictionary" in str(kind) else kind.value_type
        values = (
            pa.array([0, 1], pa.int64()).cast(label) if _casts(pa, label) else _values(pa, label)
        )
        items = values.to_pylist()
        rows = pa.array([items, [], None, items[:1]], kind)
        table = pa.table({"g": rows})
        encoder = Encoder(["g"], handle_missing="indicator").fit(table)
        encoder = Encoder.from_json(encoder.to_json())
        decoded = encoder.inverse_transform(encoder.transform(table))
        assert decoded.schema == table.schema, kind
        assert decoded["g"].to_pylist() == table["g"].to_pylist(), kind
        if "view" in str(kind):
            continue
        frame = pd.DataFrame({"g": pd.Series(rows, dtype=pd.ArrowDtype(kind))})
        encoder = Encoder(["g"], handle_missing="indicator").fit(frame)
        decoded = encoder.inverse_transform(encoder.transform(frame))
        assert decoded.dtypes.tolist() == frame.dtypes.tolist(), kind


def _casts(pa, label):
    return pa.types.is_integer(label) or pa.types.is_floating(label) or pa.types.is_boolean(label)


def _values(pa, label):
    moment = datetime.datetime(2024, 2, 29, tzinfo=datetime.UTC)
    by_type = {
        "date32[day]": [moment.date()], "binary": [b"\x00", b"a"], "decimal128(9, 2)": [1, 2],
    }  # fmt: skip
    if pa.types.is_timestamp(label):
        return pa.array([moment], label)
    return pa.array(by_type.get(str(label), ["a", "b"]), label)


def has_enums_in_lists(pl):
    """Tell whether the installed polars is newer than 1.20, which panics at such a frame."""
    return tuple(map(int, pl.__version__.split(".")[:2])) > (1, 20)


def test_lists_of_polars_come_back_in_their_type():
    """Arrays become lists, because rows lose equal labels."""
    pl = pytest.importorskip("polars")
    zoned = pl.Datetime("ns", "Asia/Kolkata")
    for inner, values in [
        (pl.Int8, [1, 2]), (pl.String, ["a", "b"]), (pl.Categorical, ["a", "b"]),
        (pl.Enum(["b", "a"]), ["b", "a"]), (pl.Date, [datetime.date(2024, 1, 1)]),
        (zoned, [datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)]), (pl.Float32, [0.5]),
    ]:  # fmt: skip
        if isinstance(inner, pl.Enum) and not has_enums_in_lists(pl):
            continue
        rows = pl.Series("g", [values, [], None, values[:1]], pl.List(inner))
        encoder = Encoder(["g"], handle_missing="indicator").fit(rows.to_frame())
        encoder = Encoder.from_json(encoder.to_json())
        decoded = encoder.inverse_transform(encoder.transform(rows.to_frame()))
        assert decoded.dtypes == [pl.List(inner)]
        assert decoded["g"].to_list() == rows.to_list()
    whole = pl.DataFrame({"g": pl.Series([["b", "a"], None], dtype=pl.Array(pl.String, 2))})
    encoder = Encoder(["g"], handle_missing="indicator").fit(whole)
    decoded = encoder.inverse_transform(encoder.transform(whole))
    assert decoded.schema == whole.schema
    assert decoded["g"].to_list() == [["a", "b"], None]
    array = pl.DataFrame({"g": pl.Series([["a", "a"], ["b", "a"]], dtype=pl.Array(pl.String, 2))})
    encoder = Encoder(["g"]).fit(array)
    assert encoder.inverse_transform(encoder.transform(array))["g"].to_list() == [["a"], ["a", "b"]]


def test_lists_of_an_extension_type_of_polars_come_back():
    """Lists of a polars extension type come back in it, also a single empty or missing row."""
    pl = pytest.importorskip("polars")
    if not hasattr(pl, "BaseExtension"):
        pytest.skip("polars has no extension types")

    class Label(pl.BaseExtension):
        def __init__(self):
            super().__init__("tests.label", pl.String, None)

    pl.register_extension_type("tests.label", Label)
    try:
        whole = pl.Series("g", [["b", "a"], [], None]).cast(pl.List(Label())).to_frame()
        encoder = Encoder(["g"], handle_missing="indicator").fit(whole)
        for rows in (whole, whole[:1], whole[1:2], whole[2:]):
            decoded = encoder.inverse_transform(encoder.transform(rows))
            assert decoded.schema == rows.schema
            expected = [row and sorted(row) for row in rows["g"].to_list()]
            assert decoded["g"].to_list() == expected
    finally:
        pl.unregister_extension_type("tests.label")


@given(rows=ROWS, options=OPTIONS, sep=st.none() | st.sampled_from(["|", ", "]))
@examples(0.5)
def test_json_and_pickle_keep_everything(rows, options, sep):
    """A saved encoder encodes and decodes as the original, and is written in the same way."""
    if sep is None:
        table = {"g": [[], *rows]}
    else:
        table = {"g": ["a" + sep, *(r if r is None else sep.join(filter(None, r)) for r in rows)]}
    encoder = fitted_encoder(table, options, sep=sep)
    for saved in (Encoder.from_json(encoder.to_json()), pickle.loads(pickle.dumps(encoder))):
        assert saved.to_json() == encoder.to_json()
        encoded = encoder.transform(table, "numpy")
        np.testing.assert_array_equal(saved.transform(table, "numpy"), encoded)
        decoded = saved.inverse_transform(encoded, **TEXTS)["g"].tolist()
        assert decoded == encoder.inverse_transform(encoded, **TEXTS)["g"].tolist()


def test_older_documents_have_no_labels():
    """They are read, and a document that is damaged names the part."""
    encoder = Encoder(["g"]).fit({"g": ["a", "b"]})
    document = json.loads(encoder.to_json())
    assert "labels" not in document["fitted"]["columns"][0]
    document["version"] = 3
    assert Encoder.from_json(json.dumps(document)).transform({"g": ["b"]}).tolist() == [[0, 1]]
    document["fitted"]["columns"][0]["labels"] = "trees"
    with pytest.raises(ValueError, match=r"'g'.*'labels' must be one of"):
        Encoder.from_json(json.dumps(document))


def test_parts_of_lists_and_of_texts_are_decoded_to_lists():
    lists = Encoder(["g"], sep="|").fit({"g": [["a"], ["b"]]})
    texts = Encoder(["g"], sep="|").fit({"g": ["b|c"]})
    merged = lists.merge(texts)
    encoded = merged.transform({"g": ["a|c"]})
    assert merged.inverse_transform(encoded)["g"].tolist() == [["a", "c"]]


def test_parts_without_a_value_decide_nothing():
    """Neither whether a row has several labels, nor whether these are parts of texts."""
    empty = Encoder(["g"], sep="|").partial_fit({"g": [None]})
    numbers = empty.merge(Encoder(["g"], sep="|").partial_fit({"g": [1, 2]}))
    assert numbers.inverse_transform(numbers.transform({"g": [2]}))["g"].tolist() == [2]
    lists = empty.merge(Encoder(["g"], sep="|").partial_fit({"g": [["a|b"]]}))
    assert lists.inverse_transform(lists.transform({"g": [["a|b"]]}))["g"].tolist() == [["a|b"]]
    of_no_labels = Encoder(["g"]).partial_fit({"g": [[]]}).partial_fit({"g": [[], []]})
    encoded = np.zeros((1, 0), bool)
    assert of_no_labels.inverse_transform(encoded)["g"].tolist() == [[]]


def test_two_entries_of_one_cell_are_added_and_rejected():
    scipy = pytest.importorskip("scipy.sparse")
    encoder = Encoder(["g"]).fit({"g": [["a"]]})
    encoded = scipy.csr_array(([1, 1], [0, 0], [0, 2]), shape=(1, 1))
    with pytest.raises(ValueError, match=r"'g', row 0: 'g_a' is 2, expected 0 or 1"):
        encoder.inverse_transform(encoded)


@pytest.mark.parametrize("rows", [[{"b", "a"}, {"b"}], [np.array(["b", "a"]), np.array(["b"])]])
def test_sets_and_arrays_are_decoded_to_lists(rows):
    """Sets and arrays of labels are decoded to lists in the order of the categories.

    A set has no order, and an array would have objects.
    """
    pd = pytest.importorskip("pandas")
    for table in ({"g": rows}, pd.DataFrame({"g": pd.Series(rows, dtype=object)})):
        encoder = Encoder(["g"]).fit(table)
        decoded = encoder.inverse_transform(encoder.transform(table))["g"]
        assert decoded.dtype == object
        assert decoded.tolist() == [["a", "b"], ["b"]]


@pytest.mark.parametrize("kind", ["arrow", "polars"])
@pytest.mark.parametrize("rows", [[["z"]], ["z"]], ids=["lists", "values"])
def test_special_labels_need_a_substitute(kind, rows):
    """Decoding unknown values to Arrow or polars needs a substitute, and the error says so."""
    module = pytest.importorskip("pyarrow" if kind == "arrow" else kind)
    make = module.table if kind == "arrow" else module.DataFrame
    encoder = Encoder(["g"], handle_unknown="indicator")
    encoded = encoder.fit(make({"g": [["a"]] if rows == [["z"]] else ["a"]})).transform(
        make({"g": rows})
    )
    with pytest.raises(TypeError, match=r"'g' .*Special.UNKNOWN.* unknown="):
        encoder.inverse_transform(encoded)
    assert rows_of(kind, encoder.inverse_transform(encoded, unknown="?")) == (
        [["?"]] if rows == [["z"]] else ["?"]
    )


def test_polars_lists_hold_one_type():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"g": [["a"]]})
    encoder = Encoder(["g"], handle_unknown="indicator").fit(frame)
    encoded = encoder.transform(pl.DataFrame({"g": [["a", "z"]]}))
    with pytest.raises(TypeError, match=r"'g' would have lists of values of several .* unknown="):
        encoder.inverse_transform(encoded, unknown=-1)


def test_arrow_lists_never_parse_a_substitute():
    """The text "5" is no number: the lists then have texts, or the values are rejected."""
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"g": pa.array([[1], [2]], pa.list_(pa.int8()))})
    encoder = Encoder(["g"], handle_unknown="indicator").fit(table)
    encoded = encoder.transform(pa.table({"g": [[7]]}))
    decoded = encoder.inverse_transform(encoded, unknown="5")
    assert decoded["g"].to_pylist() == [["5"]]


@pytest.mark.parametrize("dtype", ["?", "u1", "f4", "f8", "c8", "c16", object])
@pytest.mark.parametrize("layout", ["C", "F", "strided"])
def test_matrices_of_all_dtypes_and_layouts_are_decoded(dtype, layout):
    """Matrices of every dtype and layout are decoded, with -0.0 as a zero, beside other columns."""
    rows = [["a", "c"], [], ["b"], ["c", "a", "b"]] * 5
    encoder = Encoder(["p", "g", "q"]).fit({"p": list("xyxy") * 5, "g": rows, "q": ["z"] * 20})
    encoded = encoder.transform({"p": list("xyxy") * 5, "g": rows, "q": ["z"] * 20}, "numpy")
    encoded = np.array(encoded.astype(dtype), order="F" if layout == "F" else "C")
    if encoded.dtype.kind == "f":
        encoded[encoded == 0] = -0.0
        encoded[:8] = abs(encoded[:8])
    if layout == "strided":
        encoded = np.repeat(encoded, 2, axis=1)[:, ::2]
    decoded = encoder.inverse_transform(encoded)
    assert decoded["g"].tolist() == [sorted(row) for row in rows]
    assert decoded["p"].tolist() == list("xyxy") * 5

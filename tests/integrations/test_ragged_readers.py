"""Every library's columns of lists, and of texts with a separator, as columns of an `Encoder`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

from onehot_fast import Encoder  # noqa: E402  after the skips above
from support import ragged_oracle as oracle  # noqa: E402
from support.arrow_strategies import can  # noqa: E402
from support.encoder_oracle import Options  # noqa: E402
from support.strategies import examples  # noqa: E402

TEXTS = pa.string()
ARROW = {
    "list": pa.list_(TEXTS),
    "large": pa.large_list(pa.large_string()),
    "view": pa.list_view(TEXTS),
    "large view": pa.large_list_view(pa.string_view()),
    "dictionary": pa.list_(pa.dictionary(pa.int8(), TEXTS)),
    "fixed size": pa.list_(TEXTS, 2),
}
ENUM = pl.Enum(["a", "b", "c"])
POLARS = {
    "list": pl.List(pl.String),
    "categorical": pl.List(pl.Categorical),
    "enum": pl.List(ENUM),
    "array": pl.Array(pl.String, 2),
}
PANDAS = {"object": object, **{name: pd.ArrowDtype(kind) for name, kind in ARROW.items()}}
SEPARATED = {
    "arrow": [TEXTS, pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), TEXTS)],
    "polars": [pl.String, pl.Categorical],
    "pandas": [object, "str", "string[python]", pd.ArrowDtype(TEXTS), "category"],
    "numpy": [object],
}


def arrow_column(rows, kind, start, cut):
    whole = pa.array(rows, kind).slice(start)
    return pa.chunked_array([whole.slice(0, cut), whole.slice(cut), whole.slice(0, 0)], kind)


def polars_column(rows, kind, start, cut):
    whole = pl.Series("g", rows, kind)[start:]
    return pl.concat([whole[:cut], whole[cut:]], rechunk=False)


def pandas_column(rows, kind, start, cut):
    whole = pd.Series(rows, dtype=kind).iloc[start:]
    return pd.concat([whole.iloc[:cut], whole.iloc[cut:]])


MAKERS = {
    **{("arrow", name): (arrow_column, kind) for name, kind in ARROW.items()},
    **{("polars", name): (polars_column, kind) for name, kind in POLARS.items()},
    **{("pandas", name): (pandas_column, kind) for name, kind in PANDAS.items()},
}


def table_of(column):
    """Return a table of the library with the only column "g", and a mapping with the column."""
    if isinstance(column, pa.ChunkedArray):
        return [pa.table({"g": column}), {"g": column}]
    if isinstance(column, pl.Series):
        return [column.to_frame("g"), {"g": column}]
    return [column.to_frame("g"), {"g": column}]


@pytest.mark.parametrize("source", MAKERS, ids="-".join)
@given(
    rows=st.lists(
        st.none() | st.lists(st.sampled_from(["a", "b", "c", None]), max_size=4), max_size=10
    ),
    start=st.integers(0, 3),
    cut=st.integers(0, 4),
)
@examples(0.3)
def test_lists_are_columns(source, rows, start, cut):
    """Sliced, chunked, with nulls in and beside lists, and without any label."""
    make, kind = MAKERS[source]
    if "view" in source[1] and not can(lambda: pa.array([["a"]], ARROW[source[1]]).flatten()):
        pytest.skip("this pyarrow cannot read list views")
    rows = [["a", "b"], ["c", None], *rows]
    if source[1] in ("fixed size", "array"):
        rows = [row if row is None else [*row, None, None][:2] for row in rows]
    options = Options(handle_missing="indicator", handle_unknown="ignore")
    fitted = [["a", "b", "c"], [None, None]]
    encoder = Encoder(["g"], handle_missing="indicator", handle_unknown="ignore", dtype=float)
    encoder.fit({"g": fitted})
    column = make(rows, kind, start, cut)
    expected = np.array(oracle.encode(rows[start:], fitted, options)).reshape(-1, 4)

    for table in table_of(column):
        np.testing.assert_array_equal(encoder.transform(table, "numpy"), expected)
        own = Encoder(["g"], handle_missing="indicator", dtype=float).fit(table)
        known = [label for label in own.categories["g"].tolist()]
        counts = [sum(label in oracle.labels_of(row) for row in rows[start:]) for label in known]
        assert own.features["count"].tolist()[:-1] == counts
        assert known == ["a", "b", "c"] or kind is not POLARS["enum"]


@pytest.mark.parametrize(
    ("library", "kind"),
    [(library, kind) for library, kinds in SEPARATED.items() for kind in kinds],
    ids=str,
)
@given(
    rows=st.lists(st.none() | st.lists(st.sampled_from(["", "a", "b", "é€"]), max_size=3)),
    cut=st.integers(0, 4),
)
@examples(0.3)
def test_texts_are_columns(library, kind, rows, cut):
    """Empty labels are skipped, and an empty text is a row without labels."""
    rows = [["a", "b"], ["é€", "é€"], *rows]
    texts = [None if row is None else "||".join(row) for row in rows]
    if library == "numpy":
        tables = [{"g": texts}, {"g": np.array(texts, object)}]
    else:
        make = {"arrow": arrow_column, "polars": polars_column, "pandas": pandas_column}[library]
        tables = table_of(make(texts, kind, 0, cut))
    labels = [row if row is None else [label for label in row if label] for row in rows]
    options = Options(handle_missing="indicator")
    expected = oracle.encode(labels, labels, options)

    for table in tables:
        encoder = Encoder(["g"], handle_missing="indicator", sep={"g": "||"}, dtype=float)
        encoded = encoder.fit(table).transform(table, "numpy")
        assert encoded.tolist() == expected
        assert encoder.get_feature_names_out().tolist() == ["g_a", "g_b", "g_é€", "g_(missing)"]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_labels_of_other_types(make):
    """Integers, also with nulls, are labels."""
    table = make({"g": [[3, -1], None, [3, 3]]})
    encoder = Encoder(["g"], dtype=int).fit(table)

    assert encoder.get_feature_names_out().tolist() == ["g_-1", "g_3"]
    assert encoder.transform(table, "numpy").tolist() == [[1, 1], [0, 0], [0, 1]]


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("label", [["a"], {"x": 1}], ids=["list", "struct"])
def test_a_label_is_neither_a_list_nor_a_struct(make, label):
    """The error says how to flatten the rows."""
    with pytest.raises(TypeError, match=r"column 'g': .*label.* must be a single value.*flatten"):
        Encoder(["g"]).fit(make({"g": [[label], [label]]}))


def test_the_flattening_of_polars_gives_single_values():
    """The expressions of the errors are correct."""
    for column, flat in (([[["a"], ["b"]], [["b"]]], [[1, 1], [0, 1]]), ([[{"x": 1}]], [[1]])):
        frame = pl.DataFrame({"g": column})
        with pytest.raises(TypeError) as caught:
            Encoder(["g"]).fit(frame)
        expression = eval(str(caught.value).rpartition("e.g. ")[2], {"pl": pl})
        frame = frame.select(expression)
        assert Encoder(["g"], dtype=int).fit_transform(frame).rows() == [*map(tuple, flat)]


def test_objects_of_polars_that_are_lists():
    """The remedy of the error gives a column of lists."""
    series = pl.Series("g", [["a", "b"], ["b"]], dtype=pl.Object)
    with pytest.raises(TypeError, match=r"column 'g': .*dtype Object.*lists") as caught:
        Encoder(["g"]).fit(series.to_frame())
    remedy = eval(str(caught.value).rpartition("e.g. ")[2], {"pl": pl, "series": series})
    assert Encoder(["g"]).fit(remedy.to_frame()).schema.names == ("g_a", "g_b")


@pytest.mark.skipif(not hasattr(pa, "FixedShapeTensorArray"), reason="pyarrow has no tensors")
def test_tensors_are_no_labels():
    """Their type could not hold the labels of a row, which are distinct; lists can."""
    column = pa.FixedShapeTensorArray.from_numpy_ndarray(np.array([[2, 1], [2, 2]]))
    with pytest.raises(TypeError, match=r"column 'g': .*tensor.*to_pylist"):
        Encoder(["g"]).fit(pa.table({"g": column}))
    table = pa.table({"g": pa.array(column.to_pylist())})
    assert Encoder(["g"]).fit(table).schema.names == ("g_1", "g_2")


@pytest.mark.skipif(not hasattr(pa, "uuid"), reason="pyarrow has no type of UUIDs")
def test_lists_of_extension_types_come_back():
    """UUIDs and documents of JSON are labels, in their type."""
    raw = pa.array([bytes(range(16)), bytes(16)], pa.binary(16))
    kinds = [pa.ExtensionArray.from_storage(pa.uuid(), raw)]
    if hasattr(pa, "json_"):
        kinds.append(pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"a": 1}', "2"])))
    for labels in kinds:
        table = pa.table({"g": pa.ListArray.from_arrays([0, 1, 2], labels)})
        encoder = Encoder(["g"]).fit(table)
        assert encoder.transform(table, "numpy").sum(axis=1).tolist() == [1, 1]
        assert encoder.inverse_transform(encoder.transform(table)) == table


def test_runs_of_labels_are_labels():
    """Pyarrow calls the type of runs nested."""
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["a", "b"]))
    table = pa.table({"g": pa.ListArray.from_arrays([0, 1, 3], runs)})
    assert Encoder(["g"], dtype=int).fit_transform(table, output="numpy").tolist() == [
        [1, 0],
        [1, 1],
    ]


CATEGORICALS = {
    "pandas": lambda texts: pd.DataFrame({"g": pd.Categorical(texts)}),
    "categorical": lambda texts: pl.DataFrame({"g": pl.Series(texts, dtype=pl.Categorical)}),
    "enum": lambda texts: pl.DataFrame({"g": pl.Series(texts, dtype=pl.Enum(["b", "q|z", "a|b"]))}),
    "arrow": lambda texts: pa.table({"g": pa.array(texts).dictionary_encode()}),
}


@pytest.mark.parametrize("library", CATEGORICALS)
@pytest.mark.parametrize("sep", ["|", {"g": "|"}], ids=["all", "named"])
def test_categoricals_of_texts_are_texts(library, sep):
    """Their categories are split, and labels that no row has are no labels."""
    texts = ["a|b", None, "b", "a|b"]
    table = CATEGORICALS[library](texts)
    encoder = Encoder(["g"], sep=sep, handle_missing="indicator", dtype=int).fit(table)
    assert encoder.get_feature_names_out().tolist() == ["g_a", "g_b", "g_(missing)"]
    encoded = encoder.transform(table, "numpy")
    assert encoded.tolist() == [[1, 1, 0], [0, 0, 1], [0, 1, 0], [1, 1, 0]]
    decoded = encoder.inverse_transform(encoder.transform(table))["g"]
    decoded = decoded.to_pylist() if library == "arrow" else [*decoded]
    assert [None if text != text else text for text in decoded] == texts


def test_categoricals_of_numbers_are_never_split():
    """One separator splits no Categorical of numbers, and a mapping that names it is an error."""
    table = pd.DataFrame({"g": pd.Categorical([12, 10])})
    assert Encoder(["g"], sep="1").fit(table).schema.names == ("g_10", "g_12")
    with pytest.raises(TypeError, match=r"column 'g'.*sep"):
        Encoder(["g"], sep={"g": "1"}).fit(table)


def test_the_missing_values_of_pandas_are_missing_rows_and_labels():
    column = pd.Series([["a", pd.NA], pd.NA, ["b", None]], dtype=object)

    encoder = Encoder(["g"], handle_missing="indicator", dtype=int).fit({"g": column})

    assert encoder.get_feature_names_out().tolist() == ["g_a", "g_b", "g_(missing)"]
    assert encoder.transform({"g": column}).tolist() == [[1, 0, 1], [0, 0, 1], [0, 1, 1]]


def test_scalars_of_arrow_are_single_values():
    """Unless they are lists."""
    texts, lists = pa.array(["a", "b", None]), pa.array([["a", "b"], None, ["b"]])

    assert Encoder(["g"], dtype=int).fit_transform({"g": [*texts]}).tolist() == [
        [1, 0],
        [0, 1],
        [0, 0],
    ]
    assert Encoder(["g"], dtype=int).fit_transform({"g": [*lists]}).tolist() == [
        [1, 1],
        [0, 0],
        [0, 1],
    ]


def test_an_enum_in_a_list_declares_the_labels():
    """An Enum in a list declares its labels in its order, with those that no row has."""
    column = pl.Series("g", [["c"], None], pl.List(pl.Enum(["c", "a", "b"])))

    encoder = Encoder(["g"]).fit(column.to_frame())

    assert encoder.categories["g"].tolist() == ["c", "a", "b"]


@pytest.mark.parametrize("output", ["codes", "indices", "category", "implicit"])
def test_a_code_has_no_place_for_several_labels(output):
    table = pd.DataFrame({"g": [["a"]]})

    with pytest.raises(ValueError, match=r"column 'g' has several labels.*output='csr'"):
        Encoder(["g"]).fit(table).transform(table, output)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("method", ["__call__", "to_numpy", "to_csr", "to_arrow"])
def test_a_series_has_one_value_in_a_row(library, method):
    """A separator is refused with what splits texts, never ignored."""
    module = pytest.importorskip(library)
    pytest.importorskip(f"onehot_fast.integrations.{library}")
    if method == "to_arrow":
        pytest.importorskip("pyarrow")
    encode = getattr(module.Series(["a|b", "b"]).onehot, method)
    with pytest.raises(TypeError, match=r"'sep' is not an option .*multi_hot\(sep\)"):
        encode(sep="|")


@pytest.mark.parametrize("output", [None, "pandas", "polars", "arrow"])
def test_a_frame_has_a_column_for_each_label(output):
    table = pd.DataFrame({"g": [["a"], ["b", "a"]], "n": [1, 2]})

    encoded = Encoder().fit(table).transform(table, output)

    assert [*map(str, np.array(encoded["g_a"]))] == ["True", "True"]
    assert [*map(str, np.array(encoded["g_b"]))] == ["False", "True"]
    assert list(encoded["n"].to_numpy()) == [1, 2]

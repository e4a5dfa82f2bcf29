"""Columns with several labels in a row: lists, and texts with a separator.

Every format is compared with a slow oracle, on rows that are empty, missing, full of duplicates,
and whose labels are unknown.
"""

import decimal
import pickle
import re
import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from onehot_fast import Encoder
from support import ragged_oracle as oracle
from support.encoder_oracle import UNKNOWN_RULES, Options
from support.strategies import examples

LABELS = ["a", "b", "c", "d", "é€"]
ROWS = st.lists(
    st.none() | st.lists(st.sampled_from([*LABELS, None]), max_size=5), min_size=1, max_size=12
)
NUMBERS = st.lists(
    st.none() | st.lists(st.sampled_from([3, 1, 2.5, 1.0, True, None]), max_size=4), max_size=8
)
OPTIONS = st.builds(
    Options,
    categories=st.none() | st.permutations(LABELS).map(lambda names: list(names)[:3]),
    handle_missing=st.sampled_from(["ignore", "indicator", "error", "propagate"]),
    handle_unknown=st.sampled_from(UNKNOWN_RULES),
    min_frequency=st.none() | st.integers(1, 3) | st.sampled_from([0.25, 0.5]),
    max_categories=st.none() | st.integers(1, 3),
)
KEYWORDS = ("categories", "handle_missing", "handle_unknown", "min_frequency", "max_categories")


def encoder_of(options, **others):
    """Return an encoder with the options of the oracle for the column "g"."""
    chosen = {name: getattr(options, name) for name in KEYWORDS}
    if chosen["categories"] is None:
        del chosen["categories"]
    return Encoder(["g"], dtype="float32", **chosen, **others)


def dense(result):
    return result.toarray() if hasattr(result, "toarray") else np.asarray(result)


def separated(rows):
    """Return lists as texts; a text cannot have a missing label."""
    return [None if row is None else "|".join(filter(None, row)) for row in rows]


def without_missing(rows):
    return [row if row is None else [label for label in row if label] for row in rows]


@pytest.mark.parametrize("form", ["numpy", "csr", "csr_matrix", "csc"])
@pytest.mark.parametrize("kind", ["lists", "texts"])
@given(fitted=ROWS, rows=ROWS, options=OPTIONS)
@examples(0.5)
@example(
    fitted=[["a", "a"], None], rows=[["b", "c", "b"]], options=Options(handle_unknown="ignore")
)
@example(fitted=[[]], rows=[["a"], []], options=Options(handle_unknown="indicator"))
@example(fitted=[None], rows=[None, []], options=Options(handle_missing="indicator"))
def test_every_matrix_equals_the_oracle(form, kind, fitted, rows, options):
    """A matrix of any form equals the oracle's, and a value that the oracle refuses is an error."""
    if form != "numpy":
        pytest.importorskip("scipy")
    column = list
    encoder = encoder_of(options)
    fitted = fitted if any(row is not None for row in fitted) else [[], *fitted]
    if kind == "texts":
        fitted, rows = without_missing(fitted), without_missing(rows)
        column, encoder = separated, encoder_of(options, sep="|")
    known = options.categories is not None
    is_refused = (known or options.handle_missing == "error") and (
        oracle.refused_row(fitted, fitted, options) is not None
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if is_refused:
            with pytest.raises(ValueError, match="column 'g', row"):
                encoder.fit({"g": column(fitted)})
            return
        encoder.fit({"g": column(fitted)})
    refused = oracle.refused_row(rows, fitted, options)
    if refused is not None:
        with pytest.raises(ValueError, match=f"column 'g', row {refused}:"):
            encoder.transform({"g": column(rows)}, form)
        return

    encoded = dense(encoder.transform({"g": column(rows)}, form))

    assert encoder.get_feature_names_out().tolist() == [
        f"g_{label}" for label in oracle.labels(fitted, options)
    ]
    expected = np.array(oracle.encode(rows, fitted, options), np.float32)
    np.testing.assert_array_equal(encoded, expected.reshape(encoded.shape))


@pytest.mark.parametrize("form", ["numpy", "csr", "csc"])
@given(rows=ROWS, data=st.data())
@examples(0.5)
def test_columns_of_all_kinds_share_a_matrix(form, rows, data):
    """Plain, ragged and numeric columns are in the order of fit, and nothing overlaps."""
    if form != "numpy":
        pytest.importorskip("scipy")
    n = len(rows)
    plain = data.draw(st.lists(st.sampled_from(["x", "y", None]), min_size=n, max_size=n))
    others = data.draw(
        st.lists(st.none() | st.lists(st.sampled_from("pq")), min_size=n, max_size=n)
    )
    columns = {"a": plain, "b": rows, "n": np.arange(1.0, n + 1), "c": plain, "d": others}
    names = data.draw(st.permutations(list(columns)))
    table = {name: columns[name] for name in names}
    options = Options(handle_missing="propagate")

    encoder = Encoder(["a", "b", "c", "d"], dtype=float, handle_missing="propagate").fit(table)
    encoded = dense(encoder.transform(table, form))

    as_rows = {
        name: [[v] for v in columns[name]] if name in "ac" else columns[name] for name in "abcd"
    }
    expected = [
        np.arange(1.0, n + 1)[:, None]
        if name == "n"
        else np.array(oracle.encode(as_rows[name], as_rows[name], options)).reshape(n, -1)
        for name in names
    ]
    np.testing.assert_array_equal(encoded, np.hstack(expected))


@given(rows=NUMBERS)
def test_equal_labels_of_several_types_are_one(rows):
    """A row that has 1, 1.0 and True has one label, and counts once."""
    encoder = Encoder(["g"]).fit({"g": [["text"], *rows]})
    own = [{label for label in row or [] if label is not None} for row in rows]

    assert {*encoder.categories["g"].tolist()} == {"text"}.union(*own)
    counts = dict(zip(encoder.features["category"], encoder.features["count"], strict=True))
    assert counts == {label: sum(label in row for row in own) or 1 for label in counts}


@given(rows=ROWS, cut=st.integers(0, 12), options=OPTIONS.filter(lambda o: o.categories is None))
def test_parts_are_learned_as_the_whole(rows, cut, options):
    """`partial_fit` and `merge` of parts learn what `fit` of the whole learns; pickle keeps it."""
    options.handle_missing = "ignore"
    parts = [{"g": rows[:cut]}, {"g": rows[cut:]}]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = encoder_of(options).fit({"g": rows})
        added = encoder_of(options).partial_fit(parts[0]).partial_fit(parts[1])
        first, second = (encoder_of(options).partial_fit(part) for part in parts)

    assert added == whole == first.merge(second) == pickle.loads(pickle.dumps(whole))


def test_the_kinds_of_rows():
    """Lists, sets and arrays are rows of labels; tuples and frozensets are single values."""
    table = {"g": [["a", "b"], {"b"}, np.array(["c"]), None, float("nan"), []]}

    encoded = Encoder(handle_missing="indicator", dtype=int).fit_transform(table)

    assert encoded.tolist() == [
        [1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0],
    ]  # fmt: skip
    single = Encoder().fit({"g": [("a", "b"), frozenset("c"), ("a", "b")]})
    assert len(single.categories["g"]) == 2


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["a"], ("b",)], r"row 1 .* tuple.*list\(row\)"),
        ([["a"], "b"], r"row 1 .* str: 'b'; pass lists in all rows, e.g. \['b'\].*sep="),
        ([["a"], None, 5], r"row 2 .* int: 5; pass lists in all rows, e.g. \[5\]"),
        ([None, "a", ["b"]], r"row 2 .* list .* row 1 .*'a'; pass lists .*\['a'\].*sep="),
        (["a", {"b"}], r"row 1 .* set .* row 0 .*'a'; pass lists .*\['a'\].*sep="),
        ([1, np.array(["b"])], r"row 1 .* ndarray .* row 0 .* 1; pass lists .*\[1\]"),
        ([("a",), ["b"]], r"row 1 .* list .* row 0 .*\('a',\); pass lists"),
    ],
)
@pytest.mark.parametrize("sep", [None, "|", {"g": "|"}], ids=str)
def test_lists_and_single_values_are_not_mixed(rows, message, sep):
    """The error names both rows, the first single value, and what to pass instead."""
    with pytest.raises(TypeError, match=f"column 'g': .*{message}"):
        Encoder(["g"], sep=sep).fit({"g": rows})


@pytest.mark.parametrize("make", [iter, lambda row: map(str, row), lambda row: (x for x in row)])
@pytest.mark.parametrize("before", [[], [["a"]]], ids=["first", "after a list"])
def test_an_iterator_is_no_row(make, before):
    """It would be a category that no other row can equal."""
    with pytest.raises(TypeError, match=rf"column 'g': .*row {len(before)} .*list\(row\)"):
        Encoder().fit({"g": [*before, make(["a", "b"])]})


@pytest.mark.parametrize("categories", [["a", "b|c"], ["", "a"]], ids=str)
def test_a_declared_label_contains_no_separator(categories):
    """It could equal no label of a text; lists may contain it."""
    rows, options = ["a", "b|c"], {"sep": "|", "categories": {"g": categories}}
    encoder = Encoder(["g"], handle_unknown="ignore", **options)
    wrong = next(label for label in categories if label != "a")
    for work in (encoder.fit, encoder.partial_fit):
        with pytest.raises(
            ValueError, match=rf"column 'g': .*'{re.escape(wrong)}'.*'\|'.*sep=None"
        ):
            work({"g": rows})
    assert encoder.fit({"g": [["a"], categories]}).categories["g"].tolist() == categories


@pytest.mark.parametrize("label", [["b"], {"b": 1}, {"b"}], ids=str)
def test_a_label_is_a_single_value(label):
    """The error names the row, and not the position among all labels."""
    rows = [["a", "a"], None, ["a", label]]
    for work in (Encoder().fit, Encoder().fit({"g": [["a"]]}).transform):
        with pytest.raises(TypeError, match=f"column 'g': row 2: .*{type(label).__name__}"):
            work({"g": rows})


def test_lists_of_numbers_must_be_named():
    table = {"plan": ["x", "y"], "e": [[0.5, 1.0], [2.0, 0.5]]}

    assert Encoder().fit(table).columns == ("plan",)
    assert Encoder(["e"]).fit(table).n_features == 3


def test_one_separator_applies_to_texts():
    """One separator splits only texts; a mapping that names numbers or lists is an error."""
    table = {"t": ["a|b", None], "n": [1, 2], "l": [["x|y"], []]}
    encoder = Encoder(["t", "n", "l"], sep="|").fit(table)

    assert encoder.get_feature_names_out().tolist() == ["t_a", "t_b", "n_1", "n_2", "l_x|y"]
    for name, kind in (("n", TypeError), ("l", ValueError)):
        with pytest.raises(kind, match=f"column '{name}'.*sep"):
            Encoder(["t", "n", "l"], sep={name: "|"}).fit(table)
    with pytest.raises(ValueError, match="sep: the column must be one of"):
        Encoder(["t"], sep={"n": "|"}).fit(table)
    with pytest.raises(ValueError, match="sep must not be empty"):
        Encoder(sep="")


@pytest.mark.parametrize(("text", "warns"), [("a", True), ("a|", False), ("a|b", False)])
def test_a_separator_that_no_text_contains_is_a_warning(text, warns):
    encoder = Encoder(["t"], sep="|")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        encoder.fit({"t": [text, None]})
        Encoder(["t"], sep="|").partial_fit({"t": [text]})  # a part need not contain it
        Encoder(["t"], sep="|").fit({"t": [["a"], ["b"]]})  # lists need none
        Encoder(["t"], sep="|").fit({"t": [None, ""]})

    assert [str(one.message).startswith("no text of column 't'") for one in caught] == [
        True
    ] * warns


def test_drop_has_no_reference_among_labels():
    table = {"p": ["x", "y"], "g": [["a", "b"], ["a"]]}

    encoder = Encoder(drop="first").fit(table)

    assert encoder.get_feature_names_out().tolist() == ["p_y", "g_a", "g_b"]
    with pytest.raises(ValueError, match="drop must not name the column 'g'"):
        Encoder(drop={"g": "first"}).fit(table)
    assert Encoder(drop={"g": None, "p": "first"}).fit(table).n_features == 3


@pytest.mark.parametrize("form", ["codes", "indices", "implicit"])
def test_a_format_of_one_code_names_another(form):
    table = {"g": [["a"]]}
    encoder = Encoder().fit(table)

    with pytest.raises(ValueError, match=f"column 'g'.*output='{form}'.*output='csr'"):
        encoder.transform(table, form)


def test_rows_of_another_kind_than_in_fit():
    """Lists and texts are labels alike; a single value is no list."""
    of_texts = Encoder(sep="|").fit({"g": ["a|b"]})
    of_lists = Encoder().fit({"g": [["a", "b"]]})

    assert of_texts.transform({"g": [["b", "a"]]}).tolist() == [[True, True]]
    with pytest.raises(TypeError, match=r"column 'g': row 1 must be a list.*sep="):
        of_lists.transform({"g": [None, "a"]})
    assert of_lists.transform({"g": [None, None]}).tolist() == [[False] * 2] * 2
    with pytest.raises(ValueError, match=r"column 'g': .*several labels"):
        Encoder().partial_fit({"g": ["a"]}).partial_fit({"g": [["a"]]})


def test_reports_count_rows():
    encoder = Encoder(min_frequency=2, handle_unknown="ignore")
    encoder.fit({"g": [["a", "a"], ["a", "b"], None, ["c"]]})

    report = encoder.check({"g": [["z", "z", "c"], None, ["z", None]]})

    assert encoder.features["count"].tolist() == [2, -1]
    assert encoder.summary()["share"].tolist() == [0.5]
    rows = zip(report["kind"], report["value"], report["count"], strict=True)
    assert [*rows] == [("unknown", "z", 2), ("missing", None, 2), ("infrequent", "c", 1)]


@pytest.mark.parametrize("n_threads", [1, 3])
def test_many_rows_and_threads(n_threads):
    """More rows than a chunk has, a row of many labels, and more features than an int8 has."""
    rng = np.random.default_rng(0)
    rows = [rng.integers(0, 400, n).tolist() for n in rng.integers(0, 6, 20_000)]
    rows[7] = [*range(400)] * 3
    encoder = Encoder(["g"], dtype="uint8").fit({"g": rows})
    expected = np.zeros((len(rows), 400), np.uint8)
    for i, row in enumerate(rows):
        expected[i, row] = 1

    for form in ("numpy", "csr", "csc"):
        encoded = encoder.transform({"g": rows}, form, num_threads=n_threads)
        assert (dense(encoded) == expected).all()


@pytest.mark.parametrize("form", ["numpy", "csr", "csc"])
@pytest.mark.parametrize("sep", [None, "|"])
def test_tables_without_rows_or_labels(form, sep):
    """Rows without labels are zeros in every form, and a column may have no label in `fit`."""
    label = ["a", "b"] if sep is None else "a|b"
    empty = [] if sep is None else ""
    encoder = Encoder(["g"], sep=sep, dtype=int).fit({"g": [label, None]})
    without = Encoder(["g"], sep=sep, handle_unknown="indicator", dtype=int).fit({"g": [empty]})

    for rows in ([], [empty], [None], [empty, None, empty]):
        assert dense(encoder.transform({"g": rows}, form)).tolist() == [[0, 0]] * len(rows)
    assert dense(encoder.transform({"g": [label]}, form)).tolist() == [[1, 1]]
    assert dense(without.transform({"g": [label, empty]}, form)).tolist() == [[1], [0]]
    assert without.get_feature_names_out().tolist() == ["g_(unknown)"]


def test_a_table_without_rows_is_a_warning_in_fit():
    with pytest.warns(UserWarning, match="without rows"):
        encoder = Encoder(["g"], sep="|").fit({"g": []})

    assert encoder.n_features == 0


def test_records_have_lists_and_texts():
    records = [{"p": "x", "g": ["a"], "t": "u v"}, {"p": "y", "g": None, "t": ""}]
    encoder = Encoder(sep={"t": " "}, dtype=int).fit(records)

    assert encoder.get_feature_names_out().tolist() == ["p_x", "p_y", "g_a", "t_u", "t_v"]
    assert encoder.transform(records).tolist() == [[1, 0, 1, 1, 1], [0, 1, 0, 0, 0]]
    assert Encoder(sep=" ").fit({"t": "u v"}).n_features == 2  # one record of scalars


def test_declared_labels_keep_their_order():
    """Declared labels keep their order, also unused ones, and others follow `handle_unknown`."""
    encoder = Encoder(categories={"g": ["b", "no", "a"]}, handle_unknown="ignore", dtype=int)
    encoder.fit({"g": [["a", "z"], ["b"]]})

    assert encoder.get_feature_names_out().tolist() == ["g_b", "g_no", "g_a"]
    assert encoder.features["count"].tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match=r"column 'g', row 1: 'z' is unknown"):
        Encoder(categories={"g": ["a"]}).fit({"g": [["a"], ["a", "z"]]})


def test_an_encoder_is_changed_and_estimated_like_any_other():
    """Features of new options need no new fit; a sparse size follows the labels of a row in fit."""
    table = {"g": [["a", "b"], ["a", "c", "a"]]}
    encoder = Encoder(dtype="uint8").fit(table)

    encoder.set_params(min_frequency=2, prefix="tag")

    assert encoder.get_feature_names_out().tolist() == ["tag_a", "tag_(infrequent)"]
    assert encoder.transform(table).tolist() == [[1, 1], [1, 1]]
    assert encoder.infrequent_categories["g"].tolist() == ["b", "c"]
    # Two labels in each row: a byte and a position of four bytes each, and the start of each row.
    assert encoder.estimate(100).bytes["csr"] == 200 * (1 + 4) + 101 * 4
    with pytest.raises(ValueError, match="not fitted"):
        encoder.set_params(sep="|").transform(table)


def test_unknown_labels_warn_once_with_their_rows():
    encoder = Encoder(handle_unknown="warn", dtype=int).fit({"g": [["a"]]})

    with pytest.warns(UserWarning, match=r"'g': 'z' \(2 rows\)") as caught:
        encoded = encoder.transform({"g": [["z", "a", "z"], None, ["z"]]})

    assert len(caught) == 1
    assert encoded.tolist() == [[1], [0], [0]]


NOT_CHOSEN = {
    "images": [np.ones((2, 2))] * 2,
    "lists": [[[1.0]], [[2.0]]],
    "records": [[{}], [{}]],
    "vectors": [[1.5], [2.5]],
    "arrays": [np.array([0.5]), np.array([np.nan])],
    "money": [[decimal.Decimal(1)]] * 2,
    "days": [[np.datetime64("2020-01-01")], []],
    "missing": [[None], None],
}
CHOSEN = {"texts": [["x"], None], "mixed": [[1], ["a"]], "array": [np.array(["q"]), []]}


@pytest.mark.parametrize("library", ["dict", "pandas"])
def test_lists_are_chosen_if_their_labels_would_be(library):
    """Nothing else in the table prevents `fit`, whatever a column holds."""
    columns = {name: rows for name, rows in (NOT_CHOSEN | CHOSEN).items()}
    table = columns
    if library == "pandas":
        pd = pytest.importorskip("pandas")
        table = pd.DataFrame(
            {name: pd.Series(rows, dtype=object) for name, rows in columns.items()}
        )
    encoder = Encoder().fit(table)
    assert [column.name for column in encoder.schema.columns] == [*CHOSEN]


def test_dictionaries_of_lists_are_not_chosen():
    pa = pytest.importorskip("pyarrow")
    lists = pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([["a"]]))
    encoder = Encoder().fit(pa.table({"s": ["a"], "g": lists}))
    assert encoder.schema.names == ("s_a",)


def test_one_separator_warns_of_texts_beside_other_values():
    """Such texts are not split, which a user of a spreadsheet would not notice."""
    table = {"t": np.array(["1|2", 3, "2"], object), "u": ["a|b", "a", "c"]}
    with pytest.warns(UserWarning, match=r"'t' has texts with .* such as 3,.* sep="):
        encoder = Encoder(sep="|").fit(table)
    assert encoder.get_feature_names_out().tolist() == ["t_3", "t_1|2", "t_2", "u_a", "u_b", "u_c"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Encoder(sep={"u": "|"}).fit(table)
        Encoder(["t"], sep="|").fit({"t": np.array(["1", 3, None], object)})


@pytest.mark.parametrize("rows", [[[5], [7]], [[5, 6], [7, 8]], [[0, 0], [0, 0]], [[1], [2, 3]]])
@pytest.mark.parametrize("output", ["numpy", "csr", "csc"])
@pytest.mark.parametrize("make", [dict, lambda **table: records_of(table)])
def test_lists_of_numbers_are_no_part_of_a_matrix(rows, output, make):
    """They are neither encoded by default nor numeric columns, whatever their lengths are."""
    table = make(t=["a", "b"], e=rows)
    encoder = Encoder(["t"]).fit(table)
    with pytest.raises(ValueError, match=r"'e' is not numeric .*remainder='drop'"):
        encoder.transform(table, output)


def records_of(table):
    """Return the rows of a mapping from names to lists as records."""
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def test_lists_are_rejected_where_fit_saw_single_values():
    """The error says what `fit` saw, in each library; a dict is no row of labels."""
    encoder = Encoder(["t"]).fit({"t": ["a", "b"]})
    with pytest.raises(TypeError, match=r"'t': .* fit an Encoder to lists"):
        encoder.transform({"t": [["a"], ["b"]]})
    for library in ("pyarrow", "polars"):
        module = pytest.importorskip(library)
        make = getattr(module, "DataFrame", None) or module.table
        with pytest.raises(TypeError, match="'t': the rows are lists, but fit saw no lists"):
            encoder.transform(make({"t": [["a"], ["b"]]}))
    with pytest.raises(TypeError, match=r"'t': .* must be hashable, got a dict") as caught:
        encoder.transform({"t": [{"a": 1}, {"b": 2}]})
    assert "lists" not in str(caught.value)

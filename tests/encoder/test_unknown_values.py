"""Reports, errors and warnings about unknown values say what a person cannot see."""

from __future__ import annotations

import datetime
import itertools
import warnings
from decimal import Decimal

import numpy as np
import pytest

from onehot_fast import Encoder, UnknownValueError, UnknownValueWarning
from onehot_fast._reports import unknown

# Values of each kind, none of which equals a value of another kind.
KINDS = {
    "text": ["1", "2"],
    "bytes": [b"1", b"2"],
    "integers": [7, 8],
    "floats": [7.5, 8.5],
    "decimals": [Decimal("7.25"), Decimal("8.25")],
    "Booleans": [True, False],
    "dates": [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)],
    "datetimes": [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 1, 2)],
    "datetimes with a time zone": [
        datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC),
        datetime.datetime(2024, 1, 2, tzinfo=datetime.UTC),
    ],
    "durations": [datetime.timedelta(1), datetime.timedelta(2)],
    "times": [datetime.time(1), datetime.time(2)],
    "tuple objects": [(1, 2), (3, 4)],
}
NUMBERS = {"integers", "floats", "decimals"}


def objects(values):
    array = np.empty(len(values), object)
    array[:] = values
    return array


@pytest.mark.parametrize(("fitted", "given"), [*itertools.permutations(KINDS, 2)])
def test_values_of_another_kind_are_named(fitted, given):
    """Numbers of several types can be equal, so their type is no reason."""
    encoder = Encoder(["m"]).fit({"m": objects(KINDS[fitted])})
    table = {"m": objects([*KINDS[given], None])}
    note = f"all 2 values are {given}, fit saw {fitted}"

    report = encoder.check(table)

    if {fitted, given} <= NUMBERS:
        assert report.notes == ()
        return
    assert len(report.notes) == 1
    assert report.notes[0].startswith(f"column 'm': {note}")
    assert note in repr(report)
    assert note in report._repr_html_()
    with pytest.raises(UnknownValueError, match=r"handle_unknown='ignore'") as caught:
        encoder.transform(table)
    assert str(caught.value).count(note) == 1
    assert "convert the column" in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_the_same_kind_have_no_reason(kind):
    """A report has no note if unknown values are of the fitted kind, or if `fit` saw no value."""
    values = KINDS[kind]
    for fitted in (values[:1], []):
        report = Encoder(["m"]).partial_fit({"m": objects(fitted)}).check({"m": objects(values)})
        assert report.notes == ()


def test_some_values_of_another_kind_are_counted(library):
    encoder = Encoder(["m"]).fit({"m": [1, 2, "a"]})

    report = encoder.check({"m": [1, b"x", "b", 5, None]})

    assert report.notes == (
        "column 'm': 1 of 4 values is bytes, fit saw integers and text: convert the column",
    )
    numbers = Encoder(["m"]).fit(library.table({"m": [1, 2]}))
    for call in (numbers.check, numbers.transform):
        try:
            text = repr(call(library.table({"m": ["1", None]})))
        except UnknownValueError as error:
            text = str(error)
        assert "the only value is text, fit saw integers" in text


def test_declared_categories_of_another_kind_are_named():
    with pytest.raises(UnknownValueError, match="all 2 values are text, the categories are int"):
        Encoder(categories={"m": [1, 2]}).fit({"m": ["1", "2"]})


def test_values_are_quoted_unless_their_column_holds_strings_only():
    """Reports and listings quote a value unless its own column holds strings only."""
    encoder = Encoder(["size", "zip", "odd"]).fit(
        {"size": ["S", "L"], "zip": [1, 2], "odd": ["x", 3]}
    )
    report = encoder.check({"size": ["XL", 7], "zip": ["1", "2"], "odd": ["y", 3]})
    lines = [line.split()[:3] for line in repr(report).splitlines()[2:6]]
    assert lines == [
        ["size", "unknown", "'XL'"], ["size", "unknown", "7"], ["zip", "unknown", "'1'"],
        ["zip", "unknown", "'2'"],
    ]  # fmt: skip
    plain = repr(encoder.check({"size": ["XL"], "zip": [2], "odd": ["y"]})).splitlines()
    assert [line.split()[2] for line in plain[2:]] == ["XL", "'y'"]
    for listing in (encoder.features, encoder.vocabulary):
        assert "'x'" in repr(listing)
        assert "'S'" not in repr(listing)
    assert "'" not in repr(encoder.summary())


def test_unicode_forms_are_told_apart():
    """Both print as é; the message has their code points and the function that makes them equal."""
    encoder = Encoder(["m"]).fit({"m": ["\u00e9", "b"]})

    with pytest.raises(UnknownValueError, match=r"unicodedata.normalize\('NFC'") as caught:
        encoder.transform({"m": ["e\u0301", "b"]})
    assert r"'e\u0301' is the category '\xe9'" in str(caught.value)
    [note] = encoder.check({"m": ["e\u0301", "b"]}).notes
    assert r"'e\u0301'" in note
    assert encoder.check({"m": ["e", "B"]}).notes == ()


def test_a_column_without_categories_says_so():
    encoder = Encoder(["m"]).fit({"m": [None]})

    with pytest.raises(UnknownValueError, match="the column has no categories"):
        encoder.transform({"m": ["x"]})
    with pytest.raises(ValueError, match=r"categories \(none\), got 'x'"):
        Encoder(["m"], drop={"m": "x"}).fit({"m": [None]})


# ---- Unknown values beside a dropped category ----

TRAIN = {"p": ["a", "b", "b", "a"], "q": ["x", "x", "y", "z"]}
TEST = {"p": ["a", "ZZ", "b"], "q": ["x", "x", "x"]}


def warned_of(call):
    """Return the columns of the UnknownValueWarnings of a call, and how many there are."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    found = [each.message for each in caught if isinstance(each.message, UnknownValueWarning)]
    return [sorted(message.reported) for message in found], [*map(str, found)]


@pytest.mark.parametrize("n_copies", [1, 30])
@pytest.mark.parametrize("form", [None, "numpy", "csr", "csc", "implicit"])
@pytest.mark.parametrize("rule", ["ignore", "infrequent"])
def test_an_unknown_value_that_looks_like_the_dropped_category_is_named(
    library, rule, form, n_copies
):
    """In small tables and large ones, from each library; other columns and options are silent."""
    table = library.table({name: values * n_copies for name, values in TEST.items()})
    encoder = Encoder(["p", "q"], drop="first", handle_unknown=rule).fit(library.table(TRAIN))

    columns, texts = warned_of(lambda: encoder.transform(table, form))

    assert columns == [["p"]]
    assert "'ZZ'" in texts[0]
    assert "dropped category 'a'" in texts[0]
    assert "handle_unknown='indicator'" in texts[0]
    for silent in ("codes", "indices"):  # in which an unknown value has a number of its own
        assert warned_of(lambda form=silent: encoder.transform(table, form)) == ([], [])
    assert warned_of(lambda: encoder.transform(library.table(TRAIN), form)) == ([], [])


@pytest.mark.parametrize(
    ("options", "columns"),
    [
        ({"handle_unknown": "ignore"}, []),
        ({"handle_unknown": "infrequent"}, []),
        ({"handle_unknown": "indicator", "drop": "first"}, []),
        ({"handle_unknown": "ignore", "drop": "if_binary"}, [["p"]]),
        ({"handle_unknown": "ignore", "drop": {"q": "x"}}, []),
        ({"handle_unknown": "ignore", "drop": {"p": "b"}}, [["p"]]),
        ({"handle_unknown": "warn", "drop": "first"}, [["p"]]),
        # The infrequent categories have a feature, or are dropped together: then an unknown value
        # counts as one of them, as the option says.
        ({"handle_unknown": "infrequent", "drop": "first", "max_categories": 2}, []),
        ({"handle_unknown": "infrequent", "drop": "first", "min_frequency": 3}, []),
        ({"handle_unknown": "ignore", "drop": "last", "min_frequency": 3}, [["p"]]),
    ],
)
def test_only_a_dropped_category_makes_unknown_values_a_warning(options, columns):
    encoder = Encoder(["p", "q"], **options).fit(TRAIN)

    assert warned_of(lambda: encoder.transform(TEST))[0] == columns


@pytest.mark.parametrize("row", [{"p": "ZZ", "q": "x"}, [{"p": "ZZ", "q": "x"}]])
def test_one_row_warns_each_time(row):
    """A request is a mapping of lists, a record, or a list of records."""
    encoder = Encoder(["p", "q"], drop="first", handle_unknown="ignore").fit(TRAIN)

    for _ in range(3):
        assert warned_of(lambda: encoder.transform(row))[0] == [["p"]]
    assert warned_of(lambda: encoder.transform({"p": ["ZZ"], "q": ["x"]}))[0] == [["p"]]


def test_cached_categories_warn_each_time():
    pd = pytest.importorskip("pandas")
    encoder = Encoder(["p"], drop="first", handle_unknown="ignore").fit({"p": ["a", "b"]})
    dtype = pd.CategoricalDtype(["a", "b", "ZZ"])
    known, unknown = (
        pd.DataFrame({"p": pd.Categorical(v, dtype=dtype)}) for v in ([*"ab"], ["ZZ"])
    )

    for _ in range(2):
        assert warned_of(lambda: encoder.transform(known))[0] == []
        assert warned_of(lambda: encoder.transform(unknown))[0] == [["p"]]


def test_accessors_and_arrow_warn_too():
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    pytest.importorskip("onehot_fast.integrations.pandas")
    arrow = pytest.importorskip("onehot_fast.integrations.arrow")
    encoder = Encoder(["p"], drop="first", handle_unknown="ignore").fit({"p": ["a", "b"]})
    frame = pd.DataFrame({"p": ["a", "ZZ"]})
    options = {"drop": "first", "handle_unknown": "ignore"}
    calls = {
        "frame": lambda: frame.onehot(encoder),
        "to_csr": lambda: frame.onehot.to_csr(encoder),
        "sparse": lambda: frame.onehot(encoder, sparse=True),
        "series": lambda: frame["p"].onehot(encoder),
        "declared": lambda: frame["p"].onehot(["a", "b"], **options),
        "category": lambda: frame.astype("category")["p"].onehot.to_numpy(["a", "b"], **options),
        "arrow": lambda: arrow.encode(pa.table({"p": ["a", "ZZ"]}), encoder),
        "reader": lambda: arrow.encode(
            pa.table({"p": ["a", "ZZ"]}).to_reader(), encoder, layout="struct"
        ).read_all(),
    }

    for name, call in calls.items():
        assert len(warned_of(call)[0]) == 1, name


def test_warnings_of_dropped_categories_are_merged():
    encoder = Encoder(["p"], drop="first", handle_unknown="ignore").fit({"p": [1, 2]})
    messages = []
    for values in (["x", 1], ["y", "x"], ["x", 1, "y", "x"]):
        with pytest.warns(UnknownValueWarning, match="dropped category 1") as caught:
            encoder.transform({"p": values})
        messages.append(caught[0].message)

    first, second, whole = messages
    assert str(first.merge(second)) == str(whole)
    assert "3 of 4 values are text, fit saw integers" in str(whole)


# ---- Columns without features or rows ----


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"min_frequency": 10, "drop": "first"}, ["min_frequency=10", "drop='first'"]),
        ({"max_categories": 1, "drop": "last"}, ["max_categories=1", "drop='last'"]),
        ({"drop": {"c": "a"}, "categories": {"c": ["a"]}}, ["drop='a'"]),
    ],
)
@pytest.mark.parametrize("fit", [Encoder.fit, Encoder.fit_transform])
def test_a_column_that_loses_all_features_is_named(options, named, fit):
    table = {"c": ["a"] * 7 if "categories" in options else [*"abcdefg"], "x": [*range(7)]}

    with pytest.warns(UserWarning, match="column 'c' has no features") as caught:
        fit(Encoder(["c"], **options), table)

    [warning] = caught
    assert warning.filename == __file__
    assert all(text in str(warning.message) for text in named)


def test_a_column_with_another_feature_is_kept_silently():
    options = {"drop": "first", "min_frequency": 10}
    for kept in ({"handle_missing": "indicator"}, {"handle_unknown": "indicator"}):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert Encoder(["c"], **options, **kept).fit({"c": [*"ab"]}).n_features == 1


def test_a_loaded_encoder_does_not_warn_again():
    with pytest.warns(UserWarning, match="has no features"):
        encoder = Encoder(["c"], drop="first").fit({"c": ["a"]})

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Encoder.from_json(encoder.to_json()).n_features == 0


def test_fit_without_rows_warns_unless_categories_are_declared(library):
    """`partial_fit` learns nothing from no rows, and is silent."""
    rows = library.table({"c": ["a"], "n": [1]})
    empty = {"c": np.empty(0, object), "n": np.empty(0)}
    with pytest.warns(UserWarning, match=r"without rows.* 'c'; .*categories="):
        encoder = Encoder(["c"]).fit(empty)
    assert encoder.n_features == 0

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Encoder(["c"]).partial_fit(empty).partial_fit(rows).n_features == 1
        assert Encoder(["c"], categories=["a", "b"]).fit(empty).n_features == 2


@pytest.mark.parametrize("output", ["numpy", "csr", "implicit"])
def test_an_error_about_columns_precedes_one_about_values(output):
    """Values are coded after the columns of the result are known to have a place in it."""
    encoder = Encoder(["size"]).fit({"size": ["S", "L"], "price": [1, 2]})
    table = {"size": ["XL"], "price": ["high"]}

    with pytest.raises(ValueError, match="'price' is not numeric"):
        encoder.transform(table, output)
    with pytest.raises(UnknownValueError, match="row 0: 'XL' is unknown"):
        encoder.transform({**table, "price": [3]}, output)


@pytest.mark.parametrize("dtype", [object, "U2"])
def test_a_table_that_changes_before_the_error_names_the_value(dtype, monkeypatch):
    """The values are read again for the error; another thread may have made them known."""
    encoder = Encoder().fit({"size": ["S", "L"]})
    values = np.array(["XL"] + ["S"] * 99, dtype)
    read_again = unknown._reported_at

    def change(*arguments):
        values[0] = "S"
        return read_again(*arguments)

    monkeypatch.setattr(unknown, "_reported_at", change)
    with pytest.raises(UnknownValueError, match=r"'size'.*do not change a table"):
        encoder.transform({"size": values})

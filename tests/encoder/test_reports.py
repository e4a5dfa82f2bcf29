"""Reports of an encoder: its features, and the values of a table that it did not learn."""

from __future__ import annotations

import copy
import pickle
import re
import warnings
from collections import Counter
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast import Encoder, UnknownValueError, UnknownValueWarning
from support import encoder_oracle
from support.encoder_oracle import Options

VALUES = st.lists(st.sampled_from(["a", "b", "c", "dd", None]), min_size=1, max_size=12)
TRAIN = {"size": ["S", "L", "S", None], "city": ["x", "y", "x", "x"], "n": [1, 2, 3, 4]}
TEST = {"size": ["M", "S", "M", None], "city": ["x", "x", "x", "q"], "n": [1, 2, 3, 4]}


def rows_of(listing):
    """Return the rows of a listing."""
    return list(zip(*(column.tolist() for column in listing.values()), strict=True))


@given(values=VALUES, drop=st.sampled_from([None, "first"]), least=st.sampled_from([None, 2, 3]))
def test_features_are_those_of_the_matrix(library, values, drop, least):
    """The counts are the sums of the encoded rows of `fit`."""
    table = library.table({"k": [*values, "b"]})
    encoder = Encoder(["k"], drop=drop, min_frequency=least, handle_missing="indicator").fit(table)
    features = encoder.features

    sums = encoder.transform(table, "numpy").sum(0).tolist()
    assert features["name"].tolist() == encoder.get_feature_names_out().tolist()
    assert features["count"].tolist() == sums
    for column, kind, category, name, _, dtype in rows_of(features):
        assert (column, dtype) == ("k", "bool")
        assert name == f"k_{category if kind == 'category' else f'({kind})'}"
        assert (category is None) == (kind != "category")
    assert features["kind"].tolist()[-1] == "missing"


def test_features_of_several_columns(library):
    """Each feature has a row; unknown rows of `fit` are not counted."""
    encoder = Encoder(
        ["size", "n", "city"],
        categories={"n": [1, 9]},
        drop={"city": "first", "size": ["S"]},
        handle_unknown="indicator",
        dtype={"n": "int8"},
    ).fit(library.table(TRAIN))

    assert set(rows_of(encoder.features)) == {
        ("size", "category", "L", "size_L", 1, "bool"),
        ("size", "unknown", None, "size_(unknown)", 0, "bool"),
        ("city", "category", "y", "city_y", 1, "bool"),
        ("city", "unknown", None, "city_(unknown)", 0, "bool"),
        ("n", "category", 1, "n_1", 1, "int8"),
        ("n", "category", 9, "n_9", 0, "int8"),
        ("n", "unknown", None, "n_(unknown)", -1, "int8"),
    }
    assert Encoder([]).fit(library.table(TRAIN)).features.n_rows == 0


@pytest.mark.parametrize("name", ["pandas", "polars", "pyarrow"])
def test_a_listing_is_a_table_of_any_library(name):
    module = pytest.importorskip(name)
    features = Encoder().fit(TRAIN).features
    frame = getattr(module, "DataFrame", None) or module.table

    assert frame(features).shape == (4, 6)


def test_a_listing_shows_its_first_rows():
    shown = repr(Encoder().fit({"k": [f"v{i:03}" for i in range(900)] + ["a\nb" * 50]}).features)

    assert len(shown.splitlines()) == 22
    assert shown.endswith("… 881 more rows")
    assert max(map(len, shown.splitlines())) < 150


@given(fitted=VALUES, values=VALUES, least=st.sampled_from([None, 2]))
def test_check_counts_unknown_missing_and_infrequent_values(library, fitted, values, least):
    encoder = Encoder(["k"], min_frequency=least).fit({"k": fitted})
    check = encoder.check(library.table({"k": [*values, "zz"]}))

    counts = Counter([*values, "zz"])
    names = encoder_oracle.names("k", fitted, Options(min_frequency=least))
    expected = set()
    for value, count in counts.items():
        kind = "missing" if value is None else "infrequent" if value in fitted else "unknown"
        if f"k_{value}" not in names:
            expected.add(("k", kind, value, count, count / (len(values) + 1)))
    assert set(rows_of(check)) == expected
    assert check.has_unknown
    assert check["share"].sum() < 1.001


def test_one_warning_names_the_values_of_all_columns(library):
    """The warning points at the line of the caller."""
    encoder = Encoder(["city", "size"], handle_unknown="warn").fit(library.table(TRAIN))
    table = library.table(TEST)
    ignoring = Encoder(["city", "size"], handle_unknown="ignore").fit(library.table(TRAIN))

    with pytest.warns(UnknownValueWarning, match="unknown values") as caught:
        matrix = encoder.transform(table, "numpy")

    [warning] = caught
    assert warning.filename == __file__
    assert {each.__module__ for each in (UnknownValueWarning, UnknownValueError)} == {"onehot_fast"}
    assert {"'size': 'M' (2 rows)", "'city': 'q' (1 row)"} <= set(
        str(warning.message).partition(", in ")[2].split("; ")
    )
    assert matrix.tolist() == ignoring.transform(table, "numpy").tolist()
    back = encoder.inverse_transform(matrix[-1:] & False, unknown="?", missing="-")
    assert {name: values.tolist() for name, values in back.items()} == {
        "city": ["-"], "size": ["-"], "n": [0],
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder.transform(library.table(TRAIN))


def test_warnings_of_parts_can_be_merged(library):
    """The warnings of parts merge into that of the whole, also after a copy or pickle."""
    encoder = Encoder(["p", "q"], handle_unknown="warn").fit(
        library.table({"p": ["a"], "q": ["b"]})
    )
    p, q = ["x", "y", "x", "y", "y"], ["b", "b", "b", "z", "b"]
    messages = []
    for rows in (slice(0, 3), slice(3, 5), slice(0, 5)):
        with pytest.warns(UserWarning, match="unknown values") as caught:
            encoder.transform(library.table({"p": p[rows], "q": q[rows]}), "numpy")
        messages += [warning.message for warning in caught]

    first, second, whole = messages
    for same in (first, copy.copy(first), pickle.loads(pickle.dumps(first))):
        assert type(same) is UnknownValueWarning
        assert str(same) == str(first)
        assert str(same.merge(second)) == str(whole)


def test_a_single_column_warns_too():
    pa = pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    arrow = pytest.importorskip("onehot_fast.integrations.arrow")
    pytest.importorskip("onehot_fast.integrations.pandas")
    encoder = Encoder(["size"], handle_unknown="warn", remainder="drop").fit(TRAIN)
    coded = pa.table({"size": pa.array(["S", "M"]).dictionary_encode()})

    for table in (pa.table({"size": ["S", "M"]}), coded):
        with pytest.warns(UserWarning, match=r"in 'size': 'M' \(1 row\)"):
            arrow.encode(table, encoder)
    with pytest.warns(UserWarning, match=r"'M' \(1 row\)"):
        pd.Series(["S", "M"], name="k").onehot.to_numpy(categories=["S"], handle_unknown="warn")


def test_an_error_names_some_unknown_values_of_all_columns(library):
    """The first one with its row. The remedy comes first, and the message is short."""
    many = [f"a text that is rather long, number {i}" for i in range(1000)]
    columns = {f"c{i}": [many[0], None, "x", *many[3:]] for i in range(8)}
    encoder = Encoder([*columns], handle_unknown={"c7": "ignore"}).fit({c: many for c in columns})

    with pytest.raises(
        ValueError, match="column 'c0', row 2: 'x' is unknown; use handle"
    ) as caught:
        encoder.transform(library.table(columns))
    text = str(caught.value)
    assert text.index("handle_unknown='ignore'") < 65
    assert "; the categories are 'a text that is rather long, number 0', 'a text" in text
    assert "unknown values of all columns: 'c0': 'x' (1 row); 'c1': 'x' (1 row)" in text
    assert text.endswith("… and 3 more columns")
    assert len(text) < 700


def test_a_notebook_shows_a_table():
    encoder = Encoder("k").fit({"k": [f"<b{i:02}>" for i in range(30)]})

    html = encoder.features._repr_html_()
    assert html.startswith("… 10 more rows<table><tr><td>column<td>kind<td>category<td>name<td>co")
    assert html.count("<tr>") == 21
    assert "<td>k_&lt;b00&gt;<td>" in html
    assert encoder.check({"k": ["x"]})._repr_html_().startswith("&lt;Check of 1 row: some values")


def test_an_error_names_the_most_frequent_unknown_values_first():
    encoder = Encoder(["k"]).fit({"k": [0]})

    with pytest.raises(ValueError, match=r"'k': 7 \(3 rows\), 1 \(1 row\), 2 \(1 row\), … \(5 v"):
        encoder.transform({"k": np.array([1, 2, 3, 4, 7, 7, 7])})


N = 1500
IDS = {"id": [f"id{i}" for i in range(N)], "size": ["S", "L"] * (N // 2), "n": [1] * N}


def test_columns_like_identifiers_cause_a_warning(library):
    table = library.table(IDS)

    message = (
        r"^column 'id' has 1,500 categories in 1,500 rows, so it may be an identifier\. Pass c"
    )
    with pytest.warns(UserWarning, match=message) as caught:
        encoder = Encoder().fit(table)
    assert [warning.filename for warning in caught] == [__file__]
    for fitted in (encoder, pickle.loads(pickle.dumps(encoder))):  # without another warning
        assert fitted.n_features == N + 2
    twice = Encoder().partial_fit(table).partial_fit(table)
    assert twice.n_features == N + 2  # identifiers do not occur twice
    parts = [Encoder().merge(Encoder().partial_fit(table)), Encoder().partial_fit(table)]
    for part in parts:
        with pytest.warns(UserWarning, match="has 1,500 categories"):
            assert part.n_features == N + 2


@pytest.mark.parametrize(
    "options",
    [{"columns": ["id"]}, {"columns": ["size"]}, {"max_categories": 9}, {"min_frequency": 2}],
    ids=str,
)
def test_chosen_columns_and_limits_cause_no_warning(library, options):
    """Warnings are errors in these tests."""
    encoder = Encoder(**options, remainder="drop").fit(library.table(IDS))

    assert Encoder.from_json(encoder.to_json()).transform(library.table(IDS), "csr").shape[0] == N


def test_other_tables_cause_no_warning(library):
    """One column, a plain array, many rows of few values, declared categories."""
    ids = IDS["id"]
    tables = [
        library.table({"id": ids}),
        np.array([ids, ids], object).T,
        library.table({**IDS, "id": ids[: N // 2] * 2}),
    ]

    sizes = [Encoder().fit(table).n_features for table in tables]
    assert sizes == [N, 2 * N, N // 2 + 2]
    if library.name != "arrow":  # Arrow dictionaries do not declare categories
        table = library.table({**IDS, "id": library.coded(ids, ids)})
        assert Encoder().fit(table).n_features == N + 2


def test_a_table_without_a_column_to_encode_causes_a_warning(library):
    table = library.table({"n": [1, 2], "x": [0.5, 1.5]})
    message = r"^nothing is encoded: .*; pass columns=\['n', \.\.\.\] to choose"

    for learn in (Encoder().fit, lambda rows: Encoder().partial_fit(rows).schema):
        with pytest.warns(UserWarning, match=message) as caught:
            learn(table)
        assert [warning.filename for warning in caught] == [__file__]
    assert Encoder([]).fit(table).n_features == 0
    assert Encoder().fit(np.empty((2, 0))).n_features == 0


def test_too_many_features_by_default_are_an_error(library):
    """The encoder does not change; a chosen column has no limit."""
    n = 100_001
    table = library.table({"id": [f"id{i}" for i in range(n)], "size": ["S"] * n})
    encoder = Encoder().fit({"size": ["S"], "id": ["x"]})
    message = r"must have at most 100,000 features, got 100,002: 'id' 100,001, 'size' 1; pass"

    with pytest.raises(ValueError, match=message):
        encoder.fit(table)
    assert encoder.n_features == 2
    with pytest.raises(ValueError, match=message):
        _ = Encoder().partial_fit(table).schema
    assert Encoder("id").fit(table).n_features == n


TEXTS = st.sampled_from(["<b>", "&amp;", "'", '"', "a", "ä", "</td>", ""])


@given(st.lists(TEXTS | st.none(), min_size=1), TEXTS, st.sampled_from([None, "first"]))
def test_summary_and_page_show_the_most_frequent_category(values, name, drop):
    encoder = Encoder([name], drop=drop).fit({name: values})
    counts = Counter(value for value in values if value is not None)
    ordered = sorted(counts)  # ties are in order
    top = max(ordered, key=counts.__getitem__, default=None)

    assert rows_of(encoder.summary()) == [
        (name, len(counts), encoder.n_features, top, counts[top], counts[top] / len(values))
    ]
    page = encoder._repr_html_()
    tags = {"div", "code", "details", "summary", "table", "tr", "td"}
    assert {*re.findall(r"</?(\w*)", page)} <= tags
    text = unescape(re.sub("<.*?>", "", page))
    assert repr(encoder) in text
    assert all(f"{category!r}{count}" in text for category, count in counts.items())


def test_page_of_many_columns_and_categories_is_short():
    table = {f"c{i}": [str(j) for j in range(5000)] for i in range(30)}
    page = Encoder(list(table)).fit(table)._repr_html_()

    assert len(page) < 50_000
    assert "… 10 more columns" in page
    assert "… 4,990 more" in page


def test_page_of_an_encoder_that_is_not_fitted_shows_its_options():
    assert Encoder(drop="first")._repr_html_() == "<code>Encoder(drop=&#x27;first&#x27;)</code>"


class Page(HTMLParser):
    """The tags that are open at the end of a page, the widths of bars in em, and the tips."""

    def __init__(self, text):
        super().__init__()
        self.open, self.sizes, self.tips = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        style = dict(attrs).get("style", "")
        self.sizes += [float(each) for each in re.findall(r"(?<!-)\bwidth:([\d.]+)em", style)]
        self.tips += [value for name, value in attrs if name == "title"]
        self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass


def test_a_notebook_shows_the_frequencies_of_each_column():
    values = ["<S>"] * 6 + ["L"] * 3 + [f"c{i}" for i in range(30)]
    encoder = Encoder(["size", "n"]).fit({"size": values, "n": [1] * len(values)})

    page = Page(encoder.summary()._repr_html_())
    assert page.open in ([], ["table"])
    assert page.tips[:3] == ["'<S>': 6", "'L': 3", "'c0': 1"]
    assert page.tips[-1] == "1: 39"
    html = encoder.summary()[:1]._repr_html_()
    assert "+22" in html
    assert "1: 39" not in html


def test_a_check_and_features_have_bars_that_start_at_zero():
    encoder = Encoder(["k"], handle_unknown="ignore").fit({"k": ["a", "a", "a", "a", "b"]})
    report = encoder.check({"k": ["x", "x", "x", "a"]})

    assert Page(report._repr_html_()).sizes == [9.0]  # 75 % of 12 em
    assert Page(encoder.features._repr_html_()).sizes == [12.0, 3.0]
    assert Page(encoder.check({"k": ["a"]})._repr_html_()).sizes == []
    assert Page(encoder.vocabulary._repr_html_()).sizes == []


@pytest.mark.parametrize("n_rows", [0, 3, 100_001])
def test_a_matrix_of_codes_shows_the_share_of_ones(n_rows):
    names = [f"<c{i}>" for i in range(30)]
    table = {"k": [names[i % 3] for i in range(n_rows)], "n": np.zeros(n_rows)}
    encoder = Encoder(["k"], categories={"k": names}).fit({"k": names, "n": np.zeros(30)})
    matrix = encoder.transform(table, "implicit")

    html = matrix._repr_html_()
    assert Page(html).open == []
    assert "&lt;c0&gt;" in html
    assert "<c0>" not in html
    third = [4.0] if n_rows == 3 else [4.0] if n_rows else [0.0]
    assert Page(html).sizes == third * 3 + [0.0] * 17
    assert "11 more columns" in html
    assert ("the first 100,000 rows" in html) == (n_rows > 100_000)


def test_a_missing_value_that_is_nan_has_no_bar():
    encoder = Encoder(["k"], handle_missing="propagate", dtype="float64").fit({"k": ["a", None]})
    matrix = encoder.transform({"k": ["a", None]}, "implicit")

    html = matrix._repr_html_()
    assert "nan" in html
    assert Page(html).sizes == [0.0]

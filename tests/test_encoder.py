"""The encoder against its slow twin, and the promises it makes one by one."""

from __future__ import annotations

import gc
import pickle
import re
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import reduce
from itertools import chain

import encoder_oracle
import numpy as np
import pytest
from encoder_oracle import Options
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast import Column, Encoder, _system
from onehot_fast.column import Table
from onehot_fast.encoder import Special

POOLS = {
    "texts": ["", "a", "b", "B", "ä", "a_b", "long enough to leave every small buffer"],
    "integers": [-(2**63), -1, 0, 1, 7, 2**63 - 1],
    "big": [2**64, -1, 2**70],
    "floats": [0.5, -1.5, 1e300, float("inf"), 2.0],
    "mixed": [1, 2.5, "one", "x", 300],
}
FORMS = ("numpy", "csr", "csc")


def to_array(values, form):
    """Return a list as one of the containers that a column may come in."""
    if form == "objects":
        array = np.empty(len(values), object)
        array[:] = values
        return array
    if form == "column":
        known = list(dict.fromkeys(v for v in values if not encoder_oracle.is_missing(v)))
        codes = [-1 if encoder_oracle.is_missing(v) else known.index(v) for v in values]
        return Column(np.array(codes, np.int8), to_array(known, "objects"))
    return list(values)


def dense(encoded):
    """Return a matrix as an array."""
    return encoded if isinstance(encoded, np.ndarray) else encoded.toarray()


@st.composite
def values_of(draw, pool, max_size=12):
    """Draw a column of values of one pool, of which some are missing."""
    some = st.sampled_from(pool) | st.sampled_from([None, float("nan")])
    return draw(st.lists(some, max_size=max_size))


@st.composite
def column_options(draw, pool):
    """Draw the options of a column."""
    declared = st.lists(st.sampled_from(pool), unique=True, max_size=5)
    return Options(
        categories=draw(st.none() | declared),
        drop=draw(st.sampled_from([None, "first", "last", "if_binary", "most_frequent"])),
        handle_missing=draw(st.sampled_from(["ignore", "indicator", "error", "propagate"])),
        handle_unknown=draw(st.sampled_from(["error", "ignore", "indicator", "infrequent"])),
        min_frequency=draw(st.sampled_from([None, 1, 2, 3, 0.2, 0.5])),
        max_categories=draw(st.sampled_from([None, 1, 2, 3, 6])),
    )


@st.composite
def cases(draw):
    """Draw a few columns, each with what is fitted, what is encoded and its options."""
    n_fit, n_rows = draw(st.integers(0, 12)), draw(st.integers(0, 12))
    columns = {}
    for name in draw(st.lists(st.sampled_from("pqr"), min_size=1, max_size=3, unique=True)):
        pool = POOLS[draw(st.sampled_from(sorted(POOLS)))]
        missing = st.sampled_from([None, float("nan")])
        some = st.sampled_from(pool) | missing if draw(st.booleans()) else st.sampled_from(pool)
        fitted = draw(st.lists(some, min_size=n_fit, max_size=n_fit))
        rows = draw(st.lists(some, min_size=n_rows, max_size=n_rows))
        columns[name] = fitted, rows, draw(column_options(pool))
    return columns


def build(options, columns=None):
    """Return the encoder with the options of each column."""
    fields = ("drop", "handle_missing", "handle_unknown", "min_frequency", "max_categories")
    chosen = {field: {name: getattr(o, field) for name, o in options.items()} for field in fields}
    declared = {n: o.categories for n, o in options.items() if o.categories is not None}
    return Encoder(list(options), categories=declared, dtype="float32", **chosen)


def refusal(columns):
    """Return the column and the row that `fit`, or else `transform`, refuses first."""
    for step in (0, 1):
        for name, (fitted, rows, options) in columns.items():
            row = encoder_oracle.refused_row((fitted, rows)[step], fitted, options)
            if row is not None:
                return name, row
    return None


@given(cases(), st.sampled_from(["list", "objects", "column"]), st.sampled_from(FORMS))
def test_encoder_is_its_slow_twin(columns, form, output):
    """Names, rows, and the column and row of a refused value are those of the twin."""
    encoder = build({name: options for name, (_, _, options) in columns.items()})
    train = {name: to_array(fitted, form) for name, (fitted, _, _) in columns.items()}
    test = {name: to_array(rows, form) for name, (_, rows, _) in columns.items()}
    refused = refusal(columns)
    if refused is not None:
        with pytest.raises(ValueError, match=re.escape("column {!r}, row {}: ".format(*refused))):
            encoder.fit(train).transform(test, output)
        return
    encoded = encoder.fit(train).transform(test, output)

    names = chain.from_iterable(encoder_oracle.names(n, f, o) for n, (f, _, o) in columns.items())
    parts = [encoder_oracle.encode(rows, fitted, o) for fitted, rows, o in columns.values()]
    wanted = [list(chain.from_iterable(row)) for row in zip(*parts, strict=True)]
    assert encoder.feature_names() == tuple(names)
    np.testing.assert_array_equal(dense(encoded), np.array(wanted).reshape(encoded.shape))
    assert encoded.dtype == np.float32


def part_of(columns, deal, part):
    """Return the fitted rows that were dealt to one part."""
    return {
        name: [value for value, to in zip(fitted, deal, strict=True) if to == part]
        for name, (fitted, _, _) in columns.items()
    }


@given(cases(), st.randoms(use_true_random=False))
def test_merge_has_no_order_and_no_grouping(columns, random):
    """However rows are dealt out, fitted and merged, the result is the one of all rows."""
    options = {
        name: replace(o, handle_unknown="ignore", handle_missing="indicator")
        for name, (_, _, o) in columns.items()
    }
    deal = [random.randrange(4) for _ in next(iter(columns.values()))[0]]
    tables = [part_of(columns, deal, part) for part in range(4)]
    whole = build(options).fit({name: fitted for name, (fitted, _, _) in columns.items()})
    streamed = reduce(Encoder.partial_fit, tables, build(options))
    a, b, c, d = random.sample([build(options).fit(table) for table in tables], 4)
    merged = (a.merge(b, c, d), a.merge(b.merge(c)).merge(d), d.merge(c.merge(b.merge(a))))

    assert {m.to_json() for m in (*merged, streamed)} == {whole.to_json()}
    assert {m.feature_names() for m in merged} == {whole.feature_names()}


LOSSLESS = st.sampled_from(
    [
        {"handle_missing": "indicator", "handle_unknown": "indicator", "drop": "first"},
        {"handle_missing": "indicator", "handle_unknown": "indicator", "drop": None},
        {"handle_missing": "indicator", "handle_unknown": "ignore", "drop": None},
        {"handle_missing": "ignore", "handle_unknown": "indicator", "drop": None},
        {"handle_missing": "propagate", "handle_unknown": "indicator", "drop": None},
    ]
)


@given(st.data(), LOSSLESS, st.sampled_from(FORMS))
def test_inverse_gives_the_values_back(data, options, output):
    """Where each kind of value has its own form, the decoder tells all of them apart."""
    pool = POOLS[data.draw(st.sampled_from(sorted(POOLS)))]
    fitted, rows = data.draw(values_of(pool)), data.draw(values_of(pool))
    encoder = Encoder(["p"], dtype="float32", **options).fit({"p": fitted})
    decoded = encoder.inverse(encoder.transform({"p": rows}, output))["p"].tolist()
    known = [v for v in fitted if not encoder_oracle.is_missing(v)]
    wanted = [
        None if encoder_oracle.is_missing(v) else v if v in known else Special.UNKNOWN for v in rows
    ]

    assert decoded == wanted


@given(st.data(), st.sampled_from(["error", "ignore", "indicator", "infrequent"]))
def test_schema_is_settled_by_fit(data, handle_unknown):
    """No rows, whatever they hold, change the names, the width or the dtype of the output."""
    fitted, rows = data.draw(values_of(POOLS["mixed"])), data.draw(values_of(POOLS["mixed"]))
    encoder = Encoder(["p"], handle_unknown=handle_unknown, dtype="int16").fit({"p": fitted})
    before = encoder.feature_names(), encoder.to_json(), encoder.n_features
    known = [v for v in rows if encoder_oracle.is_missing(v) or v in fitted]
    encoded = encoder.transform({"p": known if handle_unknown == "error" else rows})

    assert (encoder.feature_names(), encoder.to_json(), encoded.shape[1]) == before
    assert encoded.dtype == np.int16


def test_numbers_match_whatever_holds_them():
    """A column of integers that becomes one of floats keeps its categories and their names."""
    encoder = Encoder(["p"]).fit({"p": np.array([3, 1], np.int8)})
    encoded = encoder.transform({"p": np.array([1.0, np.nan, 3.0], np.float32)})

    assert encoder.feature_names() == ("p_1", "p_3")
    assert encoded.tolist() == [[True, False], [False, False], [False, True]]


def test_times_match_whatever_their_unit():
    """One instant is one category in days, in nanoseconds and as a datetime."""
    days = np.array(["2024-02-29", "1969-12-31", "NaT"], "M8[D]")
    encoder = Encoder(["p"], dtype="uint8").fit({"p": days})

    assert encoder.feature_names() == ("p_1969-12-31", "p_2024-02-29")
    assert encoder.transform({"p": days.astype("M8[ns]")}).tolist() == [[0, 1], [1, 0], [0, 0]]
    assert encoder.transform({"p": days.astype("M8[s]").astype(object)}).tolist() == [
        [0, 1], [1, 0], [0, 0],
    ]  # fmt: skip
    assert encoder.categories["p"].dtype == np.dtype("M8[D]")


@pytest.mark.parametrize(
    ("time", "name"),
    [
        (np.datetime64("2024-02-29T00:00:00.000", "ms"), "p_2024-02-29"),
        (np.datetime64("2024-02-29T10", "h"), "p_2024-02-29T10:00:00"),
        (np.datetime64("2024-02-29T10:00:00.000", "ns"), "p_2024-02-29T10:00:00"),
        (np.datetime64("2024-02-29T00:00:00.000100", "us"), "p_2024-02-29T00:00:00.0001"),
        (np.datetime64("2024", "Y"), "p_2024"),
        (np.timedelta64(90, "s"), "p_90 seconds"),
    ],
)
def test_names_of_times(time, name):
    """A time is named as short as it can be, whatever its unit."""
    assert Encoder(["p"]).fit({"p": np.array([time])}).feature_names() == (name,)


def test_declared_categories_keep_their_order_and_those_that_do_not_occur():
    """The categories of a categorical column are all columns, in their order."""
    column = Column(np.array([1, -1], np.int8), np.array(["S", "M", "L"]), source="category")
    encoder = Encoder().fit(column)

    assert encoder.feature_names() == ("x0_S", "x0_M", "x0_L")
    assert encoder.transform(column).tolist() == [[False, True, False], [False, False, False]]


@pytest.mark.parametrize(
    ("orders", "expected"),
    [
        (["SML", "SML", "SML"], "SML"),
        (["SML", "LMS", "SML"], "LMS"),
        (["SM", "MX", "SM"], "MSX"),
        (["SML", "SML", ""], "LMS"),
    ],
    ids=["agree", "another order", "another category", "no category"],
)
def test_merge_of_declared_categories(orders, expected):
    """The declared order stays where all agree; otherwise the categories are sorted."""
    none = np.zeros(0, np.int8)
    columns = [Column(none, np.array(list(order), object), source="category") for order in orders]
    a, b, c = (Encoder().fit(column) for column in columns)
    merged = [a.merge(b, c), c.merge(b.merge(a)), b.merge(c).merge(a)]

    assert [m.categories["x0"].tolist() for m in merged] == [list(expected)] * 3


def test_merge_of_declared_and_met_categories():
    """Values met elsewhere keep the declared order if they are among the declared ones."""
    declared = Encoder().fit(
        Column(np.array([0], np.int8), np.array(["S", "M", "L"]), source="category")
    )
    among = Encoder().fit(Column(np.array([0, 1], np.int8), np.array(["L", "S"])))
    beyond = Encoder().fit(Column(np.array([0], np.int8), np.array(["A"])))

    assert among.merge(declared).categories["x0"].tolist() == ["S", "M", "L"]
    assert among.merge(declared, beyond).categories["x0"].tolist() == ["A", "L", "M", "S"]


def test_merge_with_an_encoder_that_saw_nothing():
    """An encoder that is not fitted is the neutral element."""
    fitted = Encoder(drop="first").fit({"p": ["a", "b"]})
    empty = Encoder(drop="first")

    assert fitted.merge(empty).to_json() == empty.merge(fitted).to_json() == fitted.to_json()
    assert empty.columns is None


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Encoder(drop="last").fit({"p": ["a"]}), "differ in their options"),
        (Encoder(drop="first").fit({"q": ["a"]}), r"different columns are encoded: \['p'\]"),
    ],
)
def test_merge_refuses_what_differs(other, message):
    """Encoders of other options or columns are not merged."""
    with pytest.raises(ValueError, match=message):
        Encoder(drop="first").fit({"p": ["a"]}).merge(other)


def test_merge_takes_encoders():
    """What is no encoder is refused."""
    with pytest.raises(TypeError, match="a dict cannot be merged into an Encoder"):
        Encoder().merge({})


def test_categories_that_do_not_occur_do_not_count():
    """Unless they are declared: an encoding that has more of them is only an encoding."""
    column = Column(np.array([1, 1, -1]), np.array(["a", "b", "c"]), source="dictionary")

    assert Encoder().fit(column).feature_names() == ("x0_b",)


def test_fit_transform_reads_a_column_once():
    """The columns are not hashed twice."""
    reads = []

    def read(at):
        reads.append(at)
        return Column(np.array([0]), np.array(["a"]))

    table = Table(("p", "q"), 1, (True, True), read, lambda at: np.array(["a"]))

    assert Encoder().fit_transform(table).tolist() == [[True, True]]
    assert reads == [0, 1]


def test_names_that_collide_are_named():
    """Two outputs of one name are refused, and the message says which they are."""
    table = {"a": ["b_c"], "a_b": ["c"]}
    message = "would be named 'a_b_c': that of column 'a', category 'b_c', and that of column 'a_b'"

    with pytest.raises(ValueError, match=message):
        Encoder().fit(table)
    with pytest.raises(ValueError, match="category 1, and that of column 'a', category '1'"):
        Encoder(["a"]).fit({"a": [1, "1"]})
    assert Encoder(prefix_sep={"a": "="}).fit(table).feature_names() == ("a=b_c", "a_b_c")


def test_an_unknown_value_is_named():
    """The error names the column, the row and the value."""
    encoder = Encoder().fit({"p": ["a", "b"], "q": ["x", "y"]})

    with pytest.raises(ValueError, match=r"column 'q', row 1: 'z' is unknown; .* are 'x', 'y';"):
        encoder.transform({"p": ["a", "b", "a"], "q": ["x", "z", "zz"]})


def test_a_category_without_rows_is_not_unknown():
    """A category that the data declare offends only where it occurs."""
    encoder = Encoder().fit({"x0": ["a"]})
    column = Column(np.array([0, -1], np.int8), np.array(["a", "z"]), source="category")

    assert encoder.transform(column).tolist() == [[True], [False]]


def test_a_missing_value_is_named():
    """The error names the column and the row, in fit and in transform."""
    encoder = Encoder(handle_missing={"p": "error"}).fit({"p": ["a"]})

    with pytest.raises(ValueError, match="column 'p', row 1: the value is missing"):
        encoder.transform({"p": ["a", None]})
    with pytest.raises(ValueError, match="column 'p', row 0: the value is missing"):
        encoder.fit({"p": [None, "b"]})
    assert encoder.feature_names() == ("p_a",)


def test_dropped_and_unknown_are_told_apart():
    """Unknown, missing and dropped values all have their own form, and come back."""
    encoder = Encoder(drop="first", handle_unknown="indicator", handle_missing="indicator")
    encoded = encoder.fit({"p": ["a", "b"]}).transform({"p": ["a", "b", "z", None]})

    assert encoded.astype(int).tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert encoder.inverse(encoded)["p"].tolist() == ["a", "b", Special.UNKNOWN, None]
    assert encoder.inverse(encoded, unknown="?", missing="-")["p"].tolist() == ["a", "b", "?", "-"]


@pytest.mark.parametrize(
    ("drop", "names"),
    [
        ({"p": "b"}, ("p_a", "p_first", "q_x", "q_y")),
        ({"p": "first"}, ("p_b", "p_first", "q_x", "q_y")),
        ({"p": ["first"], "q": "if_binary"}, ("p_a", "p_b", "q_y")),
        ("last", ("p_a", "p_b", "q_x")),
        ("most_frequent", ("p_a", "p_first", "q_y")),
    ],
)
def test_drop(drop, names):
    """A rule or a category chooses what has no column."""
    table = {"p": ["a", "b", "first", "b"], "q": ["x", "y", "x", None]}

    assert Encoder(drop=drop).fit(table).feature_names() == names


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"drop": {"p": "z"}},
            r"drop\['p'\] = 'z' is no category of the column; they are 'a', 'b'",
        ),
        ({"drop": {"p": "a"}, "min_frequency": 2}, "is infrequent: it has no column"),
        ({"drop": {"q": "a"}}, r"drop\['q'\] is given, but the column is not among"),
        ({"columns": ["q"]}, r"the table has no column 'q'; its columns are \['p'\]"),
        (
            {"handle_missing": "propagate"},
            "'propagate' needs a float dtype for column 'p', not bool",
        ),
    ],
)
def test_fit_refuses(options, message):
    """What does not suit the table is refused, and what was learned before is still there."""
    encoder = Encoder(**options)

    with pytest.raises(ValueError, match=message):
        encoder.fit({"p": ["a", "b", "b"]})
    assert encoder.columns in (None, ("q",))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"columns": "price"}, TypeError, "columns = 'price' is a str"),
        ({"columns": ["a", "b", "a"]}, ValueError, "columns names 'a' more than once"),
        ({"drop": "second"}, ValueError, "drop = 'second' is unknown"),
        ({"handle_missing": "drop"}, ValueError, "handle_missing = 'drop' is unknown"),
        ({"handle_unknown": {"a": 1}}, TypeError, r"handle_unknown\['a'\] = 1 is no string"),
        ({"categories": "all"}, ValueError, "categories = 'all' is unknown"),
        ({"categories": {"a": ["x", "x"]}}, ValueError, r"\['a'\]\[1\] = 'x' equals"),
        ({"categories": [1, True]}, ValueError, r"categories\[1\] = True equals categories\[0\]"),
        ({"categories": {"a": ["x", None]}}, ValueError, r"\[1\] = None is a missing value"),
        ({"categories": [["x"]]}, TypeError, "cannot be a category: unhashable"),
        ({"categories": 3}, TypeError, "accepted are 'auto' and a sequence"),
        ({"min_frequency": 0}, ValueError, "an int from 1"),
        ({"min_frequency": 1.0}, ValueError, "a float between 0 and 1"),
        ({"min_frequency": True}, TypeError, "is a bool"),
        ({"max_categories": 0}, ValueError, "must be at least 1"),
        ({"max_categories": 2.0}, TypeError, "is a float"),
        ({"dtype": None}, TypeError, "dtype = None is not a Boolean"),
        ({"dtype": "U3"}, TypeError, "dtype = 'U3' is not a Boolean"),
        ({"prefix": 1}, TypeError, "prefix = 1 is a int"),
        ({"prefix_sep": None}, TypeError, "prefix_sep = None is a NoneType"),
    ],
)
def test_constructor_refuses(options, error, message):
    """An option is checked when it is given."""
    with pytest.raises(error, match=message):
        Encoder(**options)


@pytest.mark.parametrize(
    "call",
    [
        lambda e: e.transform({}),
        lambda e: e.feature_names(),
        lambda e: e.estimate(1),
        lambda e: e.categories,
        lambda e: e.inverse(np.zeros((1, 1))),
    ],
)
def test_an_encoder_that_is_not_fitted_says_so(call):
    """Nothing can be asked before `fit`."""
    with pytest.raises(RuntimeError, match="the encoder is not fitted"):
        call(Encoder())


def test_output_that_is_not_available():
    """An unknown form of output is refused with those there are."""
    with pytest.raises(ValueError, match="output = 'xml' is unknown: accepted are 'numpy', 'csr'"):
        Encoder().fit({"p": ["a"]}).transform({"p": ["a"]}, "xml")


def test_sparse_forms_need_scipy(monkeypatch):
    """Without SciPy the error says what is missing."""
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)

    with pytest.raises(ImportError, match=r"output='csr' is a scipy\.sparse\.csr_array"):
        Encoder().fit({"p": ["a"]}).transform({"p": ["a"]}, "csr")


def test_sparse_forms_are_canonical():
    """Indices ascend, are 32 bits wide, and the data are ones of the dtype."""
    encoder = Encoder(dtype="int8").fit({"p": ["a", "b"], "q": ["x", None]})
    table = {"p": ["b", None, "a"], "q": ["x", "x", None]}
    csr, csc = encoder.transform(table, "csr"), encoder.transform(table, "csc")

    assert (csr.indices.tolist(), csr.indptr.tolist()) == ([1, 2, 2, 0], [0, 2, 3, 4])
    assert (csc.indices.tolist(), csc.indptr.tolist()) == ([2, 0, 0, 1], [0, 1, 2, 4])
    assert {a.dtype for a in (csr.indices, csr.indptr, csc.indices)} == {np.dtype(np.int32)}
    assert csr.data.dtype == csc.data.dtype == np.int8


def test_dtypes_of_columns_are_promoted_in_one_matrix():
    """A matrix has the dtype that holds those of all columns."""
    encoder = Encoder(dtype={"p": "int16", "q": "float32"}).fit({"p": ["a"], "q": ["x"]})

    assert encoder.transform({"p": ["a"], "q": ["y"]} | {"q": ["x"]}).dtype == np.float32


@pytest.mark.parametrize("output", FORMS)
@pytest.mark.parametrize(
    "table", [{"p": []}, {"p": [None, None]}, {}], ids=["no rows", "no values", "no columns"]
)
def test_nothing_to_encode(table, output):
    """Tables without rows, values or columns have encodings too."""
    encoder = Encoder([*table]).fit(table)
    encoded = encoder.transform(table, output)

    assert encoded.shape == (len(table.get("p", [])), 0)
    assert list(encoder.inverse(encoded)) == list(table)


def test_a_result_too_large_names_the_smaller_forms(monkeypatch):
    """Nothing is allocated, and the message says what would fit."""
    table = {"p": np.arange(1000).astype(str)}
    encoder = Encoder(dtype="float32").fit(table)
    many = {"p": Column(np.zeros(100_000, np.int8), np.array(["1"]))}
    monkeypatch.setattr(_system, "available_memory", lambda: 1 << 20)
    smaller = r"output='csr' \(1.1 MiB\), output='csc' \(.*\), dtype=bool \(95.4 MiB\)"

    with pytest.raises(MemoryError, match=rf"takes 381.5 MiB .*; smaller: {smaller}"):
        encoder.transform(many)


def test_estimate_is_what_is_built():
    """The sizes are those of the results, which for sparse forms are at most so large."""
    encoder = Encoder(dtype="float32", handle_missing="propagate").fit({"p": ["a", "b"]})
    table = {"p": ["a", "b", None, "a"]}
    size = encoder.estimate(4)
    csr, csc = (encoder.transform(table, form) for form in ("csr", "csc"))

    assert (size.rows, size.columns) == (4, 2)
    assert size.bytes["numpy"] == size.bytes["pandas"] == encoder.transform(table).nbytes
    assert csr.data.nbytes + csr.indices.nbytes + csr.indptr.nbytes <= size.bytes["csr"]
    assert csc.data.nbytes + csc.indices.nbytes + csc.indptr.nbytes <= size.bytes["csc"]


@pytest.mark.parametrize(("n_rows", "n_bytes"), [(0, 0), (1, 2), (8, 2), (9, 4)])
def test_estimate_of_bits(n_rows, n_bytes):
    """Arrow packs eight Booleans of a column into a byte."""
    assert Encoder().fit({"p": ["a", "b"]}).estimate(n_rows).bytes["arrow"] == n_bytes


@pytest.mark.parametrize(
    ("n_rows", "error"), [(-1, ValueError), (True, TypeError), ("3", TypeError)]
)
def test_estimate_refuses(n_rows, error):
    """A number of rows is an integer from 0."""
    with pytest.raises(error, match="n_rows"):
        Encoder().fit({"p": ["a"]}).estimate(n_rows)


def test_fit_keeps_nothing_of_the_data():
    """When the table is gone, so is its memory."""
    codes, labels = np.zeros(5, np.int8), np.array(["a"], object)
    column = Column(codes, labels)
    gone = [weakref.ref(codes), weakref.ref(labels), weakref.ref(column)]
    encoder = Encoder().fit(column)
    del codes, labels, column
    gc.collect()

    assert [one() for one in gone] == [None] * 3
    assert encoder.feature_names() == ("x0_a",)


def test_inputs_are_not_changed():
    """Read-only columns are enough."""
    values = np.array(["b", "a", None], object)
    values.flags.writeable = False
    encoder = Encoder(["p"])

    assert encoder.fit_transform({"p": values}).shape == (3, 2)


def test_pickle_and_threads():
    """An encoder goes to other processes, and many threads may use one."""
    table = {"p": [str(at % 7) for at in range(500)]}
    encoder = pickle.loads(pickle.dumps(Encoder().partial_fit(table)))
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: encoder.transform(table).tobytes(), range(32)))

    assert len(set(results)) == 1
    assert pickle.loads(pickle.dumps(encoder)).to_json() == encoder.to_json()


@pytest.mark.parametrize(
    ("encoder", "text"),
    [
        (Encoder(), "Encoder()"),
        (
            Encoder(["p"], drop={"p": "last"}, dtype=np.float32),
            "Encoder(columns=['p'], drop={'p': 'last'}, dtype='float32')",
        ),
        (
            Encoder(drop={"p": ["last"]}, categories=[1]),
            "Encoder(categories=[1], drop={'p': ['last']})",
        ),
        (Encoder().fit({"p": ["a", "b"]}), "<Encoder(): 1 column -> 2 features, from 2 rows>"),
    ],
)
def test_repr(encoder, text):
    """An encoder shows what is not the default, and its size."""
    assert repr(encoder) == text


@pytest.mark.parametrize(
    ("encoded", "message"),
    [
        ([[1, 1]], "column 'p', row 0: more than one output is on"),
        ([[1, 0], [0, 0]], "column 'p', row 1: no output is on, and no value makes such a row"),
        ([[1, 0, 0]], r"encoded has shape \(1, 3\); accepted is \(n_rows, 2\)"),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_inverse_refuses(encoded, message, form):
    """What no rows can encode to is refused."""
    sparse = pytest.importorskip("scipy.sparse")
    encoder = Encoder(handle_missing="error").fit({"p": ["a", "b"]})
    array = np.array(encoded)
    given_form = array if form == "numpy" else getattr(sparse, f"{form}_array")(array)

    with pytest.raises(ValueError, match=message):
        encoder.inverse(given_form)


def test_inverse_of_named_columns():
    """A table of outputs is decoded by their names; its other columns stay."""
    encoder = Encoder(dtype="uint8").fit({"p": ["a", "b"], "q": [1, 2, 1][:2], "r": ["x", "y"]})
    table = {"price": np.array([5.5]), "r_y": [1], "p_b": [0], "r_x": [0], "p_a": [1]}
    decoded = encoder.inverse(table)

    assert {name: column.tolist() for name, column in decoded.items()} == {
        "price": [5.5], "p": ["a"], "r": ["y"],
    }  # fmt: skip

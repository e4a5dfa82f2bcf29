"""An encoder as JSON: a complete, readable text, and errors of others."""

from __future__ import annotations

import contextlib
import copy
import datetime
import json
import math
import pickle
import uuid
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onehot_fast
from onehot_fast import Column, Encoder

PARIS = ZoneInfo("Europe/Paris")
HOUR = datetime.timedelta(hours=1)
SCALARS = {
    "none": None,
    "text": 'ä\u2028"\\ \x00',
    "lone surrogate": "\ud800",
    "bytes": b"\x00\xff",
    "true": True,
    "integer": 2**70,
    "float": 0.1,
    "whole float": 1.0,
    "minus zero": -0.0,
    "infinity": -math.inf,
    "nan": math.nan,
    "float16": np.float16(0.1),
    "float32": np.float32(0.1),
    "float32 nan": np.float32("nan"),
    "longdouble": np.longdouble(1) / 3,
    "complex": complex(-0.0, math.inf),
    "complex64": np.complex64(1 - 2j),
    "decimal": Decimal("1.10"),
    "decimal nan": Decimal("NaN"),
    "fraction": Fraction(-1, 3),
    "date": datetime.date(1, 1, 1),
    "time": datetime.time(1, 2, 3, 4),
    "datetime": datetime.datetime(2024, 2, 29, 1, 2, 3, 4),
    "offset": datetime.datetime(2024, 2, 29, tzinfo=datetime.timezone(-HOUR / 2)),
    "zone": datetime.datetime(2024, 7, 1, 12, tzinfo=PARIS),
    "first of two": datetime.datetime(2024, 10, 27, 2, 30, tzinfo=PARIS, fold=0),
    "second of two": datetime.datetime(2024, 10, 27, 2, 30, tzinfo=PARIS, fold=1),
    "timedelta": datetime.timedelta(-1, 2, 3),
    "days": np.datetime64("2024-02-29", "D"),
    "nanoseconds": np.datetime64("1969-12-31T23:59:59.999999999", "ns"),
    "attoseconds": np.datetime64(-5, "as"),
    "multiple unit": np.datetime64(7, "25s"),
    "year": np.datetime64("-0044", "Y"),
    "not a time": np.datetime64("NaT", "us"),
    "duration": np.timedelta64(-7, "h"),
    "months": np.timedelta64(5, "M"),
    "no duration": np.timedelta64("NaT", "s"),
    "tuple": (1, ("a", None), b""),
    "uuid": uuid.UUID(int=7),
    "complex longdouble": np.clongdouble(-0.0) + 1j / np.longdouble(3),
    "time with an offset": datetime.time(1, 2, tzinfo=datetime.timezone(HOUR / 3600)),
    "time with a zone": datetime.time(1, 2, tzinfo=PARIS, fold=1),
    "microseconds of offset": datetime.datetime(
        2024, 2, 29, tzinfo=datetime.timezone(datetime.timedelta(microseconds=-1))
    ),
    "far year": np.datetime64(2**62, "D"),
}


def tagged(value):
    """Return the JSON of a scalar: that of the name of a column."""
    [source] = json.loads(Encoder([value]).to_json())["columns"]
    return source


def restored(value):
    """Return a scalar that was written as JSON and read again."""
    [name] = Encoder.from_json(Encoder([value]).to_json()).columns
    return name


def identity(value):
    """Return what two scalars share if they are the same in type, value, unit, zone and sign."""
    zone = (value.tzinfo, value.fold) if isinstance(value, datetime.datetime) else None
    dtype = value.dtype if isinstance(value, np.generic) else None
    items = tuple(map(identity, value)) if isinstance(value, tuple) else None
    return type(value), repr(value), dtype, zone, items


@pytest.mark.parametrize("value", SCALARS.values(), ids=SCALARS.keys())
def test_scalars_are_restored(value):
    """Type, value, unit, zone, the sign of zero and NaN are restored from plain JSON."""
    assert identity(restored(value)) == identity(value)


OFFSETS = st.timedeltas(datetime.timedelta(-1, 1), datetime.timedelta(1, -1)).map(datetime.timezone)


@given(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
    | st.decimals(allow_nan=False) | st.fractions() | st.dates() | st.datetimes()
    | st.timedeltas() | st.complex_numbers() | st.times() | st.uuids()
    | st.datetimes(timezones=OFFSETS) | st.times(timezones=OFFSETS | st.timezones())
    | st.datetimes(
        # Early offsets have odd seconds.
        timezones=st.sampled_from([datetime.UTC, PARIS, ZoneInfo("Asia/Kathmandu")]),
        allow_imaginary=False,
    )
)  # fmt: skip
def test_random_scalars_are_restored(value):
    assert identity(restored(value))[:2] == identity(value)[:2]


def pandas_scalars():
    pd = pytest.importorskip("pandas")
    return [
        pd.Timestamp("2024-02-29 01:02:03.000000004"),
        pd.Timestamp("2024-10-27 00:30", tz="UTC").tz_convert("Europe/Paris").as_unit("ns"),
        pd.Timedelta("-1 days 00:00:00.000000001"),
        pd.Period("2024-02", "M"),
        pd.Interval(0.5, 2.0, "left"),
        pd.Interval(pd.Timestamp("2024-01-01"), pd.Timestamp("2024-01-02")),
    ]


def test_pandas_scalars_are_restored():
    back = [restored(value) for value in pandas_scalars()]

    assert back == pandas_scalars()
    assert list(map(repr, back)) == list(map(repr, pandas_scalars()))


CATEGORIES = {
    name: value
    for name, value in SCALARS.items()
    if name not in {"none", "nan", "float32 nan", "decimal nan", "not a time", "no duration"}
}


@pytest.mark.parametrize("value", CATEGORIES.values(), ids=CATEGORIES.keys())
def test_categories_of_every_type_are_restored(value):
    """Declared or observed, dropped or not, they encode the same values."""
    table = {"p": [value, None, "other", value]}
    encoder = Encoder(
        ["p"], categories={"p": ["other", value]}, drop={"p": [value]}, dtype=">f4",
        handle_missing="indicator",
    ).fit(table)  # fmt: skip
    observed = Encoder(["p"], handle_unknown={"p": "indicator"}, max_categories=5).fit(table)

    for each in (encoder, observed):
        back = Encoder.from_json(each.to_json())
        new, old = back.transform(table), each.transform(table)
        assert back.to_json() == each.to_json()
        assert back == each == copy.deepcopy(each) == pickle.loads(pickle.dumps(each))
        assert tuple(back.get_feature_names_out()) == tuple(each.get_feature_names_out())
        assert repr(back) == repr(each)
        assert (new.dtype, new.tobytes()) == (old.dtype, old.tobytes())


@pytest.mark.parametrize(
    "encoder",
    [
        Encoder(),
        Encoder(["p", 3, ("a", 1)], prefix={3: "three"}, min_frequency=0.25),
        Encoder().fit({}),
        Encoder(["p"]).fit({"p": []}),
        Encoder().fit(Column(np.zeros(0, "i1"), np.array(["b", "a"]), source="category")),
    ],
    ids=["options only", "names of any type", "no columns", "no rows", "declared"],
)
def test_encoders_are_restored(encoder):
    assert Encoder.from_json(encoder.to_json()).to_json() == encoder.to_json()
    assert repr(Encoder.from_json(encoder.to_json())) == repr(encoder)


@pytest.mark.parametrize(
    "values",
    [
        np.array([np.nan, np.nan]), np.array([np.nan], "f4"), np.array([], "i8"),
        np.array([], bool), np.array([], "U1"), np.array([], "S1"), np.array(["NaT"], "M8[us]"),
        np.array(["NaT"], "m8[s]"), [math.nan, None], [None], [],
    ],
    ids=lambda values: str(np.asarray(values).dtype),
)  # fmt: skip
def test_a_column_without_categories_keeps_its_type(values):
    """SQL and ONNX need the type: NaN is missing in a column of floats."""
    encoder = Encoder(["x"], handle_unknown="indicator").fit({"x": values})
    back = Encoder.from_json(encoder.to_json())
    [known], [again] = ([column.known for column in e.schema.columns] for e in (encoder, back))

    assert (again.kind_name, again.dtype) == (known.kind_name, known.dtype)
    assert (known.kind_name == "") == (type(values) is list and math.nan not in values)
    assert back.to_json() == encoder.to_json()
    assert back.to_sql() == encoder.to_sql()
    untyped = Encoder(["x"], handle_unknown="indicator").fit({"x": [None]})
    for merged in (encoder.merge(untyped), untyped.merge(encoder)):
        assert merged.schema.columns[0].known.kind_name == known.kind_name


def test_the_text_is_readable():
    document = json.loads(Encoder(drop="first").fit({"p": ["b", "ä", "b"]}).to_json())

    assert document == {
        "format": "onehot_fast.Encoder",
        "version": 4,
        "written by": f"onehot_fast {onehot_fast.__version__}",
        "columns": None,
        "options": {"drop": "first"},
        "fitted": {
            "rows": 3,
            "input": {"named": True, "columns": ["p"]},
            "columns": [
                {"name": "p", "declared": None, "conflict": False, "categories": ["b", "ä"],
                 "counts": [2, 1]}
            ],
        },
    }  # fmt: skip


HEAD = '{"format": "onehot_fast.Encoder", '


def document(categories='["a", "b"]', **changed):
    """Return the text of an encoder of one column, in which some parts are other JSON."""
    column = {"name": "c", "declared": None, "conflict": False, "counts": [1, 2]}
    fitted: Any = {"rows": 3, "columns": [{**column, "categories": "@"}]}
    whole = {"format": "onehot_fast.Encoder", "version": 2, "columns": None, "options": {}}
    for where, value in changed.items():
        part = whole if where in whole else fitted if where in fitted else fitted["columns"][0]
        part[where] = value
    return json.dumps({**whole, "fitted": fitted}).replace('"@"', categories)


PICKLE = '"columns": [{"pickle": ""}], "options": {}, "fitted": null}'
NEWER = (
    "must be at most 4 for onehot_fast .* got 9, written by onehot_fast 8.1; upgrade onehot_fast"
)
DEEP = '{"tuple": [' * 500 + "1" + "]}" * 500
UNREADABLE = [
    ("[]", "must be a result of Encoder.to_json"),
    ("{}", r"must be a result of Encoder.to_json, .* 'onehot_fast.Encoder', got '\{\}'$"),
    ('{"format": "onehot_fast.command"}', "only the onehot-fast command reads .* convert it with"),
    ("nothing", "must be JSON .Expecting value"),
    ("[" * 200_000, "must be JSON .it is nested too deeply"),
    ("encoder.json", r"Encoder.load\(path\) for a file"),
    (HEAD + '"version": 9, "written by": "onehot_fast 8.1"}', NEWER),
    (HEAD + '"version": "2"}', "got '2', written by an unknown release"),
    (HEAD + '"version": 1}', "not a complete encoder"),
    (HEAD + f'"version": 1, {PICKLE}', "the first key must name a type, .* got 'pickle'"),
    *((document(f"[{value}, 1]"), "column 'c'") for value in (
        '{"fraction": "1e1000000000"}', '{"fraction": "1/0"}', '{"fraction": 1}',
        '{"decimal": "x"}', '{"datetime": "2020-01-01", "zone": "' + "A" * 5000 + '"}',
        '{"datetime": "2020-01-01", "zone": "/etc/passwd"}',
        '{"datetime": "2020-01-01", "fold": 7}',
        '{"datetime64": "2020"}', '{"timedelta": [999999999999, 0, 0]}', '{"tuple": 5}', '{}',
        '{"timedelta64": 99999999999999999999, "unit": "s"}', '{"bytes": "zz"}', "[1]", "null", "1",
        '{"decimal": "sNaN"}', '{"float": "nan"}',
    )),
    (document(f"[{DEEP}, 1]"), "the text must be JSON|maximum recursion"),
    (document("[[1]]", counts=[1]), "column 'c'.*expected a scalar, got a list"),
    (document("3"), "expected a list, got an int: 3"),
    (document(counts=[1, -1]), "a count must be .* got -1"),
    (document(counts=[1, 2**100]), "a count must be an int"),
    (document(counts=[1, 1.5]), "a count must be .* got 1.5"),
    (document(counts=[1]), "one of .counts. for each category"),
    (document(declared=-1), "a count must be .* got -1"),
    (document(conflict=0), "'conflict' must be true or false, got 0"),
    (document(rows=None), "'fitted': a count must be .* got None"),
    (document(name=[1]), "'fitted'.*expected a scalar, got a list"),
    (document(columns=["c", "c"]), "'columns': column names must differ from each other"),
    (document(columns=5), "'columns': expected a list, got an int: 5"),
    (document(options={"self": 1}), "'options': option 'self' does not exist"),
    (document(options={"drop": {"per column": 3}}), "option 'drop'"),
    (document(options={"drop": {"per column": [["c", {"bytes": ""}]]}}), "must not be a dict"),
    (document(options={"drop": {"per column": [["c", [[]]]]}}), "expected a scalar, got a list"),
    (document(options={"drop": {"per column": [["c", []]]}}), "a list of one category"),
    (document(options={"drop": "nothing"}), "'columns' and 'options': drop must be one of"),
    (document(options=[]), "'options'"),
    # A prefix is repeated in the name of every feature.
    *((document(options={name: "p" * 10_001}), "must have at most 10,000 letters, got 10,001")
      for name in ("prefix", "prefix_sep")),
    (document(options={"dtype": "9" * 5000 + ","}), "got '999"),
    ("[" * 100_000 + "]" * 100_000, "the text must be JSON"),
    ("9" * 5000, "the text must be JSON"),
    (b"\xff", "the text must be JSON"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), UNREADABLE)
def test_other_documents_raise_value_errors(text, message):
    """The error is fast, and names the place and the problem."""
    with pytest.raises(ValueError, match=message):
        Encoder.from_json(text)


@pytest.mark.parametrize("value", [np.nan, np.float32("nan"), Decimal("NaN"), Decimal("sNaN")])
def test_an_option_without_equal_equals_itself(value):
    """NaN is unequal to NaN, and a signaling NaN has no hash; NaN may be a name too."""
    encoder = Encoder(["a"], drop={"a": value})

    assert Encoder.from_json(encoder.to_json()) == encoder != Encoder(["a"], drop={"a": "x"})
    text = Encoder([math.nan]).to_json()
    assert Encoder.from_json(text) == Encoder.from_json(text)


def test_impossible_statistics_are_rejected():
    encoder = Encoder.from_json(document(options={"categories": ["a"]}))

    with pytest.raises(ValueError, match=r"must include all .* but lacks 'b'"):
        encoder.get_feature_names_out()


DIGITS = "1" * 1_000_000
TAGS = {next(iter(each)) for each in map(tagged, SCALARS.values()) if isinstance(each, dict)}
TOO_LONG = [
    *({tag: DIGITS} for tag in sorted(TAGS - {"bytes", "tuple"})),
    {"decimal": "1E" + DIGITS}, {"fraction": f"1/{DIGITS}"}, {"fraction": "1e1000000000"},
    {"datetime": "2020-01-01", "zone": DIGITS},
    {"timedelta": [10**400]}, {"timedelta": [1] * 100_000},
    {"datetime64": DIGITS, "unit": "D"}, {"datetime64": "2020", "unit": DIGITS},
    {"timedelta64": 1, "unit": f"{DIGITS}s"}, {"timedelta64": 10**400, "unit": "s"},
    {"Timestamp": DIGITS, "unit": "s"}, {"Timestamp": "2020", "unit": "D"},
    {"Timestamp": "2020", "unit": DIGITS}, {"Timestamp": "2020", "unit": "s", "zone": DIGITS},
    {"Timedelta": DIGITS, "unit": "s"}, {"Timedelta": "1s", "unit": DIGITS},
    {"Period": DIGITS, "freq": "M"}, {"Period": "2020", "freq": DIGITS},
    {"Interval": [DIGITS, 2], "closed": "right"}, {"Interval": [1, 2], "closed": DIGITS},
    {"Interval": [{"Period": DIGITS, "freq": "M"}, 2], "closed": "right"},
    {"tuple": [{"Period": DIGITS, "freq": "M"}]}, {DIGITS: 1}, {"bytes": f"{DIGITS}x"},
    {"missing": DIGITS}, {"missing": "NAN"}, {"missing": []}, {"clongdouble": [DIGITS, "1"]},
    {"datetime": [DIGITS, None]}, {"datetime": ["2020-01-01", DIGITS]}, {"time": [DIGITS, None]},
    {"datetime": ["2020-01-01", [10**400, 0, 0]]}, {"time": ["01:00", DIGITS], "fold": 0},
    {"Timestamp": [10**400, None], "unit": "s"}, {"Timestamp": [1, DIGITS], "unit": "s"},
    {"Timestamp": [DIGITS, None], "unit": "s"}, {"Timestamp": [1], "unit": "s"},
    {"Timedelta": [10**400], "unit": "s"}, {"Period": [10**400], "freq": "M"},
    {"Period": [1], "freq": DIGITS}, {"MonthDayNano": [10**400, 1, 1]}, {"MonthDayNano": DIGITS},
]  # fmt: skip


def test_long_scalars_of_every_tag_are_tested():
    of_pandas = {next(iter(tagged(value))) for value in pandas_scalars()} | {"missing"}

    assert {next(iter(source)) for source in TOO_LONG} >= TAGS | of_pandas


@pytest.mark.parametrize("source", TOO_LONG, ids=lambda source: str(source)[:30])
def test_a_scalar_that_is_too_long_is_rejected_in_few_words(source):
    """A scalar that is too long is rejected with a short error, be it category, name or option."""
    pytest.importorskip("pandas")
    document = json.loads(Encoder(["c"], drop={"c": "a"}).fit({"c": ["a", "b"]}).to_json())
    places = [
        (document["fitted"]["columns"][0]["categories"], 0),
        (document["fitted"]["columns"][0], "name"),
        (document["columns"], 0),
        (document["options"]["drop"]["per column"][0], 0),
        (document["options"]["drop"]["per column"][0][1], 0),
    ]
    for part, key in places:
        part[key], kept = source, part[key]
        with pytest.raises(ValueError, match="not a complete encoder") as caught:
            Encoder.from_json(json.dumps(document))
        assert len(str(caught.value)) < 1000
        part[key] = kept


HOSTILE = [
    None, True, -1, 2**70, 10**400, 1e308, math.nan, "", "x", "auto", "first", "\ud800", "9" * 5000,
    [], {}, [[]], [None], ["b", "b"], {"a": 1}, [2**70], [-1, -1], [1, "a"], -(2**63),
    {"decimal": "1E-999999999"}, {"datetime": "2020-01-01", "zone": "../../etc/passwd"},
    {"date": "9999-99-99"}, {"datetime64": 2**62, "unit": "Y"}, {"timedelta64": 2**62, "unit": "W"},
    {"complex": "1e999j"}, {"longdouble": "1e5000"}, {"Interval": [2, 1], "closed": "right"},
    {"Timestamp": "9999-01-01", "unit": "s"}, {"Period": "9999", "freq": "999999D"},
    {"per column": [["text", 1]]}, *TOO_LONG,
]  # fmt: skip
MIXED = {
    "text": ["b", "ä", None, "b"],
    "integer": [1, 2, 3, 3],
    "float": [1.5, math.nan, -0.0, 2.0],
    "object": [Decimal("1.1"), Fraction(1, 3), datetime.date(2020, 1, 1), (b"\x00", True)],
}
NAMES = [*MIXED]
DOCUMENTS = [
    Encoder(NAMES, min_frequency=2, drop={"text": "b"}, handle_unknown="infrequent").fit(MIXED),
    Encoder(NAMES, drop="first", handle_unknown="indicator", remainder="drop").fit(MIXED),
    Encoder(["text"], categories={"text": ["b", "ä"]}, drop={"text": "b"}, prefix="p").fit(MIXED),
    Encoder(["text"], dtype="float32", handle_missing="propagate", max_categories=2),
]
TEXTS = st.sampled_from([encoder.to_json() for encoder in DOCUMENTS])


def places(document):
    """Return every container of a document, with every key that it has."""
    if not isinstance(document, dict | list):
        return []
    keys = list(document) if isinstance(document, dict) else list(range(len(document)))
    here = [(document, key) for key in keys]
    return here + [place for key in keys for place in places(document[key])]


def check_document(text):
    """Read a document, which may raise a ValueError, and use the encoder in many ways."""
    try:
        encoder = Encoder.from_json(text)
    except ValueError:
        return
    assert Encoder.from_json(encoder.to_json()) == encoder
    table = {name: np.array(["x", None, "y"], object) for name in MIXED}
    with contextlib.suppress(ValueError, TypeError, RuntimeError):  # the table may not fit
        matrix = encoder.transform(table, "numpy")
        assert len(matrix) == 3
        encoder.inverse_transform(matrix)
        encoder.check(table)
        repr((encoder, encoder.features, encoder.summary(), encoder._repr_html_()))
    for dialect in ("duckdb", "postgres", "spark"):
        with contextlib.suppress(ValueError, TypeError, RuntimeError):
            encoder.to_sql(dialect)


@pytest.mark.filterwarnings("ignore")
@given(TEXTS, st.data())
def test_a_changed_document_is_read_or_rejected(text, data):
    """Parts of it are replaced, deleted, repeated or renamed."""
    document = json.loads(text)
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from(places(document)))
        change = data.draw(st.sampled_from(["replace", "replace", "delete", "repeat or rename"]))
        if change == "replace":
            # A copy, as the next one may change it.
            container[key] = copy.deepcopy(data.draw(st.sampled_from(HOSTILE)))
        elif change == "delete":
            del container[key]
        elif isinstance(container, list):
            container.append(container[key])
        else:
            name = data.draw(st.sampled_from(["x", "tuple", "decimal", "rows", "name"]))
            container[name] = container.pop(key)
        if not places(document):
            break
    check_document(json.dumps(document))


@pytest.mark.filterwarnings("ignore")
@given(TEXTS, st.data())
def test_a_damaged_text_is_read_or_rejected(text, data):
    """Bytes at any place are cut out or replaced."""
    raw = text.encode()
    begin = data.draw(st.integers(0, len(raw)))
    after = begin + data.draw(st.sampled_from([0, 1, 2, 8, 100, len(raw)]))
    check_document(raw[:begin] + data.draw(st.binary(max_size=9)) + raw[after:])


class Point:
    """A value without a form in JSON."""


@pytest.mark.parametrize("kind", [str, Path])
def test_a_file_is_written_completely_or_not_at_all(tmp_path, kind):
    """After an error the old file is unchanged, without other files; links are followed."""
    file, link = tmp_path / "encoder.json", kind(tmp_path / "link.json")
    Path(link).symlink_to(file)
    good = Encoder().fit({"p": ["a", "\ud800"]})
    good.save(link)

    with pytest.raises(TypeError, match="is a Point, which JSON cannot represent"):
        Encoder().fit({"p": [Point()]}).save(link)
    assert Encoder.load(kind(file)) == good == Encoder.load(link)
    assert Path(link).is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == {"encoder.json", "link.json"}
    with pytest.raises(IsADirectoryError, match=rf"{tmp_path}'$"):
        good.save(kind(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"/x/y.json'$"):
        good.save(kind(tmp_path / "x" / "y.json"))
    assert {path.name for path in tmp_path.parent.glob("*.part")} == set()
    with pytest.raises(TypeError, match=r"use Encoder.load for a file"):
        Encoder.from_json(file)


def test_load_of_another_file_names_it(tmp_path):
    """The error neither quotes a binary file nor recommends the method that was called."""
    file = tmp_path / "encoded.parquet"
    file.write_bytes(b"PAR1\x15\x04")
    with pytest.raises(ValueError, match=r"^'[^']*encoded.parquet' is not .* `onehot-fast decode`"):
        Encoder.load(file)


def test_a_function_for_columns_has_no_form_in_json():
    """After `fit` the names have one."""
    encoder = Encoder(lambda table: "p")

    with pytest.raises(TypeError, match="cannot be saved as JSON before fit"):
        encoder.to_json()
    encoder.fit({"p": ["a"], "q": [1]})
    assert Encoder.from_json(encoder.to_json()) == encoder


SAME = Encoder("p", drop={"p": 1}).fit({"p": [1, 2, 2]})


@pytest.mark.parametrize(
    "other",
    [
        "an encoder",
        Encoder("p", drop={"p": 1}),
        Encoder("p", drop={"p": 1}).fit({"p": [1, 1, 2]}),
        Encoder("p", drop={"p": 1}).fit({"p": [1.0, 2.0, 2.0]}),
        Encoder("p", drop={"p": True}).fit({"p": [1, 2, 2]}),
        Encoder("p", drop="first").fit({"p": [1, 2, 2]}),
        Encoder("q", drop={"q": 1}).fit({"q": [1, 2, 2]}),
        Encoder("p", drop={"p": 1}, remainder="drop").fit({"p": [1, 2, 2]}),
    ],
)
def test_encoders_that_differ_are_not_equal(other):
    """Their statistics, types or options differ."""
    assert other != SAME


def test_encoders_that_do_the_same_are_equal():
    """All encoders have the same hash, because they are mutable."""
    parts = [Encoder(["p"], drop={"p": 1}).fit({"p": values}) for values in ([2, 1], [2, 1])]

    assert parts[0].merge(parts[1]) == Encoder("p", drop={"p": 1}).fit({"p": [2, 2, 1, 1]})
    assert Encoder(lambda table: "p", drop={"p": 1}).fit({"p": np.array([2, 2, 1], "i1")}) == SAME
    assert Encoder() == Encoder(None) != Encoder([])
    assert hash(SAME) == hash(Encoder())

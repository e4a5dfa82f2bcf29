"""The encoder against a slow oracle: properties of random tables."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import reduce
from itertools import chain
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast import Column, Encoder, OneHotMatrix
from onehot_fast._runtime.registry import ENGINES, wrappers
from onehot_fast._schema.formats import FORMATS, format_names
from onehot_fast.encoder import Output, Special
from support import encoder_oracle
from support.encoder_oracle import Options
from support.strategies import policies

POOLS = {
    "texts": ["", "a", "b", "B", "ä", "a_b", "long enough to leave every small buffer"],
    "integers": [-(2**63), -1, 0, 1, 7, 2**63 - 1],
    "big": [2**64, -1, 2**70],
    "floats": [0.5, -1.5, 1e300, float("inf"), 2.0],
    "mixed": [1, 2.5, "one", "x", 300],
}
FORMS = format_names(["matrix"])


def to_array(values, form):
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
    if isinstance(encoded, OneHotMatrix):
        return encoded.to_numpy("float32")
    return encoded if isinstance(encoded, np.ndarray) else encoded.toarray()


@st.composite
def values_of(draw, pool, max_size=12):
    """Draw a column of values of one pool, of which some are missing."""
    some = st.sampled_from(pool) | st.sampled_from([None, float("nan")])
    return draw(st.lists(some, max_size=max_size))


@st.composite
def column_options(draw, pool):
    declared = st.lists(st.sampled_from(pool), unique=True, max_size=5)
    drawn = policies(min_frequency=[None, 1, 2, 3, 0.2, 0.5], max_categories=[None, 1, 2, 3, 6])
    return Options(categories=draw(st.none() | declared), **draw(drawn))


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
    fields = ("drop", "handle_missing", "handle_unknown", "min_frequency", "max_categories")
    chosen = {field: {name: getattr(o, field) for name, o in options.items()} for field in fields}
    declared = {n: o.categories for n, o in options.items() if o.categories is not None}
    return Encoder(list(options), categories=declared, dtype="float32", **chosen)


def rejected_value(columns):
    """Return the column and the row that `fit` or `transform` rejects first."""
    for step in (0, 1):
        for name, (fitted, rows, options) in columns.items():
            row = encoder_oracle.refused_row((fitted, rows)[step], fitted, options)
            if row is not None:
                return name, row
    return None


@given(cases(), st.sampled_from(["list", "objects", "column"]), st.sampled_from(FORMS))
def test_results_equal_the_oracle(columns, form, output):
    """Names, rows, and the column and row of a rejected value are those of the oracle."""
    encoder = build({name: options for name, (_, _, options) in columns.items()})
    train = {name: to_array(fitted, form) for name, (fitted, _, _) in columns.items()}
    test = {name: to_array(rows, form) for name, (_, rows, _) in columns.items()}
    rejected = rejected_value(columns)
    if rejected is not None:
        with pytest.raises(ValueError, match=re.escape("column {!r}, row {}: ".format(*rejected))):
            encoder.fit(train).transform(test, output)
        return
    encoded = encoder.fit(train).transform(test, output)

    names = chain.from_iterable(encoder_oracle.names(n, f, o) for n, (f, _, o) in columns.items())
    parts = [encoder_oracle.encode(rows, fitted, o) for fitted, rows, o in columns.values()]
    wanted = [list(chain.from_iterable(row)) for row in zip(*parts, strict=True)]
    assert tuple(encoder.get_feature_names_out()) == tuple(names)
    np.testing.assert_array_equal(dense(encoded), np.array(wanted).reshape(encoded.shape))
    assert dense(encoded).dtype == np.float32
    assert output != "implicit" or encoded.column_names == tuple(encoder.get_feature_names_out())


def part_of(columns, deal, part):
    return {
        name: [value for value, to in zip(fitted, deal, strict=True) if to == part]
        for name, (fitted, _, _) in columns.items()
    }


@given(cases(), st.randoms(use_true_random=False))
def test_merge_is_commutative_and_associative(columns, random):
    """The encoder of a part may come from JSON."""
    options = {
        name: replace(o, handle_unknown="ignore", handle_missing="indicator")
        for name, (_, _, o) in columns.items()
    }
    deal = [random.randrange(4) for _ in next(iter(columns.values()))[0]]
    tables = [part_of(columns, deal, part) for part in range(4)]
    whole = build(options).fit({name: fitted for name, (fitted, _, _) in columns.items()})
    first, *others = (build(options).fit(table) for table in tables)
    restored = Encoder.from_json(first.to_json())
    a, b, c, d = random.sample([restored, *others], 4)
    merged = (a.merge(b, c, d), a.merge(b.merge(c)).merge(d), d.merge(c.merge(b.merge(a))))
    streamed = reduce(Encoder.partial_fit, tables[1:], restored)

    assert {m.to_json() for m in (*merged, streamed)} == {whole.to_json()}
    for one in merged:
        assert one.get_feature_names_out().tolist() == list(whole.get_feature_names_out())


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
    """If each kind of value is encoded in its own way, decoding restores it."""
    pool = POOLS[data.draw(st.sampled_from(sorted(POOLS)))]
    fitted, rows = data.draw(values_of(pool)), data.draw(values_of(pool))
    encoder = Encoder(["p"], dtype="float32", **options).fit({"p": fitted})
    decoded = encoder.inverse_transform(encoder.transform({"p": rows}, output))["p"].tolist()
    known = [v for v in fitted if not encoder_oracle.is_missing(v)]
    wanted = [
        None if encoder_oracle.is_missing(v) else v if v in known else Special.UNKNOWN for v in rows
    ]

    assert decoded == wanted


def test_the_formats_are_those_of_the_types_and_of_the_libraries():
    """A type checker needs the names written out; Dask's own name is for its tables alone."""
    written = {each for each in get_args(Output) if each is not None}

    assert written == {*FORMATS} - {"dask"}
    assert {*format_names(["table"])} == {*wrappers()}
    assert {each for one in FORMATS.values() for each in one.engines} == {*ENGINES.values()}

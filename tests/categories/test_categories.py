"""Categories as arrays compared with Python keys: equality, order and names."""

from __future__ import annotations

import datetime
import math
from decimal import Context, Decimal, FloatOperation, localcontext
from fractions import Fraction
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast import Column, Encoder
from onehot_fast._categories import keys as by_key
from onehot_fast._categories.values import read_column
from onehot_fast.adapter import Categories, Values
from support.equal_values import EQUAL, check_order

INT64 = st.sampled_from([-(2**63), -(2**53) - 1, -1, 0, 1, 2, 2**53, 2**53 + 1, 2**63 - 1])
UINT64 = st.sampled_from([0, 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1])
DOUBLES = st.sampled_from(
    [0.0, -0.0, 1.0, 2.0, 0.1, -1.0, 2.0**53, 2.0**63, -(2.0**63), 2.0**64, 1e300, float("inf")]
)
FLOATS = st.sampled_from([0.0, -0.0, 1.0, 0.1, 2.0**63, -np.inf]).map(np.float32)
TEXTS = st.text("\0aé\ud800\U0001f30d", max_size=20) | st.sampled_from(["1", "True", "a", "b"])
DAYS = st.integers(-3, 3).map(lambda day: np.datetime64(day, "D"))
SECONDS = st.integers(-3, 3).map(lambda day: np.datetime64(day * 86400, "s"))
KINDS = {
    "text": TEXTS,
    "bytes": st.binary(max_size=12) | st.sampled_from([b"a", b"1"]),
    "bool": st.booleans(),
    "int": INT64,
    "uint": UINT64,
    "float": DOUBLES,
    "float32": FLOATS,
    "days": DAYS,
    "seconds": SECONDS,
    "hours": st.integers(-30, 30).map(lambda hour: np.timedelta64(hour, "h")),
    "rare": st.sampled_from([Decimal(1), Fraction(1, 2), 1j, datetime.date(2024, 1, 1), ("a", 1)]),
}
KINDS["mixed"] = st.one_of(*KINDS.values())
VALUES = st.sampled_from(sorted(KINDS)).flatmap(lambda kind: st.lists(KINDS[kind], max_size=8))


def same(one, other):
    """Tell whether two lists hold the same values, types, units and signs of zero."""
    return list(map(repr, one)) == list(map(repr, other))


def distinct(values):
    """Return the values by their keys, the preferred one of equal values."""
    return by_key.preferred_by_key(by_key.keys(values), map(by_key.plain, values))


@given(VALUES)
def test_distinct_values_and_their_order_are_those_of_the_keys(values):
    known = distinct(values)
    categories, positions = Categories.distinct(values)
    found = categories.tolist()
    ordered = categories.take(categories.argsort()).tolist()
    rows = found if positions is None else [found[i] for i in positions]

    assert same(rows, [known[key] for key in by_key.keys(values)])
    assert len(categories) == len(known)
    assert same(ordered, by_key.in_order(found))


@given(VALUES, VALUES)
def test_values_are_found_as_in_a_dict_of_keys(known, asked):
    """1, 1.0, True and Decimal(1) are one value, and so are instants of other units.

    A look-up of rows without encoding finds the same positions.
    """
    known, _ = Categories.distinct(known)
    positions = {key: position for position, key in enumerate(known.to_keys())}
    expected = [positions.get(key, -1) for key in by_key.keys(asked)]

    assert known.find(Categories.of(asked)).tolist() == expected
    for array in (by_key.as_objects(asked), Categories.of(asked).values):
        found = Values([array]).lookup(known)
        assert found is None or found.tolist() == [-2 if i < 0 else i for i in expected]


@given(st.lists(UINT64, min_size=1, unique=True))
def test_integers_that_fit_a_dtype_have_it(values):
    assert Categories.of(values).dtype == (np.uint64 if max(values) >= 2**63 else np.int64)


@pytest.mark.parametrize(
    ("rows", "known"),
    [
        (np.array(["b", None, "z", np.nan], object), ["a", "b"]),
        (np.array([2.0, np.nan, 7, 2]), [1.0, 2.0]),
        (np.array([2, 0, 7], np.int8), [1, 2]),
        (np.array(["1970-01-03", "NaT", "1971-01-01"], "M8[D]"), [np.datetime64(2, "D")]),
    ],
    ids=["objects", "floats", "integers", "instants"],
)
def test_common_kinds_are_looked_up_without_encoding(rows, known):
    found = Values([rows[:1], rows[1:]]).lookup(Categories.of(known))
    items = [by_key.plain(row) for row in rows]
    expected = [-1 if by_key.is_missing(v) else known.index(v) if v in known else -2 for v in items]

    assert found.tolist() == expected


@given(st.lists(VALUES, min_size=1, max_size=4))
def test_a_union_is_that_of_the_keys(parts):
    """The preferred one of equal values is used, and every part has its positions."""
    parts = [Categories.distinct(values)[0] for values in parts]
    expected = distinct([value for part in parts for value in part.tolist()])
    union, positions = Categories.union(parts)
    places = {key: position for position, key in enumerate(union.to_keys())}

    assert same(by_key.in_order(union.tolist()), by_key.in_order(expected.values()))
    assert len(union) == len(expected)
    assert [found.tolist() for found in positions] == [
        [places[key] for key in part.to_keys()] for part in parts
    ]


SPELLED = st.lists(st.sampled_from([*chain(*EQUAL)]), min_size=1, max_size=12)


@given(SPELLED, st.data())
def test_names_do_not_depend_on_the_order_of_rows(values, data):
    """Equal values of several types have one name, regardless of order and parts of the rows."""
    rows = data.draw(st.permutations(values))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    check_order(values, rows, cuts, data.draw(st.integers(0, len(cuts))))


def test_the_simplest_type_of_equal_values_gives_the_name():
    for values, name in [([True, 1], "1"), ([1.0, 1], "1"), ([Decimal("1.00"), 1 + 0j], "1.00")]:
        for rows in (values, values[::-1]):
            assert Encoder(["c"], prefix="").fit({"c": rows}).get_feature_names_out() == [
                f"_{name}"
            ]


NAMED = st.dictionaries(
    st.sampled_from(["a", "a_b", "a_b_", "a_1", "", "b"]),
    st.lists(TEXTS | st.sampled_from(["b", "b_c", "c", "_c", "(unknown)"]), min_size=1, max_size=4)
    | st.lists(st.sampled_from([1, 2, 11, True]), min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)


@given(NAMED, st.lists(st.sampled_from(["a_b", "a_1", "b_c", "c"]), max_size=2, unique=True))
def test_equal_names_of_columns_are_an_error(columns, kept):
    rows = max(map(len, columns.values()))
    table = {name: (values * rows)[:rows] for name, values in columns.items()}
    names = []
    for name, values in table.items():
        spelled = {
            True: min((v for v in values if v == 1), key=str, default=1)
        }  # "1" before "True"
        categories = [spelled.get(value, value) for value in dict.fromkeys(values)]
        names += [f"{name}_{title}" for title in [*categories, "(unknown)"]]
    encoder = Encoder([*table], handle_unknown="indicator")

    if len(set(names)) < len(names):
        with pytest.raises(ValueError, match="two output columns would be named"):
            encoder.fit(table)
        return
    schema = encoder.fit(table).schema
    assert set(schema.names) == set(names)
    if set(names) & set(kept):
        with pytest.raises(ValueError, match="which is not encoded"):
            schema.check_names(kept)
    else:
        schema.check_names(kept)


def test_chunks_of_values_are_one_column():
    column = Values([np.array(["b", "a"], object), np.array(["a", None], object)]).encode()

    assert [*column.categories[column.codes[:3]], column.codes[3]] == ["b", "a", "a", -1]
    assert len(Values([]).encode()) == 0


def test_other_objects_may_be_missing_values():

    class NAType:
        """A missing value like that of pandas."""

        def __ne__(self, other):
            raise TypeError

        __hash__ = object.__hash__
        __eq__ = None

    missing = NAType()
    rows = np.array(["b", missing, "a"], object)
    for declared in ((missing,), ()):
        values = Values([rows], missing=declared)
        assert values.encode().codes.tolist() == [0, -1, 1]
    assert Values([rows], missing=(missing,)).lookup(Categories.of(["a"])).tolist() == [-2, -1, 0]
    assert Values([rows]).lookup(Categories.of(["a"])) is None


def test_equal_categories_of_a_column_are_one():
    column = Column(np.array([0, 1, 1, 2]), np.array([1, 1.0, "a"], object), source="category")
    encoder = Encoder().fit(column)

    assert encoder.get_feature_names_out().tolist() == ["x0_1", "x0_a"]
    assert encoder.transform(column).tolist() == [[True, False]] * 3 + [[False, True]]
    zeros = np.array([-0.0, 0.0])
    assert str(read_column(zeros).encode().categories.tolist()) == "[0.0]"
    assert str(Encoder(["p"]).fit({"p": zeros}).categories["p"].tolist()) == "[0.0]"


@pytest.mark.parametrize("make", [str, int, lambda i: i / 2], ids=["texts", "integers", "floats"])
def test_many_categories_are_looked_up(make):
    values = [make(i) for i in range(66_000)]
    table = {"p": by_key.as_objects(values[::-1])}
    parts = [Encoder(["p"]).fit({"p": table["p"][half::2]}) for half in (0, 1)]
    encoder = Encoder(["p"]).fit(table)
    back = Encoder.from_json(encoder.to_json())
    rows = {"p": by_key.as_objects(values[::9999])}

    assert back.to_json() == encoder.to_json() == parts[0].merge(parts[1]).to_json()
    assert back.categories["p"].tolist() == sorted(values)
    encoded = back.transform(rows, "csr")
    assert [sorted(values)[place] for place in encoded.indices] == values[::9999]
    assert back.inverse_transform(encoded)["p"].tolist() == values[::9999]
    assert len(set(back.get_feature_names_out())) == 66_000


HUGE = [Decimal("-1E+999999999"), Decimal("1E-999999999"), Decimal("1E+999999999")]


@given(
    st.lists(
        st.one_of(
            *(st.integers(-3, 3).map(kind) for kind in (int, float, Fraction, Decimal)),
            st.fractions(-2, 2, max_denominator=4),
            st.decimals(-2, 2, places=2),
            st.sampled_from([0.1, Decimal("0.1"), Fraction(1, 10), 10**400, math.inf, -math.inf]),
            st.sampled_from([np.float16(0.1), np.float32(0.1), np.longdouble("0.1")]),
            st.sampled_from([Decimal("Infinity"), *HUGE]),
        ),
        max_size=12,
    )
)
def test_numbers_are_ordered_exactly(numbers):
    """Numbers of all types are compared as Fractions, except those with too many digits."""

    def place(number):
        if isinstance(number, float | Decimal | np.floating) and not np.isfinite(float(number)):
            is_huge = isinstance(number, Decimal) and number.is_finite()
            return (1 if number > 0 else -1) * (1 if is_huge else 2), 0
        if number == HUGE[1]:
            return 0, Fraction(1, 10**500)
        if isinstance(number, np.floating):
            return 0, Fraction(*number.as_integer_ratio())
        return 0, Fraction(number)

    with localcontext(Context(traps=[FloatOperation])):
        ordered = by_key.in_order(numbers)

    assert [*map(place, ordered)] == sorted(map(place, numbers))


def test_numbers_of_any_exponent_are_learned_fast():
    """Their digits would take a gigabyte and hours."""
    encoder = Encoder(["c"]).fit({"c": [*HUGE[::-1], Fraction(1, 3), 2]})

    assert encoder.categories["c"].tolist() == [*HUGE[:2], Fraction(1, 3), 2, HUGE[2]]
    assert encoder.transform({"c": HUGE}, "numpy").argmax(1).tolist() == [0, 1, 4]
    assert Encoder.from_json(encoder.to_json()) == encoder


def test_an_object_whose_hash_changes_is_rejected():
    class Changing:
        count = 0

        def __hash__(self):
            Changing.count += 1
            return Changing.count

    with pytest.raises(ValueError, match="must return the same result"):
        Encoder().fit({"c": [Changing(), Changing()]})

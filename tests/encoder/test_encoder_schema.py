"""The categories of an encoder: order, names, dropped and unknown ones."""

from __future__ import annotations

import datetime
from itertools import permutations

import numpy as np
import pytest

from onehot_fast import Column, Encoder, Special
from onehot_fast.table import ArrayTable


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        *(([1j, 2j], "c16"), ([2, 2**63], object), ([2**64, 1], object), (["a", 1], object)),
        # Only the values that occur are categories.
        (Column(np.array([0], np.int8), np.array([-1, "a"], object)), "i8"),
    ],
    ids=repr,
)
def test_categories_have_a_dtype_of_numpy(values, dtype):
    """Categories have a NumPy dtype if one fits all of them."""
    assert Encoder(["p"]).fit({"p": values}).categories["p"].dtype == dtype


def test_times_match_in_any_unit():
    """One instant is one category in days, in nanoseconds and as a datetime."""
    days = np.array(["2024-02-29", "1969-12-31", "NaT"], "M8[D]")
    encoder = Encoder(["p"], dtype="uint8").fit({"p": days})

    assert tuple(encoder.get_feature_names_out()) == ("p_1969-12-31", "p_2024-02-29")
    assert encoder.transform({"p": days.astype("M8[ns]")}).tolist() == [[0, 1], [1, 0], [0, 0]]
    assert encoder.transform({"p": days.astype("M8[s]").astype(object)}).tolist() == [
        [0, 1], [1, 0], [0, 0],
    ]  # fmt: skip
    assert encoder.categories["p"].dtype == np.dtype("M8[D]")


@pytest.mark.parametrize("unit", ["D", "M", "h", "s", "us", "ns"])
def test_equal_times_of_a_column_of_objects(unit):
    """Equal times of NumPy and Python are one category, though their hashes may differ."""
    same = [np.datetime64("2020-01-01", unit), datetime.datetime(2020, 1, 1), "x"]
    encoder = Encoder(["p"], dtype="uint8").fit({"p": same})

    assert encoder.get_feature_names_out().tolist() == ["p_x", "p_2020-01-01"]
    assert encoder.transform({"p": same}).tolist() == [[0, 1], [0, 1], [1, 0]]
    assert Encoder(["p"], drop="first").fit({"p": same[:2]}).get_feature_names_out().size == 0


@pytest.mark.parametrize(
    ("time", "name"),
    [
        (np.datetime64("2024-02-29T00:00:00.000", "ms"), "p_2024-02-29"),
        (np.datetime64("2024-02-29T10", "h"), "p_2024-02-29T10:00:00"),
        (np.datetime64("2024-02-29T10:00:00.000", "ns"), "p_2024-02-29T10:00:00"),
        (np.datetime64("2024-02-29T00:00:00.000100", "us"), "p_2024-02-29T00:00:00.0001"),
        (np.datetime64("2024", "Y"), "p_2024"),
        (datetime.datetime(2024, 2, 29), "p_2024-02-29"),
        (np.timedelta64(90, "s"), "p_0:01:30"),
        (np.timedelta64(90 * 10**9, "ns"), "p_0:01:30"),
        (datetime.timedelta(seconds=90), "p_0:01:30"),
        (np.timedelta64(1, "ns"), "p_1 nanoseconds"),
        (np.timedelta64(2**62, "s"), "p_4611686018427387904 seconds"),
        (np.timedelta64(5, "Y"), "p_5 years"),
    ],
)
def test_a_time_has_a_short_name(time, name):
    """A time has a short name, independent of its unit and type."""
    assert tuple(Encoder(["p"]).fit({"p": np.array([time])}).get_feature_names_out()) == (name,)


@pytest.mark.parametrize(
    ("orders", "observed", "expected"),
    [
        (["SML", "SML", "SML"], "", "SML"),
        (["SML", "LMS", "SML"], "", "LMS"),
        (["SM", "MX", "SM"], "", "MSX"),
        (["SML", "SML", ""], "", "SML"),
        (["SML"], "LS", "SML"),
        (["SML"], "LSA", "ALMS"),
    ],
)
def test_merge_keeps_an_order_on_which_all_parts_agree(orders, observed, expected):
    """The declared order is kept if all parts agree; else the categories are sorted."""
    declared = [
        Column(np.zeros(0, np.int8), np.array([*order], object), source="category")
        for order in orders
    ]
    parts = [Encoder().fit(column) for column in [*declared, np.array([*observed], object)]]

    for first, *others in permutations(parts):
        assert "".join(first.merge(*others).categories["x0"]) == expected


def test_an_encoder_that_is_not_fitted_is_merged():
    fitted = Encoder(drop="first").fit({"p": ["a", "b"]})
    empty = Encoder(drop="first")

    assert fitted.merge(empty).to_json() == empty.merge(fitted).to_json() == fitted.to_json()
    assert empty.columns is None


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Encoder(drop="last").fit({"p": ["a"]}), "merge requires equal options"),
        (Encoder(drop="first").fit({"q": ["a"]}), r"the same columns, got \['p'\]"),
    ],
)
def test_encoders_that_differ_cannot_be_merged(other, message):
    with pytest.raises(ValueError, match=message):
        Encoder(drop="first").fit({"p": ["a"]}).merge(other)


def test_fit_transform_reads_a_column_once():
    reads = []

    class CountingTable(ArrayTable):
        def read_column(self, position):
            reads.append(position)
            return super().read_column(position)

    table = CountingTable(("p", "q"), [np.array(["a"]), np.array(["b"])], None)
    assert Encoder().fit_transform(table).tolist() == [[True, True]]
    assert reads == [0, 1]


def test_the_error_of_equal_names_describes_both_features():
    table = {"a": ["b_c"], "a_b": ["c"]}
    message = "would be named 'a_b_c': one for column 'a', category 'b_c', and one for column 'a_b'"

    with pytest.raises(ValueError, match=message):
        Encoder().fit(table)
    with pytest.raises(ValueError, match="category 1, and one for column 'a', category '1'"):
        Encoder(["a"]).fit({"a": [1, "1"]})
    encoder = Encoder(prefix_sep={"a": "="}).fit(table)
    assert tuple(encoder.get_feature_names_out()) == ("a=b_c", "a_b_c")


def test_a_category_without_rows_is_not_unknown():
    encoder = Encoder().fit({"x0": ["a"]})
    column = Column(np.array([0, -1], np.int8), np.array(["a", "z"]), source="category")

    assert encoder.transform(column).tolist() == [[True], [False]]


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
def test_drop_chooses_the_names(drop, names):
    table = {"p": ["a", "b", "first", "b"], "q": ["x", "y", "x", None]}

    assert tuple(Encoder(drop=drop).fit(table).get_feature_names_out()) == names


def test_a_schema_shows_its_columns_and_their_sizes():
    schema = Encoder().fit({"p": ["a", "b"], "q": ["x", "x"]}).schema
    wide = Encoder().fit({f"c{i}": ["a", "b"] for i in range(10)}).schema

    assert repr(schema) == "<Schema of 3 features: {'p': 2, 'q': 1}>"
    assert repr(wide).endswith("'c7': 2, ...}>")


def test_labels_without_a_category_are_shown_as_text():
    """A category keeps its type; a Special becomes the text that also ends the feature's name."""
    options = {"handle_missing": "indicator", "handle_unknown": "indicator", "min_frequency": 2}
    encoder = Encoder(["p"], **options).fit({"p": [3, 3, 5]})
    [column] = encoder.schema.columns

    assert column.labels == (3, Special.INFREQUENT, Special.UNKNOWN, Special.MISSING)
    assert column.shown_labels == [3, "(infrequent)", "(unknown)", "(missing)"]
    assert column.names == [f"p_{label}" for label in column.shown_labels]

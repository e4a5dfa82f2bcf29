"""Columns may have any hashable name: NaN, NaT, None and pandas.NA are four different names."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import warnings
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast import Encoder, UnknownValueError, UnknownValueWarning
from onehot_fast._categories.keys import MissingName, name_key, name_keys
from onehot_fast.table import column_positions
from support.strategies import examples

pd = pytest.importorskip("pandas")

# Each call returns a new object where that is possible, as reading a file or a pickle does.
MISSING = {
    "NaN": lambda: float("nan"),
    "None": lambda: None,
    "NaT": lambda: pd.NaT,
    "NA": lambda: pd.NA,
    "tuple": lambda: ("a", (float("nan"), None, pd.NaT, pd.NA)),
}
pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(params=MISSING.values(), ids=MISSING)
def name(request):
    """Return a function that makes the name."""
    return request.param


def frame_of(name):
    """Return a frame with columns "x" and `name` of strings, and a column "n" of numbers."""
    labels = pd.Index(["x", name, "n"], dtype=object, tupleize_cols=False)
    frame = pd.DataFrame([["u", "p", 1], ["v", "q", 2], ["u", None, 3]], columns=labels)
    return frame.infer_objects()


def assert_names(frame, names):
    """Compare the labels of a frame with names; NaN, None, NaT and NA differ."""
    assert list(map(repr, frame.columns)) == list(map(repr, names))


@pytest.fixture(params=["same process", "pickle", "JSON"])
def moved(request):
    """Return a function that moves an encoder to another process."""
    ways = {
        "same process": lambda encoder: encoder,
        "pickle": lambda encoder: pickle.loads(pickle.dumps(encoder)),
        "JSON": lambda encoder: Encoder.from_json(encoder.to_json()),
    }
    return ways[request.param]


def test_the_column_is_encoded(name, moved):
    text = str(name())
    encoder = moved(Encoder([name()]).fit(frame_of(name())))
    encoded = encoder.transform(frame_of(name()))

    assert_names(encoded, ["x", f"{text}_p", f"{text}_q", "n"])
    assert encoded[f"{text}_p"].tolist() == [True, False, False]
    decoded = encoder.inverse_transform(encoded)
    assert_names(decoded, ["x", name(), "n"])
    assert decoded.iloc[:, 1].tolist()[:2] == ["p", "q"]
    assert encoder.get_feature_names_out().tolist() == ["x", f"{text}_p", f"{text}_q", "n"]
    assert repr(encoder.columns) == repr((name(),))
    assert encoder == Encoder([name()]).fit(frame_of(name()))


def test_the_column_passes_through(name, moved):
    """It keeps its position, and a table that lacks it causes the warning or the error."""
    encoder = moved(Encoder(["x"]).fit(frame_of(name())))

    assert_names(encoder.transform(frame_of(name())), ["x_u", "x_v", name(), "n"])
    other_order = frame_of(name()).iloc[:, [2, 1, 0]]
    assert_names(encoder.transform(other_order), ["x_u", "x_v", name(), "n"])
    absent = frame_of(name()).iloc[:, [0, 2]]
    with pytest.warns(UserWarning, match="lacks the column") as caught:
        encoder.transform(absent)
    assert repr(name()) in str(caught[0].message)
    with pytest.raises(ValueError, match=r"lacks the column .* matrix"):
        encoder.transform(absent, "numpy")


def test_numbers_pass_through_a_matrix(name, moved):
    numbers = frame_of(name()).iloc[:, :1].assign(n=[1, 2, 3])
    numbers.columns = pd.Index(["x", name()], dtype=object, tupleize_cols=False)
    encoder = moved(Encoder(["x"]).fit(numbers))
    matrix = encoder.transform(numbers, "numpy")

    assert matrix.tolist() == [[1, 0, 1], [0, 1, 2], [1, 0, 3]]
    assert list(map(repr, encoder.inverse_transform(matrix))) == ["'x'", repr(name())]


def test_options_and_reports_find_the_column(name, moved):
    encoder = moved(
        Encoder(
            handle_unknown={name(): "warn"}, prefix={name(): "m"}, drop={name(): "q"},
            categories={name(): ["q", "p"]}, dtype={name(): "int8"},
        ).fit(frame_of(name()))
    )  # fmt: skip

    encoded = encoder.transform(frame_of(name()))
    assert list(encoded.columns) == ["x_u", "x_v", "m_p", "n"]
    assert encoded["m_p"].dtype == np.int8
    assert [*encoder.features["name"]] == ["x_u", "x_v", "m_p"]
    assert repr(encoder.summary()["column"].tolist()) == repr(["x", name()])
    check = encoder.check(frame_of(name()).replace({"p": "new"}))
    assert list(map(repr, check["column"])) == [repr(name())] * 2
    for listing in (encoder.categories, encoder.cardinalities, encoder.infrequent_categories):
        assert list(map(repr, listing)) == ["'x'", repr(name())]
    assert encoder._repr_html_()
    with pytest.warns(UnknownValueWarning, match="'new'"):
        encoder.transform(frame_of(name()).replace({"p": "new"}))
    with pytest.raises(UnknownValueError, match="'new'"):
        encoder.transform(frame_of(name()).replace({"u": "new"}))


def test_the_column_learns_more_rows_and_is_merged(name, moved):
    encoder = moved(Encoder([name()]).fit(frame_of(name())))
    more = frame_of(name()).replace({"p": "r"})
    other = moved(Encoder([name()]).fit(more))

    merged = encoder.merge(other)
    assert merged.columns is not None
    assert merged.partial_fit(more) == moved(encoder).partial_fit(more).partial_fit(more)
    assert [*merged.features["category"]] == ["p", "q", "r"]
    unfitted = Encoder([name()], drop={name(): "p"})
    assert unfitted.merge(Encoder([name()], drop={name(): "p"})) == unfitted


def test_categorical_output_has_the_name(name, moved):
    encoder = moved(Encoder([name()]).fit(frame_of(name())))
    encoded = encoder.transform(frame_of(name()), "category")

    assert_names(encoded, ["x", name(), "n"])
    assert_names(encoder.inverse_transform(encoded), ["x", name(), "n"])


def test_warnings_of_two_parts_are_merged(name):
    unknown = []
    for _ in range(2):
        encoder = Encoder([name()], handle_unknown="warn").fit({name(): ["a"]})
        with pytest.warns(UnknownValueWarning) as caught:
            encoder.transform({name(): ["new"]})
        unknown.append(caught[0].message)

    merged = unknown[0].merge(unknown[1])
    [values] = merged.reported.values()
    assert values.unknown.counts.tolist() == [2]


FOUR = [float("nan"), None, pd.NaT, pd.NA]


def four_columns():
    labels = pd.Index([float("nan"), None, pd.NaT, pd.NA], dtype=object)
    return pd.DataFrame([["a", "b", "c", "d"]], columns=labels)


def test_the_four_names_differ(moved):
    encoder = moved(Encoder().fit(four_columns()))

    assert [*encoder.get_feature_names_out()] == ["nan_a", "None_b", "NaT_c", "<NA>_d"]
    reversed_order = encoder.transform(four_columns().iloc[:, ::-1])
    assert [*reversed_order.columns] == ["nan_a", "None_b", "NaT_c", "<NA>_d"]
    assert reversed_order.to_numpy().all()
    assert repr(encoder.columns) == repr(tuple(FOUR))


def test_pandas_would_change_the_labels_of_a_result():
    """It infers a dtype of strings or floats for labels, which would turn None into NaN."""
    for names in (["x", None, pd.NA], ["x", float("nan"), None], [1, None], [1.5, pd.NA, pd.NaT]):
        labels = pd.Index(names, dtype=object)
        frame = pd.DataFrame([["a"] * len(names)], columns=labels)
        decoded = Encoder(names[:1]).fit(frame)
        result = decoded.inverse_transform(decoded.transform(frame))
        assert_names(result, names)


def test_the_four_names_have_four_marks_in_json():
    """The four names have four marks, which older releases read rightly or reject."""
    columns = json.loads(Encoder(FOUR).to_json())["columns"]

    assert columns == [{"float": "nan"}, None, {"missing": "NAT"}, {"missing": "NA"}]


WITHOUT_PANDAS = """
import pickle, sys
sys.modules["pandas"] = None  # as if it were not installed
from onehot_fast import Encoder
text = sys.stdin.read()
encoder = Encoder.from_json(text)
nan, none, nat, na = encoder.columns
assert nan != nan and none is None and repr(nat) == "NaT" and repr(na) == "<NA>", encoder.columns
assert encoder.to_json() == text
table = {name: [value] for name, value in zip(encoder.columns, "abcd")}
assert encoder.transform(table).all()
copy = pickle.loads(pickle.dumps(encoder))
assert copy.transform(table).all() and copy == encoder
assert [*encoder.get_feature_names_out()] == ["nan_a", "None_b", "NaT_c", "<NA>_d"]
sys.stdout.buffer.write(pickle.dumps(encoder))
"""


def test_the_four_names_exist_without_pandas():
    """NaT and NA are names there too; a pickle from there has the objects of pandas here."""
    text = Encoder().fit(four_columns()).to_json()
    found = subprocess.run(
        [sys.executable, "-P", "-c", WITHOUT_PANDAS],
        input=text.encode(),
        capture_output=True,
        check=False,
    )

    assert found.returncode == 0, found.stderr.decode()
    encoder = pickle.loads(found.stdout)
    assert encoder.columns[2] is pd.NaT
    assert encoder.columns[3] is pd.NA
    assert encoder.transform(four_columns()).to_numpy().all()


def test_names_from_a_pivot_are_kept():
    """A pivot by a key with missing values, and a MultiIndex with missing keys."""
    sales = pd.DataFrame({"shop": [1, 1, 2, 2], "kind": ["a", None] * 2, "n": [1.0, 2, 3, 4]})
    wide = sales.pivot(index="shop", columns="kind", values="n")
    wide.insert(0, "plan", ["free", "pro"])
    two_levels = sales.pivot(index="shop", columns="kind", values=["n"])
    two_levels.insert(0, ("plan", "x"), ["free", "pro"])
    for frame, column in ((wide, "plan"), (two_levels, ("plan", "x"))):
        encoder = Encoder([column]).fit(frame)
        for each in (encoder, Encoder.from_json(encoder.to_json())):
            encoded = each.transform(frame)
            assert encoded.to_numpy().tolist() == each.transform(frame, "numpy").tolist()
            assert_names(encoded.iloc[:, 2:], frame.columns[1:])


def test_a_string_index_may_have_a_missing_label():
    frame = pd.DataFrame([["u", 1]], columns=pd.Index([None, "n"], dtype="string"))
    encoder = Encoder().fit(frame)

    assert encoder.columns == (pd.NA,)
    assert Encoder.from_json(encoder.to_json()).transform(frame).shape == (1, 2)


def test_numbers_of_several_types_are_one_name():
    """Numbers of several types are one name, and so is their NaN."""
    nan = float("nan")
    assert column_positions([None, nan, pd.NaT, pd.NA], [np.float32("nan")]) == [1]
    assert column_positions([None, Decimal("NaN"), pd.NaT], [np.nan]) == [1]
    assert column_positions([None, pd.NaT], [np.datetime64("NaT", "s"), None]) == [1, 0]
    assert column_positions(["1", 1.0], [1]) == [1]
    assert column_positions([(1, nan), (1, None)], [(1, None), (1, float("nan"))]) == [1, 0]
    assert column_positions([complex(nan, 1), complex(nan, 2)], [complex(nan, 2)]) == [1]
    keys = [name_key(each) for each in FOUR]
    assert keys == [MissingName.NAN, None, MissingName.NAT, MissingName.NA]


def test_a_name_that_is_absent_or_repeated_is_an_error(name):
    with pytest.raises(ValueError, match="has no column 'y'") as caught:
        Encoder(["y"]).fit(frame_of(name()))
    assert repr(name()) in str(caught.value)
    with pytest.raises(ValueError, match="must have different names") as caught:
        Encoder([name(), "x", name()])
    assert repr(name()) in str(caught.value)
    twice = frame_of(name()).iloc[:, [0, 1, 1]]
    with pytest.raises(ValueError, match="2 columns named"):
        Encoder([name()]).fit(twice)
    assert Encoder([name()]) == Encoder([name()])
    if not isinstance(name(), type(None)):
        assert Encoder([name()]) != Encoder([None])


def test_an_option_names_a_column_once():
    with pytest.raises(ValueError, match="prefix must name each column once, got nan twice"):
        Encoder(prefix={float("nan"): "a", float("nan"): "b"})


def test_a_name_that_is_not_hashable_is_rejected():
    with pytest.raises(TypeError, match=r"column names, got a list: \['a'\]; pass one list"):
        Encoder([["a"]])


SCALAR_NAMES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.binary(max_size=5)
    | st.text() | st.text(st.characters(categories=["Cs", "Cc", "Zl"]))
    | st.dates() | st.datetimes() | st.timedeltas() | st.uuids() | st.decimals(allow_nan=False)
    | st.complex_numbers() | st.fractions()
    | st.sampled_from([pd.NaT, pd.NA, np.str_("a"), np.int8(3), np.float32("nan"), np.bool_(True)])
    | st.sampled_from([pd.Timestamp(5), pd.Period("2020"), pd.Interval(0, 1), "a" * 4_900])
)  # fmt: skip
NAMES = SCALAR_NAMES | st.tuples(SCALAR_NAMES, st.tuples(SCALAR_NAMES)) | st.tuples(SCALAR_NAMES)


def test_a_name_whose_parts_are_too_long_together_is_rejected_when_it_is_saved():
    """Each part alone could be saved; what `to_json` writes can always be loaded."""
    name = ("a" * 9_000, ("a" * 9_000,))
    encoder = Encoder([name]).fit({name: ["a", "b"]})

    with pytest.raises(ValueError, match=r"at most 10,000 letters, got 18,0.*rename the column"):
        encoder.to_json()


@given(st.lists(NAMES, min_size=1, max_size=6, unique_by=lambda name: repr(name_key(name))))
@examples(1.0)
def test_names_may_have_any_content(names):
    """The encoder finds, saves and restores the columns, and one name never means two columns."""
    distinct = list(dict(zip(name_keys(names), names, strict=True)).values())
    table = {name: ["a", "b"] for name in distinct}
    prefixes = {name: f"p{i}" for i, name in enumerate(distinct)}
    encoder = Encoder(distinct, prefix=prefixes).fit(table)
    document = encoder.to_json()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for each in (
            Encoder.from_json(document),
            Encoder.from_json(document.encode("utf-8", "surrogatepass")),
            pickle.loads(pickle.dumps(encoder)),
        ):
            assert each == encoder
            assert each.to_json() == document
            assert name_keys(each.columns) == name_keys(encoder.columns)
            assert each.transform(table).tolist() == encoder.transform(table).tolist()
            assert each.get_feature_names_out().tolist() == [
                f"p{i}_{value}" for i in range(len(distinct)) for value in "ab"
            ]
            decoded = each.inverse_transform(each.transform(table))
            assert name_keys(decoded) == name_keys(distinct)

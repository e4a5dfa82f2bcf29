"""The encoder on frames: what goes in and comes out are frames, by one schema."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pd = pytest.importorskip("pandas")

from onehot_fast import Encoder  # noqa: E402

TIMES = ["2024-02-29 10:00", None, "1969-12-31", "2024-02-29 10:00"]
# Before pandas 3 astype("str") makes a text of a missing value, too.
PANDAS_3 = int(pd.__version__.split(".")[0]) >= 3

FRAME = pd.DataFrame(
    {
        "text": ["b", None, "a", "b"],
        "number": [1.5, 2.5, np.nan, 0.5],
        "size": pd.Categorical(["S", None, "L", "S"], categories=["S", "M", "L"]),
        "whole": pd.array([1, None, 300, 1], dtype="Int64"),
        "time": pd.to_datetime(TIMES, format="mixed"),
        "zoned": pd.to_datetime(TIMES, format="mixed").tz_localize("Europe/Paris"),
        "period": pd.PeriodIndex(["2024-02", "NaT", "2024-01", "2024-02"], freq="M"),
        "range": pd.cut([1.0, np.nan, 4.0, 1.5], 2),
        "bool": [True, False, True, True],
        "object": pd.Series([("t",), None, 3, ("t",)], dtype=object),
    },
    index=list("wxyz"),
)


def test_frames_keep_their_columns_and_rows():
    """By default texts and categoricals are encoded, where they stand; all else stays."""
    encoded = Encoder().fit_transform(FRAME[["number", "text", "size", "bool"]])

    assert list(encoded.columns) == [
        "number", "text_a", "text_b", "size_S", "size_M", "size_L", "bool",
    ]  # fmt: skip
    assert list(encoded.index) == list("wxyz")
    pd.testing.assert_series_equal(encoded["number"], FRAME["number"])
    assert encoded["size_M"].tolist() == [False] * 4
    assert encoded["text_b"].tolist() == [True, False, False, True]


@pytest.mark.parametrize("output", ["pandas", "numpy", "csr"])
@pytest.mark.parametrize("name", FRAME.columns)
def test_values_of_every_dtype_come_back(name, output):
    """Each dtype of pandas is encoded and decoded, before and after a trip through text."""
    encoder = Encoder([name], handle_missing="indicator", dtype="int8").fit(FRAME)
    copy = Encoder.from_json(encoder.to_json())
    decoded = copy.inverse_transform(copy.transform(FRAME[[name]], output))[name]
    wanted = [None if pd.isna(value) else value for value in FRAME[name]]

    assert copy.to_json() == encoder.to_json()
    assert [None if pd.isna(v) else v for v in pd.Series(decoded, dtype=object)] == wanted


def test_what_was_trained_holds_for_what_is_tested():
    """An unseen category, a missing value and another dtype leave the columns as they are."""
    train = pd.DataFrame({"carrier": ["UA", "AA", "UA"], "month": [1, 2, 1]})
    test = pd.DataFrame({"month": [2.0, np.nan], "carrier": ["ZZ", None], "extra": [0, 1]})
    encoder = Encoder(["carrier", "month"], handle_unknown="indicator", dtype="uint8").fit(train)
    encoded = encoder.transform(test)

    names = [
        "carrier_AA",
        "carrier_UA",
        "carrier_(unknown)",
        "month_1",
        "month_2",
        "month_(unknown)",
    ]
    assert list(encoder.transform(train).columns) == names
    assert list(encoded.columns) == [*names, "extra"]
    assert encoded.to_numpy().tolist() == [[0, 0, 1, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0, 1]]


@given(
    st.lists(st.sampled_from(["a", "b", "c", None]), max_size=20),
    st.sampled_from(
        ["category", "object", "str", "string"] if PANDAS_3 else ["category", "string"]
    ),
)
def test_every_kind_of_text_column_gives_the_same(values, dtype):
    series = pd.Series(values, dtype=object)
    plain = Encoder(["p"]).fit({"p": values})
    encoder = Encoder(["p"]).fit(pd.DataFrame({"p": series.astype(dtype)}))
    encoded = encoder.transform(pd.DataFrame({"p": series.astype(dtype)}), "numpy")

    assert tuple(encoder.get_feature_names_out()) == tuple(plain.get_feature_names_out())
    np.testing.assert_array_equal(encoded, plain.transform({"p": values}))


def test_parts_of_a_frame_merge():
    """Encoders of parts are the encoder of the whole, also where a part has other dtypes."""
    whole = Encoder(list(FRAME.columns)).fit(FRAME)
    parts = [Encoder(list(FRAME.columns)).fit(FRAME.iloc[i : i + 1]) for i in range(4)]
    merged = parts[3].merge(parts[0].merge(parts[2]), parts[1])

    assert tuple(merged.get_feature_names_out()) == tuple(whole.get_feature_names_out())
    assert merged.to_json() == whole.to_json()


def test_a_frame_from_a_table_without_a_library():
    """A mapping becomes a frame if one asks for it, its other columns included."""
    table = {"p": ["a", None], "n": np.array([1.5, 2.5])}
    encoded = Encoder().fit(table).transform(table, "pandas")

    assert list(encoded.columns) == ["p_a", "n"]
    assert encoded.to_numpy().tolist() == [[True, 1.5], [False, 2.5]]


def test_writing_to_the_result_changes_nothing_else():
    """The frame owns its outputs; the next result does not see what was written to them."""
    frame = pd.DataFrame({"p": ["a", "b"], "n": [1, 2]})
    encoder = Encoder().fit(frame)
    first = encoder.transform(frame)
    first.loc[:, "n"] = 7
    first.loc[:, "p_a"] = False

    assert frame["n"].tolist() == [1, 2]
    assert encoder.transform(frame)["p_a"].tolist() == [True, False]

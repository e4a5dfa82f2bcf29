"""Columns of pandas' own dtypes, masked and in Arrow's memory, through the encoder."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from onehot_fast import Encoder
from onehot_fast.column import read_column

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

NAN = float("nan")


def arrow(values: list[Any], kind: Any) -> Any:
    """Return a Series in Arrow's memory."""
    array = pa.chunked_array([pa.array(values, kind)])
    return pd.Series(pd.arrays.ArrowExtensionArray(array))


def zoned(values: list[str | None]) -> Any:
    """Return instants with a zone."""
    return pd.Series(pd.to_datetime(values)).dt.tz_localize("Europe/Vienna")


CASES = {
    "Int64": lambda: (pd.Series([3, None, 1, 3], dtype="Int64"), [3, None, 1, 3]),
    "UInt8": lambda: (pd.Series([3, None, 1], dtype="UInt8"), [3, None, 1]),
    "Float64": lambda: (pd.Series([1.5, None, 0.5], dtype="Float64"), [1.5, None, 0.5]),
    "boolean": lambda: (pd.Series([True, None, False], dtype="boolean"), [True, None, False]),
    "float": lambda: (arrow([1.0, NAN, None, 2.0], pa.float64()), [1.0, None, None, 2.0]),
    "float32": lambda: (arrow([1.0, NAN, -0.0, 0.0], pa.float32()), [1.0, None, 0.0, 0.0]),
    "categories": lambda: (
        arrow([1.0, NAN, 2.0], pa.float64()).astype("category"), [1.0, None, 2.0],
    ),
    "dictionary": lambda: (
        pd.Series(pd.arrays.ArrowExtensionArray(pa.array([1.0, NAN, 2.0]).dictionary_encode())),
        [1.0, None, 2.0],
    ),
    "int": lambda: (arrow([1, None, 3], pa.int16()), [1, None, 3]),
    "bool": lambda: (arrow([True, None, False], pa.bool_()), [True, None, False]),
    "date": lambda: (
        arrow([1, None, 0], pa.date32()),
        [datetime.date(1970, 1, 2), None, datetime.date(1970, 1, 1)],
    ),
    "time": lambda: (arrow([2, None], pa.time64("us")), [datetime.time(0, 0, 0, 2), None]),
    "timestamp": lambda: (
        arrow([5, None], pa.timestamp("us")), [np.datetime64(5, "us"), None],
    ),
    "duration": lambda: (arrow([5, None], pa.duration("s")), [np.timedelta64(5, "s"), None]),
    "binary": lambda: (arrow([b"a", None], pa.binary()), [b"a", None]),
    "string view": lambda: (arrow(["a", None], pa.string_view()), ["a", None]),
    "binary view": lambda: (arrow([b"a", None], pa.binary_view()), [b"a", None]),
    "decimal": lambda: (
        arrow([Decimal("1.5"), None], pa.decimal128(5, 2)), [Decimal("1.50"), None],
    ),
    "zone": lambda: (
        zoned(["2020-07-01", None]), [pd.Timestamp("2020-07-01", tz="Europe/Vienna"), None],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_are_what_pandas_shows(name: str) -> None:
    """Codes, categories, unknown values, and the JSON of what was learned."""
    try:
        series, expected = CASES[name]()
    except (AttributeError, NotImplementedError, pa.ArrowNotImplementedError) as error:
        pytest.skip(f"these versions have no such column: {error}")
    column = read_column(series)
    categories = (
        column.categories.tolist()
        if column.categories.dtype.kind not in "mM"
        else [*column.categories]
    )
    assert [None if code < 0 else categories[code] for code in column.codes.tolist()] == expected

    frame = pd.DataFrame({"c": series})
    encoder = Encoder(["c"], handle_missing="indicator").fit(frame)
    matrix = encoder.transform(frame, "numpy")
    assert matrix.sum(axis=1).tolist() == [1] * len(expected)
    assert matrix[:, -1].tolist() == [value is None for value in expected]
    assert Encoder.from_json(encoder.to_json()) == encoder
    other = Encoder(["c"]).fit(frame.iloc[:1])
    if len(set(expected) - {None}) > 1 and name != "categories":  # these are declared
        with pytest.raises(ValueError, match="unknown"):
            other.transform(frame)
    if None in expected:
        with pytest.raises(ValueError, match="missing"):
            Encoder(["c"], handle_missing="error").fit(frame)


@pytest.mark.parametrize(
    ("values", "kind", "says"),
    [
        ([10**7], pa.date32(), "'c'.*years outside 1 to 9999"),
        ([2**60], pa.timestamp("s", "UTC"), "'c'.*years outside 1 to 9999"),
        ([1, 2], pa.time64("ns"), "'c'.*nanoseconds"),
        ([1], pa.time64("ns"), "'c'.*nanoseconds"),
    ],
)
@pytest.mark.parametrize("library", ["pandas", "arrow"])
def test_times_that_python_has_not(values: list[int], kind: Any, says: str, library: str) -> None:
    """They are refused by the name of their column, and never rounded."""
    table: Any = pa.table({"c": pa.array(values, kind)})
    table = pd.DataFrame({"c": arrow(values, kind)}) if library == "pandas" else table
    with pytest.raises(ValueError, match=says):
        Encoder(["c"]).fit(table)

"""``Series.onehot`` against polars' own `to_dummies`; what both accessors do is elsewhere."""

from __future__ import annotations

import pytest
from hypothesis import given

pl = pytest.importorskip("polars")

from polars_strategies import INTEGERS, LETTERS, series  # noqa: E402  after the skip above
from programs import WITHOUT_PYARROW, run  # noqa: E402

import onehot_fast.integrations.polars  # noqa: E402, F401

# Those of which the names of the categories are a matter of taste stay out: times, floats, bytes.
NAMED_ALIKE = (pl.String, pl.Categorical, LETTERS, *INTEGERS, pl.Date)


@given(column=series(NAMED_ALIKE))
def test_equals_to_dummies(column):
    actual = column.onehot(dtype=pl.UInt8)

    expected = column.to_dummies()
    expected = expected.drop("k_null", strict=False) if column.null_count() else expected
    more = [name for name in actual.columns if name not in expected.columns]
    # Of no columns, polars compares the heights of frames that never had one.
    assert expected.width == 0 or actual.select(expected.columns).equals(expected)
    assert more == [] or column.dtype == pl.Enum
    assert not any(actual[name].sum() for name in more)


@pytest.mark.parametrize("name", ["*", "^.*$", "^k$", "k\0", ""])
@pytest.mark.parametrize("values", [["a\0b", "a\0€", None], [1, 10**12, None], [True, False, None]])
def test_a_series_may_have_any_name(name, values):
    """Some are patterns, or end at a NUL in C."""
    frame = pl.Series(values).alias(name).onehot(prefix_sep="=")

    assert [column.removeprefix(f"{name}=") for column in frame.columns] == [
        str(value) for value in sorted(values[:2])
    ]
    assert sorted(frame.rows()) == [(False, False), (False, True), (True, False)]
    labels = pl.Series([values]).alias(name).onehot.multi_hot()
    assert labels.columns == [column.removeprefix(f"{name}=") for column in frame.columns]
    assert labels.rows() == [(True, True)]


@pytest.mark.parametrize("dtype", ["complex64", "S1", pl.String, pl.Date, None, "nonsense"])
def test_dtypes_that_polars_lacks_are_rejected(dtype):
    with pytest.raises(TypeError, match="dtype "):
        pl.Series(["a"]).onehot(dtype=dtype)


def test_pyarrow_is_not_needed():
    run(
        WITHOUT_PYARROW
        + """
import datetime
import polars as pl
import onehot_fast.integrations.polars
from onehot_fast import Encoder

texts = ["a", "b", None] * 200
frame = pl.DataFrame({
    "text": texts, "category": pl.Series(texts, dtype=pl.Categorical),
    "enum": pl.Series(texts, dtype=pl.Enum(["a", "b"])), "whole": [1, None, 10**12] * 200,
    "day": [datetime.date(2020, 1, 2)] * 600, "moment": [datetime.datetime(2020, 1, 2)] * 600,
    "bytes": [b"a"] * 600, "real": [1.5] * 600, "truth": [True] * 600,
})
encoder = frame.onehot.fit(frame.columns)
encoded = encoder.transform(frame)
assert encoded.equals(frame.lazy().onehot(encoder).collect())
assert encoded[:1].equals(encoder.transform(frame[:1]))
assert encoder.inverse_transform(encoded).columns == frame.columns
for name in frame.columns:
    assert frame[name].onehot(dtype=pl.UInt8).equals(
        frame.select(pl.col(name).onehot(encoder, layout="struct").struct.unnest()).cast(pl.UInt8)
    )
assert frame.select(pl.col("text").onehot(["a", "b"])).dtypes == [pl.Array(pl.UInt8, 2)]
assert pl.Series(texts).onehot.multi_hot("|").columns == ["a", "b"]
assert pl.Series([texts]).onehot.multi_hot().row(0) == (True, True)
assert "pyarrow" not in sys.modules
try:
    frame["text"].onehot.to_arrow()
except ImportError as error:
    assert "to_arrow() needs pyarrow" in str(error)
else:
    raise AssertionError
"""
    )

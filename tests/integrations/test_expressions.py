"""Expressions that an engine computes give what `transform` does."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onehot_fast import Encoder

pl = pytest.importorskip("polars")

LARGE = 2**53
DAY, INSTANT = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12, 30, 1, 5)
TEXTS = ["a", "A", "", "1", "a\0", "é", "^a.*$", "*"]
# The values of a column by its dtype.
COLUMNS: dict[Any, list[Any]] = {
    pl.String: TEXTS,
    pl.Categorical: TEXTS,
    pl.Enum(TEXTS): TEXTS,
    pl.Int8: [0, 1, -3, 127],
    pl.Int64: [0, 1, LARGE, LARGE + 1, -(2**63)],
    pl.UInt64: [0, 1, 2**64 - 1],
    pl.Float64: [0.0, -0.0, 0.1, 1.0, float(LARGE), float("nan"), float("inf")],
    pl.Float32: [0.0, 0.1, 1.0, float("nan")],
    pl.Boolean: [True, False],
    pl.Date: [DAY, datetime.date(1969, 12, 31)],
    pl.Datetime("us"): [INSTANT, datetime.datetime(2024, 2, 29)],
    pl.Datetime("ns"): [INSTANT, datetime.datetime(2024, 2, 29)],
    pl.Datetime("us", "UTC"): [INSTANT.replace(tzinfo=datetime.UTC)],
    pl.Duration("us"): [datetime.timedelta(1), datetime.timedelta(microseconds=1)],
    pl.Time: [datetime.time(12, 30)],
    pl.Binary: [b"", b"a", b"\xff"],
    pl.Decimal(10, 2): [Decimal("1.00"), Decimal("1.50")],
    pl.Decimal(38, 2): [Decimal("1.00"), Decimal("123456789012345678901234567890123456.50")],
    pl.Int128: [0, 1, 2**100],
}
# What narwhals can name in a literal.
OF_NARWHALS = [dtype for dtype in COLUMNS if dtype.base_type() not in (
    pl.Duration, pl.Time, pl.Binary, pl.Decimal, pl.Int128)]  # fmt: skip
NAMES = ["c", "a b", 'x"y']
if pl.DataFrame({"*": [1], "c": [1]}).select(pl.selectors.by_name("*")).columns == ["*"]:
    NAMES += ["*", "^c$"]  # for polars before 2.0 these are patterns, even as names


@st.composite
def cases(draw: st.DrawFn, dtypes: list[Any], policies: list[str]) -> tuple[Encoder, Any]:
    """Return an encoder, and a frame whose column may be of another dtype than it learned."""
    name = draw(st.sampled_from(NAMES))

    def frame(dtype: Any) -> Any:
        values = st.lists(st.sampled_from([*COLUMNS[dtype], None]), max_size=10)
        return pl.DataFrame({name: pl.Series(draw(values), dtype=dtype)})

    dtype = draw(st.sampled_from(dtypes))
    other = draw(st.sampled_from([dtype, dtype, *dtypes]))
    options: dict[str, Any] = {
        "handle_missing": st.sampled_from(["ignore", "indicator", "propagate", *policies]),
        "handle_unknown": st.sampled_from(["ignore", "indicator", "infrequent", *policies]),
        "drop": st.sampled_from([None, "first", "if_binary", "most_frequent"]),
        "min_frequency": st.sampled_from([None, 2]),
        "dtype": st.sampled_from(["bool", "uint8", "int64", "float64"]),
    }
    chosen = {key: draw(option) for key, option in options.items()}
    if chosen["handle_missing"] == "propagate":
        chosen["dtype"] = "float32"
    train = frame(dtype)
    if chosen["handle_missing"] == "error":
        train = train.drop_nans().drop_nulls()
    return Encoder([name], **chosen).fit(train), frame(other)


@given(case=cases([*COLUMNS], ["error"]))
def test_polars_encodes_as_transform_does(case: tuple[Encoder, Any]) -> None:
    """Lazily, every policy and every dtype, that of other values included."""
    encoder, frame = case
    lazy = frame.lazy()
    try:
        expected = encoder.transform(frame)
    except ValueError:
        if encoder.n_features:
            with pytest.raises(pl.exceptions.InvalidOperationError, match=r"is (missing|unknown)"):
                lazy.select(encoder.expressions(lazy)).collect()
        return
    if encoder.n_features == 0:
        return
    found = lazy.select(encoder.expressions(lazy)).collect()

    assert found.schema == expected.schema
    assert found.equals(expected)


@given(case=cases(OF_NARWHALS, []))
def test_narwhals_encodes_as_transform_does(case: tuple[Encoder, Any]) -> None:
    nw = pytest.importorskip("narwhals")
    encoder, frame = case
    if not encoder.n_features:
        return
    lazy = nw.from_native(frame.lazy())
    found = lazy.select(encoder.expressions(lazy)).collect().to_native()

    expected = encoder.transform(frame)
    assert found.schema == expected.schema
    assert found.equals(expected)


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "duckdb"])
def test_other_engines_encode_by_narwhals(library: str) -> None:
    nw, other = pytest.importorskip("narwhals"), pytest.importorskip(library)
    table = {
        "s": ["a", "b", None, "z", "it's"],
        "n": [0.0, None, 2.0, -0.0, float("nan")],
        "k": [1, 2, 3, 1, 7],
        "b": [True, False, True, True, False],
    }
    frame = pl.DataFrame(table)
    options = {"handle_missing": "indicator", "handle_unknown": "indicator", "dtype": "int64"}
    encoder = Encoder([*table], min_frequency={"k": 2}, **options).fit(frame[:3])
    arrow = frame.to_arrow()
    native = {
        "pandas": lambda: frame.to_pandas(),
        "pyarrow": lambda: arrow,
        "duckdb": lambda: other.from_arrow(arrow),
    }[library]()
    narwhal = nw.from_native(native)

    found = narwhal.select(encoder.expressions(narwhal)).lazy().collect("polars").to_native()

    np.testing.assert_array_equal(found.to_numpy(), encoder.transform(frame, "numpy"))


@pytest.mark.parametrize("texts", [["1", "2"], [1, 2]])
def test_narwhals_takes_categories_that_are_texts(texts: list[Any]) -> None:
    """It casts all others to texts, so that no number would be found."""
    nw, pd = pytest.importorskip("narwhals"), pytest.importorskip("pandas")
    for ordered in (False, True):
        table = pd.DataFrame({"c": pd.Categorical([*texts, None], ordered=ordered)})
        encoder, frame = Encoder(handle_unknown="ignore").fit(table), nw.from_native(table)
        if texts == ["1", "2"]:
            found = frame.select(encoder.expressions(frame)).to_native()
            pd.testing.assert_frame_equal(found, encoder.transform(table))
        else:
            with pytest.raises(TypeError, match=r"column 'c' .* cast the column"):
                encoder.expressions(frame)


def test_no_expression_of_narwhals_can_refuse_a_value() -> None:
    nw = pytest.importorskip("narwhals")
    frame = nw.from_native(pl.DataFrame({"c": ["a"]}))

    with pytest.raises(ValueError, match=r"no expression of narwhals can fail"):
        Encoder().fit({"c": ["a"]}).expressions(frame)


@pytest.mark.parametrize("frame", [{"c": ["a"]}, np.array([["a"]])])
def test_only_frames_with_expressions_are_accepted(frame: Any) -> None:
    with pytest.raises(TypeError, match=r"has no expressions; accepted are frames of polars"):
        Encoder().fit({"c": ["a"]}).expressions(frame)


def test_a_column_of_lists_has_no_expressions() -> None:
    with pytest.raises(TypeError, match=r"column 'c' has dtype List"):
        Encoder().fit({"c": ["a"]}).expressions(pl.DataFrame({"c": [["a"]]}))


@pytest.mark.parametrize("dtype", [*COLUMNS])
def test_categories_beyond_every_dtype_are_never_found(dtype: Any) -> None:
    """And take no longer than their text is long."""
    nw = pytest.importorskip("narwhals")
    frame = pl.DataFrame({"c": pl.Series([*COLUMNS[dtype], None], dtype=dtype)})
    values = [Decimal("1E+999999999"), Decimal("1E-99999999"), 10**400, 2, 0.1, Decimal("1.5")]
    encoder = Encoder(["c"], handle_unknown="indicator").fit({"c": values})

    expected = encoder.transform(frame)
    assert frame.select(encoder.expressions(frame)).equals(expected)
    if dtype in OF_NARWHALS:
        narwhal = nw.from_native(frame)
        assert narwhal.select(encoder.expressions(narwhal)).to_native().equals(expected)
    with pytest.raises(ValueError, match=r"need an input of floats|several types"):
        encoder.to_onnx()

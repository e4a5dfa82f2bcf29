"""Random Arrow columns with the values they hold: slices, chunks, nulls, dictionaries, runs."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

INTEGERS = [getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)]
TEXTS = [pa.string(), pa.large_string()]
BYTES = [pa.binary(), pa.large_binary(), pa.binary(2)]
if hasattr(pa, "string_view"):
    TEXTS.append(pa.string_view())
    BYTES.append(pa.binary_view())


def can(work: Callable[[], Any]) -> bool:
    """Tell whether this pyarrow can do something that its oldest supported version cannot."""
    try:
        work()
    except (pa.ArrowNotImplementedError, TypeError):
        return False
    return True


HALF = [pa.float16()] if can(pa.array([np.float16(1)]).dictionary_encode) else []
UTC = datetime.UTC
MOMENTS = [datetime.datetime(1969, 12, 31, 23, 59, 59, 1), datetime.datetime(2024, 2, 29)]
ZONED = [moment.replace(tzinfo=UTC) for moment in MOMENTS]
NAN = float("nan")


class Drawn(NamedTuple):
    """A column of pyarrow, and its values as Python's; null is None."""

    column: Any
    values: list[Any]


def pool_of(kind: pa.DataType) -> list[Any]:
    if pa.types.is_integer(kind):
        low = 0 if pa.types.is_unsigned_integer(kind) else -(2 ** (kind.bit_width - 1))
        return [low, 0, 1, 2, low + 2**kind.bit_width - 1]
    pools: dict[Any, list[Any]] = {
        **{text: ["a", "b", "é€", ""] for text in TEXTS},
        **{raw: [b"aa", b"\xff\x00", b"zz"] for raw in BYTES},
        pa.bool_(): [True, False],
        pa.float16(): [np.float16(1.5), np.float16(-0.0), np.float16(NAN)],
        pa.float32(): [0.0, -0.0, 1.5, NAN, float("inf")],
        pa.float64(): [0.0, -0.0, 0.1, NAN, -float("inf")],
        pa.date32(): [moment.date() for moment in MOMENTS],
        pa.timestamp("us"): MOMENTS,
        pa.timestamp("ns", "UTC"): ZONED,
        pa.time64("us"): [datetime.time(0, 0, 1), datetime.time(23, 59, 59, 7)],
        pa.duration("ms"): [datetime.timedelta(milliseconds=5), datetime.timedelta(-1)],
        pa.decimal128(5, 2): [Decimal("1.50"), Decimal("-1.00"), Decimal("0.00")],
        pa.null(): [None],
    }
    return pools[kind]


PLAIN = [
    *INTEGERS, *TEXTS, *BYTES, pa.bool_(), *HALF, pa.float32(), pa.float64(), pa.date32(),
    pa.timestamp("us"), pa.timestamp("ns", "UTC"), pa.time64("us"), pa.duration("ms"),
    pa.decimal128(5, 2), pa.null(),
]  # fmt: skip


@st.composite
def columns(
    draw: st.DrawFn,
    kinds: list[pa.DataType] = PLAIN,
    forms: tuple[str, ...] = ("plain", "dictionary", "runs"),
) -> Drawn:
    """Return a column: an array or chunks, of values, of dictionaries or of runs of them."""
    kind, form = draw(st.sampled_from(kinds)), draw(st.sampled_from(forms))
    if kind == pa.null() or (form == "runs" and kind not in [*TEXTS[:2], *INTEGERS]):
        form = "plain"
    index = draw(st.sampled_from(INTEGERS))
    build = {
        "plain": lambda: _plain(draw, kind),
        "dictionary": lambda: _dictionary(draw, kind, index),
        "runs": lambda: _runs(draw, kind),
    }[form]
    if draw(st.booleans()):
        return build()
    chunks = [build() for _ in range(draw(st.integers(0, 3)))]
    whole = build().column.type
    arrays = [chunk.column for chunk in chunks]
    return Drawn(pa.chunked_array(arrays, whole), [v for chunk in chunks for v in chunk.values])


def _sliced(draw: st.DrawFn, array: pa.Array, values: list[Any]) -> Drawn:
    """Return a part of an array, which begins where no byte begins."""
    start = draw(st.integers(0, len(values)))
    stop = draw(st.integers(start, len(values)))
    return Drawn(array.slice(start, stop - start), values[start:stop])


def _values(draw: st.DrawFn, kind: pa.DataType, max_size: int = 20) -> list[Any]:
    return draw(st.lists(st.sampled_from([*pool_of(kind), None]), max_size=max_size))


def _plain(draw: st.DrawFn, kind: pa.DataType) -> Drawn:
    values = _values(draw, kind)
    return _sliced(draw, pa.array(values, kind), values)


def _dictionary(draw: st.DrawFn, kind: pa.DataType, index: pa.DataType) -> Drawn:
    """Return indices and their dictionary, in which there are nulls and repetitions, too."""
    words = _values(draw, kind, 6)
    places = st.none() | st.integers(0, len(words) - 1) if words else st.none()
    rows = draw(st.lists(places, max_size=20))
    array = pa.DictionaryArray.from_arrays(pa.array(rows, index), pa.array(words, kind))
    return _sliced(draw, array, [None if i is None else words[i] for i in rows])


def _runs(draw: st.DrawFn, kind: pa.DataType) -> Drawn:
    words = [*_values(draw, kind, 5), None]  # early versions know no array without runs
    lengths = draw(st.lists(st.integers(1, 5), min_size=len(words), max_size=len(words)))
    ends = [sum(lengths[: i + 1]) for i in range(len(lengths))]
    run_ends = pa.run_end_encoded(pa.int32(), kind)
    array = pa.RunEndEncodedArray.from_arrays(ends, pa.array(words, kind), run_ends)
    rows = [word for word, n in zip(words, lengths, strict=True) for _ in range(n)]
    return _sliced(draw, array, rows)

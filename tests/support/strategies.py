"""Hostile arrays: the indices, values, shapes and buffers that find what ordinary data does not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import hypothesis.strategies as st
import numpy as np
from hypothesis import settings

from support.encoder_oracle import UNKNOWN_RULES

INTEGERS = tuple(map(np.dtype, ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")))
FLOATS = tuple(map(np.dtype, ("f2", "f4", "f8")))
INDEX_DTYPES = INTEGERS + FLOATS

# Around vector widths (1 to 128 bytes) and around the blocks in which the kernels narrow indices.
LENGTHS = (
    *range(10), 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129,
    255, 256, 257, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097,
)  # fmt: skip
# Rows around 16, 32 and 64 bytes for each width, and around the 255 classes that one byte can name.
DEPTHS = (*range(18), 21, 31, 32, 33, 63, 64, 65, 127, 128, 129, 254, 255, 256, 257, 300, 511)
HUGE_DEPTHS = (65535, 65536, 65537)
WIDTHS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 16, 17, 20, 24, 31, 32, 33, 40, 63, 64, 65)

# Elements in one drawn output: enough for every block and vector path, and still fast.
OUTPUT_LIMIT = 300_000


def examples(share: float, **others: Any) -> settings:
    """Return settings with a share of the profile's examples, for a test of many parameters."""
    whole = settings().max_examples
    return settings(max_examples=max(1, round(share * whole)), **others)


def policies(**others: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Draw some options of an encoder; `others` are more options, or other values of these."""
    values = {
        "drop": [None, "first", "last", "if_binary", "most_frequent"],
        "handle_missing": ["ignore", "indicator", "error", "propagate"],
        "handle_unknown": UNKNOWN_RULES,
        "min_frequency": [None, 2, 0.3],
        "max_categories": [None, 1, 3],
    } | others
    return st.fixed_dictionaries({}, optional={k: st.sampled_from(v) for k, v in values.items()})


def special_indices(dtype: np.dtype, depth: int) -> np.ndarray:
    """Return the values of `dtype` at which a comparison or a conversion may go wrong."""
    edges = {0, 1, 2, depth, 2 * depth, 2**7, 2**8, 2**15, 2**16, 2**31, 2**32, 2**53, 2**63}
    near = {sign * edge + step for edge in edges for sign in (1, -1) for step in (-1, 0, 1)}
    if dtype.kind == "f":
        largest = float(np.finfo(dtype).max)
        parts = {k + part for k in near if abs(k) < largest for part in (-0.5, 0.0, 0.5, 0.99)}
        below = math.nextafter(2.0**63, 0.0)
        extremes = [math.nan, math.inf, -math.inf, -0.0, 1e20, -1e300, 5e-324, below, -below]
        with np.errstate(over="ignore"):
            return np.array([*sorted(parts), *extremes], np.float64).astype(dtype)
    info = np.iinfo(dtype)
    near |= {info.min, info.min + 1, info.max - 1, info.max, -(2**32) + 1, 2**32 + 1}
    return np.array(sorted(k for k in near if info.min <= k <= info.max), dtype)


def index_values(dtype: np.dtype, depth: int, size: int, seed: int) -> np.ndarray:
    """Return `size` indices: about two thirds ordinary classes, the others special."""
    rng = np.random.default_rng(seed)
    special = rng.choice(special_indices(dtype, depth), size)
    limit = 2**11 if dtype.kind == "f" else np.iinfo(dtype).max
    ordinary = rng.integers(0, max(1, min(depth, limit)), size).astype(dtype)
    return np.where(rng.random(size) < 0.3, special, ordinary)


def strided(array: np.ndarray) -> np.ndarray:
    """Return a view of every second element along every axis."""
    wide = np.zeros([2 * n for n in array.shape], array.dtype)
    view = wide[(..., *(slice(None, None, 2),) * array.ndim)]
    view[...] = array
    return view


def unaligned(array: np.ndarray) -> np.ndarray:
    """Return a view that starts one byte into its buffer."""
    view = np.ndarray(array.shape, array.dtype, np.zeros(array.nbytes + 1, np.uint8), 1)
    view[...] = array
    return view


def offset(array: np.ndarray) -> np.ndarray:
    """Return a contiguous view that starts three elements into its buffer."""
    return np.concatenate([np.ones(3, array.dtype), array.ravel()])[3:].reshape(array.shape)


def broadcast(array: np.ndarray) -> np.ndarray:
    """Return the first item along the first axis, repeated with stride 0."""
    return np.broadcast_to(array[:1], array.shape) if array.ndim else array


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a copy that cannot be written."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def reverse(array: np.ndarray) -> np.ndarray:
    """Return an equal array with negative strides, or the array itself if it has no dimension."""
    # `numpy.flip` returns the element of an array without dimensions.
    return np.flip(np.flip(array).copy()) if array.ndim else array


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "contiguous": np.copy,
    "fortran": lambda array: np.array(array, order="F"),
    "strided": strided,
    "reversed": reverse,
    "swapped": lambda array: array.astype(array.dtype.newbyteorder()),
    "read_only": read_only,
    "offset": offset,
    "broadcast": broadcast,
    "unaligned": unaligned,
}

SHAPES = st.one_of(
    st.sampled_from(LENGTHS).map(lambda n: (n,)),
    st.lists(st.integers(0, 5), max_size=5).map(tuple),
    st.tuples(st.integers(1, 4), st.sampled_from(LENGTHS)),
    st.tuples(st.sampled_from(LENGTHS), st.integers(1, 4)),
)


@st.composite
def index_arrays(draw: st.DrawFn, depth: int, dtypes: tuple[np.dtype, ...] = INDEX_DTYPES) -> Any:
    """Draw indices of any type, shape and layout whose output stays below the limit."""
    limit = OUTPUT_LIMIT // max(1, depth)
    shape = draw(SHAPES.filter(lambda shape: math.prod(shape) <= limit))
    dtype = draw(st.sampled_from(dtypes))
    values = index_values(dtype, depth, math.prod(shape), draw(st.integers(0, 2**32)))
    return LAYOUTS[draw(st.sampled_from(sorted(LAYOUTS)))](values.reshape(shape))


def pair_of(off: Any, on: Any, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    return np.array(off, dtype), np.array(on, dtype)


def bit_pair(dtype: Any, off: int, on: int) -> tuple[np.ndarray, np.ndarray]:
    dtype = np.dtype(dtype)
    raw = [bits.to_bytes(dtype.itemsize, "little") for bits in (off, on)]
    return np.frombuffer(raw[0], dtype)[0:1].reshape(()), np.frombuffer(raw[1], dtype).reshape(())


def opaque_pair(width: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return two void elements of `width` random bytes that differ."""
    raw = np.random.default_rng([width, seed]).integers(0, 256, (2, width), np.uint8)
    raw[1, -1] = raw[0, -1] ^ 0x5A
    off, on = raw.view(f"V{width}")
    return off.reshape(()), on.reshape(())


RECORD = np.dtype([("name", "U2"), ("rank", "i1"), ("score", "f8")])
PADDED = np.dtype([("a", "i1"), ("b", "f8"), ("c", "i2")], align=True)

# Pairs (off, on). Each is copied bit for bit, whatever it means.
PLAIN_VALUES = {
    "bool": pair_of(False, True, bool),
    "bool inverted": pair_of(True, False, bool),
    "equal": pair_of(1, 1, "i4"),
    **{t.name: pair_of(np.iinfo(t).min, np.iinfo(t).max, t) for t in INTEGERS},
    **{t.name: pair_of(np.finfo(t).min, np.finfo(t).max, t) for t in FLOATS},
    "longdouble": pair_of(-0.0, np.finfo(np.longdouble).max, np.longdouble),
    "big-endian": pair_of(1, 258, ">i4"),
    "minus zero": pair_of(-0.0, 0.0, "f4"),
    "infinities": pair_of(-math.inf, math.inf, "f8"),
    "nan off": pair_of(math.nan, 1.0, "f2"),
    "nan payloads": bit_pair("f8", 0xFFF8_0000_DEAD_BEEF, 0x7FF0_0000_0000_0001),
    "complex64": pair_of(complex(-0.0, math.nan), 1 - 2j, "c8"),
    "complex128": pair_of(0j, complex(math.inf, -0.0), "c16"),
    "clongdouble": pair_of(0j, 1j, np.clongdouble),
    "date": pair_of("NaT", "2024-02-29", "M8[D]"),
    "nanoseconds": pair_of("1969-12-31T23:59:59.999999999", "2262-04-11", "M8[ns]"),
    "multiple unit": pair_of("2000-01-01", "NaT", "M8[25s]"),
    "duration": pair_of(-1, 2**62, "m8[us]"),
    "record": pair_of(("", -1, math.nan), ("äß", 127, -0.0), RECORD),
    "padded record": pair_of((1, 2.0, 3), (-1, math.nan, -3), PADDED),
    **{f"S{n}": pair_of(b"", bytes(range(1, n + 1)), f"S{n}") for n in WIDTHS},
    **{f"U{n}": pair_of("-" * n, "\U0001f30d" * n, f"U{n}") for n in (1, 2, 3, 4, 8, 16, 17, 40)},
    **{f"V{n}": opaque_pair(n) for n in WIDTHS},
}

try:
    import ml_dtypes
except ImportError:  # a plain NumPy installation is a supported one
    SMALL_FLOATS: tuple[Any, ...] = ()
else:
    names = "bfloat16 float8_e4m3fn float8_e5m2 float8_e4m3b11fnuz int4 uint4"
    SMALL_FLOATS = tuple(getattr(ml_dtypes, name) for name in names.split())
PLAIN_VALUES |= {np.dtype(t).name: pair_of(0, 1, t) for t in SMALL_FLOATS}


class Opaque:
    """An object with nothing but its identity."""


STRING = np.dtypes.StringDType()
REFERENCE_VALUES = {
    "object": pair_of(None, "on", object),
    "identities": pair_of(Opaque(), Opaque(), object),
    "record of objects": pair_of((None, 1), ("x", 2), [("o", object), ("n", "i4")]),
    "strings": pair_of("", "longer than the fifteen inline bytes ✓", STRING),
    "null": pair_of(None, "on", np.dtypes.StringDType(na_object=None)),
}

VALUES = PLAIN_VALUES | REFERENCE_VALUES


@dataclass(frozen=True)
class Case:
    """One call of the operator, its values given as 0-d arrays."""

    indices: np.ndarray
    depth: int
    axis: int
    off: np.ndarray
    on: np.ndarray
    negative: str
    ignore_index: int | None

    @property
    def shape(self) -> tuple[int, ...]:
        shape = list(self.indices.shape)
        shape.insert(self.axis % (len(shape) + 1), self.depth)
        return tuple(shape)

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments of the call, except `out` and `num_threads`."""
        return {
            "axis": self.axis,
            "on_value": self.on,
            "off_value": self.off,
            "dtype": self.on.dtype,  # or a big-endian value would give a native result
            "negative_indices": self.negative,
            "ignore_index": self.ignore_index,
        }


@st.composite
def cases(draw: st.DrawFn, values: dict[str, Any] = VALUES) -> Case:
    """Draw a call that must succeed."""
    depth = draw(st.sampled_from(DEPTHS) | st.sampled_from(HUGE_DEPTHS))
    indices = draw(index_arrays(depth))
    axis = draw(st.integers(-indices.ndim - 1, indices.ndim))
    off, on = values[draw(st.sampled_from(sorted(values)))]
    negative = draw(st.sampled_from(["ignore", "normalize"]))
    ignored = draw(st.sampled_from([None, 0, 1, -1, -100, 255, depth - 1, 2**63, -(2**63)]))
    return Case(indices, depth, axis, off, on, negative, ignored)


OUT_LAYOUTS = ("contiguous", "fortran", "strided", "reversed", "padded rows")


def guarded(
    shape: tuple[int, ...], dtype: Any, layout: str = "contiguous", shift: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return (every byte of a buffer, a view in it, `shift` bytes past a cache line)."""
    width = np.dtype(dtype).itemsize
    steps = {"strided": 2, "padded rows": 1}.get(layout, 1)
    order = range(len(shape)) if layout == "fortran" else reversed(range(len(shape)))
    strides, span = [0] * len(shape), width * steps
    for i in order:
        strides[i] = span
        span = span * max(1, shape[i]) + (7 if layout == "padded rows" else 0)
    raw = np.full(span + 64 + 2 * 128, 0xA5, np.uint8)
    start = -raw.ctypes.data % 64
    buffer = raw[start : start + 128 + shift + span + 64]
    first = 128 + shift
    if layout == "reversed":
        first += sum(max(0, n - 1) * stride for n, stride in zip(shape, strides, strict=True))
        strides = [-stride for stride in strides]
    return buffer, np.ndarray(shape, dtype, buffer, first, tuple(strides))

"""Two values and a dtype become two elements of one dtype, and no value becomes another."""

from __future__ import annotations

import datetime
import enum
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import onehot_fast

DATE = datetime.date(2024, 2, 29)
NOON = datetime.datetime(2024, 2, 29, 12)
HALF_SECOND = datetime.timedelta(milliseconds=500)
POINT = np.dtype([("x", "i2"), ("y", "f8")], align=True)
NESTED = np.dtype([("point", POINT), ("tags", "U2", (2,)), ("any", "O")])


def resolve_values(on, off, dtype=None):
    """Return the dtype of a result, and its two elements."""
    result = onehot_fast.one_hot([0, 1], 1, on_value=on, off_value=off, dtype=dtype)
    return result.dtype, result[0, :1].reshape(()), result[1, :1].reshape(())


class Nanoseconds(datetime.datetime):
    """A datetime finer than datetime, with NumPy's form of it as pandas names it."""

    asm8 = np.datetime64("2024-02-29T12:00:00.000000001", "ns")


class Colour(enum.IntEnum):
    RED = 3


def plain(item):
    """Return an element with lists for the fields that are arrays."""
    if not isinstance(item, tuple):
        return item
    return tuple(part.tolist() if isinstance(part, np.ndarray) else part for part in item)


@pytest.mark.parametrize(
    ("on", "off", "dtype", "expected"),
    [
        # Two bools are bool, real numbers float32, complex ones complex128, text as wide as it is.
        *((on, off, None, "f4")
          for on, off in ((1, 0), (0.9, 0.1), (1, False), (Colour.RED, 0), (math.inf, math.nan))),
        *((True, False, None, "?"), (1j, 0, None, "c16"), ("on", "", None, "U2")),
        *(("", "", None, "U1"), (b"x", b"off", None, "S3")),
        # A NumPy scalar or 0-D array keeps its dtype.
        *((np.int8(5), 0, None, "i1"), (1, np.uint64(0), None, "u8")),
        (np.float64(0.1), np.float64(0.2), None, "f8"),
        *((np.array(3, ">i4"), off, None, "i4") for off in (0, np.int32(2))),
        *((np.bool_(True), 0, None, "?"), (np.str_("a"), "longer", None, "U6")),
        *((np.array("a", "U9"), "b", None, "U9"), (np.bytes_(b"abc"), np.bytes_(b"a"), None, "S3")),
        (np.datetime64("2024-02-29"), np.datetime64("NaT", "D"), None, "M8[D]"),
        (np.datetime64("NaT", "s"), np.datetime64("2024-02-29", "s"), None, "M8[s]"),
        *((np.timedelta64(3, "h"), 0, None, "m8[h]"), (np.longdouble(1), 0, None, np.longdouble)),
        *((np.array((1, 2), POINT), 0, None, POINT), (np.array(None, object), 0, None, object)),
        # An open width or unit comes from the values.
        *(("abc", "", "U", "U3"), (b"", b"ab", "S", "S2"), (np.str_("ab"), "c", "U", "U2")),
        *(("", "", str, "U1"), (b"abc", b"a", "V", "V3")),
        *((np.void(b"abcd"), np.void(b"1234"), "V", "V4"), (DATE, NOON, "M8", "M8[us]")),
        (np.datetime64("2024", "Y"), None, "M8", "M8[Y]"),
        (np.timedelta64(1, "s"), 0, "m8", "m8[s]"),
    ],
    ids=repr,
)  # fmt: skip
def test_the_values_decide_the_dtype_of_the_result(on, off, dtype, expected):
    """The values decide the dtype, which has native byte order."""
    actual = resolve_values(on, off, dtype)[0]

    assert actual == np.dtype(expected)
    assert actual.isnative


@pytest.mark.parametrize(
    ("on", "off", "dtype", "message"),
    [
        # Other objects need a dtype.
        *((on, off, None, "pass dtype=")
          for on, off in ((None, 0), (DATE, DATE), (Decimal(1), 0), (Fraction(1), 0), ("1", 0),
                          ("1", b"0"), ((1, 2), (3, 4)), ([1], [0]), ({}, {}))),
        # Typed values are never promoted, even if one dtype holds all of the other.
        *((on, off, dtype, r"must have .* does not promote")
          for on, off, dtype in (
              (np.float32(1), np.float64(0), None), (np.int32(1), np.int64(0), None),
              (np.int32(1), np.uint32(0), None), (np.str_("a"), np.bytes_(b"b"), None),
              (np.datetime64(1, "s"), np.datetime64(1, "D"), None),
              (np.void(b"ab"), np.void(b"abc"), None), (np.float32(1), 0, "f8"),
              (np.bool_(True), False, "f4"), (np.str_("a"), "b", "S1"),
              (np.datetime64(1, "s"), 0, "M8[D]"), (np.array(1), 0, object),
              (np.array((1, 2), POINT), 0, [("x", "i2"), ("y", "f4")]))),
    ],
    ids=repr,
)  # fmt: skip
def test_values_without_a_common_dtype_are_rejected(on, off, dtype, message):
    with pytest.raises(TypeError, match=message):
        resolve_values(on, off, dtype)


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        *((1, "?", True), (0.0, "?", False), (255, "u1", 255), (-128, "i1", -128)),
        *((2**64 - 1, "u8", 2**64 - 1), (3.0, "i4", 3), (True, "i4", 1), (Colour.RED, "u1", 3)),
        *((1, ">i4", 1), (0.1, "f4", float(np.float32(0.1))), (1e-50, "f4", 0.0)),
        *((16777217, "f4", 16777216.0), (math.inf, "f2", math.inf), (1j, "c8", 1j)),
        *((2, "c16", 2 + 0j), ("ab", "U3", "ab"), ("ab", "S2", b"ab"), (b"ab", "U2", "ab")),
        *((b"a\0b", "S4", b"a\0b"), (DATE, "M8[D]", DATE), (NOON, "M8[h]", NOON)),
        *(("2024-02", "M8[D]", datetime.date(2024, 2, 1)), (None, "M8[s]", None)),
        (1, "M8[D]", datetime.date(1970, 1, 2)),
        (Nanoseconds(2024, 2, 29, 12), "M8[ns]", Nanoseconds.asm8.item()),
        *((HALF_SECOND, "m8[ms]", HALF_SECOND), (b"ab", "V4", b"ab\0\0")),
        *((bytearray(b"ab"), "V2", b"ab"), ((1, 2.5), POINT, (1, 2.5)), (3, POINT, (3, 3.0))),
        (((1, 2), ["a", "b"], None), NESTED, ((1, 2.0), ["a", "b"], None)),
        (((1, 2), "a", []), NESTED, ((1, 2.0), ["a", "a"], [])),
    ],
    ids=repr,
)
def test_a_plain_value_takes_the_dtype(value, dtype, expected):
    """A plain value is converted to a dtype that can hold it; floats are rounded to the nearest."""
    _, element, _ = resolve_values(value, value, dtype)

    assert expected == plain(element.item())
    assert np.dtype(dtype) == element.dtype


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        *((2, "?"), (math.nan, "?"), (256, "u1"), (-1, "u8"), (2**63, "i8"), (1.5, "i4")),
        *((math.nan, "i4"), (math.inf, "i8"), (70000, "f2"), (1e39, None), (10**400, None)),
        *((10**400, "f8"), (1e39, "c8"), (complex(math.inf, 1e39), "c8"), ("abc", "U2")),
        *(("ab\0", "U2"), (b"abc", "S2"), ("é", "S1"), (b"\xff", "U1"), (NOON, "M8[D]")),
        *((Nanoseconds(2024, 2, 29, 12), "M8[us]"), ("2024-02-29T12", "M8[D]")),
        *(("no date", "M8[D]"), (datetime.date(3000, 1, 1), "M8[ns]"), (2**63, "M8[s]")),
        *((HALF_SECOND, "m8[s]"), (b"abc", "V2"), ((1,), POINT), ((1, 2, 3), POINT)),
        *(((1.5, 2), POINT), (((1, 2), ["a"], None), NESTED)),
        (((1, 2), ["a", "abc"], None), NESTED),
    ],
    ids=repr,
)
def test_a_value_that_would_change_is_rejected(value, dtype):
    """The message names the argument and shows the value."""
    with pytest.raises(ValueError, match=r"^on_value"):
        resolve_values(value, value, dtype)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        *(("1", "?"), ("1", "i4"), (1j, "i4"), (None, "f4"), (Decimal(1), "f8"), (1j, "f8")),
        *(("1", "c8"), (1, "U1"), (1, "U"), (None, "S1"), (1.5, "M8[s]"), (True, "M8[s]")),
        *((HALF_SECOND, "M8[s]"), (DATE, "m8[s]"), (1, "V4"), ("ab", "V4"), ("x", POINT)),
        ([1], "f4"),
    ],
    ids=repr,
)
def test_a_value_of_the_wrong_kind_is_rejected(value, dtype):
    """The message says what the dtype accepts."""
    with pytest.raises(TypeError, match=r"^on_value.* must be .* for dtype"):
        resolve_values(value, value, dtype)


@pytest.mark.parametrize(
    ("on", "dtype", "error", "message"),
    [
        *((value, dtype, ValueError, "0-D")
          for value in (np.zeros(1), np.zeros((1, 1)), np.zeros(2)) for dtype in (None, "f8", "O")),
        (np.ma.masked, None, TypeError, "on_value must not be a masked array"),
        (1, "M8", ValueError, "must have a unit"),
        (0, [], ValueError, "0 bytes"),
        (0, {"names": [], "formats": [], "itemsize": 0}, ValueError, "0 bytes"),
        (1, np.dtype(("i4", (2,))), TypeError, "subarray"),
        (1, "no such dtype", TypeError, "not understood"),
        (1, "float99", TypeError, "'float99' not understood; `import ml_dtypes` registers"),
    ],
    ids=repr,
)  # fmt: skip
def test_values_that_are_no_element_are_rejected(on, dtype, error, message):
    with pytest.raises(error, match=message):
        resolve_values(on, 0, dtype)


@pytest.mark.parametrize(
    "value",
    [None, [1, 2], (), {"a": 1}, np.float32(1), "text", b"", math.nan, range(3), object()],
)
def test_objects_are_not_copied(value):
    _, on, _ = resolve_values(value, None, object)

    assert on.item() is value


@pytest.mark.parametrize("bits", [0x7FF0000000000001, 0xFFF8DEADBEEF0000, 0x8000000000000000])
@pytest.mark.parametrize("order", ["<", ">"])
def test_a_typed_value_keeps_its_bits(bits, order):
    """A NaN keeps its payload and zero its sign, through a change of byte order."""
    value = np.array(bits, f"{order}u8").view(f"{order}f8")

    _, on, _ = resolve_values(value, 0)

    assert bits == on.view("u8")[()]


def test_equal_values_of_other_types_are_distinguished():
    """The cache of common values knows bools, floats, -0.0 and the equal dtypes of C types."""
    pairs = [(1, 0), (True, False), (1.0, -0.0), (1, 0)]

    assert [resolve_values(*pair)[0].str for pair in pairs] == ["<f4", "|b1", "<f4", "<f4"]
    assert np.signbit(resolve_values(1.0, -0.0)[2])
    assert not np.signbit(resolve_values(1, 0)[2])
    assert [resolve_values(1, 0, np.dtype(char))[0].char for char in "lqlq"] == [*"lqlq"]


@pytest.mark.parametrize("length", [0, 1, 15, 16, 254, 255, 256, 1000])
def test_strings_of_any_length_are_written(length):
    """StringDType keeps short strings inline and long ones elsewhere."""
    on = "x" * length

    result = onehot_fast.one_hot([0, 2], 3, on_value=on, off_value="é" * 20, dtype="T")

    off = "é" * 20
    assert [[on, off, off], [off, off, on]] == result.tolist()


def test_the_missing_value_of_strings_is_a_value():
    """The missing value of a StringDType is one of its values; others are errors."""
    dtype = np.dtypes.StringDType(na_object=None)

    result = onehot_fast.one_hot([1], 2, on_value="a", off_value=None, dtype=dtype)

    assert result.tolist() == [[None, "a"]]
    with pytest.raises(TypeError, match="must be a str"):
        resolve_values("a", math.nan, dtype)
    with pytest.raises(TypeError, match="must be a str"):
        resolve_values(1, 0, "T")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        *(("bfloat16", 0.1, 0.10009765625), ("bfloat16", math.inf, math.inf)),
        *(("float8_e4m3fn", 448, 448.0), ("float8_e4m3fn", 17, 16.0)),
        *(("float8_e5m2", -math.inf, -math.inf), ("float4_e2m1fn", 6, 6.0)),
        *(("int4", -8, -8.0), ("uint4", 15, 15.0), ("int4", 1.0, 1.0), ("int4", True, 1.0)),
        *(("bfloat16", 1e39, None), ("bfloat16", 10**400, None), ("float8_e4m3fn", 449, None)),
        *(("float8_e4m3fn", math.inf, None), ("float4_e2m1fn", 7, None)),
        *(("float4_e2m1fn", math.nan, None), ("float8_e8m0fnu", 0, None), ("int4", 8, None)),
        *(("int4", 0.5, None), ("int4", math.nan, None), ("uint4", -1, None)),
        ("uint4", 10**400, None),
    ],
)
def test_values_are_rounded_to_registered_dtypes(name, value, expected):
    """Floats are rounded; `ml_dtypes` never saturates, wraps or gives NaN silently."""
    dtype = np.dtype(getattr(pytest.importorskip("ml_dtypes"), name))
    if expected is None:
        with pytest.raises(ValueError, match="does not fit"):
            resolve_values(value, value, dtype)
    else:
        assert expected == float(resolve_values(value, value, dtype)[1])


def test_registered_dtypes_are_typed_and_real():
    """A scalar of such a dtype is typed like NumPy's own; only real numbers are converted."""
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    result = onehot_fast.one_hot([1], 2, on_value=bfloat16(3))

    assert np.dtype(bfloat16) == result.dtype
    assert result.astype(float).tolist() == [[0.0, 3.0]]
    with pytest.raises(TypeError, match="must be a real number"):
        resolve_values("1", "0", np.dtype(bfloat16))


@pytest.mark.parametrize("dtype", [">i4", "<i4", ">f8", ">c8", ">M8[s]"])
def test_typed_values_take_the_byte_order_of_out(dtype):
    """Typed values are written in the byte order of `out`; without `out` the result is native."""
    on, off = np.array([1, 0]).astype(dtype)
    values = {"on_value": on, "off_value": off}
    native = onehot_fast.one_hot([1, 0], 2, **values)
    for each in (np.dtype(dtype), native.dtype):
        out = np.empty((2, 2), each)
        assert onehot_fast.one_hot([1, 0], 2, **values, out=out) is out
        assert (out == native).all()
    assert native.dtype.isnative

"""Convert dtypes to names, which an encoder stores, and back.

A name is the text of the dtype, with these exceptions, in which the text would not say everything
that pandas compares:

- ``string[python]``, ``string[pyarrow]``, ``str[python]`` and ``str``: a StringDtype with its
  storage. ``str`` uses pyarrow, and Python strings where pyarrow is not installed. ``string`` of
  an older release is the default StringDtype.
- ``ArrowDtype[string]``: Arrow strings; pandas reads ``string[pyarrow]`` as a StringDtype. The name
  of any other ArrowDtype is the name of its Arrow type and ``[pyarrow]``.
- ``category[<name>, ordered]``: the dtype of the categories, which an encoder stores separately.
- ``Sparse[<dtype>, <value>]``: with any fill value.
- Time zones of a fixed offset have the offset as their name, and zones of dateutil their file.
  ``zoneinfo/`` or ``pytz/`` precedes the name of a zone that pandas would not choose itself.
"""

import ast
import datetime
import importlib
import re
import zoneinfo
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, TypeAlias, cast

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionDtype
from pandas.api.types import pandas_dtype

from onehot_fast.adapter import integration

AnyDtype: TypeAlias = np.dtype[Any] | ExtensionDtype

CATEGORY = re.compile(r"category\[(.*), ((?:un)?ordered)\]")
INTERVAL = re.compile(r"interval\[(.*), (left|right|both|neither)\]")
SPARSE = re.compile(r"Sparse\[([^,]*), (.*)\]", re.DOTALL)
ZONED = re.compile(r"datetime64\[(s|ms|us|ns), (.*)\]")
OFFSET = re.compile(r"UTC([+-])(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{6}))?)?")
NUMPY_SCALAR = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
PYTZ_OFFSET = re.compile(r"pytz\.FixedOffset\((-?\d{1,4})\)")
ARROW_TEXT = "ArrowDtype[string]"
ARROW_SUFFIX = "[pyarrow]"
# Name → storage and missing value of a StringDtype.
STRINGS: dict[str, tuple[str, Any]] = {
    "string[python]": ("python", pd.NA),
    "string[pyarrow]": ("pyarrow", pd.NA),
    "str[python]": ("python", np.nan),
    "str": ("pyarrow", np.nan),
}


def dtype_name(dtype: Any) -> str:
    """Return the name of a dtype, or "" if no name would be read as the same dtype."""
    if isinstance(dtype, pd.StringDtype):
        storage = "python" if dtype.storage == "python" else "pyarrow"
        is_na = dtype.na_value is pd.NA
        return next(
            n for n, own in STRINGS.items() if own[0] == storage and is_na == (own[1] is pd.NA)
        )
    if isinstance(dtype, pd.ArrowDtype):
        text = arrow_type_name(dtype)
        return ARROW_TEXT if text == "string" else f"{text}{ARROW_SUFFIX}"
    if isinstance(dtype, pd.CategoricalDtype):
        inner = dtype_name(dtype.categories.dtype)
        return f"category[{inner}, {'ordered' if dtype.ordered else 'unordered'}]" if inner else ""
    if isinstance(dtype, pd.IntervalDtype):
        inner = dtype_name(dtype.subtype)
        return f"interval[{inner}, {dtype.closed}]" if inner else ""
    if isinstance(dtype, pd.DatetimeTZDtype):
        names = [f"datetime64[{dtype.unit}, {zone}]" for zone in _zone_names(dtype.tz)]
        return next(filter(None, (_if_equal(name, dtype) for name in names)), "")
    if isinstance(dtype, pd.SparseDtype):
        return _if_equal(str(dtype), dtype) or _if_equal(_sparse_name(dtype), dtype)
    return str(dtype)


def arrow_type_name(dtype: pd.ArrowDtype) -> str:
    """Return the name of the Arrow type of a dtype, as the Arrow integration stores it."""
    name: str = integration("arrow").type_name(dtype.pyarrow_dtype)
    return name


def dtype_of_name(name: str) -> Any:
    """Return the dtype with this name; of a categorical dtype, the dtype of its categories.

    Raise a TypeError or ValueError if the installed libraries have no dtype with this name.
    """
    if name in STRINGS:
        return _string_dtype(*STRINGS[name])
    if name == ARROW_TEXT or (name.endswith(ARROW_SUFFIX) and name != "string[pyarrow]"):
        text = "string" if name == ARROW_TEXT else name.removesuffix(ARROW_SUFFIX)
        return pd.ArrowDtype(integration("arrow").type_of_name(text))
    if match := INTERVAL.fullmatch(name):
        return pd.IntervalDtype(dtype_of_name(match[1]), cast(Any, match[2]))
    if match := ZONED.fullmatch(name):
        return pd.DatetimeTZDtype(cast(Any, match[1]), _zone_of_name(match[2]))
    if match := SPARSE.fullmatch(name):
        return _sparse_dtype(name, match[2], np.dtype(match[1]))
    return pandas_dtype(name)


def common_dtype(dtypes: Sequence[Any]) -> Any:
    """Return the dtype that pandas gives to concatenated columns of these dtypes."""
    if len(dtypes) == 1:
        return dtypes[0]
    return pd.concat([pd.Series([], dtype=dtype) for dtype in dtypes]).dtype


def category_of_name(name: str) -> tuple[str, bool] | None:
    """Return the name of the categories' dtype, and whether they are ordered; else None."""
    match = CATEGORY.fullmatch(name)
    return None if match is None else (match[1], match[2] == "ordered")


def _if_equal(name: str, dtype: Any) -> str:
    """Return the name if it is read as `dtype`, otherwise ""."""
    try:
        return name if dtype_of_name(name) == dtype else ""
    except (ImportError, TypeError, ValueError):
        return ""


def _string_dtype(storage: str, na_value: Any) -> Any:
    """Return a StringDtype."""
    if storage == "pyarrow" and na_value is not pd.NA and find_spec("pyarrow") is None:
        storage = "python"
    if na_value is pd.NA:
        return pd.StringDtype(storage)
    try:
        return pd.StringDtype(storage, na_value=na_value)
    except TypeError:  # before pandas 2.3 only one such dtype exists
        return pd.StringDtype("pyarrow_numpy")


def _zone_names(zone: datetime.tzinfo) -> list[str]:
    """Return the possible names of a time zone; pandas decides which one is the same zone."""
    if isinstance(zone, datetime.timezone):  # the user may have named it
        return [str(datetime.timezone(zone.utcoffset(None)))]
    path = getattr(zone, "_filename", None)  # dateutil has no public name of a zone
    if isinstance(path, str):
        return [f"dateutil/{path.rpartition('zoneinfo/')[2]}", f"dateutil/{path}"]
    # pandas 2 distinguishes the zones of pytz and zoneinfo.
    return [str(zone), f"zoneinfo/{zone}", f"pytz/{zone}"]


def _zone_of_name(name: str) -> Any:
    """Return the time zone with this name."""
    if match := OFFSET.fullmatch(name):
        sign, *parts = match.groups()
        hours, minutes, seconds, fraction = (int(part or 0) for part in parts)
        offset = datetime.timedelta(0, seconds, fraction, 0, minutes, hours)
        return datetime.timezone(-offset if sign == "-" else offset)
    library, _, key = name.partition("/")
    if library == "zoneinfo":
        return zoneinfo.ZoneInfo(key)
    if library == "pytz":
        return importlib.import_module("pytz").timezone(key)  # optional from pandas 3 on
    if match := PYTZ_OFFSET.fullmatch(name):
        return importlib.import_module("pytz").FixedOffset(int(match[1]))
    return name


def _sparse_name(dtype: Any) -> str:
    """Return the name of a sparse dtype."""
    value = dtype.fill_value
    if dtype.subtype.kind in "mM":
        text = str(np.array([value], dtype.subtype).view(np.int64)[0])
    elif isinstance(value, np.generic):
        text = f"{value.dtype}({value.item()!r})"
    else:
        text = repr(value)
    return f"Sparse[{dtype.subtype}, {text}]"


def _sparse_dtype(name: str, text: str, subtype: np.dtype[Any]) -> Any:
    """Return a sparse dtype from its name, and the text of its fill value in it."""
    try:
        return pandas_dtype(name)
    except TypeError:  # pandas reads its own text only if the fill value is the default
        pass
    if subtype.kind in "mM":
        return pd.SparseDtype(subtype, np.array([int(text)]).view(subtype)[0])
    match = NUMPY_SCALAR.fullmatch(text)
    scalar = _scalar(match[2] if match else text)
    return pd.SparseDtype(subtype, np.dtype(match[1]).type(scalar) if match else scalar)


def _scalar(text: str) -> Any:
    """Return the scalar whose `repr` is `text`."""
    try:
        return float(text) if text in ("nan", "inf", "-inf") else ast.literal_eval(text)
    except (MemoryError, RecursionError, SyntaxError) as error:
        raise ValueError(f"{text!r} is not a scalar") from error

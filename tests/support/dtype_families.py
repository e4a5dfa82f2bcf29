"""One pandas dtype of each family, for tests that do much with each dtype."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Hashable
from typing import Any

import pandas as pd

from support.library_types import TypeCase, pandas_cases


def family(dtype: Any) -> Hashable:
    """Return a key that is equal for dtypes that differ in a zone, a unit or a precision only."""
    if isinstance(dtype, pd.CategoricalDtype):
        return "category", family(dtype.categories.dtype)
    if isinstance(dtype, pd.StringDtype):
        return repr(dtype)
    kind = getattr(dtype, "pyarrow_dtype", None)
    if hasattr(kind, "index_type"):  # an Arrow dictionary
        return "dictionary", family(pd.ArrowDtype(kind.value_type))
    name = str(dtype if kind is None else kind)
    arrow = "" if kind is None else "arrow "
    return arrow + (name if name.startswith("extension") else re.split(r"[<(\[]", name)[0])


def families(accepts: Callable[[TypeCase], bool] = lambda case: True) -> list[TypeCase]:
    """Return the first case of each family, of those that a function accepts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas deprecates some periods
        cases = pandas_cases()
    found: dict[Hashable, TypeCase] = {}
    for case in cases:
        if not case.is_rejected and accepts(case):
            found.setdefault(family(case.dtype), case)
    return list(found.values())


def is_category(case: TypeCase) -> bool:
    """Tell whether the dtype of a case is categorical."""
    return isinstance(case.dtype, pd.CategoricalDtype)

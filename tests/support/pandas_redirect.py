"""A pytest plugin: pandas' own tests meet our functions under pandas' names.

``pytest -p support.pandas_redirect --pyargs pandas.tests.reshape.test_get_dummies`` runs the tests
that came with pandas. The last line of the report counts the calls that were redirected.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pandas as pd

from onehot_fast.integrations.pandas import from_dummies, get_dummies, str_get_dummies
from support.redirect import counted, put, pytest_terminal_summary

__all__ = ["pytest_terminal_summary"]


def as_method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method of ``.str`` that calls the function with the accessor's Series or Index."""

    @functools.wraps(function)
    def method(accessor: Any, *args: Any, **kwargs: Any) -> Any:
        return function(accessor._orig, *args, **kwargs)

    return method


put("get_dummies", counted(get_dummies), pd)
put("from_dummies", counted(from_dummies), pd)
put("get_dummies", as_method(counted(str_get_dummies)), pd.Series.str)

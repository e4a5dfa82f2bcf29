"""A pytest plugin: pandas' own tests meet our functions under pandas' names.

``pytest -p pandas_redirect --pyargs pandas.tests.reshape.test_get_dummies`` runs the tests that
came with pandas. The last line of the report counts the calls that were redirected.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from onehot_fast.integrations.pandas import from_dummies, get_dummies, str_get_dummies

calls: Counter[str] = Counter()


def counted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, counting its calls."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        calls[function.__name__] += 1
        return function(*args, **kwargs)

    return wrapper


def as_method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method of ``.str`` that calls the function with the accessor's Series or Index."""

    @functools.wraps(function)
    def method(accessor: Any, *args: Any, **kwargs: Any) -> Any:
        return function(accessor._orig, *args, **kwargs)

    return method


REPLACED = {
    (pd, "get_dummies"): counted(get_dummies),
    (pd, "from_dummies"): counted(from_dummies),
    (pd.Series.str, "get_dummies"): as_method(counted(str_get_dummies)),
}


@pytest.fixture(autouse=True)
def redirected(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put ours in the place of pandas' functions, also where a test module imported one."""
    for (owner, name), ours in REPLACED.items():
        theirs = getattr(owner, name)
        monkeypatch.setattr(owner, name, ours)
        if getattr(request.module, name, None) is theirs:
            monkeypatch.setattr(request.module, name, ours)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how often each of ours was called."""
    counts = " ".join(f"{name}={calls[name]}" for name in sorted(calls))
    terminalreporter.write_line(f"redirected: {counts}")

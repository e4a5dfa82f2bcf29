"""Two outcomes, ours and another library's, held against each other: results, or the errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def outcome(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the result of a call, or the exception it raised."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return error


def assert_same_outcome(ours: Any, theirs: Any, data: Any, *args: Any, **kwargs: Any) -> None:
    """Assert that two functions return or raise the same, and do not change a pandas object."""
    copy = data.copy(deep=True) if isinstance(data, pd.Series | pd.Index | pd.DataFrame) else None
    expected = outcome(theirs, data, *args, **kwargs)

    assert_same(outcome(ours, data, *args, **kwargs), expected)
    assert copy is None or data.equals(copy)


def assert_same(actual: Any, expected: Any) -> None:
    """Assert that two outcomes are the same frame, index, array or error."""
    if isinstance(expected, Exception):
        assert (type(actual), str(actual)) == (type(expected), str(expected))
        return
    if isinstance(actual, Exception):
        raise actual
    assert type(actual) is type(expected)
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(
            actual, expected, check_index_type="exact", check_column_type="exact"
        )
        # A frame's own comparison takes some types of index for each other.
        pd.testing.assert_index_equal(actual.columns, expected.columns, exact=True)
        assert type(actual.columns) is type(expected.columns)
    elif isinstance(expected, pd.Index):
        pd.testing.assert_index_equal(actual, expected, exact=True)
    else:
        np.testing.assert_array_equal(actual, expected, strict=True)

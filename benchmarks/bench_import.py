"""What a process pays before the first result; NumPy alone is not its own."""

from __future__ import annotations

from benchmarks.workloads import STARTS


def _code(name: str) -> tuple[str, str]:
    """Return the statement and what prepares it, as asv expects them."""
    return STARTS[name].statement, STARTS[name].prepare


def timeraw_import() -> tuple[str, str]:
    """Import the package, and with it NumPy."""
    return _code("import onehot_fast")


def timeraw_import_numpy() -> tuple[str, str]:
    """Import NumPy alone."""
    return _code("import numpy")


def timeraw_first_call() -> tuple[str, str]:
    """Encode a million indices into memory that the process never had."""
    return _code("first call")


def timeraw_first_touch() -> tuple[str, str]:
    """Touch each page of as much zeroed memory: what the first call is measured by."""
    return _code("first touch")


def timeraw_first_pandas_get_dummies() -> tuple[str, str]:
    """Import pandas and call its `get_dummies`: what the next three are measured by."""
    return _code("first get_dummies of pandas")


def timeraw_first_get_dummies() -> tuple[str, str]:
    """Import pandas and call our `get_dummies`."""
    return _code("first get_dummies")


def timeraw_first_encoder() -> tuple[str, str]:
    """Import pandas, and fit and apply an `Encoder`."""
    return _code("first Encoder")


def timeraw_first_command() -> tuple[str, str]:
    """Encode a small file with the command."""
    return _code("first command")

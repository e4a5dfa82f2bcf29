"""The cache of all objects that do not change."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class Cache(Generic[Value]):
    """A bounded number of values by key, for an object that does not change.

    A full cache is emptied: what is used again is made again. Two threads may make a value at the
    same time; both then get the value that was stored first. A pickle or a copy is empty.

    Parameters
    ----------
    bound : int
        The maximum number of values.

    Examples
    --------
    >>> squares = Cache(2)
    >>> squares.get(3, pow, 3, 2), squares.get(3, pow, 3, 2), len(squares)
    (9, 9, 1)
    """

    __slots__ = ("_bound", "_values")

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._values: dict[Hashable, Value] = {}

    def get(self, key: Hashable, make: Callable[..., Value], *arguments: Any) -> Value:
        """Return the value of `key`; if there is none, store ``make(*arguments)``."""
        # In free-threaded Python, `dict.get` takes a lock, which would make threads wait.
        try:
            return self._values[key]
        except KeyError:
            pass
        value = make(*arguments)
        if len(self._values) >= self._bound:
            self._values.clear()
        return self._values.setdefault(key, value)

    def find(self, key: Hashable) -> Value | None:
        """Return the value of `key`, or None if there is none."""
        try:
            return self._values[key]
        except KeyError:
            return None

    def put(self, key: Hashable, value: Value) -> None:
        """Store a value, also if `key` has another one."""
        if len(self._values) >= self._bound and key not in self._values:
            self._values.clear()
        self._values[key] = value

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self._values)

    def __reduce__(self) -> tuple[type[Cache[Value]], tuple[int]]:
        """Pickle an empty cache."""
        return type(self), (self._bound,)

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

    def get_current(
        self,
        key: Hashable,
        is_current: Callable[[Value], bool],
        make: Callable[..., Value],
        *arguments: Any,
    ) -> Value:
        """Return the value of `key` if it is current; else store ``make(*arguments)`` in its place.

        This serves sources that are quick to compare but slow to hash, so that they cannot be keys:
        the value contains the source from which it was made, and `is_current` compares it.
        """
        try:
            value = self._values[key]
        except KeyError:
            pass
        else:
            if is_current(value):
                return value
        value = make(*arguments)
        if len(self._values) >= self._bound and key not in self._values:
            self._values.clear()
        self._values[key] = value
        return value

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self._values)

    def __reduce__(self) -> tuple[type[Cache[Value]], tuple[int]]:
        """Pickle an empty cache."""
        return type(self), (self._bound,)

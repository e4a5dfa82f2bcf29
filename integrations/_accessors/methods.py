"""The public methods of an accessor, and the error for those that it lacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar


class NotLazy(AttributeError, TypeError):
    """The accessor of a lazy object has no such method, because its result could not be lazy."""


class LazyAccessor:
    """An accessor whose results are computed later; it lacks some methods of `_eager`."""

    _eager: ClassVar[type]
    """The class of the accessors of objects in memory."""
    _in_memory: ClassVar[str]
    """How to get the accessor of the object in memory, e.g. "frame.compute().onehot"."""

    if not TYPE_CHECKING:  # for a type checker, an unknown attribute stays an error

        def __getattr__(self, name: str) -> Any:
            """Raise the AttributeError of an absent method, which says what to write instead."""
            if name in methods_of(self._eager):
                raise NotLazy(
                    f"{name} is no method of a lazy object: use {self._in_memory}.{name}",
                    name=name,
                    obj=self,
                )
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self
            )


def methods_of(accessor: object) -> list[str]:
    """Return the names of the public methods of an accessor, or of a class of accessors."""
    owner = accessor if isinstance(accessor, type) else type(accessor)
    inherited = [vars(each) for each in reversed(owner.__mro__)]
    names = dict.fromkeys(name for own in inherited for name in own)
    return [name for name in names if not name.startswith("_")]


def either(names: Sequence[str]) -> str:
    """Return the names as text, e.g. "to_numpy, to_csr or fit"."""
    *first, last = names
    return f"{', '.join(first)} or {last}"

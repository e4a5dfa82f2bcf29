"""A property that is worked out once, and waits for nobody."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property(functools.cached_property):
        """`functools.cached_property` without the lock that Python 3.11 holds meanwhile.

        All instances share that lock: threads would wait for each other's encoders, and a child
        that is forked while any thread holds it for ever.
        """

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            """Work the value out; of several threads all get that of the first to end."""
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))


__all__ = ["cached_property"]

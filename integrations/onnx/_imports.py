"""Register the converters for skl2onnx when skl2onnx is imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


def register_converters() -> None:
    """Register the converters now if skl2onnx is already imported, otherwise after its import."""
    if sys.modules.get("skl2onnx") is not None:
        import_module("._converters", __package__)
    else:
        sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    """An import hook that registers the converters after skl2onnx is imported."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "skl2onnx":
            return None
        others = (each for each in sys.meta_path if each is not self)
        specs = (each.find_spec(name, path, target) for each in others)
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is not None and spec.loader is not None:
            execute = partial(self._execute, spec.loader.exec_module)
            spec.loader.exec_module = execute  # type: ignore[method-assign]
        return spec

    def _execute(self, execute: Callable[[ModuleType], object], module: ModuleType) -> None:
        execute(module)
        if self in sys.meta_path:
            sys.meta_path.remove(self)
            register_converters()

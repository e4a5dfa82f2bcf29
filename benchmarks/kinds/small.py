"""Small calls, where arguments and the import cost more than the work."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

COLUMNS = "abcde"
# What makes a table of each library: the module and its function.
TABLES = {
    "dict": ("builtins", "dict"),
    "pandas": ("pandas", "DataFrame"),
    "polars": ("polars", "DataFrame"),
    "arrow": ("pyarrow", "table"),
}


@dataclass(frozen=True)
class SmallTable:
    """The recipe of a table with a few rows of five columns of texts."""

    name: str
    rows: int
    levels: int

    @property
    def title(self) -> str:
        """The task in one line."""
        return f"{self.rows:,} rows of five columns of {self.levels:,} texts"

    def make(self, library: str) -> tuple[dict[str, list[str]], Any]:
        """Return the categories of each column, and the table in a library."""
        levels = self.levels
        known = {name: [f"{name}{i}" for i in range(levels)] for name in COLUMNS}
        places = [(levels // 2 + i * i) % levels for i in range(self.rows)]
        module, function = TABLES[library]
        rows = {name: [texts[place] for place in places] for name, texts in known.items()}
        return known, getattr(import_module(module), function)(rows)


@dataclass(frozen=True)
class Program:
    """The recipe of a call as code: what prepares it, and the statement that is measured."""

    name: str
    prepare: str
    statement: str

    @property
    def title(self) -> str:
        """The task in one line."""
        return self.name

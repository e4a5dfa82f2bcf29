"""Everybody who can do the work, by name: one function each, in the table `CONTENDERS`.

A function of this package takes a `Task` and returns the call that is timed, with all that an
ordinary program would prepare once already prepared, in the way that is fastest for that library.
What is made of whole tables has a table of its own, `forms.FORMERS`.
"""

from __future__ import annotations

from benchmarks.peers import arrays, arrow, estimators, forms, tables, tensors
from benchmarks.peers.registry import CONTENDERS, Contender, Task, load

__all__ = [
    "CONTENDERS",
    "Contender",
    "Task",
    "arrays",
    "arrow",
    "estimators",
    "forms",
    "load",
    "tables",
    "tensors",
]

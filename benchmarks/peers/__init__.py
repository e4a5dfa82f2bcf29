"""All contenders by name: one function each, in the table `CONTENDERS`.

A function of this package takes a `Task` and returns the call that is timed. It prepares what an
ordinary program would prepare once, in the fastest way of that library. `forms.FORMERS` has the
results of whole tables.
"""

from __future__ import annotations

from benchmarks.peers import arrays, arrow, estimators, forms, labels, tables, tensors
from benchmarks.peers.registry import CONTENDERS, Contender, Task, build, load

__all__ = [
    "CONTENDERS",
    "Contender",
    "Task",
    "arrays",
    "arrow",
    "build",
    "estimators",
    "forms",
    "labels",
    "load",
    "tables",
    "tensors",
]

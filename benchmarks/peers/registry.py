"""The table of contenders, and how their libraries are loaded."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.kinds.labels import Array, Work, check

OURSELVES = "onehot_fast"
Call = Callable[[], object]


@dataclass(frozen=True)
class Task:
    """The task of one contender.

    ``out`` is warm memory of the right shape and dtype, ``threads`` the number of threads (None:
    the library's default), ``library`` the imported module.
    """

    work: Work
    out: Array
    threads: int | None
    library: Any


@dataclass(frozen=True)
class Contender:
    """A way to run a workload; `reuses` says whether it writes into ``Task.out``."""

    name: str
    library: str
    reuses: bool
    suits: Callable[[Work], bool]
    read: Callable[[Any], Array]
    build: Callable[[Task], Call]

    @property
    def mode(self) -> str:
        """Where the result goes: into ``out``, or into memory that the call allocates."""
        return "out" if self.reuses else "fresh"


CONTENDERS: dict[str, Contender] = {}
# No cell of a result has this in each of its bytes.
POISON = 0xA5


def build(contender: Contender, task: Task) -> Call:
    """Return the call of a contender after one result was checked."""
    call = contender.build(task)
    # A call that writes nothing must not pass with the output of the call before.
    task.out.reshape(-1).view(np.uint8).fill(POISON)
    check(contender.read(call()), task.work)
    return call


def anything(work: Work) -> bool:
    """Return True: every workload is suitable."""
    return True


def contender(
    name: str,
    *,
    library: str,
    reuses: bool = False,
    suits: Callable[[Work], bool] = anything,
    read: Callable[[Any], Array] = np.asarray,
) -> Callable[[Callable[[Task], Call]], Callable[[Task], Call]]:
    """Enter the decorated function into the table; `read` makes its result an ndarray."""

    def enter(build: Callable[[Task], Call]) -> Callable[[Task], Call]:
        full_name = f"{library} {name}".strip()
        CONTENDERS[full_name] = Contender(full_name, library, reuses, suits, read, build)
        return build

    return enter


def is_rows(work: Work) -> bool:
    """Return whether the new axis is the last."""
    return work.is_rows


def is_column(work: Work) -> bool:
    """Return whether this is a column of a table: a vector of indices, a row for each."""
    return work.is_rows and work.indices.ndim == 1


def _limit_torch(torch: Any, threads: int) -> None:
    torch.set_num_threads(threads)


def _limit_tensorflow(tensorflow: Any, threads: int) -> None:
    tensorflow.config.threading.set_intra_op_parallelism_threads(threads)


def _limit_numba(numba: Any, threads: int) -> None:
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))


def _widen_jax(jax: Any, threads: int) -> None:
    """Without this jax has neither float64 nor int64; its threads are the processors it may use."""
    jax.config.update("jax_enable_x64", True)


PREPARE = {
    "torch": _limit_torch,
    "tensorflow": _limit_tensorflow,
    "numba": _limit_numba,
    "jax": _widen_jax,
}


def load(library: str, threads: int) -> Any:
    """Import a library and limit its threads.

    Raises
    ------
    ImportError
        It is not installed.
    """
    module = importlib.import_module(library)
    if library in PREPARE:
        PREPARE[library](module, threads)
    return module

"""The peak memory of a call on a table, in its own process.

`extra` returns the bytes that the process held more at the peak of the call than before it, for
each byte of the result. What counts are resident pages, whoever asked for them: pyarrow and polars
have allocators of their own. Other processes than a new one give other numbers: `benchmarks.apart`
starts one, and so does ``python -m benchmarks.peak F1 "onehot_fast get_dummies"``.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys
from importlib import import_module
from pathlib import Path

import onehot_fast
from benchmarks.peers import forms
from benchmarks.peers.forms import size
from benchmarks.workloads import FRAMES

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
# The first call imports modules and starts threads, whose memory is not the result's.
WARM_UP_SCALE = 0.001


def peak() -> int:
    """Return the peak memory of this process in bytes, since `settle` if it was called."""
    if STATUS.exists():
        fields = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
        return int(fields["VmHWM"].split()[0]) << 10
    unit = 1 if sys.platform == "darwin" else 1024
    return int(import_module("resource").getrusage(0).ru_maxrss) * unit


def settle() -> None:
    """Return unused memory to the system, and reset the peak.

    Where a system can do neither, a call seems to need less than it does.
    """
    gc.collect()
    onehot_fast.empty_cache()
    with contextlib.suppress(ImportError):
        import_module("pyarrow").default_memory_pool().release_unused()
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
    with contextlib.suppress(OSError):
        RESET.write_text("5")


def extra(workload: str, name: str, scale: float = 1.0) -> float:
    """Return the bytes of peak memory for each byte of the result."""
    former, recipe = forms.FORMERS[name], FRAMES[workload]
    library = import_module(former.library)
    former.build(library, recipe.make(WARM_UP_SCALE))()
    call = former.build(library, recipe.make(scale))
    settle()
    before = peak()
    result = call()
    return (peak() - before) / size(result)


if __name__ == "__main__":
    print(extra(sys.argv[1], sys.argv[2]))

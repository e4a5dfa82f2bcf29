"""The comparison as a chart: the time of each library in multiples of the floor."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.measure import Record
from benchmarks.peers.registry import OURSELVES
from benchmarks.scenarios import LINE_FLOOR
from benchmarks.targets import Results

PANELS = {"out": "into an existing buffer (out=)", "fresh": "ordinary call, repeated"}
# Each library has a colour and a shape of its own. The first seven colours are those of Okabe and
# Ito, which colour-blind readers can distinguish.
STYLES = {
    OURSELVES: ("#000000", "D"),
    "numpy": ("#0072B2", "o"),
    "numba": ("#009E73", "^"),
    "torch": ("#D55E00", "s"),
    "tensorflow": ("#E69F00", "v"),
    "jax": ("#CC79A7", "P"),
    "onnxruntime": ("#56B4E9", "X"),
    "openvino": ("#882255", "<"),
    "pandas": ("#999933", ">"),
    "sklearn": ("#7F3C00", "p"),
    "polars": ("#666666", "*"),
}


def multiples(records: Sequence[Record], library: str, mode: str) -> dict[str, float]:
    """Return the best of a library in each workload, relative to the floor of all threads."""
    results = Results(records)
    found: dict[str, float] = {}
    for record in records:
        key = record.key
        floor = results.find(key.workload, LINE_FLOOR, results.threads)
        threads = 0 if library == OURSELVES else results.threads
        if floor and (key.library, key.mode, key.threads) == (library, mode, threads):
            multiple = record.median / floor
            found[key.workload] = min(multiple, found.get(key.workload, multiple))
    return found


def _panel(axes: Any, records: Sequence[Record], mode: str, workloads: Sequence[str]) -> None:
    """Draw one panel: a row for each workload, a mark for each library."""
    for library, (colour, shape) in STYLES.items():
        found = multiples(records, library, mode)
        rows = [workloads.index(workload) for workload in found]
        ours = library == OURSELVES
        style = {"s": 90 if ours else 55, "zorder": 3 if ours else 2, "linewidths": 0}
        axes.scatter(
            list(found.values()), rows, c=colour, marker=shape, label=library, alpha=0.9, **style
        )
    axes.axvline(1, color="#666666", linestyle="--", linewidth=1, zorder=1)
    place = {"xy": (1, 0), "xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
    axes.annotate("floor", xytext=(4, 4), color="#666666", fontsize=9, **place)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("time of a call / floor (log scale; left is faster)")
    axes.set_title(PANELS[mode], fontsize=11)
    axes.grid(axis="x", which="both", alpha=0.25)
    axes.grid(axis="y", alpha=0.25)


def draw(records: Sequence[Record], titles: dict[str, str], path: Path) -> None:
    """Write the chart as ``path.png`` and ``path.svg``.

    `titles` names the rows, of those workloads that have a floor.
    """
    import_module("matplotlib").use("Agg")
    pyplot = import_module("matplotlib.pyplot")
    pyplot.rcParams["svg.hashsalt"] = "onehot_fast"  # the same figures make the same file
    results = Results(records)
    workloads = [name for name in titles if results.find(name, LINE_FLOOR, results.threads)]
    size = (14, 1.6 + 0.55 * len(workloads))
    figure, both = pyplot.subplots(1, 2, sharey=True, sharex=True, figsize=size)
    for axes, mode in zip(both, PANELS, strict=True):
        _panel(axes, records, mode, workloads)
    both[0].set_yticks(range(len(workloads)), [titles[name] for name in workloads], fontsize=9)
    both[0].invert_yaxis()
    handles, labels = both[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=len(labels), frameon=False, fontsize=9)
    title = f"one_hot and other libraries on {results.threads} processors"
    figure.suptitle(f"{title} (onehot_fast with its default threads)")
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    for suffix, metadata in ((".png", None), (".svg", {"Date": None})):
        figure.savefig(path.with_suffix(suffix), dpi=130, metadata=metadata)
    pyplot.close(figure)

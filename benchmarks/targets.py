"""The targets, and whether they are reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import NamedTuple

from benchmarks.measure import Record
from benchmarks.peers.arrow import BARE
from benchmarks.peers.files import ENCODE, PLAIN_GROUPS, PLAIN_READ
from benchmarks.peers.registry import OURSELVES
from benchmarks.scenarios import ENCODED_FILE, LINE_FLOOR, WRITER
from benchmarks.workloads import FRAMES

OUT = f"{OURSELVES} out="
BEST = "the best peer"

# Multiples of the line floor, with a warm `out=`.
OF_THE_FLOOR = {
    "W1": 1.2,
    "W2": 1.1,
    "W3": 1.1,
    "W4": 1.1,
    "W5": 1.0,
    "W5-uint8": 1.0,
    "W7": 1.2,
    "W8": 1.5,
    "W9": 1.2,
}
# With `out=`, at least this many times as fast as the fastest way of a peer.
FASTER_THAN = (
    ("W1", "numpy eye.take(out=)", 1.5),
    ("W1", "tensorflow one_hot", 3.0),
    ("W1", "torch one_hot + cast", 20.0),
    ("W2", BEST, 2.0),
    ("W3", BEST, 2.0),
    ("W4", "numpy fill + assign", 2.0),
    ("W5", BEST, 3.0),
    ("W5-uint8", BEST, 3.0),
    ("W7", "numba loop (out)", 1.3),
    ("W8", "tensorflow one_hot", 1.5),
    ("W9", BEST, 3.0),
    ("W6", "numpy zeros + assign", 1.0),
    ("W6", "torch one_hot + cast", 1.0),
)
OF_OWN_OUT = 1.15
# Multiples of the floor of their bytes, from tables of known categories.
WRITTEN_OF_THE_FLOOR = 1.5
FASTER_THAN_ORDINARY = 2.5
OF_FIRST_TOUCH = 1.15
SMALL_CALL = {OURSELVES: 1.0e-6, OUT: 0.8e-6}
# Never slower, with a tolerance for the noise of a median.
OF_ONE_THREAD = 1.05
OF_ONE_THREAD_BUSY = 1.3
# Tables: at least this many times as fast as pandas, both without preparation.
FASTER_THAN_PANDAS = {
    "F1": ("get_dummies", 5.0),
    "F2": ("get_dummies", 4.0),
    "F3": ("get_dummies", 2.0),
    "F4": ("get_dummies", 2.0),
    "F5": ("get_dummies(sparse=True)", 50.0),
    "F6": ("get_dummies(sparse=True)", 50.0),
    "F7": ("str.get_dummies", 10.0),
    "F7-object": ("str.get_dummies", 10.0),
}
# The same for estimators, against scikit-learn.
FASTER_THAN_SKLEARN = {
    "S1": ("OneHotEncoder().fit_transform", 20.0),
    "S2": ("OneHotEncoder().fit_transform", 8.0),
    "S3": ("OneHotEncoder().fit_transform", 5.0),
    "S4": ("OneHotEncoder().fit_transform", 5.0),
    "S5": ("OneHotEncoder(dense float32).fit_transform", 3.0),
    "S9": ("TargetEncoder().fit_transform", 4.0),
    "S10": ("TargetEncoder().transform", 12.0),
}
# Columns with several labels in a row, learned: ours, and each peer.
# L1, L1-arrow and L2 miss targets: reading lists of Python, or storing int64, takes most of the
# time of both sides. docs/performance/labels.md has the measurement.
FASTER_THAN_LABEL_PEERS = (
    ("L1", "sklearn MultiLabelBinarizer(sparse_output).fit_transform", 10.0),
    ("L1", "mlxtend TransactionEncoder, sparse", 10.0),
    ("L1-arrow", "sklearn MultiLabelBinarizer(sparse_output).fit_transform", 10.0),
    ("L1-arrow", "mlxtend TransactionEncoder, sparse", 10.0),
    ("L2", "sklearn MultiLabelBinarizer().fit_transform of texts", 10.0),
    ("L3", "pandas str.get_dummies of labels", 5.0),
    ("L4", "polars explode and pivot", 5.0),
)
# The same columns with known labels, beside the function for one column.
OF_MULTI_HOT = 1.1
KNOWN_LABELS = {"known label csr": ", csr", "known label matrix": ""}
ONE_ROW = "OneHotEncoder.transform of a row"
ONE_ROW_SECONDS = 120e-6
# Where pyarrow hashes the texts.
FASTER_THAN_PANDAS_BY_ARROW = 3.0
BY_ARROW = ("F3", "F4")
CSR_OF_HAND_BUILT = 1.5
# Values to codes, and products with codes: against the usual library.
FASTER_THAN_USUAL = {
    "D1": 4.5,
    "D2": 4.5,
    "D3": 3.5,
    "D4": 3.0,
    "D5": 2.2,
    "D6": 2.5,
    "D7": 2.5,
    "D8": 2.5,
    "D9": 1.7,
    "D10": 1.0,
    "D11": 1.7,
    "D12": 1.0,
    "D13": 3.0,
    "D14": 1.0,
    "D15": 3.0,
    "D16": 2.0,
    "D17": 15.0,
    "D18": 15.0,
    "D19": 4.0,
    "D20": 4.0,
    "D21": 10.0,
    "D22": 10.0,
    "D23": 1.8,
    "D24": 1.2,
    "D25": 1.5,
    "D26": 1.5,
    "D27": 1.5,
    "D28": 6.0,
    "D29": 4.0,
    "D30": 4.0,
    "D31": 20.0,
    "D32": 1.8,
    "D33": 1.5,
    "D34": 2.0,
    "D35": 1.8,
    "D36": 1.4,
    "D37": 1.8,
    "D38": 0.9,
    "D39": 0.9,
    "D40": 3.0,
    "D41": 3.0,
    "D42": 3.0,
    "D43": 3.0,
    "D44": 3.0,
    "D45": 1.0,
    "D46": 1.0,
    "D47": 5.0,
    "D48": 5.0,
    "D49": 5.0,
    "D50": 5.0,
    "D51": 3.0,
}
# Files: against pyarrow, and the peak of the process.
ENCODE_OF_PYARROW = 1.3
ENCODE_PEAK = 500 << 20
TENSOR_OF_KERNEL = 1.5
# Results that are larger than their input; values, means and multi-hot rows are smaller.
SMALLER_THAN_INPUT = ("F10", "F11", "S6", "S7", "S8", "S9", "S10",
                      "L1", "L1-arrow", "L5", "L6", "L7")  # fmt: skip
PEAK_OF_OUTPUT = {
    name: 1.3 if name.startswith("S") else 1.1 for name in FRAMES if name not in SMALLER_THAN_INPUT
}


class Verdict(NamedTuple):
    """One target: its subject, the figure, the limit, and whether it is reached."""

    workload: str
    target: str
    measured: str
    wanted: str
    met: bool


class Results:
    """The records of one run by their keys."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._records = list(records)
        self._median = {record.key: record.median for record in self._records}
        self.threads = max((key.threads for key in self._median), default=1)

    def find(self, workload: str, name: str, threads: int, mode: str | None = None) -> float | None:
        """Return the median of one measurement, None if it is missing."""
        for key, median in self._median.items():
            same = (key.workload, key.name, key.threads) == (workload, name, threads)
            if same and mode in (None, key.mode):
                return median
        return None

    def best_peer(self, workload: str, modes: tuple[str, ...]) -> tuple[str, float] | None:
        """Return name and median of the fastest peer in one of the modes."""
        found = [
            (median, key.name)
            for key, median in self._median.items()
            if key.workload == workload and key.mode in modes and key.library != OURSELVES
        ]
        return min(found)[::-1] if found else None

    def own(self, workload: str, mode: str) -> list[tuple[str, float]]:
        """Return name and median of each of our calls in a mode."""
        return [
            (key.name, median)
            for key, median in self._median.items()
            if (key.workload, key.mode, key.library) == (workload, mode, OURSELVES)
        ]

    def workloads(self, mode: str) -> list[str]:
        """Return the workloads that were measured in a mode, in order."""
        return list(dict.fromkeys(key.workload for key in self._median if key.mode == mode))


def _at_most(
    workload: str, target: str, ours: float | None, other: float | None, limit: float
) -> Iterator[Verdict]:
    """Yield the verdict on a ratio, if both sides were measured."""
    if ours is not None and other is not None:
        ratio = ours / other
        yield Verdict(workload, target, f"{ratio:.2f} x", f"≤ {limit:g} x", ratio <= limit)


def _at_least(
    workload: str, peer: str, theirs: float | None, ours: float | None, limit: float
) -> Iterator[Verdict]:
    """Yield the verdict on being faster than a peer, if both were measured."""
    if ours is not None and theirs is not None:
        ratio = theirs / ours
        target = f"faster than {peer}"
        yield Verdict(workload, target, f"{ratio:.2f} x", f"≥ {limit:g} x", ratio >= limit)


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"


def of_the_floor(results: Results) -> Iterator[Verdict]:
    """Compare the warm call with the line floor, on one thread and on all."""
    for workload, limit in OF_THE_FLOOR.items():
        for threads in sorted({1, results.threads}):
            ours = results.find(workload, OUT, threads)
            floor = results.find(workload, LINE_FLOOR, threads)
            target = f"`out=` / floor, {_threads(threads)}"
            yield from _at_most(workload, target, ours, floor, limit)


def written_of_the_floor(results: Results) -> Iterator[Verdict]:
    """Compare results of tables with the floor of their bytes."""
    for workload in results.workloads("written"):
        for threads in sorted({1, results.threads}):
            floor = results.find(workload, LINE_FLOOR, threads)
            ours = results.find(workload, WRITER, threads)
            target = f"table / floor of its bytes, {_threads(threads)}"
            yield from _at_most(workload, target, ours, floor, WRITTEN_OF_THE_FLOOR)


def faster_than_peers(results: Results) -> Iterator[Verdict]:
    """Compare the warm call with the default threads with peers."""
    for workload, peer, limit in FASTER_THAN:
        threads = 0 if workload == "W6" else results.threads
        own = OURSELVES if workload == "W6" else OUT
        name, theirs = peer, results.find(workload, peer, threads)
        if peer == BEST and (best := results.best_peer(workload, ("out", "fresh"))):
            name, theirs = f"{BEST} ({best[0]})", best[1]
        yield from _at_least(workload, name, theirs, results.find(workload, own, 0), limit)


def ordinary_calls(results: Results) -> Iterator[Verdict]:
    """Compare the repeated call without `out=` with the call with `out=` and with peers."""
    for workload in OF_THE_FLOOR:
        ours = results.find(workload, OURSELVES, 0, "fresh")
        warm = results.find(workload, OUT, 0, "out")
        yield from _at_most(workload, "repeated without `out=` / with", ours, warm, OF_OWN_OUT)
        if best := results.best_peer(workload, ("fresh",)):
            peer = f"every ordinary call (best: {best[0]})"
            yield from _at_least(workload, peer, best[1], ours, FASTER_THAN_ORDINARY)


def first_calls(results: Results) -> Iterator[Verdict]:
    """Compare the first call of a process with the first touch of its memory."""
    for workload in results.workloads("first"):
        ours = results.find(workload, OURSELVES, 0, "first")
        other = results.find(workload, "numpy zeros, each page touched", 0, "first")
        target = "first call of a process / `np.zeros` and touching each page"
        yield from _at_most(workload, target, ours, other, OF_FIRST_TOUCH)


def small_calls(results: Results) -> Iterator[Verdict]:
    """Compare the small call with its limit."""
    for name, limit in SMALL_CALL.items():
        if seconds := results.find("W6", name, 0):
            measured, wanted = f"{seconds * 1e6:.2f} µs", f"≤ {limit * 1e6:.1f} µs"
            yield Verdict("W6", f"a call of {name}", measured, wanted, seconds <= limit)


def thread_counts(results: Results) -> Iterator[Verdict]:
    """Compare all threads with one, on an idle machine and on a busy one."""
    for workload in OF_THE_FLOOR if results.threads > 1 else ():
        many, one = (results.find(workload, OUT, threads) for threads in (results.threads, 1))
        target = f"{_threads(results.threads)} / 1 thread"
        yield from _at_most(workload, target, many, one, OF_ONE_THREAD)
    for size in results.workloads("busy"):
        default, one = (results.find(size, OUT, threads, "busy") for threads in (0, 1))
        target = "beside a busy process: default threads / 1 thread"
        yield from _at_most(size, target, default, one, OF_ONE_THREAD_BUSY)


def tables(results: Results) -> Iterator[Verdict]:
    """Compare results of tables with pandas, and CSR with a CSR matrix built by NumPy."""
    for workload, (peer, limit) in FASTER_THAN_PANDAS.items():
        by_arrow = workload in BY_ARROW and find_spec("pyarrow") is not None
        wanted = FASTER_THAN_PANDAS_BY_ARROW if by_arrow else limit
        theirs = results.find(workload, f"pandas {peer}", 0, "table")
        for name, ours in results.own(workload, "table"):
            yield from _at_least(workload, f"pandas {peer}: {name}", theirs, ours, wanted)
    ours_csr = results.find("F8", f"{OURSELVES} Encoder, csr", 0, "table")
    by_hand = results.find("F8", "numpy by hand", 0, "table")
    yield from _at_most("F8", "CSR / built by hand", ours_csr, by_hand, CSR_OF_HAND_BUILT)
    tensor = results.find("A1", f"{OURSELVES} arrow.one_hot", 0, "table")
    kernel = results.find("A1", f"{OURSELVES} {BARE}", 0, "table")
    yield from _at_most("A1", "tensor / the bare kernel", tensor, kernel, TENSOR_OF_KERNEL)


def estimators(results: Results) -> Iterator[Verdict]:
    """Compare our estimators with scikit-learn's."""
    for workload, (name, limit) in FASTER_THAN_SKLEARN.items():
        theirs = results.find(workload, f"sklearn {name}", 0, "table")
        ours = results.find(workload, f"{OURSELVES} {name}", 0, "table")
        yield from _at_least(workload, f"sklearn {name}", theirs, ours, limit)
    if seconds := results.find("S6", f"{OURSELVES} {ONE_ROW}", 0, "table"):
        measured, wanted = f"{seconds * 1e6:.0f} µs", f"≤ {ONE_ROW_SECONDS * 1e6:.0f} µs"
        yield Verdict("S6", ONE_ROW, measured, wanted, seconds <= ONE_ROW_SECONDS)


def label_columns(results: Results) -> Iterator[Verdict]:
    """Compare columns with several labels in a row with other libraries and with `multi_hot`."""
    for workload, peer, limit in FASTER_THAN_LABEL_PEERS:
        theirs = results.find(workload, peer, 0, "table")
        for name, ours in results.own(workload, "table"):
            if "Encoder" in name:
                yield from _at_least(workload, peer, theirs, ours, limit)
    for workload, recipe in FRAMES.items():
        if (end := KNOWN_LABELS.get(recipe.form)) is not None:
            function = f"multi_hot{end or ' of labels'}"
            whole, alone = (
                results.find(workload, f"{OURSELVES} {name}", 0, "table")
                for name in (f"Encoder.transform of labels{end}", function)
            )
            yield from _at_most(workload, f"Encoder / {function}", whole, alone, OF_MULTI_HOT)


def codes(results: Results) -> Iterator[Verdict]:
    """Compare values to codes with the usual library."""
    for name in results.workloads("codes"):
        if best := results.best_peer(name, ("codes",)):
            for _, ours in results.own(name, "codes"):
                yield from _at_least(name, *best, ours, FASTER_THAN_USUAL[name])


def files(results: Results) -> Iterator[Verdict]:
    """Compare the command with pyarrow, which reads and writes and encodes nothing."""
    for workload in results.workloads("file"):
        ours = results.find(workload, ENCODE, 0, "file")
        floors = {
            "rewriting the input": _sum(results, workload, (1, PLAIN_GROUPS)),
            "reading the input and writing the result": _sum(
                results,
                workload,
                (1, PLAIN_READ),
                (1, PLAIN_GROUPS + ENCODED_FILE),
                (-1, PLAIN_READ + ENCODED_FILE),
            ),
        }
        for name, floor in floors.items():
            yield from _at_most(workload, f"encode / {name}", ours, floor, ENCODE_OF_PYARROW)
        peak = results.find(workload, ENCODE, 0, "file peak")
        if peak is not None:
            measured, wanted = (f"{n / (1 << 20):,.0f} MB" for n in (peak, ENCODE_PEAK))
            met = peak <= ENCODE_PEAK
            yield Verdict(workload, f"peak of {ENCODE}", measured, f"≤ {wanted}", met)


def _sum(results: Results, workload: str, *parts: tuple[int, str]) -> float | None:
    """Return the sum of the times of some ways with their signs, if all were measured."""
    total = 0.0
    for sign, name in parts:
        seconds = results.find(workload, name, 0, "file")
        if seconds is None:
            return None
        total += sign * seconds
    return total


def peaks(results: Results) -> Iterator[Verdict]:
    """Compare the peak memory of our calls on tables with the size of their results."""
    for workload, limit in PEAK_OF_OUTPUT.items():
        for name, figure in results.own(workload, "peak"):
            target = f"peak of memory / output, {name}"
            yield from _at_most(workload, target, figure, 1.0, limit)


RULES = (
    of_the_floor,
    written_of_the_floor,
    faster_than_peers,
    ordinary_calls,
    first_calls,
    small_calls,
    thread_counts,
    tables,
    estimators,
    label_columns,
    codes,
    files,
    peaks,
)


def verdicts(records: Iterable[Record]) -> list[Verdict]:
    """Return the verdict on every target that was measured."""
    results = Results(records)
    return [verdict for rule in RULES for verdict in rule(results)]

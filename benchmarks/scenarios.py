"""How each group of workloads is measured: beside a floor, beside peers, in a new process."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import onehot_fast
from benchmarks import apart, machine
from benchmarks.floor import Floor, Parts, buffers, warm_buffer, zero_share, zero_share_of
from benchmarks.kinds import files, frames
from benchmarks.kinds.codes import CodesWorkload
from benchmarks.kinds.files import FileWorkload
from benchmarks.kinds.frames import FrameWorkload
from benchmarks.kinds.labels import Array, LabelWorkload, Work
from benchmarks.kinds.written import WrittenWorkload
from benchmarks.measure import Effort, Entry, Key, Record, clock, in_turns, summary
from benchmarks.peers import CONTENDERS, Task, build, load
from benchmarks.peers.codes import ways
from benchmarks.peers.files import ENCODE, FILE_WAYS
from benchmarks.peers.forms import Former, formers
from benchmarks.peers.registry import OURSELVES, Call
from benchmarks.workloads import BUSY, CODES, FILES, FIRST, FRAMES, LABELS, WRITTEN

ROOT = Path(__file__).parents[1]
# Where this process has `onehot_fast` from: the others measure the same one.
PACKAGE = Path(onehot_fast.__file__).parents[1]
FILE_FOLDER = ROOT / "build/files"
ENCODED_FILE = ", the encoded file"
LINE_FLOOR = "floor"
WRITER = f"{OURSELVES} Encoder.transform"
# Smaller outputs are not memory-bound: their floor would be the overhead of a call.
SMALLEST_FLOOR = 1 << 20
# It receives the visits that are to come, or -1 after each.
Progress = Callable[[int], None]


@dataclass
class Session:
    """One run of the comparison: its options and results."""

    threads: int
    effort: Effort
    scale: float = 1.0
    libraries: dict[str, Any] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    parts: dict[tuple[str, int], tuple[float, Parts]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    load_before: float = field(default_factory=machine.load)

    def load(self, names: Sequence[str]) -> None:
        """Import the installed libraries, and record the others as failures."""
        for name in names:
            try:
                self.libraries[name] = load(name, self.threads)
            except ImportError as error:
                self.failures.append(f"{name}: not measured ({error})")

    def has(self, workload: str, *names: str) -> bool:
        """Tell whether libraries are imported; a workload without one is recorded as a failure."""
        missing = ", ".join(sorted({*names} - self.libraries.keys()))
        if missing:
            self.failures.append(f"{workload}: not measured without {missing}")
        return not missing

    @property
    def has_chart(self) -> bool:
        """Whether there is something to draw: peers with a floor."""
        return any(name in LABELS for name, _ in self.parts)

    @property
    def thread_counts(self) -> list[int]:
        """One thread, and all threads."""
        return sorted({1, self.threads})


def _checked(session: Session, key: Key, build: Callable[[], Call]) -> Iterator[Entry]:
    """Yield the entry of a call whose result is right; record the failure of a peer."""
    try:
        call = build()
    except Exception as error:
        if key.library == OURSELVES:
            raise
        session.failures.append(f"{key.workload}, {key.name}: {error!r:.300}")
    else:
        yield Entry(key, clock(call))


def _contender_entries(session: Session, work: Work, out: Array) -> Iterator[Entry]:
    """Yield an entry for each library that can run this workload.

    We ourselves come with our default, as a user calls us, and with every number of threads.
    """
    for contender in CONTENDERS.values():
        if contender.library not in session.libraries or not contender.suits(work):
            continue
        ours = contender.library == OURSELVES
        small = work.n_bytes < SMALLEST_FLOOR
        own = [None] if small else [*session.thread_counts, None]
        counts = own if ours or small else [session.threads]
        for threads in counts:
            task = Task(work, out, threads, session.libraries[contender.library])
            key = Key(work.name, contender.name, contender.library, contender.mode, threads or 0)
            yield from _checked(session, key, partial(build, contender, task))


def compare_labels(session: Session, workload: LabelWorkload, progress: Progress) -> None:
    """Measure a workload of labels by all libraries, and its floor."""
    work = workload.make(session.scale)
    buffer = warm_buffer(work.n_bytes)
    out = buffer.view(work.dtype).reshape(work.shape)
    entries = list(_contender_entries(session, work, out))
    counts = session.thread_counts if work.n_bytes >= SMALLEST_FLOOR else []
    share = zero_share(work) if counts else 0.0
    floors = {threads: Floor(share, work.indices, buffer, threads) for threads in counts}
    _beside_floors(session, work.name, entries, floors, progress)


def compare_written(session: Session, recipe: WrittenWorkload, progress: Progress) -> None:
    """Measure results of tables, and the floor of their bytes."""
    if not session.has(recipe.name, "pandas", recipe.library):
        return
    work = recipe.make(session.scale)
    result = work.call(1)()
    work.check(result)
    memory = buffers(result)
    share, n_bytes = zero_share_of(memory), sum(part.nbytes for part in memory)
    del result, memory
    codes = np.concatenate([codes.view(np.uint8) for codes in work.read])
    buffer = warm_buffer(n_bytes)
    entries = [
        Entry(Key(recipe.name, WRITER, OURSELVES, "written", count), clock(work.call(count)))
        for count in session.thread_counts
    ]
    floors = {count: Floor(share, codes, buffer, count) for count in session.thread_counts}
    _beside_floors(session, recipe.name, entries, floors, progress)


def _beside_floors(
    session: Session,
    name: str,
    entries: list[Entry],
    floors: dict[int, Floor],
    progress: Progress,
) -> None:
    """Measure entries and floors in turns."""
    for threads, floor in floors.items():
        entries.insert(0, Entry(Key(name, LINE_FLOOR, "", "floor", threads), floor.sample))
    progress(len(entries) * session.effort.rounds)
    session.records += in_turns(entries, session.effort, lambda: progress(-1))
    for threads, floor in floors.items():
        session.parts[name, threads] = floor.zero_share, floor.median_parts()


def first_calls(session: Session, workload: LabelWorkload, progress: Progress) -> None:
    """Time the first call in fresh processes, ours and the baseline's in turn."""
    taken: dict[str, list[float]] = {name: [] for name in apart.FIRST}
    progress(len(taken) * session.effort.rounds)
    for _, name in itertools.product(range(session.effort.rounds), taken):
        taken[name].append(_apart(session, "benchmarks.apart:first_call", workload.name, name))
        progress(-1)
    for name, seconds in taken.items():
        library = name.partition(" ")[0]
        session.records.append(summary(Key(workload.name, name, library, "first", 0), seconds))


def compare_frames(session: Session, workload: FrameWorkload, progress: Progress) -> None:
    """Measure a workload of tables by all libraries: the time and the peak memory.

    pandas makes the tables: without it there are none. Everybody uses the threads of his default.
    """
    if not session.has(workload.name, "pandas"):
        return
    entries = list(_former_entries(session, workload.make(session.scale)))
    progress(len(entries) * (session.effort.rounds + 1))
    session.records += in_turns(entries, session.effort, lambda: progress(-1))
    for entry in entries:
        key = replace(entry.key, mode="peak")
        figure = _apart(session, "benchmarks.peak:extra", workload.name, key.name)
        session.records.append(summary(key, [figure]))
        progress(-1)


def compare_codes(session: Session, work: CodesWorkload, progress: Progress) -> None:
    """Measure a workload of codes by us and by its peer, on one thread if that can be set."""
    if not session.has(work.name, "pandas", "pyarrow", work.peer):
        return
    session.libraries["pyarrow"].set_cpu_count(1)
    found = ways(work, session.libraries, session.scale)
    results = [way.read(way.call()) for way in found.values()]
    if not all(np.array_equal(results[0], other) for other in results[1:]):
        raise AssertionError(f"{work.name}: the results differ")
    entries = [
        Entry(Key(work.name, f"{way.library} {name}", way.library, "codes", 0), clock(way.call))
        for name, way in found.items()
    ]
    progress(len(entries) * session.effort.rounds)
    session.records += in_turns(entries, session.effort, lambda: progress(-1))


def _former_entries(session: Session, work: frames.FrameWork) -> Iterator[Entry]:
    """Yield an entry for each library whose result is right."""
    for former in formers(work.form):
        if former.library in session.libraries:
            key = Key(work.name, former.name, former.library, "table", 0)
            yield from _checked(session, key, partial(_build_former, former, session, work))


def _build_former(former: Former, session: Session, work: frames.FrameWork) -> Call:
    """Return the call of a former after one result was checked."""
    call = former.build(session.libraries[former.library], work)
    frames.check(former.read(call(), work), work)
    return call


def _apart(session: Session, function: str, *arguments: str) -> Any:
    """Return what a function of the benchmarks returns in a fresh process."""
    return apart.run(function, *arguments, session.scale, package=PACKAGE)


@contextmanager
def busy_process() -> Iterator[None]:
    """Keep one processor busy by another process."""
    spinner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        time.sleep(0.5)  # until it has started, and the system's count of running threads knows
        yield
    finally:
        spinner.kill()
        spinner.wait()


def busy(session: Session, workload: LabelWorkload, progress: Progress) -> None:
    """Time one thread against the default while another process takes a processor."""
    work = workload.make(session.scale)
    out = warm_buffer(work.n_bytes).view(work.dtype).reshape(work.shape)
    contender = CONTENDERS[f"{OURSELVES} out="]
    entries = []
    for threads in (1, None, session.threads):
        call = build(contender, Task(work, out, threads, session.libraries[OURSELVES]))
        key = Key(work.name, contender.name, OURSELVES, "busy", threads or 0)
        entries.append(Entry(key, clock(call)))
    progress(len(entries) * session.effort.rounds)
    with busy_process():
        session.records += in_turns(entries, session.effort, lambda: progress(-1))


def compare_files(session: Session, workload: FileWorkload, progress: Progress) -> None:
    """Measure each way from one file to another in turns, each in a process of its own.

    The encoded file is also read and written, because the input is smaller than that.
    """
    if not session.has(workload.name, "pyarrow"):
        return
    source = workload.make(FILE_FOLDER, session.scale)
    encoded, target = (FILE_FOLDER / f"{name}.parquet" for name in ("encoded", "out"))
    FILE_WAYS[ENCODE].convert(source, encoded)
    files.check(source, encoded)
    chosen = [way for way in FILE_WAYS.values() if way.library in session.libraries]
    jobs = [(way.name, way, source) for way in chosen]
    jobs += [(way.name + ENCODED_FILE, way, encoded) for way in chosen if not way.encodes]
    taken: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    progress(len(jobs) * session.effort.rounds)
    for _, (name, way, path) in itertools.product(range(session.effort.rounds), jobs):
        paths = str(path), str(target)
        try:
            figures = apart.run("benchmarks.peers.files:run", way.name, *paths, package=PACKAGE)
        except subprocess.CalledProcessError as error:
            if way.library == OURSELVES:
                raise
            session.failures.append(f"{workload.name}, {name}: {error!r:.300}")
            figures = {}
        for mode, figure in figures.items():
            taken[name, way.library, mode].append(figure)
        target.unlink(missing_ok=True)
        shutil.rmtree(target.with_suffix(""), ignore_errors=True)
        progress(-1)
    session.records += [
        summary(Key(workload.name, name, library, mode, 0), figures)
        for (name, library, mode), figures in taken.items()
    ]


# The groups that are compared: their workloads, and how one is measured.
SCENARIOS: dict[str, tuple[dict[str, Any], Callable[[Session, Any, Progress], None]]] = {
    "labels": (LABELS, compare_labels),
    "first": ({name: LABELS[name] for name in FIRST}, first_calls),
    "busy": (BUSY, busy),
    "written": (WRITTEN, compare_written),
    "frames": (FRAMES, compare_frames),
    "codes": (CODES, compare_codes),
    "files": (FILES, compare_files),
}

"""The benchmarks run and check their results. No test measures time."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import oracle
import programs
import pytest

ROOT = Path(__file__).parents[2]
SUITES = sorted(path.stem for path in (ROOT / "benchmarks").glob("bench_*.py"))
# Enough rows for every class of all workloads but the widest.
SCALE = 0.0005
TINY = 0.001
KINDS = ("time_", "peakmem_", "track_")


def load_benchmarks() -> ModuleType:
    """Import the folder as a package, without putting the checkout on the path."""
    folder = ROOT / "benchmarks"
    spec = importlib.util.spec_from_file_location(
        "benchmarks", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    package = sys.modules.setdefault("benchmarks", importlib.util.module_from_spec(spec))
    spec.loader.exec_module(package)
    return package


load_benchmarks()
MODULES = (
    "bench_frames", "codes", "compare", "floor", "frames", "instructions", "machine", "measure",
    "peak", "peers", "peers.forms", "ratios", "regression", "scenarios", "suite", "targets",
    "workloads", "written",
)  # fmt: skip
bench_frames, codes, compare, floor, frames, instructions, machine, measure, *rest = (
    importlib.import_module(f"benchmarks.{name}") for name in MODULES
)
peak, peers, forms, ratios, regression, scenarios, suite, targets, workloads, written = rest

every_workload = pytest.mark.parametrize("name", [*workloads.WORKLOADS])


def make_small(name: str) -> Any:
    return workloads.WORKLOADS[name].make(1.0 if name == "W6" else SCALE)


def encode_slowly(work: Any) -> np.ndarray:
    one, zero = work.dtype.type(1), work.dtype.type(0)
    return oracle.one_hot(work.indices, work.depth, one, zero, work.axis)


def test_every_form_of_a_table_is_compared_with_a_peer() -> None:
    libraries = {
        recipe.form: {former.library for former in forms.formers(recipe.form)}
        for recipe in frames.FRAMES.values()
    }

    assert all("onehot_fast" in found and len(found) > 1 for found in libraries.values())
    assert set(libraries) == set(frames.FORMS)


def matches() -> Iterator[Any]:
    """Yield every installed peer with each workload that suits it."""
    for contender in peers.CONTENDERS.values():
        if importlib.util.find_spec(contender.library) is None:
            continue
        for name in workloads.WORKLOADS:
            work = make_small(name)
            if contender.suits(work):
                yield pytest.param(contender, work, id=f"{contender.name}-{name}")


# Peers may warn.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("contender", "work"), [*matches()])
def test_a_contender_agrees_with_the_oracle(contender: Any, work: Any) -> None:
    out = np.full(work.shape, 7, work.dtype)
    library = peers.load(contender.library, 1)
    result = contender.read(contender.build(peers.Task(work, out, 1, library))())

    oracle.assert_same(np.ascontiguousarray(result), encode_slowly(work))


BELOW_ONE = np.nextafter(np.float32(1), np.float32(0))
FAULTS = {
    "a one too many": lambda result: np.put(result[0], np.argmin(result[0]), 1),
    "a one too few": lambda result: result[-1].fill(0),
    "not quite 1": lambda result: np.put(result[0], np.argmax(result[0]), BELOW_ONE),
    "negative zero": lambda result: np.put(result[0], np.argmin(result[0]), -0.0),
    "another dtype": lambda result: result.astype(np.float64),
    "another shape": lambda result: np.ascontiguousarray(result.T),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_the_check_rejects_a_wrong_result(fault: Any) -> None:
    work = make_small("W1")
    result = encode_slowly(work)
    forged = fault(result)

    with pytest.raises(AssertionError, match="W1"):
        workloads.check(result if forged is None else forged, work)


@every_workload
def test_the_check_accepts_the_oracle_and_zero_lines_are_counted(name: str) -> None:
    work = make_small(name)
    expected = encode_slowly(work)
    raw = expected.tobytes()
    lines = np.frombuffer(raw.ljust(-(-len(raw) // 64) * 64, b"\0"), np.uint8).reshape(-1, 64)

    workloads.check(expected, work)
    assert floor.zero_share(work) == pytest.approx(1 - lines.any(axis=1).mean())


@pytest.mark.parametrize("threads", [1, 2])
def test_the_floor_follows_from_its_parts(threads: int) -> None:
    """The floor is between the two fills, plus the read."""
    work = make_small("W1")
    meter = floor.Floor(
        floor.zero_share(work), work.indices, floor.warm_buffer(work.n_bytes), threads
    )
    seconds = meter.sample(1)
    parts = meter.median_parts()

    assert min(parts) > 0
    assert seconds == parts.floor(meter.zero_share)
    assert floor.Parts(1.0, 4.0, 2.0, 3.0, 0.5).floor(0.25) == 3.0


def frame_matches() -> Iterator[Any]:
    """Yield every workload of tables with each installed peer that makes its form."""
    for name, recipe in frames.FRAMES.items():
        for former in forms.formers(recipe.form):
            if importlib.util.find_spec(former.library) is not None:
                yield pytest.param(former, recipe, id=f"{name}-{former.name}")


# Peers may warn.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("former", "recipe"), [*frame_matches()])
def test_a_form_of_a_table_is_right(former: Any, recipe: Any) -> None:
    pytest.importorskip("pandas")
    try:
        work = recipe.make(TINY)
        call = former.build(importlib.import_module(former.library), work)
    except ImportError as error:  # of what the form stands on
        pytest.skip(str(error))
    result = call()

    frames.check(former.read(result, work), work)
    assert forms.size(result) > 0


@pytest.mark.parametrize("name", ["F1", "F7", "F10"])
@pytest.mark.parametrize("fault", ["value", "shape"])
def test_the_check_of_tables_rejects_a_wrong_result(name: str, fault: str) -> None:
    pytest.importorskip("pandas")
    work = frames.FRAMES[name].make(TINY)
    cells = work.expected.T.copy()
    cells[5, 1] = "other" if name == "F10" else not cells[5, 1]

    with pytest.raises(AssertionError, match=name):
        frames.check(cells if fault == "value" else work.expected[:, :-1].T, work)


@pytest.mark.parametrize("change", [{"columns": {"x3_v000": "x3_other"}}, {"dtype": "uint8"}])
def test_the_check_of_tables_rejects_other_columns(change: dict[str, Any]) -> None:
    pandas = pytest.importorskip("pandas")
    work = frames.FRAMES["F1"].make(TINY)
    frame = pandas.get_dummies(work.data, dtype=change.get("dtype", bool))

    with pytest.raises(AssertionError, match="columns"):
        forms.FORMERS["pandas get_dummies"].read(
            frame.rename(columns=change.get("columns", {})), work
        )


@pytest.mark.long
def test_the_peak_of_memory_is_measured() -> None:
    pytest.importorskip("pandas")
    program = f"""
    import sys
    sys.path.append({str(ROOT)!r})  # behind the installed package: the checkout may not be built
    from benchmarks.peak import extra
    print(extra("F1", "onehot_fast get_dummies", 0.05))
    """

    assert float(programs.run(program)) >= 0
    assert peak.peak() > 1 << 20


def session_of(*libraries: str, scale: float = TINY) -> Any:
    """Return a session that measures each call once."""
    session = scenarios.Session(1, measure.Effort(1, 0.0, 0.0), scale)
    session.load([*libraries])
    return session


def failures_of(session: Any) -> list[str]:
    """Return the names of what failed."""
    return [failure.partition(":")[0] for failure in session.failures]


def test_a_missing_library_is_reported() -> None:
    session = session_of("onehot_fast", "numpy", "no_such_library")
    assert list(session.libraries) == ["onehot_fast", "numpy"]

    scenarios.compare_frames(session, frames.FRAMES["F1"], lambda change: None)
    assert (session.records, failures_of(session)) == ([], ["no_such_library", "F1"])


def test_a_peer_with_a_wrong_result_is_reported_and_not_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = peers.Contender(
        "numpy wrong", "numpy", False, lambda work: True, np.asarray, lambda task: lambda: task.out
    )
    monkeypatch.setitem(peers.CONTENDERS, "numpy wrong", wrong)
    session = session_of("onehot_fast", "numpy", scale=SCALE)
    scenarios.compare(session, workloads.WORKLOADS["W1"], lambda change: None)

    assert failures_of(session) == ["W1, numpy wrong"]
    assert "numpy wrong" not in [found.key.name for found in session.records]


def test_a_peer_with_a_wrong_table_is_reported_and_not_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("pandas")
    wrong = forms.Former(
        "numpy wrong",
        "numpy",
        "csr",
        lambda result, work: result,
        lambda library, work: lambda: np.zeros(work.expected.T.shape, bool),
    )
    monkeypatch.setitem(forms.FORMERS, "numpy wrong", wrong)
    monkeypatch.setattr(scenarios, "_run", lambda command, scale: 1.25)
    session = session_of("onehot_fast", "numpy", "pandas")
    scenarios.compare_frames(session, frames.FRAMES["F8"], lambda change: None)

    names = ["onehot_fast Encoder, csr", "numpy by hand"]
    assert failures_of(session) == ["F8, numpy wrong"]
    assert [(found.key.name, found.key.mode) for found in session.records] == [
        (name, mode) for mode in ("table", "peak") for name in names
    ]


def test_verdicts_on_tables_follow_the_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """The target for texts depends on an optional library; peaks have a limit for our calls."""
    monkeypatch.setattr(targets, "find_spec", lambda name: None)
    records = [
        record("F3", "pandas get_dummies", "table", 0, 5.0),
        record("F3", "onehot_fast get_dummies", "table", 0, 2.0),
        record("F8", "numpy by hand", "table", 0, 2.0),
        record("F8", "onehot_fast Encoder, csr", "table", 0, 4.0),
        record("F3", "pandas get_dummies", "peak", 0, 1.7),
        record("F3", "onehot_fast get_dummies", "peak", 0, 1.05),
        record("F10", "onehot_fast from_dummies", "peak", 0, 9.0),
    ]
    speed = "faster than pandas get_dummies: onehot_fast get_dummies"
    size = "peak of memory / output, onehot_fast get_dummies"

    assert targets.verdicts(records) == [
        ("F3", speed, "2.50 x", "≥ 2 x", True),
        ("F8", "CSR / built by hand", "2.00 x", "≤ 1.5 x", False),
        ("F3", size, "1.05 x", "≤ 1.1 x", True),
    ]
    monkeypatch.setattr(targets, "find_spec", lambda name: name)
    assert targets.verdicts(records)[0] == ("F3", speed, "2.50 x", "≥ 3 x", False)


def suite_cases() -> Iterator[Any]:
    """Yield each class with its first parameters, and with each value of its first parameter."""
    for name in SUITES:
        module = importlib.import_module(f"benchmarks.{name}")
        classes = [thing for thing in vars(module).values() if isinstance(thing, type)]
        own = [thing for thing in classes if thing.__module__ == module.__name__]
        for each, contender in ((thing, one) for thing in own for one in thing.params[0]):
            case = (contender, *(values[0] for values in each.params[1:]))
            yield pytest.param(each, case, id=f"{name}.{each.__name__}-{contender}")


@pytest.mark.long
@pytest.mark.parametrize(("suite_class", "case"), [*suite_cases()])
def test_a_suite_runs(
    suite_class: Any, case: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench_frames, "SCALE", TINY)
    monkeypatch.setattr(suite, "OUTPUT_BYTES", 1 << 20)
    for module, names in ((ratios, ratios.RATIOS), (instructions, instructions.PROGRAMS)):
        monkeypatch.setattr(module, "measure", lambda names=names: dict.fromkeys(names, 1.0))
    benchmark = suite_class()
    cache = [benchmark.setup_cache()] if hasattr(benchmark, "setup_cache") else []
    arguments = [value for value in cache if value is not None] + [*case]
    try:
        benchmark.setup(*arguments)
    except NotImplementedError as error:  # asv skips it
        pytest.skip(str(error.__cause__))
    methods = [name for name in dir(suite_class) if name.startswith(KINDS)]
    for method in methods:
        getattr(benchmark, method)(*arguments)

    assert methods  # asv ignores other prefixes
    assert len(suite_class.param_names) == len(suite_class.params) == len(case)


def test_a_ratio_compares_calls_that_alternate(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock that only the calls advance: 30 ms over 10 ms."""
    now, calls = [0.0], []
    monkeypatch.setattr(ratios.time, "process_time", lambda: now[0])

    def advance(seconds: float) -> None:
        calls.append(seconds)
        now[0] += seconds

    pair = (lambda: advance(0.03), lambda: advance(0.01))
    assert ratios.ratio(pair, 0.2) == pytest.approx(3)
    assert calls == [0.03, 0.01] * (len(calls) // 2)


@pytest.mark.parametrize("make_calls", ratios.RATIOS.values(), ids=ratios.RATIOS)
def test_a_ratio_compares_calls_that_exist(make_calls: Any) -> None:
    pytest.importorskip("pandas")
    for call in make_calls():
        call()


@pytest.mark.long
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_the_same_instructions_are_counted_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process without the programs that load large libraries counts them."""
    first, second = instructions.measure(), instructions.measure()

    assert first.keys() >= {"import", "one_hot, 32 x 10", "one row of a dict"}
    assert first == pytest.approx(second, rel=0.01)


def run_regression(
    monkeypatch: pytest.MonkeyPatch, answers: list[dict[str, float]], *options: str
) -> int:
    """Return the exit code of the comparison, where these are the numbers that are measured."""
    given = iter(answers)
    monkeypatch.setattr(regression, "git", lambda *arguments: "0123456789")
    monkeypatch.setattr(regression, "build", Path)
    monkeypatch.setitem(regression.MEASURES, "ratios", lambda package: next(given))
    monkeypatch.setattr(sys, "argv", ["regression", "--only", "ratios", *options])
    return int(regression.main())


@pytest.mark.parametrize(("later", "code"), [({"b": 1.25}, 1), ({}, 1), ({"b": 1.05}, 0)])
def test_a_number_that_is_worse_twice_is_a_regression(
    later: dict[str, float], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number that is worse once may be noise; one that disappeared is worse."""
    before = {"a": 2.0, "b": 1.0}
    answers = [before, {"a": 2.1, "b": 1.2}, before, {"a": 2.1, **later}]

    assert run_regression(monkeypatch, answers) == code


@pytest.mark.parametrize(("second", "code"), [(1.04, 0), (0.94, 1)])
def test_two_measurements_of_the_same_code_must_agree(
    second: float, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_regression(monkeypatch, [{"a": 1.0}, {"a": second}], "--twice") == code


def statements() -> Iterator[Any]:
    module = importlib.import_module("benchmarks.bench_import")
    for name, function in vars(module).items():
        if name.startswith("timeraw_"):
            found = function()
            statement, setup = found if isinstance(found, tuple) else (found, "")
            yield pytest.param(f"{setup}\n{statement}", id=name)


@pytest.mark.long
@pytest.mark.parametrize("program", [*statements()])
def test_a_program_of_the_suites_runs(program: str) -> None:
    command = [sys.executable, "-P", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_peer_without_threads_is_skipped() -> None:
    """NotImplementedError in `setup` makes asv skip the benchmark."""
    work = suite.make_work("rows", "float32", 3, n_bytes=1200)

    with pytest.raises(NotImplementedError):
        suite.make_checked_call("numpy fill + assign", work, 2)


def test_asv_can_import_every_module() -> None:
    """Its environment has no library but those of its configuration."""
    configuration = json.loads((ROOT / "asv.conf.json").read_text(encoding="utf-8"))
    folder = ROOT / configuration["benchmark_dir"]
    needed = {}
    for path in folder.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import):
                needed |= {alias.name.partition(".")[0]: path.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                needed[node.module.partition(".")[0]] = path.name
    own = {*configuration["matrix"]["req"], *sys.stdlib_module_names, "benchmarks", "onehot_fast"}

    assert "numpy" in needed
    assert {name: path for name, path in needed.items() if name not in own} == {}


def test_the_history_names_processors_and_no_machine() -> None:
    """A processor names the folder, and the results contain no path."""
    results = [*(ROOT / "benchmarks/history").glob("*/*-virtualenv-*.json")]
    texts = [path.read_text(encoding="utf-8") for path in results]

    assert len({json.loads(text)["commit_hash"] for text in texts}) >= 8
    for path, text in zip(results, texts, strict=True):
        assert json.loads(text)["params"]["machine"] == path.parent.name
        assert json.loads(text)["env_vars"] == {}
        assert re.findall(r"/(?:home|root|tmp|Users|work)\b", text) == []


def test_the_published_history_loads_nothing_from_the_net() -> None:
    site = ROOT / "docs/_static/history"
    page = (site / "index.html").read_text(encoding="utf-8")
    loaded = re.findall(r'<(?:script|link|img)[^>]*?(?:src|href)="([^"]+)"', page)

    assert len(loaded) > 10
    assert [name for name in loaded if not (site / name).is_file()] == []


def record(workload: str, name: str, mode: str, threads: int, seconds: float) -> Any:
    library = name.partition(" ")[0] if mode != "floor" else ""
    return measure.summary(measure.Key(workload, name, library, mode, threads), [seconds])


def test_verdicts_follow_the_figures() -> None:
    verdicts = targets.verdicts(
        [
            record("W2", "floor", "floor", 2, 1.0),
            record("W2", "onehot_fast out=", "out", 2, 1.05),
            record("W2", "onehot_fast out=", "out", 0, 1.05),
            record("W2", "numpy fill + assign", "out", 2, 2.0),
            record("W2", "tensorflow one_hot", "fresh", 2, 4.0),
            record("W2", "onehot_fast", "fresh", 0, 1.2),
        ]
    )

    best = "faster than every ordinary call (best: tensorflow one_hot)"
    assert verdicts == [
        ("W2", "`out=` / floor, 2 threads", "1.05 x", "≤ 1.1 x", True),
        ("W2", "faster than the best peer (numpy fill + assign)", "1.90 x", "≥ 2 x", False),
        ("W2", "repeated without `out=` / with", "1.14 x", "≤ 1.15 x", True),
        ("W2", best, "3.33 x", "≥ 2.5 x", True),
    ]


def test_entries_take_turns() -> None:
    """Each round measures every entry; a sample has enough calls to be long enough."""
    asked: list[str] = []

    def sampler(name: str) -> Any:
        return lambda number: asked.append(name) or 1e-4

    entries = [
        measure.Entry(measure.Key("W1", name, name, "out", 1), sampler(name)) for name in "ab"
    ]
    records = measure.in_turns(entries, measure.Effort(rounds=3, visit=0.0, total=9.0))

    turns = [name for name, _ in itertools.groupby(asked)]
    assert turns == ["a", "b", "a", "b", "a"] or turns == ["a", "b", "a", "b", "a", "b"]
    assert [entry.number for entry in entries] == [16, 16]
    assert [(found.samples, found.median) for found in records] == [(3, 1e-4)] * 2


@pytest.mark.long
def test_compare_reports_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("pandas", "rich", "tabulate"):
        pytest.importorskip(library)
    monkeypatch.setattr(compare, "QUICK", measure.Effort(1, 0.0, 0.0))
    monkeypatch.setattr(scenarios, "_run", lambda command, scale: 1.25)  # the peak, of a process
    compare.main(
        ["--quick", "--scale=0.001", "--peers=pandas", "--only=F1", f"--output={tmp_path}"]
    )
    name = machine.slug()
    report = (tmp_path / f"{name}.md").read_text(encoding="utf-8")

    assert {path.name for path in tmp_path.iterdir()} == {f"{name}.md"}
    assert "## 1,000,000 rows of category, to Boolean columns" in report
    assert "| pandas get_dummies" in report
    assert compare.parse(["--only=W1,frames"]).only == ["W1", *frames.FRAMES]


@pytest.mark.long
def test_dask_is_measured_beside_its_peers(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("dask.dataframe")
    module = importlib.import_module("benchmarks.dask_frames")
    module.main(["--rows", "2000", "--rounds", "1"])
    lines = capsys.readouterr().out.splitlines()

    assert sum("dask categorize, get_dummies" in line for line in lines) == 2
    assert sum("onehot_fast Encoder" in line for line in lines) >= 6


@pytest.mark.parametrize("name", [name for name in codes.CODES if name not in ("D5", "D6", "D16")])
def test_values_get_the_codes_of_the_peer(name: str) -> None:
    """The workloads that are left out have large pools."""
    work = codes.CODES[name]
    for library in ("pandas", "pyarrow", work.peer):
        pytest.importorskip(library)
    session = session_of("pandas", "pyarrow", work.peer)
    scenarios.compare_codes(session, work, lambda change: None)

    assert {record.key.library for record in session.records} >= {"onehot_fast", work.peer}
    assert [verdict.workload for verdict in targets.verdicts(session.records)] == [name]


@pytest.mark.parametrize("name", written.WRITTEN)
def test_tables_are_compared_with_a_lower_bound(name: str) -> None:
    for library in ("pandas", written.WRITTEN[name].library):
        pytest.importorskip(library)
    session = session_of("onehot_fast", "pandas", written.WRITTEN[name].library)
    scenarios.compare_written(session, written.WRITTEN[name], lambda change: None)

    assert [record.key.mode for record in session.records] == ["floor", "written"]
    assert [verdict.workload for verdict in targets.verdicts(session.records)] == [name]
    assert not session.has_chart


@pytest.mark.parametrize("name", written.WRITTEN)
def test_the_check_rejects_rows_of_another_table(name: str) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip(written.WRITTEN[name].library)
    work = written.WRITTEN[name].make(TINY)
    other = written.Written(work.work, work.table[1:], work.encoder, work.codes)
    with pytest.raises(AssertionError, match=name):
        work.check(other.call(1)())


def test_zero_lines_are_counted_in_the_order_of_memory() -> None:
    cells = np.zeros((128, 4), np.uint8)
    cells[3, 1] = 1
    assert written.zero_share([cells]) == 7 / 8
    assert written.zero_share([np.asfortranarray(cells), np.ones(64, np.uint8)]) == 7 / 9


@pytest.mark.long
def test_compare_writes_the_report_and_the_chart(tmp_path, monkeypatch):
    monkeypatch.setattr(compare, "QUICK", measure.Effort(1, 0.0, 0.0))
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")  # `compare` sets it and does not reset it
    for library in ("matplotlib", "rich", "tabulate"):
        pytest.importorskip(library)
    records = tmp_path / "records.json"
    options = ["--quick", "--scale=0.01", "--peers=numpy", "--only=W1,W5,W6"]
    compare.main([*options, f"--output={tmp_path}", f"--json={records}"])
    name = machine.slug()
    report = (tmp_path / f"{name}.md").read_text(encoding="utf-8")

    ours = {f"{name}.{suffix}" for suffix in ("md", "png", "svg")}
    assert {path.name for path in tmp_path.iterdir()} == {*ours, "records.json"}
    assert "## Targets" in report
    compared = {entry["key"]["workload"] for entry in json.loads(records.read_text())}
    assert compared == {"W1", "W5", "W6"}

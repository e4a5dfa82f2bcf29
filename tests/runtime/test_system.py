"""Memory and processors, read from files of invented systems."""

from __future__ import annotations

import builtins
import os
from types import SimpleNamespace

import pytest

from onehot_fast._runtime import system
from onehot_fast._runtime.system import available_memory, cpu_quota, running_threads, total_memory

MIB = 2**20
MEMINFO = "MemTotal: 9999 kB\nMemFree: 1 kB\nMemAvailable: 4096 kB\nHugePages_Total: 0\n"
V2 = {"proc/self/cgroup": "0::/app/job\n", "proc/meminfo": MEMINFO}
V1 = {"proc/self/cgroup": "5:cpu,cpuacct:/\n4:memory:/box\n", "proc/meminfo": MEMINFO}


def group(folder, limit, usage, names=("max", "current"), stat=""):
    return {
        f"{folder}/memory.{names[0]}": f"{limit}\n",
        f"{folder}/memory.{names[1]}": f"{usage}\n",
        f"{folder}/memory.stat": stat,
    }


OLD_NAMES = ("limit_in_bytes", "usage_in_bytes")
TOP, TOP_V1 = "sys/fs/cgroup", "sys/fs/cgroup/memory"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param({"proc/meminfo": MEMINFO}, 4 * MIB, id="no groups"),
        pytest.param({"proc/meminfo": MEMINFO + "SwapFree: 1024 kB\n"}, 5 * MIB, id="swap"),
        pytest.param(V2 | group(f"{TOP}/app/job", 3 * MIB, MIB), 2 * MIB, id="v2"),
        pytest.param(V2 | group(f"{TOP}/app", 3 * MIB, MIB), 2 * MIB, id="v2 parent"),
        pytest.param(V2 | group(TOP, 3 * MIB, MIB), 2 * MIB, id="v2 in a container"),
        pytest.param(V2 | group(f"{TOP}/app/job", "max", MIB), 4 * MIB, id="v2 without limit"),
        pytest.param(V2 | group(f"{TOP}/app/job", MIB, 2 * MIB), 0, id="v2 beyond its limit"),
        pytest.param(V2 | group(f"{TOP}/app/job", 99 * MIB, 0), 4 * MIB, id="v2 above the machine"),
        pytest.param(
            V2 | group(TOP, 2 * MIB, 2 * MIB, stat=f"anon 7\ninactive_file {MIB}\n"),
            MIB,
            id="v2 page cache counts as free",
        ),
        pytest.param(
            V2 | group(f"{TOP}/app", 3 * MIB, MIB) | group(f"{TOP}/app/job", 3 * MIB, 0),
            2 * MIB,
            id="v2 tightest of two",
        ),
        pytest.param(V1 | group(f"{TOP_V1}/box", 3 * MIB, MIB, OLD_NAMES), 2 * MIB, id="v1"),
        pytest.param(V1 | group(TOP_V1, 3 * MIB, MIB, OLD_NAMES), 2 * MIB, id="v1 in a container"),
        pytest.param(
            V1 | group(f"{TOP_V1}/box", 2**63 - 4096, MIB, OLD_NAMES),
            4 * MIB,
            id="v1 without limit",
        ),
        pytest.param(
            V1 | group(TOP_V1, MIB, MIB, OLD_NAMES, f"total_inactive_file {MIB // 2}\n"),
            MIB // 2,
            id="v1 page cache counts as free",
        ),
    ],
)
def test_available(files, expected, tmp_path):
    """The tightest of what the machine and each control group have left."""
    write(tmp_path, files)

    assert expected == available_memory(str(tmp_path))


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param({"proc/meminfo": MEMINFO}, 9999 * 1024, id="no groups"),
        pytest.param(V2 | group(f"{TOP}/app/job", 3 * MIB, 3 * MIB), 3 * MIB, id="v2"),
        pytest.param(V2 | group(f"{TOP}/app", 99 * MIB, MIB), 9999 * 1024, id="v2 above"),
        pytest.param(V1 | group(TOP_V1, 3 * MIB, MIB, OLD_NAMES), 3 * MIB, id="v1"),
    ],
)
def test_total(files, expected, tmp_path):
    write(tmp_path, files)

    assert total_memory(str(tmp_path)) == expected


def write(root, files):
    """Write a table of files below a folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.skipif(
    "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}),
    reason="sysconf has no memory size here",
)
def test_without_proc(tmp_path):
    """Without /proc, the physical memory is the bound."""
    expected = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    assert expected == available_memory(str(tmp_path))


def test_unknown(tmp_path, monkeypatch):
    """Without any source the memory is unknown."""
    monkeypatch.delattr(os, "sysconf_names", raising=False)

    assert available_memory(str(tmp_path)) is None
    assert total_memory(str(tmp_path)) is None


def test_this_machine():
    free = available_memory()

    assert free is None or free > 0


OLD_CPU = "sys/fs/cgroup/cpu"


def old_quota(folder, quota, period=100_000):
    return {
        f"{folder}/cpu.cfs_quota_us": f"{quota}\n",
        f"{folder}/cpu.cfs_period_us": f"{period}\n",
    }


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param({}, None, id="nothing known"),
        pytest.param(V2, None, id="v2 without the file"),
        pytest.param(V2 | {f"{TOP}/app/job/cpu.max": "max 100000\n"}, None, id="v2 without quota"),
        pytest.param(V2 | {f"{TOP}/app/job/cpu.max": "200000 100000\n"}, 2, id="v2"),
        pytest.param(V2 | {f"{TOP}/app/job/cpu.max": "150000 100000\n"}, 2, id="v2 rounded up"),
        pytest.param(V2 | {f"{TOP}/app/job/cpu.max": "1000 100000\n"}, 1, id="v2 nearly nothing"),
        pytest.param(V2 | {f"{TOP}/app/cpu.max": "300000 100000\n"}, 3, id="v2 parent"),
        pytest.param(V2 | {f"{TOP}/cpu.max": "50000 20000\n"}, 3, id="v2 in a container"),
        pytest.param(V2 | {f"{TOP}/app/job/cpu.max": "\n"}, None, id="v2 empty"),
        pytest.param(V2 | {f"{TOP}/app/job/cpu.max": "400000\n"}, None, id="v2 without period"),
        pytest.param(
            V2 | {f"{TOP}/app/cpu.max": "200000 100000", f"{TOP}/app/job/cpu.max": "max 100000"},
            2,
            id="v2 tightest of two",
        ),
        pytest.param(V1 | old_quota(OLD_CPU, 200_000), 2, id="v1"),
        pytest.param(V1 | old_quota(OLD_CPU, 25_000, 10_000), 3, id="v1 rounded up"),
        pytest.param(V1 | old_quota(OLD_CPU, -1), None, id="v1 without quota"),
        pytest.param(
            {"proc/self/cgroup": "5:cpu,cpuacct:/a/b\n0::/\n"}
            | old_quota(f"{OLD_CPU}/a", 400_000)
            | old_quota(f"{OLD_CPU}/a/b", 300_000),
            3,
            id="v1 tightest of two",
        ),
        pytest.param(
            {"proc/self/cgroup": "5:cpuset:/a\n"} | old_quota("sys/fs/cgroup/cpuset/a", 100_000),
            None,
            id="v1 another controller",
        ),
    ],
)
def test_quota(files, expected, tmp_path):
    """The tightest quota around this process counts, a part of a processor as a whole one."""
    write(tmp_path, files)

    assert cpu_quota(str(tmp_path)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"0.20 0.18 0.12 3/80 11206\n", 3),
        (b"103.00 99.50 98.00 128/4096 999999\n", 128),
        (b"0.00 0.00 0.00 1/1 1\n", 1),
        (b"", None),
        (b"0.00 0.00 0.00\n", None),
        (b"0.00 0.00 0.00 ?/? 0\n", None),
    ],
)
def test_running(text, expected, monkeypatch):
    """The fourth field is the number of running threads; unreadable text gives None."""
    closed = []
    fake = SimpleNamespace(
        O_RDONLY=os.O_RDONLY, open=lambda *_: 99, read=lambda *_: text, close=closed.append
    )
    monkeypatch.setattr(system, "os", fake)

    assert running_threads() == expected
    assert closed == [99]


def test_running_is_unknown_without_proc(monkeypatch):
    """Without the file nothing is claimed."""

    def refuse(*_):
        raise FileNotFoundError

    monkeypatch.setattr(system, "os", SimpleNamespace(O_RDONLY=os.O_RDONLY, open=refuse))

    assert running_threads() is None


def test_no_path_names_a_server(monkeypatch):
    """Two slashes begin the name of a server, which Windows looks for in the network."""
    paths = []

    def refuse(path, *_, **__):
        paths.append(str(path))
        raise FileNotFoundError(path)

    with monkeypatch.context() as patch:
        patch.setattr(builtins, "open", refuse)
        patch.setattr(os, "open", refuse)
        available_memory()
        total_memory()
        cpu_quota()
        running_threads()

    assert len(paths) >= 4
    assert [path for path in paths if path.startswith("//")] == []

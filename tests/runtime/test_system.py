"""Memory and processors, read from files of invented systems."""

from __future__ import annotations

import builtins
import io
import os

import pytest

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


AVAILABLE = {
    "no groups": ({"proc/meminfo": MEMINFO}, 4 * MIB),
    "swap": ({"proc/meminfo": MEMINFO + "SwapFree: 1024 kB\n"}, 5 * MIB),
    "v2": (V2 | group(f"{TOP}/app/job", 3 * MIB, MIB), 2 * MIB),
    "v2 parent": (V2 | group(f"{TOP}/app", 3 * MIB, MIB), 2 * MIB),
    "v2 in a container": (V2 | group(TOP, 3 * MIB, MIB), 2 * MIB),
    "v2 without limit": (V2 | group(f"{TOP}/app/job", "max", MIB), 4 * MIB),
    "v2 beyond its limit": (V2 | group(f"{TOP}/app/job", MIB, 2 * MIB), 0),
    "v2 above the machine": (V2 | group(f"{TOP}/app/job", 99 * MIB, 0), 4 * MIB),
    "v2 page cache counts as free": (
        V2 | group(TOP, 2 * MIB, 2 * MIB, stat=f"anon 7\ninactive_file {MIB}\n"),
        MIB,
    ),
    "v2 tightest of two": (
        V2 | group(f"{TOP}/app", 3 * MIB, MIB) | group(f"{TOP}/app/job", 3 * MIB, 0),
        2 * MIB,
    ),
    "v1": (V1 | group(f"{TOP_V1}/box", 3 * MIB, MIB, OLD_NAMES), 2 * MIB),
    "v1 in a container": (V1 | group(TOP_V1, 3 * MIB, MIB, OLD_NAMES), 2 * MIB),
    "v1 without limit": (V1 | group(f"{TOP_V1}/box", 2**63 - 4096, MIB, OLD_NAMES), 4 * MIB),
    "v1 page cache counts as free": (
        V1 | group(TOP_V1, MIB, MIB, OLD_NAMES, f"total_inactive_file {MIB // 2}\n"),
        MIB // 2,
    ),
}


TOTAL = {
    "no groups": ({"proc/meminfo": MEMINFO}, 9999 * 1024),
    "v2": (V2 | group(f"{TOP}/app/job", 3 * MIB, 3 * MIB), 3 * MIB),
    "v2 above": (V2 | group(f"{TOP}/app", 99 * MIB, MIB), 9999 * 1024),
    "v1": (V1 | group(TOP_V1, 3 * MIB, MIB, OLD_NAMES), 3 * MIB),
}


@pytest.mark.skipif(
    "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}),
    reason="sysconf has no memory size here",
)
def test_physical_memory_is_the_bound_without_proc(tmp_path):
    """The available memory is the physical memory if there is no /proc."""
    expected = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    assert expected == available_memory(str(tmp_path))


def test_memory_is_unknown_without_any_source(tmp_path, monkeypatch):
    """The available and the total memory are None if there is no source for them."""
    monkeypatch.delattr(os, "sysconf_names", raising=False)

    assert available_memory(str(tmp_path)) is None
    assert total_memory(str(tmp_path)) is None


OLD_CPU = "sys/fs/cgroup/cpu"


def old_quota(folder, quota, period=100_000):
    return {
        f"{folder}/cpu.cfs_quota_us": f"{quota}\n",
        f"{folder}/cpu.cfs_period_us": f"{period}\n",
    }


QUOTA = {
    "nothing known": ({}, None),
    "v2 without the file": (V2, None),
    "v2 without quota": (V2 | {f"{TOP}/app/job/cpu.max": "max 100000\n"}, None),
    "v2": (V2 | {f"{TOP}/app/job/cpu.max": "200000 100000\n"}, 2),
    "v2 rounded up": (V2 | {f"{TOP}/app/job/cpu.max": "150000 100000\n"}, 2),
    "v2 nearly nothing": (V2 | {f"{TOP}/app/job/cpu.max": "1000 100000\n"}, 1),
    "v2 parent": (V2 | {f"{TOP}/app/cpu.max": "300000 100000\n"}, 3),
    "v2 in a container": (V2 | {f"{TOP}/cpu.max": "50000 20000\n"}, 3),
    "v2 empty": (V2 | {f"{TOP}/app/job/cpu.max": "\n"}, None),
    "v2 without period": (V2 | {f"{TOP}/app/job/cpu.max": "400000\n"}, None),
    "v2 tightest of two": (
        V2 | {f"{TOP}/app/cpu.max": "200000 100000", f"{TOP}/app/job/cpu.max": "max 100000"},
        2,
    ),
    "v1": (V1 | old_quota(OLD_CPU, 200_000), 2),
    "v1 rounded up": (V1 | old_quota(OLD_CPU, 25_000, 10_000), 3),
    "v1 without quota": (V1 | old_quota(OLD_CPU, -1), None),
    "v1 tightest of two": (
        {"proc/self/cgroup": "5:cpu,cpuacct:/a/b\n0::/\n"}
        | old_quota(f"{OLD_CPU}/a", 400_000)
        | old_quota(f"{OLD_CPU}/a/b", 300_000),
        3,
    ),
    "v1 another controller": (
        {"proc/self/cgroup": "5:cpuset:/a\n"} | old_quota("sys/fs/cgroup/cpuset/a", 100_000),
        None,
    ),
}


LIMITS = {available_memory: AVAILABLE, total_memory: TOTAL, cpu_quota: QUOTA}


@pytest.mark.parametrize(
    ("read", "files", "expected"),
    [
        pytest.param(read, *case, id=f"{read.__name__}-{name}")
        for read, cases in LIMITS.items()
        for name, case in cases.items()
    ],
)
def test_the_tightest_limit_counts(read, files, expected, tmp_path):
    """The tightest of the machine and each control group; a part of a processor is a whole one."""
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    assert read(str(tmp_path)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((b"0.20 0.18 0.12 3/80 11206\n", 3), (b"103.00 99.50 98.00 128/4096 999999\n", 128)),
        *((b"0.00 0.00 0.00 1/1 1\n", 1), (b"", None), (b"0.00 0.00 0.00\n", None)),
        *((b"0.00 0.00 0.00 ?/? 0\n", None), (None, None)),
    ],
)
def test_running_threads_are_read_from_loadavg(text, expected, monkeypatch):
    """The fourth field is the number of running threads; without the file it is unknown."""
    files = []

    def open_file(*_, **__):
        if text is None:
            raise FileNotFoundError
        files.append(io.BytesIO(text))
        return files[0]

    with monkeypatch.context() as patch:
        patch.setattr(builtins, "open", open_file)
        found = running_threads()

    assert found == expected
    assert [file.closed for file in files] == [True] * (text is not None)


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

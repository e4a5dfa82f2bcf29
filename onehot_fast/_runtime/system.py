"""The memory and processors of the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import accumulate

# For each version of control groups: the files of the limit and of the usage, and the field of the
# page cache in ``memory.stat``. The page cache counts as free: the kernel drops it on demand.
MEMORY_FILES = {
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: ("memory.max", "memory.current", "inactive_file"),
}
UNLIMITED = 2**60  # in version 1, a number just below 2**63 means "no limit"


def available_memory(root: str = "") -> int | None:
    """Return the free memory in bytes, or None if unknown.

    On Linux, this is ``MemAvailable`` plus ``SwapFree``, or the memory that a control group (v2 or
    v1) leaves to the process, if that is less. On other systems, it is the physical memory.
    """
    return min([*_machine_rooms(root), *_cgroup_rooms(root)], default=None)


def total_memory(root: str = "") -> int | None:
    """Return the machine's memory in bytes, limited by the control groups, or None if unknown."""
    machine = _fields(f"{root}/proc/meminfo").get("MemTotal:", 0) * 1024 or _physical_memory()
    limits = (limit for _, limit, _ in _cgroup_limits(root))
    return min(filter(None, [machine, *limits]), default=None)


def _physical_memory() -> int:
    """Return the physical memory in bytes on systems without ``/proc``, or 0 if unknown."""
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return 0
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _machine_rooms(root: str) -> Iterator[int]:
    """Yield the free memory of the machine in bytes, or nothing if it is unknown."""
    meminfo = _fields(f"{root}/proc/meminfo")
    if "MemAvailable:" in meminfo:
        yield 1024 * (meminfo["MemAvailable:"] + meminfo.get("SwapFree:", 0))
    elif physical := _physical_memory():
        yield physical


def _cgroup_rooms(root: str) -> Iterator[int]:
    """Yield the bytes that each limited control group of this process can still use."""
    for folder, limit, (usage_name, cache_name) in _cgroup_limits(root):
        usage = _number(f"{folder}/{usage_name}")
        if usage is not None:
            cache = _fields(f"{folder}/memory.stat").get(cache_name, 0)
            yield max(0, limit - usage + cache)


def _cgroup_limits(root: str) -> Iterator[tuple[str, int, tuple[str, str]]]:
    """Yield (folder, limit in bytes, (usage file, cache field)) of each limited control group."""
    for version, folder in _cgroup_folders(root, "memory"):
        limit_name, usage_name, cache_name = MEMORY_FILES[version]
        limit = _number(f"{folder}/{limit_name}")
        if limit is not None and limit < UNLIMITED:
            yield folder, limit, (usage_name, cache_name)


def _cpu_quotas(root: str) -> Iterator[tuple[int, int]]:
    """Yield (CPU quota, period), in microseconds, of each control group with a quota."""
    for version, folder in _cgroup_folders(root, "cpu"):
        if version == 1:
            fields = [f"{_number(f'{folder}/cpu.cfs_{name}_us')}" for name in ("quota", "period")]
        else:
            fields = " ".join(_lines(f"{folder}/cpu.max")).split()
        if len(fields) == 2 and fields[0].isdigit() and fields[1].isdigit():
            yield int(fields[0]), int(fields[1])


def _cgroup_folders(root: str, controller: str) -> Iterator[tuple[int, str]]:
    """Yield (version, folder) of each control group of this process, and of all its ancestors."""
    for line in _lines(f"{root}/proc/self/cgroup"):
        controllers, group = line.split(":", 2)[1:]
        if controllers and controller not in controllers.split(","):
            continue
        mount = f"sys/fs/cgroup/{controller}" if controllers else "sys/fs/cgroup"
        # Any ancestor may set a limit; in a container only the top of the path may exist.
        parts = [f"{root}/{mount}", *filter(None, group.split("/"))]
        for folder in accumulate(parts, "{}/{}".format):
            yield 1 if controllers else 2, folder


def _fields(path: str) -> dict[str, int]:
    """Return a dict from name to number for the lines ``name number …`` of a file."""
    rows = [line.split() for line in _lines(path)]
    return {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdigit()}


def _number(path: str) -> int | None:
    """Return the number in a file, or None if the file contains ``max`` or does not exist."""
    text = "".join(_lines(path))
    return int(text) if text.isdigit() else None


def _lines(path: str) -> list[str]:
    """Return the lines of a file, or an empty list if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


def cpu_quota(root: str = "") -> int | None:
    """Return how many processors the control groups allow, rounded up, or None for no limit."""
    return min((-(-quota // period) for quota, period in _cpu_quotas(root)), default=None)


def running_threads() -> int | None:
    """Return the number of running and runnable threads of the machine, or None if unknown."""
    try:
        # Without a buffer, opening the file takes half of the time.
        with open("/proc/loadavg", "rb", buffering=0) as file:
            return int(file.read(128).split()[3].partition(b"/")[0])
    except (OSError, IndexError, ValueError):
        return None

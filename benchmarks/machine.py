"""The machine and the versions that the figures belong to."""

from __future__ import annotations

import datetime
import os
import platform
import re
from collections.abc import Iterable
from importlib.metadata import packages_distributions, version
from pathlib import Path

import onehot_fast
from onehot_fast._kernels import simd

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
NAMES = {
    "AMD EPYC (family 25, model 1)": "AMD EPYC, Zen 3",
    "AMD EPYC (family 25, model 17)": "AMD EPYC, Zen 4",
    "AMD EPYC (family 26, model 2)": "AMD EPYC, Zen 5",
    "Intel(R) Xeon(R) Processor (family 6, model 167)": "Intel Xeon with AVX-512",
}
# The instruction sets that the kernels and the hash table use, as Linux names them.
FLAGS = (
    "sse2", "avx2", "bmi2", "aes", "avx512f", "avx512bw", "avx512vl", "avx512vbmi", "asimd",
)  # fmt: skip


def _text(path: Path) -> str:
    """Return the text of a file, nothing if there is none."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _fields() -> dict[str, str]:
    """Return what the system says of the last processor, by name."""
    lines = (line.partition(":") for line in _text(Path("/proc/cpuinfo")).splitlines())
    return {name.strip(): value.strip() for name, _, value in lines}


def _flags() -> str:
    """Return the instruction sets of the processor that matter."""
    fields = _fields()
    found = fields.get("flags", fields.get("Features", "")).split()  # x86, ARM
    return " ".join(flag for flag in FLAGS if flag in found) or "unknown"


def _chosen_kernels() -> str:
    """Return the kernels if ``ONEHOT_FAST_SIMD`` chose other than the best ones, else nothing."""
    active = simd.active()
    return "" if active == simd.variants()[0] else active


def _processor() -> str:
    """Return the name of the processor as the system knows it."""
    fields = _fields()
    name = fields.get("model name") or platform.processor() or platform.machine()
    family = ", ".join(
        f"{key} {fields[name]}"
        for key, name in (("family", "cpu family"), ("model", "model"))
        if name in fields
    )
    return f"{name} ({family})" if family else name


def _caches() -> str:
    """Return the sizes of the caches that hold data."""
    levels = [
        f"L{_text(entry / 'level')} {_text(entry / 'size')}"
        for entry in sorted(CACHES.glob("index*"))
        if _text(entry / "type") != "Instruction"
    ]
    return ", ".join(levels) or "unknown"


def _memory() -> str:
    """Return the physical memory."""
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return "unknown"
    return f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.1f} GiB"


def title() -> str:
    """Return the name under which people know the processor, and the kernels if they are chosen."""
    name, kernels = _processor(), _chosen_kernels()
    known = next((known for part, known in NAMES.items() if part in name), name)
    return f"{known}, kernels for {kernels.upper()}" if kernels else known


def slug() -> str:
    """Return the name of the processor as that of a file: letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", f"{_processor()} {_chosen_kernels()}".lower()).strip("-")


def load() -> float:
    """Return how many processes wanted a processor in the last minute, 0 where nobody knows."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def describe(threads: int) -> dict[str, str]:
    """Return what is to be known of the machine, by name."""
    info = onehot_fast.build_info()
    return {
        "processor": f"{_processor()}, {os.cpu_count()} processors, {threads} used",
        "caches": _caches(),
        "memory": _memory(),
        "transparent huge pages": _text(HUGE_PAGES) or "unknown",
        "system": f"{platform.system()} {platform.machine()}, {' '.join(platform.libc_ver())}",
        "instruction sets": _flags(),
        "kernels": f"{info['simd']}, OpenMP {'yes' if info['openmp'] else 'no'}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def versions(libraries: Iterable[str]) -> dict[str, str]:
    """Return the versions of the distributions that libraries were imported from."""
    owners = packages_distributions()
    names = {owners[library][0] for library in {*libraries} & owners.keys() - {"onehot_fast"}}
    found = {name: version(name) for name in sorted(names, key=str.lower)}
    return {"onehot_fast": onehot_fast.__version__, **found}

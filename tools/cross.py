"""Compile every C source for Windows, macOS and Linux on aarch64; every warning is an error.

    python tools/cross.py                          print a table; exit 1 if a compiler complains
    python tools/cross.py --targets aarch64-macos  compile for some targets only

It needs ziglang from PyPI and the C files that Cython generates (`make .venv/.compiled`). NumPy's
headers come from its wheel for each target. Python's headers, and `PC/pyconfig.h` for Windows, come
from Debian's source package, or from the CPython sources that `--python-source` names. The other
targets use the `pyconfig.h` of the running Python: they have pointers and longs of 64 bits as well.
Nothing is linked or run.
"""

from __future__ import annotations

import argparse
import functools
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build/cross"
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
# The target of zig → the platforms of NumPy's wheels for it.
TARGETS = {
    "x86_64-windows-gnu": ["win_amd64"],
    "x86_64-macos": ["macosx_10_15_x86_64", "macosx_14_0_x86_64"],
    "aarch64-macos": ["macosx_11_0_arm64", "macosx_14_0_arm64"],
    "aarch64-linux-gnu": ["manylinux_2_27_aarch64", "manylinux_2_28_aarch64"],
}
FLAGS = ["-c", "-O1", "-fno-strict-aliasing", "-Wall", "-Wextra", "-Werror", "-fopenmp"]
FLAGS += ["-DNPY_NO_DEPRECATED_API=NPY_1_7_API_VERSION", "-DNPY_TARGET_VERSION=NPY_2_0_API_VERSION"]
FAULT = re.compile(r"\b(?:warning|error): .*")


def run(command: Sequence[str | Path], folder: Path = ROOT) -> None:
    """Run a command, and stop with its output if it fails."""
    done = subprocess.run([*map(str, command)], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}\nfailed: {' '.join(map(str, command))}")


def numpy_headers(target: str) -> Path:
    """Return the folder of NumPy's headers for a target, from its wheel."""
    place = WORK / "numpy" / target
    headers = place / "numpy/_core/include"
    if not headers.exists():
        platforms = [f"--platform={name}" for name in TARGETS[target]]
        pip = [sys.executable, "-m", "pip", "--quiet", "download", "--no-deps", "--dest", place]
        run([*pip, "--only-binary=:all:", f"--python-version={VERSION}", *platforms, "numpy"])
        with zipfile.ZipFile(next(place.glob("*.whl"))) as wheel:
            wheel.extractall(place, [n for n in wheel.namelist() if "/_core/include/" in n])
    return headers


def python_source() -> Path:
    """Return CPython's sources, from Debian's source package; the system's apt is not changed."""
    place = WORK / "python"
    if not place.exists():
        (place / "lists/partial").mkdir(parents=True)
        (place / "cache/archives/partial").mkdir(parents=True)
        (place / "parts").mkdir()
        for path in Path("/etc/apt").rglob("*.sources"):
            text = path.read_text().replace("Types: deb\n", "Types: deb-src\n")
            (place / "parts" / path.name).write_text(text)
        apt = ["apt-get", "-qq", "-o", f"Dir::State::lists={place}/lists",
               "-o", f"Dir::Cache={place}/cache", "-o", "Dir::Etc::sourcelist=/dev/null",
               "-o", f"Dir::Etc::sourceparts={place}/parts"]  # fmt: skip
        run([*apt, "update"])
        run([*apt, "source", "--download-only", "--tar-only", f"python{VERSION}"], place)
    sources = place / "sources"
    if not sources.exists():
        with tarfile.open(next(place.glob("*.orig.tar.*"))) as archive:
            wanted = [m for m in archive if re.search(r"/Include/|/PC/pyconfig\.h$", m.name)]
            archive.extractall(sources, wanted, filter="data")
    return next(sources.iterdir())


def include_options(target: str, python: Path) -> list[str]:
    """Return the compiler's options that name the headers of a target."""
    configuration = WORK / "configuration"
    openmp = WORK / "openmp"
    for folder in (configuration, openmp):
        folder.mkdir(parents=True, exist_ok=True)
    header = Path(sysconfig.get_path("include"), "pyconfig.h")
    (configuration / "pyconfig.h").write_bytes(header.read_bytes())
    # zig has no omp.h. The one of the system's compiler declares the same functions.
    asked = ["cc", "-print-file-name=include/omp.h"]
    found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    (openmp / "omp.h").write_bytes(Path(found).read_bytes())
    own = [f"-I{ROOT / 'onehot_fast'}", f"-I{numpy_headers(target)}"]
    if "windows" in target:
        # Python's header derives this from Microsoft's compiler alone.
        own += ["-DMS_WIN64", f"-I{python / 'PC'}"]
    else:
        own += [f"-I{configuration}"]
    return [*own, f"-I{python / 'Include'}", f"-idirafter{openmp}"]


def faults(source: Path, target: str, options: Sequence[str]) -> list[str]:
    """Return what the compiler says about a C file."""
    compiled = WORK / "objects" / target / f"{source.parent.name}-{source.stem}.o"
    compiled.parent.mkdir(parents=True, exist_ok=True)
    compiler = [sys.executable, "-m", "ziglang", "cc", "-target", target]
    done = subprocess.run(
        [*compiler, *FLAGS, *options, str(source), "-o", str(compiled)],
        capture_output=True,
        text=True,
    )
    found = FAULT.findall(done.stderr)
    return found if found or not done.returncode else [done.stderr.strip() or "the compiler failed"]


def main() -> None:
    """Compile for each target, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--targets", nargs="+", default=[*TARGETS], choices=[*TARGETS])
    parser.add_argument("--python-source", type=Path, help="a folder with Include/ and PC/")
    arguments = parser.parse_args()
    if find_spec("ziglang") is None:
        sys.exit("ziglang is not installed: pip install ziglang")
    package = ROOT / "onehot_fast"
    modules = sorted(path.with_suffix(".c") for path in package.rglob("*.pyx"))
    absent = [path.name for path in modules if not path.exists()]
    if absent:
        sys.exit(f"{', '.join(absent)} do not exist: run make .venv/.compiled")
    written = [package / "_kernels/microkernels.c", package / "_categories/hashtable/hashtable.c"]
    python = arguments.python_source or python_source()
    is_clean = True
    print(f"{'target':20}{'modules':>9}{'C files':>9}{'warnings and errors':>21}", flush=True)
    for target in arguments.targets:
        options = include_options(target, python)
        compiled = functools.partial(faults, target=target, options=options)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = [*pool.map(compiled, [*modules, *written])]
        total = sum(map(len, results))
        print(f"{target:20}{len(modules):9}{len(written):9}{total:21}", flush=True)
        for path, found in zip([*modules, *written], results, strict=True):
            for fault in found:
                print(f"    {path.relative_to(ROOT)}: {fault}")
        is_clean = is_clean and not total
    sys.exit(not is_clean)


if __name__ == "__main__":
    main()

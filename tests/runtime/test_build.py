"""What build_info says is true, and every compiled module is built the same way."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import onehot_fast
from support.programs import run, start

ROOT = Path(__file__).parents[2]
INFO = onehot_fast.build_info()
PYX = sorted((ROOT / "onehot_fast").rglob("*.pyx"))


def info_with(**environment):
    program = "import json, onehot_fast; print(json.dumps(onehot_fast.build_info()))"
    return json.loads(run(program, **environment))


def test_the_versions_are_those_in_memory():
    assert INFO["version"] == onehot_fast.__version__ == importlib.metadata.version("onehot-fast")
    assert INFO["python"] == platform.python_version()
    assert INFO["numpy"] == np.__version__
    assert INFO["machine"] == platform.machine()


def test_every_key_has_its_type():
    types = {key: type(value) for key, value in INFO.items()}

    assert types == {
        "version": str, "python": str, "numpy": str, "machine": str,
        "openmp": bool, "openmp_version": int,
        "simd": str, "simd_variants": tuple,
        "stream_bytes": int, "num_threads": int,
    }  # fmt: skip
    assert INFO["openmp"] is (INFO["openmp_version"] > 0)
    assert INFO["openmp"] or INFO["num_threads"] == 1
    maps = Path("/proc/self/maps")
    if INFO["openmp"] and maps.exists():
        assert re.search(r"libgomp|libomp", maps.read_text("utf-8"))


@pytest.mark.parametrize(
    ("variable", "value", "key"),
    [
        *(("ONEHOT_FAST_SIMD", variant, "simd") for variant in INFO["simd_variants"]),
        ("ONEHOT_FAST_STREAM_BYTES", 12345, "stream_bytes"),
        ("OMP_NUM_THREADS", 1, "num_threads"),
    ],
)
def test_the_environment_decides_about_variant_streaming_and_threads(variable, value, key):
    """A variant of this processor, the size above which stores bypass the caches, the threads."""
    assert info_with(**{variable: str(value)})[key] == value


def test_the_best_variant_is_active_by_default():
    info = info_with(ONEHOT_FAST_SIMD="")

    assert info["simd"] == info["simd_variants"][0]
    assert info["simd_variants"][-1] == "plain"  # always there, as the last resort


def test_an_unknown_variant_ends_the_import():
    refused = start("import onehot_fast", ONEHOT_FAST_SIMD="mmx")

    assert refused.returncode == 1
    assert "'mmx' is not available here: choose one of" in refused.stderr
    assert "plain" in refused.stderr


@pytest.mark.parametrize("pyx", PYX, ids=lambda pyx: pyx.stem)
def test_every_module_keeps_the_gil_off_and_has_a_stub(pyx):
    first_line = pyx.read_text(encoding="utf-8").splitlines()[0]

    assert first_line.startswith("# cython: ")
    assert "freethreading_compatible=True" in first_line
    assert pyx.with_suffix(".pyi").exists()


@pytest.mark.skipif(not hasattr(sys, "_is_gil_enabled"), reason="this Python always has a GIL")
def test_no_module_of_ours_turns_the_gil_on():
    """The libraries come first, as some of them do it."""
    program = """
        import importlib, pkgutil, sys
        for name in ("numpy", "scipy.sparse", "pandas", "pyarrow", "polars", "sklearn"):
            try:
                importlib.import_module(name)
            except ImportError:
                pass
        before, imported, compiled = sys._is_gil_enabled(), 0, 0
        import onehot_fast
        path = onehot_fast.__path__
        for module in pkgutil.walk_packages(path, "onehot_fast.", lambda name: None):
            try:
                made = importlib.import_module(module.name)
            except ImportError:  # its library is missing here
                continue
            imported += 1
            compiled += made.__file__.endswith((".so", ".pyd"))
        print(before, sys._is_gil_enabled(), imported, compiled)
    """
    before, after, imported, compiled = run(program).split()

    assert after == before
    assert int(imported) > 50
    assert int(compiled) == len(PYX)

"""Every variable of a module that can change is listed in docs/design.md."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import onehot_fast

ROOT = Path(__file__).parents[2]
PACKAGE = Path(onehot_fast.__file__).parent
LIBRARIES = sorted(PACKAGE.rglob("*.so"))
# Sections that are writable while the program runs; .data.rel.ro is not.
WRITABLE = {".data", ".bss", ".tdata", ".tbss"}
# Of the C compiler and its address sanitizer, of Cython and of NumPy's headers. Cython names a
# memoryview's layouts.
FOREIGN = re.compile(
    r"(?i)__pyx_(?!v_)|__pyx__|_?_?(bss|data|dso|tmc|frame|cpu|do_global)|completed|pyarray_api|py\w+_api"
    r"|__odr_asan|(generic|strided|indirect|contiguous|indirect_contiguous|main_interpreter_id)$"
)


def listed():
    """Return the names that the page shows as code."""
    _, _, page = (ROOT / "docs/design.md").read_text().partition("## State of modules")
    page, _, _ = page.partition("## Correctness")
    return set(re.findall(r"`(\w+)`", page))


def variables(library):
    """Return the names of a compiled module's own variables."""
    table = subprocess.run(
        ["objdump", "-t", str(library)], capture_output=True, text=True, check=True
    )
    found = set()
    for line in table.stdout.splitlines():
        fields = line.split()
        if len(fields) < 4 or not WRITABLE & set(fields) or fields[-1].startswith("."):
            continue
        name = re.sub(r"\.\d+$", "", fields[-1])
        if not FOREIGN.match(name):
            found.add(name)
    return found


def own_name(symbol, module):
    """Return the name in the source of a symbol that Cython mangled."""
    return re.sub(rf"^__pyx_(\d+genexpr)*v_\w*?{len(module)}{module}_", "", symbol)


@pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("objdump") is None, reason="needs objdump on Linux"
)
def test_every_variable_of_compiled_modules_is_listed():
    found = {
        own_name(name, library.name.partition(".")[0])
        for library in LIBRARIES
        for name in variables(library)
    }
    if not found:
        pytest.skip("this build has no symbols")

    assert {"ohf_kept", "microkernels", "cache", "SPREAD"} <= found
    assert found - listed() == set()


def test_every_global_statement_is_listed():
    found = set()
    for path in [*PACKAGE.rglob("*.py"), *(ROOT / "integrations").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Global):
                found |= {*node.names}
    for path in (ROOT / "onehot_fast").rglob("*.pyx"):
        for names in re.findall(r"^\s+global (.+)$", path.read_text(), re.MULTILINE):
            found |= {*names.split(", ")}

    assert {"microkernels", "stream_bytes"} <= found
    assert found - listed() == set()

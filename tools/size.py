"""Measure the size and structure of the project, and compare them with their limits.

    python tools/size.py             print the table; exit 1 if a number exceeds its limit
    python tools/size.py --root DIR  measure another checkout

The limits only go down: after a change that makes a number smaller, lower its limit.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

CYTHON_IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+c?import|c?import\s+([\w.]+))", re.M)
ADAPTER = "onehot_fast.adapter"
# Modules that the adapter exports: an integration uses their attributes.
ADAPTER_MODULES = {"checks", "decode", "lookup", "reports", "write"}

# Classes that carry the name of the library's class which they replace.
ORIGINALS = {"OneHotEncoder"}

# The largest value that each number may have.
LIMITS = {
    "lines of the package (.py, .pyx)": 35_400,
    "lines of the core without cli": 18_100,
    "lines of cli": 5_000,
    "lines of integrations": 12_300,
    "lines of code in the package": 22_800,
    "lines of C": 4_300,
    "modules": 189,
    "lines of tests (.py, .c)": 35_400,
    "units of the core in an import cycle": 0,
    "names of the adapter that integrations use": 76,
    "public classes with the same name": 4,
    "lines of integrations/sklearn": 2_000,
    "modules of integrations/sklearn": 11,
    "modules of cli": 24,
    "test files that import private modules": 51,
    "words of docs/design.md": 2_000,
}


def main() -> int:
    """Print every number beside its limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1])
    numbers = measure(parser.parse_args().root)
    exceeded = [name for name, number in numbers.items() if number > LIMITS[name]]
    for name, number in numbers.items():
        mark = "  exceeds its limit" if name in exceeded else ""
        print(f"{name:<45}{number:>8,}{LIMITS[name]:>9,}{mark}")
    return 1 if exceeded else 0


def measure(root: Path) -> dict[str, int]:
    """Return every number of a checkout by its name."""
    core = sources(root / "onehot_fast", ".py", ".pyx")
    integrations = sources(root / "integrations", ".py", ".pyx")
    package = core + integrations
    cli = [path for path in core if "cli" in path.parts]
    sklearn = [path for path in integrations if "sklearn" in path.parts]
    tools = sources(root / "tools" / "torture", ".py", ".c")
    tests = sources(root / "tests", ".py", ".c") + tools
    return {
        "lines of the package (.py, .pyx)": n_lines(package),
        "lines of the core without cli": n_lines(core) - n_lines(cli),
        "lines of cli": n_lines(cli),
        "lines of integrations": n_lines(integrations),
        "lines of code in the package": sum(map(n_code_lines, package)),
        "lines of C": n_lines(c_sources(root)),
        "modules": len(package),
        "lines of tests (.py, .c)": n_lines(tests),
        "units of the core in an import cycle": len(units_in_cycles(root / "onehot_fast")),
        "names of the adapter that integrations use": len(adapter_names(integrations)),
        "public classes with the same name": n_repeated_classes(package),
        "lines of integrations/sklearn": n_lines(sklearn),
        "modules of integrations/sklearn": len(sklearn),
        "modules of cli": len(cli),
        "test files that import private modules": sum(
            map(imports_private, sources(root / "tests"))
        ),
        "words of docs/design.md": len((root / "docs" / "design.md").read_text().split()),
    }


def sources(folder: Path, *suffixes: str) -> list[Path]:
    """Return the sources below a folder, by default the Python files."""
    wanted = suffixes or (".py",)
    return sorted(path for path in folder.rglob("*") if path.suffix in wanted)


def c_sources(root: Path) -> list[Path]:
    """Return the C files and headers that people wrote; Cython's output stands beside a .pyx."""
    found = sources(root / "onehot_fast", ".c", ".h")
    return [path for path in found if not path.with_suffix(".pyx").exists()]


def n_lines(paths: list[Path]) -> int:
    """Return the number of lines of some files."""
    return sum(len(path.read_text().splitlines()) for path in paths)


def n_code_lines(path: Path) -> int:
    """Return the number of lines that are not blank, comment or docstring."""
    text = path.read_text()
    if path.suffix == ".py":
        return len(set(_code_lines(text)))
    text = re.sub(r'"""[\s\S]*?"""', "", text)
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") for line in text.splitlines()
    )


def _code_lines(text: str) -> Iterator[int]:
    """Yield the number of each line that holds code."""
    begins_statement = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            begins_statement = True
        elif token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER):
            if not (begins_statement and token.type == tokenize.STRING):
                yield from range(token.start[0], token.end[0] + 1)
            begins_statement = False


def units_in_cycles(package: Path) -> set[str]:
    """Return the folders and top-level modules of the core that import each other in a cycle."""
    imports: dict[str, set[str]] = {}
    for path in sources(package, ".py", ".pyx", ".pxd"):
        unit = path.relative_to(package).with_suffix("").parts[0]
        imports.setdefault(unit, set()).update(imported_units(path) - {unit})
    del imports["__init__"]
    reachable = {unit: _reachable(unit, imports) for unit in imports}
    return {unit for unit in imports if unit in reachable[unit]}


def imported_units(path: Path) -> set[str]:
    """Return the folders and top-level modules of the core that a file imports."""
    names = [first or second for first, second in CYTHON_IMPORT.findall(path.read_text())]
    units = {name.split(".")[1] for name in names if name.startswith("onehot_fast.")}
    return units - {"integrations"}


def _reachable(unit: str, imports: dict[str, set[str]]) -> set[str]:
    """Return the units that a unit imports, directly or not."""
    found: set[str] = set()
    todo = list(imports[unit])
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += imports.get(name, ())
    return found


def adapter_names(paths: list[Path]) -> set[str]:
    """Return the names of the adapter, and of its modules, that files use."""
    names: set[str] = set()
    for path in paths:
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == ADAPTER:
                names |= {alias.name for alias in node.names}
            elif (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in ADAPTER_MODULES
            ):
                names.add(f"{node.value.id}.{node.attr}")
    return names


def n_repeated_classes(paths: list[Path]) -> int:
    """Return how many public class names occur in several modules, except names of originals."""
    counts: Counter[str] = Counter()
    for path in paths:
        counts.update(set(re.findall(r"^(?:cdef )?class ([A-Z]\w*)", path.read_text(), re.M)))
    return sum(count > 1 for name, count in counts.items() if name not in ORIGINALS)


def imports_private(path: Path) -> bool:
    """Tell whether a test imports a private module of the package."""
    pattern = r"^\s*(?:from|import) onehot_fast(?:\.\w+)*(?:\._| import _)"
    return re.search(pattern, path.read_text(), re.M) is not None


if __name__ == "__main__":
    sys.exit(main())

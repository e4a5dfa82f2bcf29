"""Scripts, configuration and documents name test files that exist."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from support.may_skip import MAY_SKIP

ROOT = Path(__file__).parents[2]
FILES = [*(ROOT / ".ci").iterdir(), ROOT / "Makefile", ROOT / "pyproject.toml"]
FILES += [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").glob("*.py")]
# A path below tests/, or a pattern of pytest; both may have braces of bash.
TESTS = re.compile(r"(?:\btests|(?<=glob='\*))/[\w*/.{},'-]*\.(?:py|c|json)\b")


def expanded(pattern):
    """Yield the words that bash makes of the braces of a pattern."""
    parts = re.split(r"\{([^}]*)\}", pattern.replace("'", ""))
    choices = [part.split(",") if i % 2 else [part] for i, part in enumerate(parts)]
    yield from map("".join, itertools.product(*choices))


def test_named_tests_exist():
    named = {
        (str(path.relative_to(ROOT)), name)
        for path in FILES
        for pattern in TESTS.findall(path.read_text(encoding="utf-8"))
        for name in expanded(pattern if pattern.startswith("tests") else f"tests/**{pattern}")
    }

    assert {(".ci/run", "tests/*/test_fork.py"), (".ci/run", "tests/**/test_dispatch.py")} <= named
    assert [found for found in sorted(named) if not any(ROOT.glob(found[1]))] == []


def test_tests_that_may_skip_exist():
    for names in MAY_SKIP.values():
        for name in names:
            file, *_, function = name.split("::")
            [path] = (ROOT / "tests").rglob(file)
            assert f"def {function}(" in path.read_text(encoding="utf-8"), name

"""Count the phrases of phrases.txt in everything that people read, per 10,000 words.

    python tools/language.py             print examples and the rate; exit 1 above the limit
    python tools/language.py --all       print every phrase
    python tools/language.py README.md   look at some files only

Read are README, docs, docstrings, comments and messages: Markdown without its code blocks, and the
strings and comments of Python, Cython and C. Names of the public API are exempt.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PHRASES = ROOT / "tools" / "phrases.txt"
# Phrases in 10,000 words; the limit only goes down.
LIMIT = 52.0
PACKAGE = ("onehot_fast", "integrations")
SOURCES = (".py", ".pyx", ".pxd", ".h", ".c")
# Reports of measurements, and built pages.
NOT_WRITTEN_BY_PEOPLE = ("docs/benchmarks/", "docs/_build/", "docs/auto_gallery/")
# One string, comment or docstring of Cython or C.
CYTHON_TEXT = re.compile(r'"""[\s\S]*?"""|#[^\n]*')
C_TEXT = re.compile(r"/\*[\s\S]*?\*/|//[^\n]*")


def main() -> int:
    """Print the phrases that were found, and their rate."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--all", action="store_true", help="print every phrase")
    arguments = parser.parse_args()
    phrases = read_phrases()
    found, n_words = [], 0
    for name in arguments.files or readable_files():
        for row, line in texts(ROOT / name):
            n_words += len(line.split())
            found += [f"{name}:{row}: {match}" for match in matches(phrases, line)]
    step = 1 if arguments.all else max(1, len(found) // 20)
    print(*found[::step], sep="\n")
    rate = 10_000 * len(found) / max(1, n_words)
    print(f"{len(found)} phrases in {n_words:,} words: {rate:.1f} in 10,000, limit {LIMIT:g}")
    return 1 if rate > LIMIT else 0


def read_phrases() -> list[re.Pattern[str]]:
    """Return the patterns of the list; names in capitals are matched as they are written."""
    lines = PHRASES.read_text().splitlines()
    return [
        re.compile(line, 0 if "[A-Z" in line else re.IGNORECASE)
        for line in lines
        if line and not line.startswith("#")
    ]


def readable_files() -> list[str]:
    """Return the files that people read."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / ".github").rglob("*.md")]
    sources = [
        path
        for folder in PACKAGE
        for path in (ROOT / folder).rglob("*")
        if path.suffix in SOURCES and not is_generated(path)
    ]
    names = (path.relative_to(ROOT).as_posix() for path in pages + sources)
    return sorted(name for name in names if not name.startswith(NOT_WRITTEN_BY_PEOPLE))


def is_generated(path: Path) -> bool:
    """Tell whether Cython wrote a file."""
    return path.suffix == ".c" and path.with_suffix(".pyx").exists()


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are text, with their numbers."""
    content = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        without_code = re.sub(r"```.*?```", lambda m: "\n" * m[0].count("\n"), content, flags=re.S)
        yield from enumerate(without_code.splitlines(), 1)
    elif path.suffix == ".py":
        for token in tokenize.generate_tokens(io.StringIO(content).readline):
            if token.type in (tokenize.STRING, tokenize.COMMENT):
                yield from enumerate(token.string.splitlines(), token.start[0])
    else:
        pattern = C_TEXT if path.suffix in (".c", ".h") else CYTHON_TEXT
        for match in pattern.finditer(content):
            yield from enumerate(match[0].splitlines(), content.count("\n", 0, match.start()) + 1)


def matches(phrases: list[re.Pattern[str]], line: str) -> Iterator[str]:
    """Yield each phrase in a line, with the line."""
    for phrase in phrases:
        for match in phrase.finditer(line):
            yield f"{match[0].strip()!r}: {line.strip()[:90]}"


if __name__ == "__main__":
    sys.exit(main())

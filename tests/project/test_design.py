"""The tables of docs/design.md name files that exist, and what these files define."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/design.md").read_text(encoding="utf-8")
FOLDERS = [ROOT / "onehot_fast", ROOT]


def rows(title):
    """Return the rows of the table in a section, without its head."""
    _, _, section = PAGE.partition(f"## {title}\n")
    section, _, _ = section.partition("\n## ")
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return lines[2:]


def files_in(row):
    """Return the files that a row names, and fail if one does not exist."""
    found = []
    for path in re.findall(r"`([\w./]+\.(?:pyx|pxd|py))`", row):
        beside = [file.parent / path for file in found[-1:]]
        places = [*(folder / path for folder in FOLDERS), *beside]
        existing = [place for place in places if place.is_file()]
        assert existing, f"{path} does not exist"
        found += existing[:1]
    return found


@pytest.mark.parametrize("title", ["Where the description is", "Where to look"])
def test_every_file_exists(title):
    found = [file for row in rows(title) for file in files_in(row)]

    assert len(found) >= 10


def test_every_file_contains_the_names_beside_it():
    checked = 0
    for row in rows("Where to look"):
        for path, names in re.findall(r"`([\w/]+\.pyx?)` \(([^)]*)\)", row):
            source = (ROOT / "onehot_fast" / path).read_text(encoding="utf-8")
            for name in re.findall(r"`(\w+)`", names):
                assert re.search(rf"^(?:class |def |cdef int |){name}\b", source, re.M), name
                checked += 1

    assert checked >= 10

"""The page of the published package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytest.importorskip("setuptools", "77")  # reads the licence of pyproject.toml
REPOSITORY = "https://host.example/owner/name"
MAKE_METADATA = """
import sys
from setuptools import build_meta
print(build_meta.prepare_metadata_for_build_wheel(sys.argv[1]))
"""


def metadata(place, **settings):
    """Return the metadata of a wheel that is built with these settings."""
    source = place / "source"
    source.mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "onehot_fast_command.py"):
        shutil.copy(ROOT / name, source / name)
    for name in ("onehot_fast", "integrations"):  # setuptools looks for the folders
        built = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
        shutil.copytree(ROOT / name, source / name, ignore=built)
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("ONEHOT_FAST_REPOSITORY", "ONEHOT_FAST_CONTACT")
    }
    done = subprocess.run(
        [sys.executable, "-c", MAKE_METADATA, str(place)],
        cwd=source,
        env=environment | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr
    text = (place / done.stdout.split()[-1] / "METADATA").read_text(encoding="utf-8")
    return Parser().parsestr(text)


def links(page):
    """Return where the links and images of the description lead."""
    description = str(page.get_payload())
    found = re.findall(r"\]\(([^)\s]+)|(?:src|href)=\"([^\"]+)", description)
    return [first or second for first, second in found]


@pytest.mark.timeout(120)
def test_links_are_absolute_if_the_repository_is_known(tmp_path):
    """Relative links break on the page of a package index."""
    contact = "maintainers@host.example"
    page = metadata(tmp_path, ONEHOT_FAST_REPOSITORY=REPOSITORY, ONEHOT_FAST_CONTACT=contact)

    targets = links(page)
    assert len(targets) > 10
    assert [link for link in targets if not link.startswith(("https://", "#"))] == []
    for link in targets:
        if link.startswith(REPOSITORY):
            kind, tag, path = link.removeprefix(f"{REPOSITORY}/").split("/", 2)
            assert (ROOT / path.partition("#")[0]).exists()
            assert kind == ("raw" if path.endswith((".svg", ".png")) else "blob")
            assert tag == f"v{page['Version']}"
    urls = dict(line.split(", ", 1) for line in page.get_all("Project-URL", []))
    assert [*urls] == ["Documentation", "Source", "Issues", "Changelog"]
    assert page["Maintainer-email"] == contact


@pytest.mark.timeout(120)
def test_without_a_repository_the_readme_is_unchanged(tmp_path):
    page = metadata(tmp_path)

    assert str(page.get_payload()).strip() == (ROOT / "README.md").read_text("utf-8").strip()
    assert page.get_all("Project-URL") is None
    assert page["Maintainer-email"] is None

"""The examples in docstrings, README and pages run and print what they show."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import tomllib
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import onehot_fast
import onehot_fast.integrations

# By name: a file under integrations/ would be imported a second time. And the integrations
# apart: an editable install keeps them in another folder.
PACKAGES = (onehot_fast, onehot_fast.integrations)
MODULES = sorted(
    {"onehot_fast"}
    | {
        found.name
        for package in PACKAGES
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        # The examples of Spark need a session: they run in its own tests.
        if ".integrations.spark" not in found.name
    }
)

# What an example imports, which the module itself may not.
IMPORT = re.compile(r"^ *>>> (?:import|from) (\w+)", re.M)


class Examples(doctest.DocTestRunner):
    """Run examples, and skip the test if one of them needs a library that is not installed."""

    def __init__(self) -> None:
        super().__init__(optionflags=doctest.ELLIPSIS)
        self.missing: set[str | None] = set()
        self.report: list[str] = []

    def run_all(self, examples: Iterable[doctest.DocTest]) -> int:
        """Run all examples, and return the number of lines."""
        for example in examples:
            self.run(example, out=self.report.append)
        if self.missing:
            pytest.skip(f"{self.missing} not installed")
        assert self.failures == 0, "".join(self.report)
        return self.tries

    def report_unexpected_exception(self, out: Any, test: Any, example: Any, exc_info: Any) -> None:
        """Record a missing library."""
        if isinstance(exc_info[1], ImportError):
            self.missing.add(exc_info[1].name)
        super().report_unexpected_exception(out, test, example, exc_info)


def source_of(module: ModuleType) -> str:
    """Return the source of a module, "" if it is compiled."""
    path = Path(module.__file__ or "")
    return path.read_text(encoding="utf-8") if path.suffix == ".py" else ""


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_show(name: str) -> None:
    """Every example of a module runs and prints what the docstring says."""
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"{error.name} is not installed")
    for library in IMPORT.findall(source_of(module)):
        pytest.importorskip(library)

    Examples().run_all(doctest.DocTestFinder(exclude_empty=True).find(module))


README = Path(__file__).parents[2] / "README.md"
DOCS = README.parent / "docs"
# Those of distributed.md run chapter by chapter, below; Spark's need a session.
PAGES = sorted(
    path.relative_to(README.parent).as_posix()
    for path in [README, *DOCS.rglob("*.md")]
    if ">>> " in path.read_text(encoding="utf-8") and path.name != "distributed.md"
) if README.exists() else []  # fmt: skip


@pytest.fixture
def text() -> str:
    if not README.exists():
        pytest.skip("the README is not beside the tests")
    return README.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_examples_print_what_the_page_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every ``>>>`` line runs, in one session from top to bottom, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    page = (README.parent / name).read_text(encoding="utf-8")
    for library in IMPORT.findall(page):
        pytest.importorskip(library)
    fences_blanked = re.sub(r"^```.*$", "", page, flags=re.MULTILINE)  # else they are output
    example = doctest.DocTestParser().get_doctest(fences_blanked, {}, name, name, 0)

    assert Examples().run_all([example]) > 2


PAGE = DOCS / "distributed.md"
CHAPTERS = ["Dask", "Ray Data", "DuckDB"]


@pytest.mark.filterwarnings("ignore")  # those of the engines
@pytest.mark.parametrize("title", CHAPTERS)
def test_the_examples_of_each_engine_run(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every ``>>>`` line runs if the engine is installed."""
    if not PAGE.exists():
        pytest.skip("the page is not beside the tests")
    chapter = re.split(rf"^##+ {title}$", PAGE.read_text(encoding="utf-8"), flags=re.M)[1]
    chapter = re.sub(r"^```.*$", "", re.split(r"^##+ ", chapter, flags=re.M)[0], flags=re.M)
    for library in IMPORT.findall(chapter):
        pytest.importorskip(library)
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # it writes into the home folder otherwise
    names = {"Encoder": onehot_fast.Encoder}
    example = doctest.DocTestParser().get_doctest(chapter, names, title, str(PAGE), 0)

    assert Examples().run_all([example]) > 4


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.+)$", prose, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_links_lead_somewhere(text: str) -> None:
    """Files and headings that README and pages link to exist."""
    documents = ["CONTRIBUTING", "SECURITY", "CODE_OF_CONDUCT"]
    pages = [README, *(README.with_name(f"{name}.md") for name in documents), *DOCS.rglob("*.md")]
    pages = [page for page in pages if "_build" not in page.parts]
    dead = []
    for page in pages:
        for link in re.findall(r"\]\(([^):\s]+)\)", page.read_text(encoding="utf-8")):
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            if not target.exists() or (anchor and anchor not in anchors(target)):
                dead.append((page.name, link))

    assert len(pages) > 10
    assert text.count("](docs/") > 10
    assert dead == []


def test_dead_links_of_the_built_pages_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`make docs` checks links to files and anchors, not links to other sites."""
    if not DOCS.exists():
        pytest.skip("the documents are not beside the tests")
    monkeypatch.syspath_prepend(DOCS)
    check = importlib.import_module("check")
    links = ["b/c.html", "b/c.html#there", "#here", "b/", "https://example.org/x#y"]
    dead = ["b/c.html#gone", "d.html", "#gone", "b/c%20.html"]
    linked = "".join(f'<a href="{link}">x</a>' for link in links + dead)
    (tmp_path / "b").mkdir()
    (tmp_path / "a.html").write_text(f'<p id="here">{linked}</p><img src="e.png">')
    (tmp_path / "b" / "c.html").write_text('<h2 id="there">c</h2><a href="../a.html#here">a</a>')
    (tmp_path / "b" / "index.html").write_text("")

    found = {message.split(": ")[1] for message in check.dead_links(tmp_path)}
    assert found == {*dead, "e.png"}
    assert "onehot_fast.integrations.torch.one_hot" in set(check.public_names())


def test_the_drawings_are_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/drawings.py writes the committed files."""
    if not DOCS.exists():
        pytest.skip("the documents are not beside the tests")
    monkeypatch.syspath_prepend(DOCS)
    importlib.import_module("drawings").main(tmp_path)

    drawn = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert drawn == {
        path.name: path.read_text(encoding="utf-8") for path in (DOCS / "images").iterdir()
    }


def test_the_lowest_versions_are_those_of_the_package() -> None:
    """The table in docs/promises.md agrees with pyproject.toml."""
    project = README.with_name("pyproject.toml")
    if not DOCS.exists() or not project.exists():
        pytest.skip("the documents are not beside the tests")
    project = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    page = (DOCS / "promises.md").read_text(encoding="utf-8")
    promised = dict(re.findall(r"^\| ([\w-]+) \| (\d[\d.]+) \|$", page, re.M))
    extras = ["pandas", "arrow", "polars", "sklearn", "dask", "spark", "onnx", "narwhals", "torch"]
    asked = chain(*(project["optional-dependencies"][name] for name in extras))
    floors = (re.sub(r"\[.*\]", "", each) for each in asked if ">=" in each)

    assert promised == {
        "Python": project["requires-python"].removeprefix(">="),
        **dict(each.split(">=") for each in [*project["dependencies"], *floors]),
    }


def test_changelog_and_citation_have_the_version_and_date() -> None:
    dates = set()
    for name, pattern, date in [
        ("CHANGELOG.md", r"^## \[(\d[\w.]*)\]", r"^## \[\d.*\] - (\d{4}-\d\d-\d\d)$"),
        ("CITATION.cff", r"^version: (.+)$", r"^date-released: (.+)$"),
    ]:
        document = README.with_name(name)
        if not document.exists():
            pytest.skip("the documents are not beside the tests")
        text = document.read_text(encoding="utf-8")
        assert re.findall(pattern, text, re.MULTILINE)[:1] == [onehot_fast.__version__], name
        dates.update(re.findall(date, text, re.MULTILINE)[:1])
    assert len(dates) == 1


def test_the_readme_has_the_two_commands(text: str) -> None:
    """``make demo`` and ``make test`` stand together, and the Makefile has both."""
    blocks = [re.findall(r"^make \w+", block, re.MULTILINE) for block in text.split("```")[1::2]]
    targets = README.with_name("Makefile").read_text(encoding="utf-8")

    assert ["make demo", "make test"] in blocks
    assert all(re.search(rf"^{name}:", targets, re.M) for name in ("demo", "test"))


def test_the_table_of_functions_is_short(text: str) -> None:
    """A reader finds the function without scrolling: at most eight rows."""
    table = text.split("## Which function do I need?")[1].split("\n## ")[0]

    assert len(re.findall(r"^\| ", table, re.MULTILINE)) - 1 <= 8

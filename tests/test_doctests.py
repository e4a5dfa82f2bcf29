"""The examples of the docstrings and of the README show what really happens."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path
from types import ModuleType

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


def source_of(module: ModuleType) -> str:
    """Return the source of a module, "" of one that is compiled."""
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

    assert doctest.testmod(module).failed == 0


README = Path(__file__).parents[1] / "README.md"


@pytest.fixture
def text() -> str:
    if not README.exists():
        pytest.skip("the README is not beside the tests")
    return README.read_text(encoding="utf-8")


def test_examples_print_what_the_readme_says(text: str) -> None:
    """Every ``>>>`` line runs, in one session from top to bottom."""
    pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    pytest.importorskip("polars")
    pytest.importorskip("onnx")
    fences_blanked = re.sub(r"^```.*$", "", text, flags=re.MULTILINE)  # else they are output
    example = doctest.DocTestParser().get_doctest(fences_blanked, {}, "README", str(README), 0)
    report: list[str] = []

    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    failed, attempted = runner.run(example, out=report.append)

    assert attempted > 20
    assert failed == 0, "".join(report)


PAGE = README.parent / "docs" / "distributed.md"
CHAPTERS = ["Dask", "Ray Data", "DuckDB", "polars"]


@pytest.mark.filterwarnings("ignore")  # those of the engines
@pytest.mark.parametrize("title", CHAPTERS)
def test_the_chapter_of_each_engine_is_true(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every ``>>>`` line runs where its engine is installed."""
    if not PAGE.exists():
        pytest.skip("the page is not beside the tests")
    chapter = re.split(rf"^##+ {title}$", PAGE.read_text(encoding="utf-8"), flags=re.M)[1]
    chapter = re.sub(r"^```.*$", "", re.split(r"^##+ ", chapter, flags=re.M)[0], flags=re.M)
    for library in IMPORT.findall(chapter):
        pytest.importorskip(library)
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # it writes into the home folder otherwise
    names = {"Encoder": onehot_fast.Encoder}
    report: list[str] = []
    example = doctest.DocTestParser().get_doctest(chapter, names, title, str(PAGE), 0)

    results = doctest.DocTestRunner().run(example, out=report.append)

    assert results.attempted > 4
    assert results.failed == 0, "".join(report)


@pytest.mark.parametrize("name", ["README", "CONTRIBUTING", "SECURITY", "CODE_OF_CONDUCT"])
def test_links_lead_to_files(name: str) -> None:
    document = README.with_name(f"{name}.md")
    if not document.exists():
        pytest.skip("the documents are not beside the tests")
    targets = re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8"))

    assert targets or name == "SECURITY"  # which names files, and links to none
    assert [target for target in targets if not (README.parent / target).exists()] == []


def test_all_places_name_one_version() -> None:
    """The changelog begins with the version of the package, and it is the one to cite."""
    for name, pattern in {
        "CHANGELOG.md": r"^## \[(\d[\w.]*)\]",
        "CITATION.cff": r"^version: (.+)$",
    }.items():
        document = README.with_name(name)
        if not document.exists():
            pytest.skip("the documents are not beside the tests")
        found = re.findall(pattern, document.read_text(encoding="utf-8"), re.MULTILINE)
        assert found[:1] == [onehot_fast.__version__], name


def test_the_two_commands_come_first(text: str) -> None:
    """The first block of the README is ``make demo`` and ``make test``."""
    first_block = text.split("```")[1]

    assert re.findall(r"^make \w+", first_block, re.MULTILINE) == ["make demo", "make test"]

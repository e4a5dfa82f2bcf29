"""Sphinx: `make docs` builds with this."""

import importlib
import os
import re
import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import onehot_fast

sys.path.append(str(Path(__file__).parent))
import cross_references
import history
import option_table

# torch is large, and its page needs only the signatures. Other libraries must not find the mock.
if find_spec("torch") is None:
    torch = MagicMock(__spec__=ModuleSpec("torch", None), __version__="999")
    mocks = {"torch": torch, "torch.overrides": torch.overrides}
    # These modules compute with dtypes.
    for name in ("_launch", "_fastpath"):
        mocks[f"onehot_fast.integrations.torch.{name}"] = MagicMock()
    sys.modules.update(mocks)
    importlib.import_module("onehot_fast.integrations.torch")
    for name in mocks:
        del sys.modules[name]

project = "onehot_fast"
author = "the onehot_fast developers"
copyright = f"2026, {author}"
release = onehot_fast.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "cross_references",
]
# Pages include the last two.
exclude_patterns = ["_build", "gallery", "auto_history/*.md", "auto_options/*.md"]
html_show_sourcelink = False
html_domain_indices = False
toc_object_entries_show_parents = "hide"
default_role = "literal"  # `names` in docstrings are code, as a reader of the source sees them
nitpicky = True

html_theme = "pydata_sphinx_theme"
html_title = f"onehot_fast {release}"
html_logo = html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["onehot.css"]
WITHOUT_SIDEBAR = ["index", "get_started", "coming_from", "search", "genindex"]
html_sidebars = {name: [] for name in WITHOUT_SIDEBAR}
html_theme_options = {
    "logo": {"text": html_title},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
if repository := os.environ.get("ONEHOT_FAST_REPOSITORY"):
    icon = {"name": "Repository", "url": repository, "icon": "fa-solid fa-code-branch"}
    html_theme_options["icon_links"] = [icon]

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc's Parameters sections have the types, with their shapes
autodoc_preserve_defaults = True  # dtype=bool, not dtype=<class 'bool'>
python_maximum_signature_line_length = 88
autosummary_generate = False
numpydoc_show_class_members = False

intersphinx_mapping = cross_references.write_inventories(
    Path(__file__).parent / "_build/inventories"
)
html_search_scorer = str(Path(__file__).with_name("search_scorer.js"))
# A word of a question occurs in all of these, so they would hide the pages that answer it. The
# search finds their titles.
NOT_SEARCHED = re.compile(r"changelog$|benchmarks/(?!index)")

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]  # README links to files of the repository

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",  # the tutorial comes first
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 1_000,
    "abort_on_example_error": True,
}


def simplify_signature(
    app: Any, what: str, name: str, obj: object, options: Any, signature: str | None, returns: str
) -> tuple[str | None, str]:
    """Write ``dtype=bool`` for ``dtype=<class 'bool'>``, and hide arguments for hints in errors."""
    if signature:
        signature = re.sub(r"<class '([\w.]+)'>", r"\1", signature)
        signature = signature.replace("depth=..., ", "depth, ").replace(", **unknown", "")
    return signature, returns


def hide_from_search(app: Any, document: Any) -> None:
    """Leave the text of a page that answers no question out of the index of the search."""
    if NOT_SEARCHED.match(app.env.docname):
        app.env.metadata[app.env.docname]["nosearch"] = "true"


def read_contributing(app: Any, page: str, source: list[str]) -> None:
    """Take CONTRIBUTING.md as a page, with links to the pages of its neighbours."""
    if page == "contributing":
        text = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
        text = re.sub(r"\]\(docs/", "](", text)
        text = re.sub(r"\]\((CHANGELOG|SECURITY)\.md", lambda m: f"]({m[1].lower()}.md", text)
        source[0] = re.sub(r"\[([^]]+)\]\(CODE_OF_CONDUCT\.md\)", r"\1", text)


# A report has tens of tables, so each of them is folded. The machine and the versions are not.
REPORT = re.compile(r"benchmarks/(amd|intel)")
UNFOLDED = ("Machine", "Versions")


def fold_tables(app: Any, page: str, source: list[str]) -> None:
    """Fold the content of each chapter of a benchmark report, below its heading."""
    if not REPORT.match(page):
        return
    before, *chapters = re.split(r"^(?=## )", source[0], flags=re.M)
    parts = [before]
    for chapter in chapters:
        heading, _, content = chapter.partition("\n")
        if heading.removeprefix("## ") not in UNFOLDED:
            n_rows = max(len(re.findall(r"^\|", content, re.M)) - 2, 0)
            content = f"\n:::{{dropdown}} {n_rows} rows\n{content.strip()}\n:::\n\n"
        parts.append(f"{heading}\n{content}")
    source[0] = "".join(parts)


def setup(app: Any) -> None:
    """Write the generated pages, and register the functions above."""
    history.write()
    option_table.write()
    app.connect("autodoc-process-signature", simplify_signature)
    app.connect("doctree-read", hide_from_search)
    app.connect("source-read", read_contributing)
    app.connect("source-read", fold_tables)

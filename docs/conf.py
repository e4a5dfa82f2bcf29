"""Sphinx: `make docs` builds with this."""

import importlib
import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from unittest.mock import MagicMock

import onehot_fast

# A gigabyte of which its page needs nothing. Libraries that look for it must not find this one.
if find_spec("torch") is None:
    sys.modules["torch"] = MagicMock(__spec__=ModuleSpec("torch", None), __version__="999")
    importlib.import_module("onehot_fast.integrations.torch")
    del sys.modules["torch"]

project = "onehot_fast"
author = "the onehot_fast developers"
copyright = f"2026, {author}"
release = onehot_fast.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery"]
html_show_sourcelink = False
html_domain_indices = False
toc_object_entries_show_parents = "hide"
default_role = "literal"  # `names` in docstrings are code, as a reader of the source sees them
nitpicky = True

html_theme = "pydata_sphinx_theme"
html_title = "onehot_fast"
html_static_path = ["_static"]
html_css_files = ["onehot.css"]
WITHOUT_SIDEBAR = ["index", "get_started", "coming_from", "search", "genindex"]
html_sidebars = {name: [] for name in WITHOUT_SIDEBAR}
html_theme_options = {
    "logo": {"text": "onehot_fast"},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc's Parameters sections say the types, with their shapes
autosummary_generate = False
numpydoc_show_class_members = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]  # README links to files of the repository

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 1_000,
    "abort_on_example_error": True,
}

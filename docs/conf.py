"""Sphinx: `make docs` builds with this."""

import onehot_fast

project = "onehot_fast"
author = "the onehot_fast developers"
copyright = f"2026, {author}"
release = onehot_fast.__version__

extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_parser"]
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_theme_options = {
    "description": "The OneHot operator at the speed of memory",
    "fixed_sidebar": True,
    "page_width": "1200px",
    "body_max_width": "980px",
    "code_font_size": "0.8em",  # 100 columns without scrolling
}
html_show_sourcelink = False

toc_object_entries = False  # the sidebar lists sections, not each method
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc's Parameters sections say the types, with their shapes
numpydoc_show_class_members = False
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]  # README links to files of the repository

"""Links from the guide to the reference, from the reference to the guide, and to other libraries.

Pages are plain Markdown, so that they can be read anywhere: a name is code, not a role of Sphinx.
When Sphinx builds a page, the first mention of a public name in a section becomes a link.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

INTEGRATIONS = "onehot_fast.integrations"
# Where a name without a module is looked up, first to last. A page of a library begins with it.
NAMESPACES = (
    "onehot_fast", "onehot_fast.Encoder", f"{INTEGRATIONS}.pandas", f"{INTEGRATIONS}.sklearn",
    f"{INTEGRATIONS}.polars", f"{INTEGRATIONS}.arrow", f"{INTEGRATIONS}.onnx",
    f"{INTEGRATIONS}.spark", f"{INTEGRATIONS}.torch", f"{INTEGRATIONS}.sql",
)  # fmt: skip
FIRST = {"implicit": ("onehot_fast.OneHotMatrix",)}
# What a name at the beginning stands for in the examples.
ALIASES = {
    "encoder": "onehot_fast.Encoder", "X": "onehot_fast.OneHotMatrix",
    "arrow": f"{INTEGRATIONS}.arrow", "onnx": "onehot_fast.operators.onnx",
    "openvino": "onehot_fast.operators.openvino",
    "F": "torch.nn.functional", "np": "numpy", "pa": "pyarrow", "pc": "pyarrow.compute",
    "pd": "pandas", "pl": "polars",
}  # fmt: skip
# The classes behind `.onehot`, in pandas and on the page of polars.
ACCESSORS = {
    "series": ("pandas.OneHotAccessor", "polars.SeriesNamespace"),
    "frame": ("pandas.FrameAccessor", "polars.DataFrameNamespace"),
    "lazy": ("polars.LazyFrameNamespace",) * 2,
    "expression": ("polars.ExprNamespace",) * 2,
}
OWNERS = {
    "Series": "series", "series": "series", "origin": "series", "DataFrame": "frame",
    "frame": "frame", "train": "frame", "lazy": "lazy", "LazyFrame": "lazy", "Expr": "expression",
}  # fmt: skip
# On these pages, a name alone is a subcommand or a method of the other library.
NEEDS_CALL = {"files", "coming_from", "integrations/sklearn"}
# The option of the same name is meant.
OPTIONS = {"columns"}
# These sections are about one library, on pages about several.
SECTIONS = {
    "coming_from": {"polars": "polars", "spark": "spark", "torch": "torch"},
    "distributed": {"dask": "dask"},
}

# The page of the guide that explains a public name; a method without a page has that of its class.
GUIDE = {
    "onehot_fast.one_hot": "tensors", "onehot_fast.decode": "tensors",
    "onehot_fast.infer_shape": "memory", "onehot_fast.empty": "memory",
    "onehot_fast.cache_info": "memory", "onehot_fast.empty_cache": "memory",
    "onehot_fast.build_info": "get_started",
    "onehot_fast.multi_hot": "multi_label", "onehot_fast.distinct_labels": "multi_label",
    "onehot_fast.distinct_classes": "tensors",
    "onehot_fast.one_hot_sequences": "sequences", "onehot_fast.decode_sequences": "sequences",
    "onehot_fast.tokenize_sequences": "sequences", "onehot_fast.lowercase_mask": "sequences",
    "onehot_fast.OneHotMatrix": "implicit",
    "onehot_fast.Encoder": "tables", "onehot_fast.Encoder.transform": "forms",
    "onehot_fast.Encoder.inverse_transform": "missing", "onehot_fast.Encoder.check": "missing",
    "onehot_fast.Encoder.summary": "high_cardinality",
    "onehot_fast.Encoder.infrequent_categories": "high_cardinality",
    "onehot_fast.Encoder.estimate": "memory", "onehot_fast.Encoder.partial_fit": "memory",
    "onehot_fast.Encoder.merge": "deployment", "onehot_fast.Encoder.save": "deployment",
    "onehot_fast.Encoder.load": "deployment", "onehot_fast.Encoder.to_json": "deployment",
    "onehot_fast.Encoder.from_json": "deployment", "onehot_fast.Encoder.to_sql": "sql",
    "onehot_fast.Encoder.to_onnx": "onnx", "onehot_fast.Encoder.vocabulary": "codes",
    "onehot_fast.Encoder.cardinalities": "codes",
    "onehot_fast.Encoder.expressions": "integrations/polars",
    "onehot_fast.Encoder.set_output": "integrations/sklearn",
    "onehot_fast.Encoder.from_sklearn": "integrations/sklearn",
    "onehot_fast.Encoder.to_sklearn": "integrations/sklearn",
    "onehot_fast.Check": "missing", "onehot_fast.Special": "missing",
    "onehot_fast.UnknownValueError": "missing", "onehot_fast.UnknownValueWarning": "missing",
    "onehot_fast.Listing": "high_cardinality", "onehot_fast.Estimate": "memory",
    "onehot_fast.Column": "types", "onehot_fast.operators": "tensors",
    f"{INTEGRATIONS}.arrow": "integrations/arrow", f"{INTEGRATIONS}.dask": "distributed",
    f"{INTEGRATIONS}.narwhals": "integrations/polars", f"{INTEGRATIONS}.onnx": "onnx",
    f"{INTEGRATIONS}.pandas": "integrations/pandas",
    f"{INTEGRATIONS}.polars": "integrations/polars",
    f"{INTEGRATIONS}.sklearn": "integrations/sklearn",
    f"{INTEGRATIONS}.spark": "integrations/spark",
    f"{INTEGRATIONS}.sql": "sql", f"{INTEGRATIONS}.torch": "integrations/torch",
}  # fmt: skip

# Functions of other libraries that pages name. The build reads no inventory from the network:
# these lists become inventories. `{}` is the name.
LIBRARIES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "python": (
        "https://docs.python.org/3/library/",
        "{}",
        ("json.dumps functions.html", "pickle pickle.html", "csv.DictReader csv.html"),
    ),
    "numpy": (
        "https://numpy.org/doc/stable/reference/generated/",
        "{}.html",
        ("numpy.zeros", "numpy.load", "numpy.eye", "numpy.searchsorted", "numpy.unravel_index"),
    ),
    "pandas": (
        "https://pandas.pydata.org/docs/reference/api/",
        "{}.html",
        (
            "pandas.get_dummies", "pandas.from_dummies", "pandas.factorize", "pandas.cut",
            "pandas.DataFrame", "pandas.Series", "pandas.NA", "pandas.Series.str.get_dummies",
            "pandas.Series.cat.codes", "pandas.DataFrame.reindex", "pandas.ArrowDtype",
        ),
    ),
    "sklearn": (
        "https://scikit-learn.org/stable/modules/generated/",
        "{}.html",
        (
            "sklearn.preprocessing.OneHotEncoder", "sklearn.preprocessing.OrdinalEncoder",
            "sklearn.preprocessing.TargetEncoder", "sklearn.preprocessing.KBinsDiscretizer",
            "sklearn.preprocessing.LabelBinarizer", "sklearn.preprocessing.MultiLabelBinarizer",
            "sklearn.compose.ColumnTransformer", "sklearn.pipeline.Pipeline",
            "sklearn.impute.SimpleImputer", "sklearn.model_selection.GridSearchCV",
        ),
    ),
    "polars": (
        "https://docs.pola.rs/api/python/stable/reference/",
        "{}",
        (
            "polars.Series series/index.html", "polars.DataFrame dataframe/index.html",
            "polars.LazyFrame lazyframe/index.html", "polars.col expressions/col.html",
        ),
    ),
    "arrow": (
        "https://arrow.apache.org/docs/python/generated/",
        "{}.html",
        (
            "pyarrow.array", "pyarrow.table", "pyarrow.unify_schemas",
            "pyarrow.register_extension_type", "pyarrow.RecordBatchReader",
        ),
    ),
    "scipy": (
        "https://docs.scipy.org/doc/scipy/reference/generated/",
        "{}.html",
        (
            "scipy.sparse.csr_array", "scipy.sparse.csr_matrix", "scipy.sparse.csc_array",
            "scipy.sparse.linalg.lsqr", "scipy.sparse.linalg.aslinearoperator",
        ),
    ),
    "torch": (
        "https://docs.pytorch.org/docs/stable/generated/",
        "{}.html",
        (
            "torch.nn.functional.one_hot", "torch.compile", "torch.from_numpy",
            "torch.nn.Embedding", "torch.nn.EmbeddingBag",
        ),
    ),
}  # fmt: skip
# Classes of other libraries that pages name without their module.
SHORT = {
    name.rpartition(".")[2]: name
    for name in LIBRARIES["sklearn"][2]
    if name.rpartition(".")[2] in ("ColumnTransformer", "GridSearchCV", "Pipeline", "SimpleImputer")
}
EXTERNAL = {entry.split()[0] for _, _, names in LIBRARIES.values() for entry in names}

NAME = re.compile(r"(?:from ([\w.]+) import )?([A-Za-z_]\w*(?:\.\w+)*)(?![\w.\"'=])")


def write_inventories(folder: Path) -> dict[str, tuple[str, str]]:
    """Write an inventory for each library, and return the mapping of intersphinx."""
    folder.mkdir(parents=True, exist_ok=True)
    mapping = {}
    for project, (url, form, names) in LIBRARIES.items():
        lines = []
        for entry in names:
            name, _, page = entry.partition(" ")
            lines.append(f"{name} py:function 1 {page or form.format(name)}#{name} -\n")
        head = f"# Sphinx inventory version 2\n# Project: {project}\n# Version: \n"
        head += "# The remainder of this file is compressed using zlib.\n"
        path = folder / f"{project}.inv"
        path.write_bytes(head.encode() + zlib.compress("".join(lines).encode()))
        mapping[project] = (url, str(path))
    return mapping


def candidates(text: str, page: str, library: str = "") -> Iterator[str]:
    """Yield the full names that an inline code may mean, the likeliest first.

    `library` is the integration that the section is about.
    """
    library = library or page.removeprefix("integrations/")
    accessor = re.match(r"(?:.*\bcol\(.*\)|(\w+))?\.onehot(?:\.(\w+))?(?![\w.])", text)
    if accessor and text.startswith(("pl.col", *OWNERS, ".onehot")):
        owner = OWNERS.get(accessor[1] or ("Expr" if "col(" in text else "Series"))
        name = ACCESSORS[owner][library == "polars"]
        if accessor[2]:
            yield f"{INTEGRATIONS}.{name}.{accessor[2]}"
        yield f"{INTEGRATIONS}.{name}"
        return
    found = NAME.match(text)
    if not found:
        return
    module, name = found.groups()
    head, _, rest = name.partition(".")
    if module:
        yield f"{module}.{name}"
    elif head in ALIASES:
        yield f"{ALIASES[head]}.{rest}"
    elif "(" in text or name not in OPTIONS:
        yield name
        if not ("." not in name and "(" not in text and page in NEEDS_CALL and name.islower()):
            first = (f"{INTEGRATIONS}.{library}", *FIRST.get(page, ()))
            yield from (f"{namespace}.{name}" for namespace in (*first, *NAMESPACES))
        yield SHORT.get(name, "")


class LinkNames(SphinxPostTransform):
    """Turn the first mention of each public name in a section into a link."""

    default_priority = 5  # before pending references are resolved

    def run(self, **kwargs: Any) -> None:
        """Change the document in place."""
        page = self.env.docname
        if page.startswith(("reference/", "_", "auto_gallery/index")) or page == "changelog":
            return
        objects = self.env.domains.python_domain.objects
        linked: set[tuple[int, str]] = set()
        for literal in list(self.document.findall(nodes.literal)):
            if _is_within(literal, (nodes.reference, nodes.title, addnodes.pending_xref)):
                continue
            section = _section(literal)
            ids = section.get("ids", [""])[:1]
            library = SECTIONS.get(page, {}).get(*ids, "") if ids else ""
            names = [*candidates(literal.astext(), page, library)]
            if page == "coming_from" and _is_first_cell(literal):
                # The call of the other library.
                names = [name for name in names if name in EXTERNAL]
            target = next((name for name in names if name in objects or name in EXTERNAL), None)
            if target is None or (key := (id(section), target)) in linked:
                continue
            linked.add(key)
            reference = addnodes.pending_xref(
                "", refdomain="py", reftype="obj", reftarget=target, refdoc=page, refexplicit=True,
                refwarn=True,
            )  # fmt: skip
            literal.replace_self(reference)
            reference += literal


def _is_within(node: nodes.Node, kinds: tuple[type, ...]) -> bool:
    """Tell whether a node has an ancestor of one of these types."""
    parent = node.parent
    while parent is not None and not isinstance(parent, kinds):
        parent = parent.parent
    return parent is not None


def _is_first_cell(node: nodes.Node) -> bool:
    """Tell whether a node is in the first column of a table."""
    while node.parent is not None and not isinstance(node, nodes.entry):
        node = node.parent
    return isinstance(node, nodes.entry) and node.parent.index(node) == 0


def _section(node: nodes.Node) -> nodes.Node:
    """Return the innermost section of a node."""
    while node.parent is not None and not isinstance(node, nodes.section):
        node = node.parent
    return node


def guide_page(name: str) -> str | None:
    """Return the page of the guide that explains a public name, or that of its class or module."""
    while name and name not in GUIDE:
        name = name.rpartition(".")[0]
    return GUIDE.get(name)


def link_guide(
    app: Sphinx, what: str, name: str, obj: object, options: Any, lines: list[str]
) -> None:
    """Add a link to the guide to the entry of a function or a class, and to methods with a page."""
    is_member = what in ("method", "property", "attribute")
    page = GUIDE.get(name) if is_member else guide_page(name)
    if page is not None and what != "module":
        lines += ["", f"In the guide: :doc:`/{page}`.", ""]


def find_source(app: Sphinx, module: str) -> tuple[str, dict[str, tuple[str, int, int]]] | None:
    """Return the Cython source of a compiled module, and the lines of its functions."""
    spec = find_spec(module)
    if spec is None or spec.origin is None or spec.origin.endswith(".py"):
        return None
    source = Path(spec.origin).with_name(f"{module.rpartition('.')[2]}.pyx")
    if not source.exists():
        return None
    code = source.read_text(encoding="utf-8")
    lines = code.splitlines()
    begins = [
        i for i, line in enumerate(lines, 1) if re.match(r"(cp?)?def |class |cdef class ", line)
    ]
    tags = {}
    for begin, end in zip(begins, [*begins[1:], len(lines) + 1], strict=True):
        name = re.match(r"def (\w+)", lines[begin - 1])
        if name:
            tags[name[1]] = ("def", begin, end - 1)
    return code, tags


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transforms."""
    app.add_post_transform(LinkNames)
    app.connect("autodoc-process-docstring", link_guide, priority=900)  # after numpydoc
    app.connect("viewcode-find-source", find_source)
    return {"parallel_read_safe": True}

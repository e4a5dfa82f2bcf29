"""What a type checker needs written out agrees with the table of options.

The names are found in the sources, so that a place that lists options cannot be forgotten, and so
that no library is needed.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from pathlib import Path
from typing import get_type_hints

import pytest

from onehot_fast import Encoder
from onehot_fast._schema import options
from onehot_fast._schema.formats import SPARSE_CLASSES, format_names
from onehot_fast._schema.options import OPTIONS, ColumnOptions, option_names

ROOT = Path(__file__).parents[2]
SOURCES = [
    path
    for folder in ("onehot_fast", "integrations")
    for path in sorted((ROOT / folder).rglob("*.py"))
    # Drop-ins have the options of their originals.
    if path.parent.name != "sklearn" and "dummies" not in path.name
]


def camel_case(name):
    """Return the name of an option as Spark writes it."""
    return re.sub("_(.)", lambda match: match[1].upper(), name)


# The names of an option, in Python and in Spark.
NAMES = {spelled: name for name in OPTIONS for spelled in (name, camel_case(name))}
# The words that are options of other functions, too: their defaults and choices differ.
SHARED = {"categories", "dtype"}
OWN = {spelled: OPTIONS[name] for spelled, name in NAMES.items() if name not in SHARED}
# The functions of tensors have an option `handle_unknown` of their own.
TENSOR_FUNCTIONS = {"tensor.py", "ragged.py", "arrow/tensors.py", "torch/function.py"}
TENSOR_RULES = {"error", "ignore"}


def is_own(path, name):
    """Tell whether a name in a file is that of an option of the encoder."""
    is_tensor = str(path).endswith(tuple(TENSOR_FUNCTIONS)) and name == "handle_unknown"
    return name in OWN and not is_tensor


def nodes(kind):
    """Yield the file and each node of a kind in the sources."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, kind):
                yield path, node


def choices_in(annotation):
    """Return the strings of each ``Literal[...]`` in an annotation."""
    found = [
        one.slice
        for one in ast.walk(annotation)
        if isinstance(one, ast.Subscript) and ast.unparse(one.value) == "Literal"
    ]
    return [ast.literal_eval(one) for one in found]


def annotated():
    """Return what is annotated and named like an option: the file, the line, the name, the type."""
    arguments = [(path, node.arg, node.annotation) for path, node in nodes(ast.arg)]
    fields = [
        (path, node.target.id, node.annotation)
        for path, node in nodes(ast.AnnAssign)
        if isinstance(node.target, ast.Name)
    ]
    return [
        pytest.param(OWN[name], annotation, id=f"{path.stem}:{annotation.lineno}:{name}")
        for path, name, annotation in arguments + fields
        if is_own(path, name) and annotation is not None
    ]


def parameters():
    """Return each parameter named like an option that has a default."""
    found = []
    for path, node in nodes(ast.arguments):
        named = [*node.posonlyargs, *node.args]
        pairs = [*zip(named[len(named) - len(node.defaults) :], node.defaults, strict=True)]
        pairs += [pair for pair in zip(node.kwonlyargs, node.kw_defaults, strict=True) if pair[1]]
        found += [
            pytest.param(OWN[one.arg], default, id=f"{path.stem}:{one.lineno}:{one.arg}")
            for one, default in pairs
            if is_own(path, one.arg)
        ]
    return found


@pytest.mark.parametrize(("option", "annotation"), annotated())
def test_a_type_has_the_rules_of_the_table(option, annotation):
    """A Literal is the type of the table, or lists the same rules."""
    names = {one.id for one in ast.walk(annotation) if isinstance(one, ast.Name)}
    own = {camel_case(f"_{option.name}")}
    types = {camel_case(f"_{name}") for name in OPTIONS}

    assert all(found == option.rules for found in choices_in(annotation))
    assert names & types <= own


def test_the_functions_of_tensors_have_the_same_rules():
    found = {
        path.relative_to(ROOT).as_posix(): {*choices}
        for path, node in nodes(ast.arg)
        if node.arg == "handle_unknown"
        and node.annotation is not None
        and not is_own(path, node.arg)
        for choices in choices_in(node.annotation)
    }
    assert len(found) == len(TENSOR_FUNCTIONS)
    assert all(rules == TENSOR_RULES for rules in found.values())


@pytest.mark.parametrize(("option", "default"), parameters())
def test_a_default_is_the_default_of_the_table(option, default):
    assert ast.literal_eval(default) == option.default


def test_the_signature_and_the_attributes_of_the_encoder_are_the_table():
    """The attribute `categories` is what was learned, so it is none of the options."""
    signature = inspect.signature(Encoder).parameters
    passed = {name: one.default for name, one in signature.items() if name != "columns"}
    attributes = {name for name in OPTIONS if type(vars(Encoder)[name]).__name__ == "Option"}

    assert passed == {name: option.default for name, option in OPTIONS.items()}
    assert attributes == {*OPTIONS} - {"categories"} == {*get_type_hints(Encoder)} & {*OPTIONS}
    assert {**Encoder().get_params(), "columns": 0} == {"columns": 0, **passed}


def test_the_fields_are_those_of_the_table():
    fields = [field.name for field in dataclasses.fields(ColumnOptions)]

    assert fields == [name for name, option in OPTIONS.items() if option.is_per_column]


def test_the_keywords_are_those_of_the_table():
    """Every class of keywords that holds options alone has a set of options of its own."""
    keywords = {
        node.name: [each.target.id for each in node.body if isinstance(each, ast.AnnAssign)]
        for _, node in nodes(ast.ClassDef)
        if "TypedDict" in map(ast.unparse, node.bases)
    }
    declared = [
        name
        for name in option_names(["features", "dtype", "names"])
        if not OPTIONS[name].is_threshold
    ]

    assert {name: one for name, one in keywords.items() if {*one} <= {*OPTIONS}} == {
        "ColumnKeywords": [*option_names(["features"])],
        "DeclaredKeywords": declared,
        "TableKeywords": [*OPTIONS],
    }


def test_the_parameters_of_spark_are_those_of_the_table():
    [stage] = [node for path, node in nodes(ast.ClassDef) if node.name == "_OneHotParams"]
    written = {
        each.target.id
        for each in stage.body
        if isinstance(each, ast.AnnAssign) and each.value is None
    }
    [init] = [
        each
        for _, node in nodes(ast.ClassDef)
        if node.name == "OneHotEncoder"
        for each in node.body
        if isinstance(each, ast.FunctionDef) and each.name == "__init__"
    ]
    expected = {"sep", *map(camel_case, option_names(["features", "dtype"]))}

    assert written == expected
    assert {one.arg for one in init.args.kwonlyargs} & {*NAMES} == expected


def test_a_docstring_lists_the_rules_of_the_table():
    """Every docstring that lists the choices of an option lists exactly those of the table."""
    listed = re.compile(r"^ *([\w, ]+?) : (\{[^}]*\})", re.M)
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    found = [
        (path.name, NAMES[name], ast.literal_eval(text))
        for path, node in nodes(kinds)
        for name, text in listed.findall(ast.get_docstring(node) or "")
        if is_own(path, name)
    ]

    assert {name for _, name, _ in found} >= {n for n, one in OPTIONS.items() if one.rules}
    assert [one for one in found if one[2] != {*OPTIONS[one[1]].rules}] == []


def test_a_docstring_of_an_accessor_lists_the_options_of_the_table():
    """A docstring that names two options beside each other names all: of a table, or of a column.

    The options of a column are those that decide its features, and its categories.
    """
    of_column = {"categories", *option_names(["features"])}
    found = [
        (path.name, {*re.findall(r"`(\w+)`", text)} & {*OPTIONS})
        for path, node in nodes((ast.ClassDef, ast.FunctionDef))
        if "integrations" in path.parts
        and (text := ast.get_docstring(node) or "")
        and re.search(r"`min_frequency`\s+and\s+`max_categories`", text)
    ]

    assert {name for name, _ in found} == {"table.py", "accessors.py", "namespaces.py"}
    for name, names in found:
        assert names - {"dtype"} == of_column or names == {*OPTIONS}, name


def test_the_page_of_forms_has_every_format():
    """The first table of the page has a row for each value of `output=` of `Encoder.transform`."""
    page = (ROOT / "docs" / "forms.md").read_text(encoding="utf-8")
    table = page.partition("| `output=` |")[2].partition("\n\n")[0]
    listed = re.findall(r'"(\w+)"', "".join(row.split("|")[1] for row in table.split("\n")[2:]))

    assert sorted(listed) == sorted(format_names())


def test_a_list_of_formats_has_every_sparse_format():
    """A docstring, or a type other than that of an overload, lists all if it lists "csr".

    Tensors have other formats: their word for "numpy" is "dense".
    """
    kinds = (ast.ClassDef, ast.FunctionDef)
    texts = [text for _, node in nodes(kinds) if (text := ast.get_docstring(node))]
    listed = [
        set(ast.literal_eval(found))
        for text in texts
        for found in re.findall(r"^ *output : (\{[^}]*\})", text, re.M)
    ]
    types = [
        {*choices}
        for _, node in nodes(ast.FunctionDef)
        if "overload" not in map(ast.unparse, node.decorator_list)
        for argument in node.args.kwonlyargs
        if argument.arg == "output" and argument.annotation is not None
        for choices in choices_in(argument.annotation)
        if isinstance(choices, tuple)
    ]

    assert len(listed) > 2
    assert len(types) > 1
    sparse = {*SPARSE_CLASSES}
    assert [
        each for each in listed + types if {"numpy", "csr"} <= each and not sparse <= each
    ] == []


def test_the_reference_says_where_each_format_is():
    """The table of the forms of output names the formats of each engine."""
    page = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
    lines = [line for line in page.splitlines() if line.startswith('| `"')]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    found: dict[str, set[str]] = {"": set(), "dask": set(), "spark": set()}
    for cells in rows:
        for engine, where in zip(found, cells[2:5], strict=True):
            names = re.findall(r'"(\w+)"', where or "") or re.findall(r'"(\w+)"', cells[0])
            found[engine] |= {*names} if "output=" in where or '"' in where else set()

    for engine, names in found.items():
        assert names == {*format_names(engine=engine)} - {"dask"}


def test_every_option_decides_one_known_subject():
    """Every option decides exactly one known subject.

    Otherwise no integration and no flag would have it.
    """
    names = [name for subject in options.SUBJECTS for name in option_names([subject])]

    assert sorted(names) == sorted(OPTIONS)

"""Every cache of the package is bounded, and listed in docs/design.md."""

import ast
from pathlib import Path

import numpy as np
import pytest

from onehot_fast import Encoder, one_hot
from onehot_fast._reports.unknown import warning_once
from onehot_fast._schema.coded_column import (
    FEW_CODES,
    MAX_CACHED_LUTS,
    CodedColumn,
    lowest_code,
)
from onehot_fast._schema.schema import MAX_CACHED_TABLES

ROOT = Path(__file__).parents[2]
MAKERS = {"cache", "lru_cache"}
EMPTY = {"dict", "list", "set", "defaultdict", "WeakKeyDictionary", "WeakValueDictionary"}
OFTEN_CONFUSED = [0.0, -0.0, 0, False, 1, 1.0, True, float("nan"), -float("nan")]


def name_of(node):
    """Return the last name in a decorator, or in the function of a call."""
    while isinstance(node, ast.Call):
        node = node.func
    return getattr(node, "attr", getattr(node, "id", None))


def caches(source):
    """Yield the names of cached functions, and of module variables that begin empty."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and MAKERS & set(map(name_of, node.decorator_list)):
            yield node.name
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            value, is_call = node.value, isinstance(node.value, ast.Call)
            is_empty = isinstance(value, ast.Dict | ast.List) and not ast.unparse(value).strip(
                "{}[]"
            )
            is_empty |= is_call and name_of(value) in EMPTY and not value.args
            if is_empty or (is_call and name_of(value) in MAKERS):
                yield ast.unparse(target)


def test_the_search_finds_each_kind():
    source = (
        "@functools.cache\ndef a(): pass\n@lru_cache(maxsize=2)\ndef b(): pass\nc = cache(len)\n"
    )
    source += "d: dict = {}\ne = WeakKeyDictionary()\nf = {1: 2}\ng = len('')\nh = []\n"
    assert [*caches(source)] == ["a", "b", "c", "d", "e", "h"]


def test_every_cache_is_listed_in_the_design():
    page = (ROOT / "docs/design.md").read_text()
    _, _, page = page.partition("## Caches")
    page, _, _ = page.partition("## Correctness")
    files = [*(ROOT / "onehot_fast").rglob("*.py"), *(ROOT / "integrations").rglob("*.py")]
    found = {name for file in files for name in caches(file.read_text())}

    assert {"_resolve_integers", "_flags", "_registered"} <= found
    assert not {name for name in found if f"`{name}`" not in page}


@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize("dtype", [None, "float64", object])
def test_a_result_does_not_depend_on_equal_values_of_earlier_calls(dtype, is_reversed):
    """The expected elements are made without the package."""
    for value in OFTEN_CONFUSED[::-1] if is_reversed else OFTEN_CONFUSED:
        for options in ({"off_value": value}, {"on_value": value}):
            got = one_hot([0, 1], 2, dtype=dtype, **{"on_value": 5, "off_value": 7} | options)
            hot, cold = options.get("on_value", 5), options.get("off_value", 7)
            expected = np.array([[hot, cold], [cold, hot]], got.dtype)

            assert got.dtype == (dtype or "float32")
            if dtype is object:
                assert [*map(repr, got.ravel())] == [*map(repr, expected.ravel())]
            else:
                assert got.tobytes() == expected.tobytes()


def test_derived_tables_are_bounded():
    """Derived tables stay within the bound of their cache, and are right after it was emptied."""
    column = CodedColumn(np.array([0, 1]), np.array([0, -1, 1], np.int32), 2)
    for start in range(3 * MAX_CACHED_LUTS):
        assert column.lut_from(start).tolist() == [start, -1, 1 + start]
        assert column.digit_lut(start).tolist() == [0, 2 * start, start]

        assert len(column.luts) <= MAX_CACHED_LUTS


def test_layouts_and_warnings_of_a_schema_are_bounded():
    encoder = Encoder(["a"]).fit({"a": ["x", "y"]})
    for i in range(3 * MAX_CACHED_TABLES):
        encoder.transform({"a": ["x"], f"other {i}": [1]})
        with warning_once(encoder.schema, i):
            pass

    assert 0 < len(encoder.schema._of_names) <= MAX_CACHED_TABLES
    assert 0 < len(encoder.schema.warned) <= MAX_CACHED_TABLES


@pytest.mark.parametrize("n_codes", [0, 1, FEW_CODES, FEW_CODES + 1, 1000])
@pytest.mark.parametrize("lowest", [-2, -1, 0, 3])
def test_the_lowest_code(n_codes, lowest):
    """It is the same for few codes, which NumPy does not compare, and for many."""
    codes = np.full(n_codes, 5, np.int32)
    codes[n_codes // 2 :][:1] = lowest
    assert lowest_code(codes) == (lowest if n_codes else 0)

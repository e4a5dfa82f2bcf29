"""pandas' own tests of the three functions, from the installed pandas, run against ours."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from redirect import run_redirected

pytest.importorskip("pandas")
pytest.importorskip("hypothesis")  # pandas' fixtures import it

pytestmark = pytest.mark.long

WHOLE = {
    "get_dummies": "pandas.tests.reshape.test_get_dummies",
    "from_dummies": "pandas.tests.reshape.test_from_dummies",
    "str_get_dummies": "pandas.tests.strings.test_get_dummies",
}
# Where one test among many others is about `Series.str.get_dummies`.
SCATTERED = (
    "pandas.tests.strings.test_api",
    "pandas.tests.strings.test_strings",
    "pandas.tests.arrays.arrow.test_string",
    "pandas.tests.extension.test_arrow",
    "pandas.tests.generic.test_finalize",
)


def source_of(module: str) -> str:
    """Return the source of a module of pandas' tests, nothing where this pandas has none."""
    parent = find_spec(module.rpartition(".")[0])
    found = find_spec(module) if parent else None
    return Path(str(found.origin)).read_text(encoding="utf-8") if found else ""


@pytest.mark.parametrize("function", WHOLE)
def test_pandas_own_module_passes(function, tmp_path):
    """Every test that pandas has for the function passes with ours in its place."""
    run_redirected("pandas_redirect", tmp_path, {function: 10}, 10, WHOLE[function])


def test_pandas_other_tests_of_str_get_dummies_pass(tmp_path):
    """The method is also tested as one of many, on empty Series and by what it refuses."""
    modules = [name for name in SCATTERED if "get_dummies" in source_of(name)]
    some = "-k", "get_dummies or empty_str_methods or api_per_dtype"

    run_redirected("pandas_redirect", tmp_path, {"str_get_dummies": 11}, 11, *modules, *some)

"""pandas' own tests of the three functions, from the installed pandas, run against ours."""

import pytest

from support.redirect import run_redirected

pytest.importorskip("pandas")
pytest.importorskip("hypothesis")  # pandas' fixtures import it

# How many tests must pass and call the function. `Series.str.get_dummies` is also tested as one
# method of many, on empty Series and by the values that it rejects.
MODULES = {
    "get_dummies": (10, ["pandas.tests.reshape.test_get_dummies"]),
    "from_dummies": (10, ["pandas.tests.reshape.test_from_dummies"]),
    "str_get_dummies": (
        21,
        [
            f"pandas.tests.strings.{name}"
            for name in ("test_get_dummies", "test_api", "test_strings")
        ]
        + ["pandas.tests.generic.test_finalize"],
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("function", MODULES)
def test_pandas_own_tests_pass(function, tmp_path):
    n_passed, modules = MODULES[function]
    chosen = "-k", "dummies or empty_str_methods or api_per_dtype"

    run_redirected("pandas_redirect", tmp_path, {function: n_passed}, n_passed, *modules, *chosen)

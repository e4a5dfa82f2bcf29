"""Every public call works on threads with the smallest stack of Linux, 16 KiB."""

import sys
from pathlib import Path

import pytest

import onehot_fast
from onehot_fast import Encoder, OneHotMatrix
from support.programs import needs_openmp, run

PROGRAM = Path(__file__).parents[1] / "support/small_stacks.py"
BEST, *OTHERS = onehot_fast.build_info()["simd_variants"]

# These describe, read or write, and start no threads.
ALONE = {
    "Check", "Column", "Estimate", "Listing", "Special", "UnknownValueError", "UnknownValueWarning",
    "Encoder", "__version__", "build_info", "cache_info", "empty_cache", "infer_shape", "columns",
    "drop", "dtype", "estimate", "expressions", "feature_names_in_", "features", "from_sklearn",
    "n_features", "n_features_in_", "get_params", "set_params", "handle_missing", "handle_unknown",
    "infrequent_categories", "load", "save", "max_categories", "min_frequency", "prefix",
    "prefix_sep", "remainder", "schema", "set_output", "summary", "to_onnx", "to_sklearn", "to_sql",
    "vocabulary", "cardinalities", "column_names", "nbytes", "ndim", "shape",
}  # fmt: skip


@needs_openmp
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have larger stacks")
@pytest.mark.parametrize(
    "variant", [BEST, *(pytest.param(each, marks=pytest.mark.long) for each in OTHERS)]
)
def test_all_calls_work_in_one_process_with_small_stacks(variant):
    """The runtime of OpenMP takes the storage of all libraries' thread variables from a stack."""
    pytest.importorskip("scipy")
    printed = run(PROGRAM.read_text(), OMP_STACKSIZE="16k", ONEHOT_FAST_SIMD=variant)

    assert printed.endswith(" calls")


def test_no_public_name_is_forgotten():
    """The program names each function and method that may start threads."""
    public = [*onehot_fast.__all__, *dir(Encoder), *dir(OneHotMatrix)]
    names = {name for name in public if not name.startswith("_")}
    program = PROGRAM.read_text()

    assert {name for name in names - ALONE if name not in program} == set()

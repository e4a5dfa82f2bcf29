"""The tests that may skip because a library is too old."""

from __future__ import annotations

# The tests that may skip, and the version of a library from which on they must not. Each uses a
# feature that needs a newer version than the lowest one that pyproject.toml allows.
MAY_SKIP = {
    ("polars", "1.32"): {
        "test_exporters.py::test_categories_beyond_every_dtype_are_never_found",
        "test_exporters.py::test_narwhals_over_other_libraries_equals_the_oracle",
        "test_exporters.py::test_expressions_of_polars_equal_the_oracle",
        "test_exporters.py::test_polars_rejects_values_whichever_features_a_query_selects",
        "test_many_columns.py::test_expressions_read_the_schema_once",
        "test_many_columns.py::test_work_is_linear_for_frames",
        "test_narwhals.py::test_frames_without_expressions_are_rejected",
        "test_narwhals.py::test_the_two_zeros_are_one_value",
        "test_type_matrix.py::test_types",
    },
    ("polars", "1.34"): {
        "test_accessors.py::test_the_function_is_the_accessor",
        "test_polars_lazy.py::TestExpr::test_a_dtype_must_declare_categories",
        "test_polars_lazy.py::TestExpr::test_an_expression_equals_the_series",
        "test_polars_lazy.py::TestFrames::test_a_column_may_have_any_name",
        "test_polars_lazy.py::TestFrames::test_a_lazy_fit_is_a_fit",
        "test_polars_lazy.py::TestFrames::test_a_missing_value_in_a_lazy_fit_is_rejected",
        "test_polars_lazy.py::TestFrames::test_an_output_may_have_any_name",
        "test_polars_lazy.py::TestFrames::test_selectors_choose_columns",
        "test_polars_lazy.py::TestFrames::test_streaming_from_a_file_into_a_file",
    },
}

"""Every type of every library comes back from every operation, or is an exception that is listed.

`library_types` reads the types from the libraries. Each operation below takes one case, or several
cases as the columns of one table. A cell of the matrix is one type and one operation. It is right
if

- decoded values and their *type* equal those of the column, and
- features equal those of the same values as Python objects in a mapping, or
- the type is nested, and the operation raises a TypeError that names the type, or
- the table of exceptions in ``docs/types.md`` has an entry for the cell. The test runs the line of
  the entry, which shows the limit of the other library, and fails if the cell has become right.

A cell does not exist if the other library has no such column: a table that Parquet cannot store, a
type that Spark, DuckDB or Dask does not read. `foreign_columns` tries their own functions without
this package, and lists each column for which they raise an error.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import pickle
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onehot_fast
from onehot_fast import Encoder
from support import foreign_columns, library_types
from support.foreign_columns import (
    FRAMES,
    N_ROWS,
    dask_settings,
    duckdb_table,
    encodable,
    existing,
    exists,
    in_one_table,
    padded,
    read_file,
    table_of,
    write_file,
)
from support.library_types import CASES, TypeCase, is_newer, unknown_types

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:ComplexHalf:UserWarning"),
]

LIBRARIES = ("arrow", "polars", "pandas", "numpy", "torch")
MODULES = {"arrow": "pyarrow"}


class NoCell(Exception):
    """The other library has no column of this type, so there is nothing to test."""


# --- the tables of cases ----------------------------------------------------------------------


@pytest.mark.parametrize("library", [*LIBRARIES, "ml_dtypes"])
def test_every_type_that_a_library_defines_has_a_case(library):
    """A new type of a newer library is listed in the summary of `make test`, and fails in CI."""
    pytest.importorskip(MODULES.get(library, library))
    if library == "ml_dtypes":
        cases = {case.name for case in CASES["numpy"]()}
        unknown = sorted({*library_types.ml_names()} - cases)
    else:
        unknown = unknown_types(library)
    if unknown and is_newer(library) and not os.environ.get("CI"):
        version = library_types.defined(library)[1]
        pytest.skip(f"{library} {version} has types without a case: {', '.join(unknown)}")
    assert unknown == []


@pytest.mark.parametrize(("probe", "library"), foreign_columns.pairs())
def test_the_columns_that_other_libraries_lack_are_listed(probe, library):
    """No column is left out that is not listed, and none is listed that is possible."""
    for package in foreign_columns.packages_of(probe, library):
        pytest.importorskip(foreign_columns.IMPORTS.get(package, package))
    found = foreign_columns.missing(probe, library)
    state = foreign_columns.versions(probe, library)
    if state == "between":
        listed = {}
        for each in ("newest", "lowest"):
            listed |= foreign_columns.recorded(probe, library, each)
        assert found.keys() - listed.keys() == set()
        return
    listed = foreign_columns.recorded(probe, library, "lowest" if state == "lowest" else "newest")
    if found != listed and state == "newer" and not os.environ.get("CI"):
        changed = ", ".join(sorted(dict(found.items() ^ listed.items())))
        pytest.skip(f"newer libraries differ in {probe} from the list of columns: {changed}")
    assert found == listed, "see foreign_columns.py, which writes the list again"


# --- what a cell is compared with -------------------------------------------------------------


def reference(case: TypeCase, declared: Sequence[Any] | None = None, **options: Any) -> Encoder:
    """Return an encoder of the same Python values; declared categories are passed as such."""
    declared = case.declared if declared is None else declared
    categories = "auto" if declared is None else {"c": list(declared)}
    return Encoder(["c"], categories=categories, **options).fit({"c": case.rows})


def expected(case: TypeCase, declared: Sequence[Any] | None = None) -> tuple[list[str], Any]:
    """Return the names and the matrix of the same Python values in a mapping."""
    encoder = reference(case, declared)
    matrix = encoder.transform({"c": case.rows}, "numpy")
    return encoder.get_feature_names_out().tolist(), matrix


def assert_encoded(encoder: Encoder, table: Any, case: TypeCase) -> None:
    """Compare the features of an encoder with those of the same Python values."""
    names, matrix = expected(case)
    assert encoder.get_feature_names_out().tolist() == names
    np.testing.assert_array_equal(encoder.transform(table, "numpy"), matrix)


def items(column: Any, library: str) -> list[Any]:
    """Return a column as Python objects; every missing value is None."""
    if library == "arrow":
        values = column.to_pylist()
    elif library == "polars":
        values = column.to_list()
    else:
        values = column.tolist()
    return [None if _is_missing(value) else value for value in values]


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False


def type_of(column: Any, library: str) -> Any:
    """Return what must be equal of the types of two columns."""
    if library == "arrow":
        return column.type
    dtype = column.dtype
    if type(dtype).__name__ == "StringDtype":
        return dtype, dtype.storage, repr(dtype.na_value)
    if type(dtype).__name__ == "CategoricalDtype":
        values = dtype.categories.dtype
        return bool(dtype.ordered), type_of(dtype.categories, library), str(values)
    return dtype


def assert_same(found: Any, wanted: Any, library: str) -> None:
    """Compare the type and the values of two columns of a library."""
    kinds = type_of(found, library), type_of(wanted, library)
    assert kinds[0] == kinds[1], f"type {kinds[0]}, expected {kinds[1]}"
    assert items(found, library) == items(wanted, library)


def assert_decoded(encoder: Encoder, encoded: Any, case: TypeCase) -> None:
    """Decode and compare with the column; a mapping gives arrays back for tensors too."""
    wanted = case.column()
    if case.library == "torch":
        wanted = wanted.numpy()
    library = "numpy" if case.library == "torch" else case.library
    assert_same(encoder.inverse_transform(encoded)["c"], wanted, library)


def assert_rejected(call: Callable[[], Any], case: TypeCase) -> None:
    """Check that a nested type raises a TypeError."""
    try:
        call()
    except TypeError:
        return
    raise AssertionError(f"{case} is not rejected")


# --- operations on one case -------------------------------------------------------------------


def fit(case: TypeCase) -> tuple[Encoder, Any]:
    table = table_of(case)
    return Encoder(["c"]).fit(table), table


def _holds_labels(dtype: Any) -> bool:
    """Tell whether a type is one of lists, whose elements are labels, but not lists again.

    A tensor is stored as a list, but its elements are numbers at fixed places.
    """
    if "shape_tensor" in str(dtype):
        return False
    if hasattr(dtype, "pyarrow_dtype"):  # pandas has no lists of extension types
        dtype = dtype.pyarrow_dtype
    else:
        dtype = getattr(dtype, "storage_type", dtype)
    element = getattr(dtype, "value_type", None) if hasattr(dtype, "value_field") else None
    element = getattr(dtype, "inner", None) if element is None else element
    return element is not None and not hasattr(element, "fields") and "map" not in str(dtype)[:3]


def check_labels(case: TypeCase) -> None:
    """Lists have the features of the same Python lists, and come back as equal lists."""
    encoder, table = fit(case)
    rows = {"c": case.rows}
    expected = Encoder(["c"]).fit(rows)
    assert [*encoder.get_feature_names_out()] == [*expected.get_feature_names_out()]
    encoded = encoder.transform(table, "numpy")
    np.testing.assert_array_equal(encoded, expected.transform(rows, "numpy"))
    decoded = encoder.inverse_transform(encoder.transform(table))
    again = encoder.transform(decoded, "numpy")
    np.testing.assert_array_equal(again, encoded)


def check_rejection(case: TypeCase) -> None:
    """`fit` of a nested type raises a TypeError that names the column and the type."""
    if _holds_labels(case.dtype):
        check_labels(case)
        return
    with pytest.raises(TypeError) as caught:
        fit(case)
    message = str(caught.value)
    dtype = getattr(case.dtype, "pyarrow_dtype", case.dtype)
    kinds = {
        re.split(r"[(<]", str(kind))[0] for kind in (dtype, getattr(dtype, "storage_type", dtype))
    }
    assert "'c'" in message, message
    assert any(kind.lower() in message.lower() for kind in kinds), message


def transform(case: TypeCase) -> None:
    encoder, table = fit(case)
    assert_encoded(encoder, table, case)


def inverse_transform(case: TypeCase) -> None:
    encoder, table = fit(case)
    assert_decoded(encoder, encoder.transform(table), case)


def inverse_transform_of_a_matrix(case: TypeCase) -> None:
    """A matrix has no library; its columns are arrays with the values of the categories."""
    encoder, table = fit(case)
    decoded = encoder.inverse_transform(encoder.transform(table, "numpy"))["c"]
    twice = Encoder(["c"], categories={"c": encoder.categories["c"]}).fit({"c": decoded})
    np.testing.assert_array_equal(
        twice.transform({"c": decoded}, "numpy"), encoder.transform(table, "numpy")
    )


def categories_of_the_type(case: TypeCase) -> None:
    """The column itself, without missing and repeated values, declares the categories."""
    distinct = case.make(list(case.values))
    encoder = Encoder(["c"], categories={"c": distinct}).fit(table_of(case))
    declared = case.declared or case.values
    if case.library == "pandas" and case.declared is None:
        declared = case.values
    if type(case.dtype).__name__ == "CategoricalDtype":
        declared = case.declared
    elif case.library in ("polars", "arrow"):
        declared = case.values  # the values of the Series, not the categories of its dtype
    names, matrix = expected(case, declared)
    assert encoder.get_feature_names_out().tolist() == names
    np.testing.assert_array_equal(encoder.transform(table_of(case), "numpy"), matrix)


def series_onehot(case: TypeCase) -> None:
    importlib.import_module(f"onehot_fast.integrations.{case.library}")
    declared = case.declared
    if case.library == "pandas" and _is_dictionary(case.dtype):
        declared = case.values  # `get_dummies` keeps the order of every dictionary
    names, matrix = expected(case, declared)
    frame = case.column().onehot()
    np.testing.assert_array_equal(numbers_of(frame, matrix), matrix)
    if case.library == "polars":
        assert frame.columns == names
    np.testing.assert_array_equal(case.column().onehot.to_numpy().astype(bool), matrix)


def _is_dictionary(dtype: Any) -> bool:
    return hasattr(getattr(dtype, "pyarrow_dtype", None), "index_type")


def frame_onehot(case: TypeCase) -> None:
    importlib.import_module(f"onehot_fast.integrations.{case.library}")
    names, matrix = expected(case)
    frame = table_of(case).onehot(["c"])
    assert [*frame.columns] == names
    np.testing.assert_array_equal(numbers_of(frame, matrix), matrix)


def numbers_of(frame: Any, matrix: Any) -> Any:
    """Return a frame as an array; early versions of polars cannot convert one without columns."""
    return frame.to_numpy() if len(frame.columns) else np.empty_like(matrix)


def arrow_encode_and_decode(case: TypeCase) -> None:
    from onehot_fast.integrations import arrow

    encoder, table = fit(case)
    names, matrix = expected(case)
    encoded = arrow.encode(table, encoder)
    assert encoded.column_names == names
    found = [column.to_pylist() for column in encoded.columns]
    assert np.array_equal(np.array(found, bool).reshape(len(names), len(table)), matrix.T)
    for layout in ("columns", "struct", "array", "tensor", "dictionary"):
        if not names and layout != "dictionary":
            continue
        decoded = arrow.decode(arrow.encode(table, encoder, layout=layout), encoder, layout=layout)[
            "c"
        ]
        if case.library == "arrow":
            assert_same(decoded, table["c"], "arrow")
        else:  # the types of Arrow differ from those of the library, the values do not
            back = Encoder(["c"], categories={"c": encoder.categories["c"]}).fit({"c": []})
            again = back.transform({"c": decoded.to_pylist()}, "numpy")
            np.testing.assert_array_equal(again, encoder.transform(table, "numpy"))


def arrow_one_hot(case: TypeCase) -> None:
    from onehot_fast.integrations import arrow

    declared = case.declared
    if case.library == "arrow" and hasattr(case.dtype, "index_type"):
        declared = case.values
    _, matrix = expected(case, declared)
    result = arrow.one_hot(case.column())
    np.testing.assert_array_equal(np.asarray(result).astype(bool), matrix)
    known = arrow.one_hot(case.column(), categories=list(case.values))
    np.testing.assert_array_equal(np.asarray(known).astype(bool), expected(case, case.values)[1])


def _labels(case: TypeCase) -> list[Any]:
    """Return values that are classes: 0, 1 or 0.0; or all values, if none is a class."""
    labels = [value for value in case.values if type(value) in (int, float) and value in (0, 1)]
    return labels or list(case.values)


def _are_classes(case: TypeCase) -> bool:
    """Whether `one_hot` takes elements of this type, by the types of NumPy."""
    return _labels(case) != list(case.values) and not _is_foreign(case)


def _is_foreign(case: TypeCase) -> bool:
    """Whether NumPy has no such numbers: those of ml_dtypes, bfloat16, long doubles."""
    dtype = case.dtype
    if case.library == "numpy":
        return dtype.isbuiltin == 2 or dtype.char == "g"
    return case.library == "torch" and not hasattr(np, str(dtype).removeprefix("torch."))


def require_array(case: TypeCase) -> None:
    """Raise `NoCell` for a column of polars that ends the conversion to NumPy with a panic."""
    if case.library == "polars":
        found = foreign_columns.missing("arrays of NumPy", "polars")
        if found.get(case.name) == "PanicException":
            raise NoCell


def one_hot(case: TypeCase) -> None:
    require_array(case)
    labels = _labels(case)
    column = case.make(labels)
    if not case.is_rejected and case.is_integer and not _is_foreign(case):
        wanted = onehot_fast.one_hot(np.array(labels, np.int64), 3)
        np.testing.assert_array_equal(onehot_fast.one_hot(column, 3), wanted)
        return
    try:
        found = onehot_fast.one_hot(column, 3)
    except (TypeError, ValueError):
        return
    wanted = onehot_fast.one_hot(np.array(labels, np.float64), 3)
    np.testing.assert_array_equal(found, wanted)


def decode(case: TypeCase) -> None:
    """Two values of the type are the elements of a matrix; or 1 and 0 are, in a frame."""
    require_array(case)
    if case.library == "numpy":
        if len(case.values) < 2 or case.dtype.kind == "T":
            raise NoCell
        on, off = case.make(list(case.values[:2]))
        matrix = onehot_fast.one_hot([1, 0, 1], 2, on_value=on, off_value=off, dtype=case.dtype)
        assert matrix.dtype == case.dtype
        np.testing.assert_array_equal(onehot_fast.decode(matrix, on_value=on), [1, 0, 1])
        return
    if not {0, 1} <= {value for value in case.values if type(value) in (int, float)}:
        raise NoCell
    zero, one = (next(v for v in case.values if v == label) for label in (0, 1))
    columns = [case.make([zero, one, zero]), case.make([one, zero, one])]
    if case.library == "arrow":
        import pyarrow as pa

        frame: Any = pa.table(columns, ["x", "y"])
    elif case.library == "polars":
        import polars as pl

        frame = pl.DataFrame({"x": columns[0], "y": columns[1]})
    else:
        import pandas as pd

        frame = pd.DataFrame({"x": columns[0], "y": columns[1]})
    np.testing.assert_array_equal(onehot_fast.decode(frame), [1, 0, 1])


def multi_hot(case: TypeCase) -> None:
    """Flat elements with offsets, by Python categories and by categories of the type."""
    elements = [*case.values, *case.values[:1]]
    offsets = [0, min(1, len(elements)), len(elements)]
    rows = [elements[:1], elements[1:]]
    wanted = onehot_fast.multi_hot(rows, categories=list(case.values))
    flat = case.make(elements)
    for categories in (list(case.values), case.make(list(case.values))):
        if type(case.dtype).__name__ in ("CategoricalDtype", "Enum"):
            categories = list(case.values)
        found = onehot_fast.multi_hot(flat, offsets=offsets, categories=categories)
        np.testing.assert_array_equal(found, wanted)
    labels = onehot_fast.distinct_labels(flat, offsets=offsets)
    found = onehot_fast.multi_hot(flat, offsets=offsets, categories=labels)
    order = onehot_fast.distinct_labels(rows)
    np.testing.assert_array_equal(found, onehot_fast.multi_hot(rows, categories=order))


def multi_hot_of_lists(case: TypeCase) -> None:
    """Lists of the type in each row, as the library has them."""
    if not exists("lists", case):
        raise NoCell
    rows = foreign_columns.rows_of_lists(case)
    wanted = onehot_fast.multi_hot(rows, categories=list(case.values))
    found = onehot_fast.multi_hot(foreign_columns.lists(case), categories=list(case.values))
    np.testing.assert_array_equal(found, wanted)


def infer_shape(case: TypeCase) -> None:
    """The shape of a column of any type, and a depth that is an element of the type."""
    column = case.column()
    assert onehot_fast.infer_shape((len(column),), 3) == (len(case.rows), 3)
    if _are_classes(case):
        depth = case.make(_labels(case)[:1])[0]
        assert onehot_fast.infer_shape((2,), depth) == (2, int(_labels(case)[0]))


def torch_functions(case: TypeCase) -> None:
    """Labels of a dtype, and results of it; a dtype that cannot be one raises a TypeError."""
    import torch

    from onehot_fast.integrations import torch as onehot_torch

    dtype, labels = case.dtype, torch.tensor([1, 0])
    classes = np.dtype(str(dtype).removeprefix("torch.")) if not _is_foreign(case) else None
    if classes is not None and classes.kind in "iuf":
        encoded = onehot_torch.one_hot(labels.to(dtype), 2)
        assert encoded.tolist() == [[0, 1], [1, 0]]
    else:
        with pytest.raises(TypeError, match=str(dtype)):
            onehot_torch.one_hot(labels.to(dtype), 2)
    if dtype == getattr(torch, "float8_e8m0fnu", None):  # it has no zero
        with pytest.raises(TypeError, match="can represent 0 and 1"):
            onehot_torch.one_hot(labels, 2, dtype=dtype)
        return
    encoded = onehot_torch.one_hot(labels, 2, dtype=dtype)
    assert encoded.dtype == dtype
    assert encoded.to(torch.complex128).real.tolist() == [[0, 1], [1, 0]]
    assert onehot_torch.decode(encoded).tolist() == [1, 0]


PAGE = Path(__file__).parents[2] / "docs" / "types.md"


@cache
def table_of_page(heading: str) -> list[list[str]]:
    """Return the cells of the rows of a table of the documentation, which begins with `heading`."""
    rows = takewhile(
        lambda row: row.startswith("|"), PAGE.read_text().partition(heading)[2].splitlines()[2:]
    )
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


def expressions_of(encoder: Encoder, frame: Any, engine: str) -> Any:
    """Return expressions, or raise `NoCell` if they reject a dtype that the documentation lists.

    Expressions compare values in another engine. They are rejected before anything is computed,
    with an error that names the dtype and the remedy.
    """
    try:
        return encoder.expressions(frame)
    except ImportError as error:  # narwhals over early versions of polars
        if "128-bit integers needs polars 1.32" in str(error):
            raise NoCell from error
        raise
    except TypeError as error:
        found = re.match(r"column 'c\d*' has dtype (\w+).*cast the column", str(error), re.DOTALL)
        rejected = {
            cells[1].strip("`")
            for cells in table_of_page("| expressions of | dtype |")
            if cells[0] in (engine, engine.partition(" over ")[0])
        }
        if found is not None and found[1] in rejected:
            raise NoCell from error
        raise


def polars_expressions(case: TypeCase) -> None:
    encoder, frame = fit(case)
    names, matrix = expected(case)
    lazy = frame.lazy()
    found = (
        lazy.select(expressions_of(encoder, lazy, "polars")).collect()
        if names
        else frame.select([])
    )
    assert found.columns == names
    np.testing.assert_array_equal(numbers_of(found, matrix), matrix)


def narwhals_frame(case: TypeCase) -> None:
    """A frame of narwhals is encoded and decoded as the one that it wraps."""
    nw = pytest.importorskip("narwhals")

    frame = nw.from_native(table_of(case), eager_only=True)
    encoder = Encoder(["c"]).fit(frame)
    assert_encoded(encoder, frame, case)
    decoded = nw.to_native(encoder.inverse_transform(encoder.transform(frame)))
    assert_same(decoded["c"], case.column(), case.library)


def narwhals_expressions(case: TypeCase) -> None:
    nw = pytest.importorskip("narwhals")

    if case.library == "pandas" and not exists("texts of dictionaries", case):
        raise NoCell
    frame = nw.from_native(table_of(case), eager_only=True)
    encoder = Encoder(["c"], handle_unknown="ignore").fit(frame)
    names, matrix = expected(case)
    if not names:
        raise NoCell
    found = frame.select(expressions_of(encoder, frame, "narwhals"))
    assert found.columns == names
    np.testing.assert_array_equal(found.to_numpy().astype(bool), matrix)


def get_dummies(case: TypeCase) -> None:
    """Our function equals that of pandas; where pandas raises an error, it may return a result."""
    import pandas as pd

    from onehot_fast.integrations.pandas import get_dummies as fast

    if exists("get_dummies of a frame", case):
        wanted = foreign_columns.dummies_of_a_frame(case)
        pd.testing.assert_frame_equal(fast(table_of(case), columns=["c"]), wanted)
    if exists("get_dummies of a Series", case):
        wanted = foreign_columns.dummies_of_a_series(case)
        pd.testing.assert_frame_equal(fast(case.column()), wanted)


def sklearn_encoder(case: TypeCase) -> None:
    """Our class equals that of scikit-learn; where it raises an error, ours may return a result."""
    from onehot_fast.integrations.sklearn import OneHotEncoder

    if not exists("OneHotEncoder", case):
        raise NoCell
    original = foreign_columns.encoded_by_sklearn(case)
    data = foreign_columns.sklearn_data(case)
    ours = OneHotEncoder(sparse_output=False).fit(data)
    np.testing.assert_array_equal(ours.transform(data), original.matrix)
    assert ours.get_feature_names_out().tolist() == original.names
    found = ours.inverse_transform(original.matrix)
    assert found.dtype == original.values.dtype
    assert items(found[:, 0], "numpy") == items(original.values[:, 0], "numpy")


# --- operations on several cases, as the columns of one table ---------------------------------


def together(cases: Sequence[TypeCase], check: Callable[[Any], None]) -> dict[str, str]:
    """Return the error of each case that fails; all are tried at once, then halves of them."""
    if not cases:
        return {}
    try:
        check(cases)
    except Exception as error:
        if len(cases) == 1:
            return {cases[0].name: _described(error)}
    else:
        return {}
    half = len(cases) // 2
    return together(cases[:half], check) | together(cases[half:], check)


def _described(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}"


def features_of(columns: dict[str, list[Any]], given: dict[str, Any]) -> tuple[list[str], Any]:
    """Return the names and the matrix of columns of Python values.

    `given` has the declared categories of some of them.
    """
    names: list[str] = []
    blocks: list[Any] = [np.empty((N_ROWS, 0), bool)]
    for name, rows in columns.items():
        declared = given.get(name)
        categories = "auto" if declared is None else {name: list(declared)}
        one = Encoder([name], categories=categories).fit({name: rows})
        names += one.get_feature_names_out().tolist()
        blocks.append(one.transform({name: rows}, "numpy"))
    return names, np.hstack(blocks)


def assert_columns(
    encoder: Encoder, matrix: Any, columns: dict[str, list[Any]], **given: Any
) -> None:
    """Compare the features of several columns with those of the same Python values."""
    names, wanted = features_of(columns, given)
    assert encoder.get_feature_names_out().tolist() == names
    np.testing.assert_array_equal(np.asarray(matrix, bool), wanted)


def python_rows(cases: Sequence[TypeCase]) -> dict[str, list[Any]]:
    """Return the rows of `in_one_table` as Python objects."""
    return {f"c{i}": padded(case) for i, case in enumerate(cases)}


def python_categories(cases: Sequence[TypeCase]) -> dict[str, Any]:
    """Return the categories that the columns of `in_one_table` declare."""
    return {f"c{i}": case.declared for i, case in enumerate(cases)}


def rows_of(table: Any) -> dict[str, list[Any]]:
    """Return the columns of an Arrow table as Python objects.

    An engine or a file may hold a column in another type: durations become intervals in DuckDB, and
    a Parquet file has no zones. What it hands out, without this package, is what is encoded.
    """
    return {name: items(table[name], "arrow") for name in table.column_names}


def categories_of(table: Any) -> dict[str, Any]:
    """Return the categories of the ordered dictionaries of an Arrow table.

    pyarrow reads a dictionary of an extension type as an extension type of a dictionary.
    """
    found = {}
    for name, column in zip(table.column_names, table.combine_chunks().columns, strict=True):
        chunk = column.chunk(0)
        while hasattr(chunk, "storage"):
            chunk = chunk.storage
        if getattr(chunk.type, "ordered", False):
            found[name] = chunk.dictionary.to_pylist()
    return found


def rows_between(table: Any, library: str, start: int, stop: int) -> Any:
    """Return some rows of a table of a library."""
    if library == "arrow":
        return table.slice(start, stop - start)
    if library == "pandas":
        return table.iloc[start:stop].reset_index(drop=True)
    if library == "polars":
        return table[start:stop]
    return {name: column[start:stop] for name, column in table.items()}


def assert_equal_encoders(
    encoders: Sequence[Encoder], whole: Encoder, table: Any, cases: Sequence[TypeCase]
) -> None:
    """Compare encoders with one that was fitted to a table: what they encode and decode."""
    names, matrix = features_of(python_rows(cases), python_categories(cases))
    for encoder in encoders:
        assert encoder == whole
        assert encoder.get_feature_names_out().tolist() == names
        np.testing.assert_array_equal(encoder.transform(table, "numpy"), matrix)
        decoded = encoder.inverse_transform(encoder.transform(table))
        for i, case in enumerate(cases):
            wanted, library = table[f"c{i}"], case.library
            if library == "torch":  # a mapping gives arrays back
                wanted, library = wanted.numpy(), "numpy"
            assert_same(decoded[f"c{i}"], wanted, library)


def partial_fit_and_merge(cases: Sequence[TypeCase]) -> None:
    """The second part has values that the first one lacks, among them the missing value."""
    table, names = in_one_table(cases), [f"c{i}" for i in range(len(cases))]
    whole = Encoder(names).fit(table)
    bounds = ((0, 3), (3, N_ROWS))
    parts = [rows_between(table, cases[0].library, *each) for each in bounds]
    streamed = Encoder(names).partial_fit(parts[0]).partial_fit(parts[1])
    merged = Encoder(names).fit(parts[0]).merge(Encoder(names).fit(parts[1]))
    assert_equal_encoders([streamed, merged], whole, table, cases)


def json_and_pickle(cases: Sequence[TypeCase]) -> None:
    table = in_one_table(cases)
    encoder = Encoder([f"c{i}" for i in range(len(cases))]).fit(table)
    copies = [Encoder.from_json(encoder.to_json()), pickle.loads(pickle.dumps(encoder))]
    assert_equal_encoders(copies, encoder, table, cases)


def dask_frame_of(cases: Sequence[TypeCase]) -> tuple[Any, Any]:
    """Return a frame of Dask with a column for each case, and the same frame of pandas."""
    dd = pytest.importorskip("dask.dataframe")

    whole = in_one_table(cases)
    return dd.from_pandas(whole, npartitions=2, sort=False), whole


def dask_frame(cases: Sequence[TypeCase]) -> None:
    with dask_settings():
        frame, whole = dask_frame_of(cases)
        encoder = Encoder([*whole.columns]).fit(frame)
        encoded = encoder.transform(frame).compute()
        names, matrix = features_of(python_rows(cases), python_categories(cases))
        assert encoder == Encoder([*whole.columns]).fit(whole)
        assert encoded.columns.tolist() == names
        np.testing.assert_array_equal(encoded.to_numpy().reshape(matrix.shape), matrix)


def dask_decoded(cases: Sequence[TypeCase]) -> None:
    """Frames and Arrays are decoded; the dtype follows from the encoder alone.

    A dtype without missing values is promised by an encoder that rejects them; for other encoders,
    the column has dtype object, and the same values.
    """
    for has_missing in (True, False):
        some = [case for case in cases if case.has_missing is has_missing]
        if not some:
            continue
        with dask_settings():
            frame, whole = dask_frame_of(some)
            encoder = Encoder([*whole.columns]).fit(frame)
            strict = encoder
            if not has_missing:
                strict = Encoder([*whole.columns], handle_missing="error").fit(frame)
                decoded = encoder.inverse_transform(encoder.transform(frame))
                assert {*decoded.dtypes, *decoded.compute().dtypes} == {np.dtype(object)}
                for name in whole.columns:
                    assert decoded.compute()[name].tolist() == whole[name].tolist()
            for form in (None, "numpy"):
                decoded = strict.inverse_transform(strict.transform(frame, form))
                computed = decoded.compute()
                for name in whole.columns:
                    assert_same(computed[name], whole[name], "pandas")
                    assert type_of(decoded._meta[name], "pandas") == type_of(whole[name], "pandas")


def duckdb_sql(cases: Sequence[TypeCase]) -> None:
    table = in_one_table(cases)
    with duckdb_table(cases) as connection:
        encoder = Encoder(table.column_names).fit(table)
        names = encoder.get_feature_names_out().tolist()
        if not names:
            return
        result = connection.execute(encoder.to_sql("duckdb", table="t"))
        assert [column[0] for column in result.description] == names
        rows = result.fetchall()
        assert_columns(encoder, rows, python_rows(cases), **python_categories(cases))


def duckdb_relation(cases: Sequence[TypeCase]) -> None:
    """A relation is read as a table; its own types are those of DuckDB."""
    with duckdb_table(cases) as connection:
        relation = connection.sql("SELECT * FROM t")
        back = relation.to_arrow_table()
        encoder = Encoder(back.column_names).fit(relation)
        wanted = Encoder(back.column_names).fit(back)
        assert_columns(encoder, encoder.transform(relation, "numpy"), rows_of(back))
        decoded = encoder.inverse_transform(encoder.transform(relation))
        for name in back.column_names:
            assert_same(decoded[name], back[name], "arrow")
        assert wanted.get_feature_names_out().tolist() == encoder.get_feature_names_out().tolist()


def assert_lazy_expressions(
    frame: Any, table: Any, rows: dict[str, list[Any]], given: dict[str, Any], engine: str
) -> None:
    """Compare the expressions of a lazy frame of narwhals with the features of its values.

    The encoder of each column is fitted to a table with the same rows.
    """
    nw = pytest.importorskip("narwhals")

    eager = nw.from_native(table, eager_only=True)
    found: list[Any] = []
    compared: dict[str, list[Any]] = {}
    for name in frame.collect_schema().names():
        encoder = Encoder([name], handle_unknown="ignore").fit(eager.select(name).to_native())
        with contextlib.suppress(NoCell):
            found += expressions_of(encoder, frame.select(name), f"narwhals over {engine}")
            compared[name] = rows[name]
    names, matrix = features_of(compared, given)
    if names:
        result = frame.select(found).collect()
        assert result.columns == names
        np.testing.assert_array_equal(result.to_numpy().astype(bool), matrix)


def narwhals_over_duckdb(cases: Sequence[TypeCase]) -> None:
    nw = pytest.importorskip("narwhals")

    with duckdb_table(cases) as connection:
        relation = connection.sql("SELECT * FROM t")
        back = relation.to_arrow_table()
        frame = nw.from_native(relation)
        assert_lazy_expressions(frame, back, rows_of(back), categories_of(back), "DuckDB")


def narwhals_over_dask(cases: Sequence[TypeCase]) -> None:
    """Tables of a few columns, because Dask takes quadratic time for the expressions of one.

    They are computed with the default settings of Dask: by default, it takes objects for strings.
    """
    nw = pytest.importorskip("narwhals")
    dask = pytest.importorskip("dask")

    for start in range(0, len(cases), 16):
        some = cases[start : start + 16]
        with dask_settings():
            frame, whole = dask_frame_of(some)
        with dask.config.set(scheduler="synchronous"):
            rows, given = python_rows(some), python_categories(some)
            assert_lazy_expressions(nw.from_native(frame), whole, rows, given, "Dask")


def file_of(suffix: str) -> Callable[[Sequence[TypeCase]], None]:
    """Return a function that encodes and decodes a file with the command."""

    def check(cases: Sequence[TypeCase]) -> None:
        from onehot_fast.cli import main

        for path in Path().glob("*.*"):
            path.unlink()
        write_file(cases, Path(f"in.{suffix}"))
        source = read_file(Path(f"in.{suffix}"))
        # pyarrow writes intervals of pandas as structs, which no function encodes.
        nested = [name for name in source.column_names if _is_nested(source[name].type)]
        for name in nested:
            assert_command_rejects(f"in.{suffix}", name)
        source = source.drop_columns(nested)
        if not source.column_names:
            return
        columns = [part for name in source.column_names for part in ("-c", name)]
        layouts = ["columns", "dictionary"]
        for layout in layouts:
            line = ["encode", f"in.{suffix}", *columns, "--layout", layout, "--overwrite", "-q"]
            assert main([*line, "-o", f"middle.{suffix}"]) == 0
            line = ["decode", f"middle.{suffix}", "--overwrite", "-q", "-o", f"out.{suffix}"]
            assert main(line) == 0
            decoded = read_file(Path(f"out.{suffix}"))
            for name in source.column_names:
                assert_same(decoded[name], source[name], "arrow")
            if layout == "columns":
                encoded = read_file(Path(f"middle.{suffix}")).drop_columns(nested)
                matrix = [column.to_pylist() for column in encoded.columns]
                encoder = Encoder(source.column_names).fit(source)
                assert encoded.column_names == encoder.get_feature_names_out().tolist()
                matrix = np.array(matrix, bool).reshape(len(encoded.columns), N_ROWS).T
                assert_columns(encoder, matrix, rows_of(source), **categories_of(source))

    return check


def _is_nested(kind: Any) -> bool:
    import pyarrow as pa

    while isinstance(kind, pa.BaseExtensionType) or pa.types.is_dictionary(kind):
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind.storage_type
    return pa.types.is_nested(kind) and not pa.types.is_run_end_encoded(kind)


def assert_command_rejects(path: str, name: str) -> None:
    """Check that the command fails for a nested column, and names the column and the type."""
    from onehot_fast.cli import main

    with contextlib.redirect_stderr(io.StringIO()) as errors:
        assert main(["encode", path, "-c", name, "-o", f"no.{path}", "-q"]) != 0
    assert f"{name!r}: Arrow type struct" in errors.getvalue()
    assert "cannot be encoded" in errors.getvalue()


def spark_frame(spark: Any) -> Callable[[Sequence[TypeCase]], None]:
    """Return a function that encodes and decodes a Spark DataFrame."""

    def check(cases: Sequence[TypeCase]) -> None:
        table = in_one_table(cases)
        frame = spark.createDataFrame(table).coalesce(1)
        encoder = Encoder(table.column_names).fit(frame)
        encoded = encoder.transform(frame)
        names = encoder.get_feature_names_out().tolist()
        rows = [[row[name] for name in names] for row in encoded.collect()]
        assert_columns(encoder, rows, rows_of(frame.toArrow()))
        decoded = encoder.inverse_transform(encoded)
        assert decoded.dtypes == frame.dtypes
        assert decoded.collect() == frame.collect()

    return check


# --- the matrix -------------------------------------------------------------------------------

Operation = Callable[[TypeCase], None]
SINGLE: dict[str, tuple[Operation, tuple[str, ...]]] = {
    "transform": (transform, LIBRARIES),
    "inverse_transform": (inverse_transform, LIBRARIES),
    "inverse_transform of a matrix": (inverse_transform_of_a_matrix, LIBRARIES),
    "categories=": (categories_of_the_type, LIBRARIES),
    "Series.onehot": (series_onehot, ("polars", "pandas")),
    "DataFrame.onehot": (frame_onehot, ("polars", "pandas")),
    "arrow.encode and decode": (arrow_encode_and_decode, ("arrow", "polars")),
    "arrow.one_hot": (arrow_one_hot, ("arrow", "polars")),
    "one_hot": (one_hot, LIBRARIES),
    "decode": (decode, (*FRAMES, "numpy")),
    "multi_hot": (multi_hot, LIBRARIES),
    "multi_hot of lists": (multi_hot_of_lists, LIBRARIES),
    "infer_shape": (infer_shape, LIBRARIES),
    "torch functions": (torch_functions, ("torch",)),
    "expressions": (polars_expressions, ("polars",)),
    "narwhals": (narwhals_frame, FRAMES),
    "narwhals expressions": (narwhals_expressions, FRAMES),
    "get_dummies": (get_dummies, ("pandas",)),
    "sklearn.OneHotEncoder": (sklearn_encoder, ("pandas", "polars", "numpy")),
}
# The function, its libraries, and the probe of the columns that it takes.
Joined = tuple[Callable[[Sequence[TypeCase]], None], tuple[str, ...], str | None]
JOINED: dict[str, Joined] = {
    "partial_fit and merge": (partial_fit_and_merge, LIBRARIES, None),
    "JSON and pickle": (json_and_pickle, LIBRARIES, None),
    "Dask": (dask_frame, ("pandas",), "Dask"),
    "Dask, decoded": (dask_decoded, ("pandas",), "schemas of Dask"),
    "SQL in DuckDB": (duckdb_sql, ("arrow",), "DuckDB"),
    "DuckDB relation": (duckdb_relation, ("arrow",), "DuckDB"),
    "narwhals over DuckDB": (narwhals_over_duckdb, ("arrow",), "DuckDB"),
    "narwhals over Dask": (narwhals_over_dask, ("pandas",), "narwhals over Dask"),
    "command with Parquet": (file_of("parquet"), FRAMES, "Parquet"),
    "command with Arrow": (file_of("arrow"), FRAMES, "Arrow files"),
}


# Operations that read no column: `fit` may reject the type, and they still accept it.
WITHOUT_A_COLUMN = {"one_hot", "decode", "infer_shape", "torch functions"}


def cells(operations: Any) -> list[Any]:
    """Return a parameter for each library and operation."""
    return [
        pytest.param(library, name, id=f"{library}-{name.replace(' ', '_')}")
        for name, (_, libraries, *_) in operations.items()
        for library in libraries
    ]


def attempt(case: TypeCase, name: str) -> str | None:
    """Return the error of a cell, or None if the cell is right or does not exist."""
    is_accepted = name in SINGLE and (case.is_column or name in WITHOUT_A_COLUMN)
    operation = SINGLE[name][0] if is_accepted else check_rejection
    try:
        operation(case)
    except NoCell:
        return None
    except ImportError:
        raise  # a library is too old for the whole operation: `may_skip` lists the test
    except Exception as error:
        return _described(error)
    return None


@dataclass(frozen=True)
class Limit:
    """An entry of the table of exceptions: a cell that another library makes impossible."""

    library: str
    type: str
    operation: str
    reason: str
    line: str  # an expression without this package, which shows the limit
    result: str  # the text of its value, or the name of the exception that it raises


@cache
def limits() -> tuple[Limit, ...]:
    """Return the entries of the table of exceptions in the documentation."""
    rows = table_of_page("| Library | Type | Operation |")
    return tuple(Limit(*(cell.strip("`").replace(r"\|", "|") for cell in cells)) for cells in rows)


def known_limits(library: str, operation: str) -> set[str]:
    """Return the types that are exceptions of an operation."""
    names = {case.name for case in encodable(library)}
    return {
        limit.type
        for limit in limits()
        if (limit.library, limit.operation) == (library, operation) and limit.type in names
    }


def report(library: str, operation: str, failures: dict[str, str]) -> None:
    """Fail unless exactly the cells that are exceptions are wrong."""
    known = known_limits(library, operation)
    wrong = {name: text for name, text in failures.items() if name not in known}
    lines = "\n".join(f"  {name}: {text}" for name, text in sorted(wrong.items()))
    assert not wrong, f"{len(wrong)} types of {library} fail in {operation}:\n{lines}"
    right = sorted(known - failures.keys())
    assert not right, f"{operation} has become right: remove {right} from {PAGE.name}"


def check_together(
    library: str, operation: str, probe: str | None, check: Callable[[Any], None]
) -> None:
    """Check the types that exist in one table, except the exceptions, each of which is alone."""
    cases = encodable(library) if probe is None else existing(probe, library)
    known = known_limits(library, operation)
    cases = [case for case in cases if case.is_column]
    failures = together([case for case in cases if case.name not in known], check)
    for case in cases:
        if case.name in known:
            failures |= together([case], check)
    report(library, operation, failures)


@pytest.mark.parametrize(("library", "operation"), cells(SINGLE))
def test_types(library, operation):
    """Each type alone."""
    pytest.importorskip(MODULES.get(library, library))
    found = {case.name: attempt(case, operation) for case in encodable(library)}
    report(library, operation, {name: text for name, text in found.items() if text is not None})


@pytest.mark.parametrize(("library", "operation"), cells(JOINED))
def test_types_in_one_table(library, operation, tmp_path, monkeypatch):
    """All types as columns of one table; if it fails, halves of it find the type."""
    pytest.importorskip(MODULES.get(library, library))
    check, _, probe = JOINED[operation]
    for package in foreign_columns.packages_of(probe, library) if probe else ():
        pytest.importorskip(foreign_columns.IMPORTS.get(package, package))
    monkeypatch.chdir(tmp_path)
    check_together(library, operation, probe, check)


@pytest.mark.spark
def test_types_in_spark(spark):
    """A Spark DataFrame of all types of Arrow that Spark reads."""
    pytest.importorskip("pyarrow")
    check_together("arrow", "Spark", "schemas of Spark", spark_frame(spark))


@pytest.mark.parametrize("library", LIBRARIES)
def test_nested_types_are_rejected(library):
    """`fit` raises a TypeError for structs, maps, unions and raw memory; lists have labels."""
    pytest.importorskip(MODULES.get(library, library))
    rejected = [case for case in CASES[library]() if case.is_rejected]
    found = {case.name: attempt(case, "rejection") for case in rejected}
    report(library, "rejection", {name: text for name, text in found.items() if text})


def test_every_exception_shows_a_limit_of_another_library():
    """The line of each entry has the stated result, or raises the stated exception."""
    names = {"np": "numpy", "pa": "pyarrow", "pc": "pyarrow.compute", "pl": "polars"}
    names |= {"pd": "pandas", "nw": "narwhals", "torch": "torch", "duckdb": "duckdb"}
    names |= {"pickle": "pickle"}
    found = {short: pytest.importorskip(module) for short, module in names.items()}
    operations = {"Spark", *SINGLE, *JOINED}
    for limit in limits():
        assert limit.library in CASES
        assert limit.operation in operations, limit
        assert "onehot_fast" not in limit.line
        try:
            shown = repr(eval(limit.line, dict(found)))
        except Exception as error:
            shown = type(error).__name__
        assert shown == limit.result, limit


def test_rejected_types_are_documented():
    """The page names each class of types that `fit` rejects."""
    text = PAGE.read_text()
    for name in ("list", "struct", "map", "union", "void", "ml_dtypes", "bfloat16", "multi_label"):
        assert name in text

"""Labels and categories are read from every container, through every function that takes them.

Each container holds the values of a list, and the result must be that of the list. A container
whose elements could never equal a category, such as a matrix of tensors, raises an error.
"""

from __future__ import annotations

import array
import collections
import warnings
from typing import Any

import numpy as np
import pytest

import onehot_fast
from onehot_fast import Encoder, distinct_labels, infer_shape, multi_hot, one_hot

NUMBERS = [2, 0, 1, 0]
TEXTS = ["b", "a", "é", "a"]


class Capsule:
    """A column with Arrow data and nothing else, as any library may return."""

    def __init__(self, values):
        self._array = pytest.importorskip("pyarrow").array(values)

    def __arrow_c_array__(self, requested_schema=None):
        return self._array.__arrow_c_array__(requested_schema)


class DLPack:
    """An array that has the DLPack protocol, and no other."""

    def __init__(self, values):
        self._array = np.array(values)

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def library(name, make):
    """Return a function that imports a library and makes a container of it."""
    return lambda values: make(pytest.importorskip(name), values)


def jax_array(jax, values):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the lack of a GPU
        return jax.numpy.asarray(values)


def arrow_dictionary(pa, values):
    return pa.array(values).dictionary_encode()


# Containers of any values, of numbers, and of texts.
ANY = {
    "list": list,
    "tuple": tuple,
    "deque": collections.deque,
    "values of a dict": lambda values: dict(enumerate(values)).values(),
    "generator": lambda values: (value for value in values),
    "NumPy": np.array,
    "NumPy objects": lambda values: np.array(values, object),
    "NumPy scalars": lambda values: list(np.array(values)),
    "NumPy arrays without dimensions": lambda values: [np.array(value) for value in values],
    "Arrow": library("pyarrow", lambda pa, values: pa.array(values)),
    "Arrow in chunks": library("pyarrow", lambda pa, v: pa.chunked_array([v[:1], v[1:]])),
    "Arrow scalars": library("pyarrow", lambda pa, values: [pa.scalar(v) for v in values]),
    "an Arrow list": library("pyarrow", lambda pa, values: pa.scalar(values)),
    "PyCapsule": Capsule,
    "pandas": library("pandas", lambda pd, values: pd.Series(values, index=values)),
    "pandas Index": library("pandas", lambda pd, values: pd.Index(values)),
    "pandas objects": library("pandas", lambda pd, values: pd.Series(values, dtype=object)),
    "pandas nullable": library("pandas", lambda pd, v: pd.Series(v).convert_dtypes()),
    "pandas array": library("pandas", lambda pd, values: pd.array(values)),
    "polars": library("polars", lambda pl, values: pl.Series(values)),
    "narwhals": library(
        "narwhals",
        lambda nw, v: nw.from_native(pytest.importorskip("polars").Series(v), series_only=True),
    ),
    "nanoarrow": library("nanoarrow", lambda na, v: na.Array(Capsule(v))),
}
OF_NUMBERS = {
    "memoryview": lambda values: memoryview(np.array(values)),
    "array.array": lambda values: array.array("q", values),
    "bytearray": bytearray,
    "DLPack": DLPack,
    "torch": library("torch", lambda torch, values: torch.tensor(values)),
    "torch int8": library("torch", lambda torch, values: torch.tensor(values, dtype=torch.int8)),
    "torch with strides": library("torch", lambda torch, v: torch.tensor([v, v]).T[:, 0]),
    "torch scalars": library("torch", lambda torch, values: [torch.tensor(v) for v in values]),
    "jax": library("jax", jax_array),
    "pandas int8 of Arrow": library("pandas", lambda pd, v: pd.Series(v, dtype="int8[pyarrow]")),
    "Arrow of int8": library("pyarrow", lambda pa, values: pa.array(values, pa.int8())),
}
OF_TEXTS = {
    "NumPy StringDType": lambda values: np.array(values, np.dtypes.StringDType()),
    "Arrow views": library("pyarrow", lambda pa, values: pa.array(values, pa.string_view())),
    "polars Categorical": library("polars", lambda pl, v: pl.Series(v, dtype=pl.Categorical)),
}
CONTAINERS = [
    pytest.param(make, values, id=f"{name} of {kind}")
    for containers, kinds in (
        (ANY, {"numbers": NUMBERS, "texts": TEXTS}),
        (OF_NUMBERS, {"numbers": NUMBERS}),
        (OF_TEXTS, {"texts": TEXTS}),
    )
    for kind, values in kinds.items()
    for name, make in containers.items()
]
of_any_container = pytest.mark.parametrize(("make", "values"), CONTAINERS)
of_numbers = pytest.mark.parametrize(
    "make", [pytest.param(m, id=name) for name, m in (ANY | OF_NUMBERS).items()]
)


def distinct(values):
    return list(dict.fromkeys(values))


def has_items_once(make):
    return make is ANY["generator"]


@of_any_container
def test_an_encoder_takes_categories_of_any_container(make, values):
    known = distinct(values)
    encoder = Encoder(categories={"c": make(known)}).fit({"c": values})
    expected = Encoder(categories={"c": known}).fit({"c": values})

    assert encoder == expected
    assert [*map(type, encoder.categories["c"])] == [*map(type, expected.categories["c"])]
    np.testing.assert_array_equal(
        encoder.transform({"c": values}, "numpy"), expected.transform({"c": values}, "numpy")
    )


@of_any_container
def test_multi_hot_takes_categories_of_any_container(make, values):
    known, rows = distinct(values), [values[:1], values[1:]]
    found = multi_hot(rows, categories=make(known))
    np.testing.assert_array_equal(found, multi_hot(rows, categories=known))


@of_any_container
def test_labels_may_be_elements_of_any_container(make, values):
    """`multi_hot` with categories and `distinct_labels` take elements in any container."""
    offsets, rows = [0, 1, 4], [values[:1], values[1:]]
    known = distinct(values)
    found = multi_hot(make(values), offsets=offsets, categories=known)
    np.testing.assert_array_equal(found, multi_hot(rows, categories=known))

    labels = distinct_labels(make(values), offsets=offsets)
    assert labels.tolist() == distinct_labels(rows).tolist() == sorted(known)


@of_numbers
def test_one_hot_takes_classes_of_any_container(make):
    """Integers without categories are classes."""
    found = multi_hot(make(NUMBERS), 3, offsets=[0, 1, 4])
    np.testing.assert_array_equal(found, [[0, 0, 1], [1, 1, 0]])
    inferred = multi_hot(make(NUMBERS), offsets=[0, 1, 4])
    np.testing.assert_array_equal(inferred, found)


@of_numbers
def test_offsets_may_be_any_container(make):
    found = multi_hot([2, 0, 1], 3, offsets=make([0, 1, 3]))
    np.testing.assert_array_equal(found, [[0, 0, 1], [1, 1, 0]])


@of_any_container
def test_rows_may_be_any_container(make, values):
    """Each row is a container of its own."""
    parts, known = [values[:1], values[1:]], distinct(values)
    found = multi_hot([make(part) for part in parts], categories=known)
    np.testing.assert_array_equal(found, multi_hot(parts, categories=known))
    labels = distinct_labels([make(part) for part in parts])
    assert labels.tolist() == sorted(known)


@of_any_container
def test_series_of_containers_are_rows_of_labels(make, values):
    """Series of containers, read by the accessor; `categories=` may be any container as well."""
    pd = pytest.importorskip("pandas")
    import onehot_fast.integrations.pandas  # noqa: F401  registers the accessor

    objects = np.empty(2, object)
    objects[0], objects[1] = make(values[:1]), make(values[1:])
    rows = pd.Series(objects)
    frame = rows.onehot.multi_hot(categories=make(distinct(values)))
    expected = multi_hot([values[:1], values[1:]], categories=distinct(values))
    assert frame.columns.tolist() == distinct(values)
    np.testing.assert_array_equal(frame.to_numpy(), expected)


@of_any_container
def test_a_mapping_takes_columns_of_any_container(make, values):
    if has_items_once(make):
        pytest.skip("a column is read several times")
    expected = Encoder(["c"]).fit({"c": values})
    tables: list[Any] = [{"c": make(values)}]
    if make is not ANY["nanoarrow"] and hasattr(make(values), "__iter__"):
        tables.append([{"c": item} for item in make(values)])
    for table in tables:
        encoder = Encoder(["c"]).fit(table)
        assert encoder == expected
        np.testing.assert_array_equal(
            expected.transform(table, "numpy"), expected.transform({"c": values}, "numpy")
        )


@of_any_container
def test_arrow_one_hot_takes_categories_of_any_container(make, values):
    pa = pytest.importorskip("pyarrow")
    from onehot_fast.integrations import arrow

    found = arrow.one_hot(pa.array(values), categories=make(distinct(values)))
    expected = arrow.one_hot(pa.array(values), categories=distinct(values))
    np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))


@of_numbers
def test_ignore_index_takes_any_container(make):
    """NumPy's `one_hot` and torch's both take `ignore_index` as any container of numbers."""
    found = one_hot([0, 1, 2], 3, ignore_index=make([1, 2]))
    np.testing.assert_array_equal(found, [[1, 0, 0], [0, 0, 0], [0, 0, 0]])
    torch = pytest.importorskip("torch")
    from onehot_fast.integrations import torch as onehot_torch

    tensor = torch.tensor([0, 1, 2])
    np.testing.assert_array_equal(onehot_torch.one_hot(tensor, 3, ignore_index=make([1, 2])), found)


SCALARS = {
    "NumPy": np.int8,
    "NumPy without dimensions": np.array,
    "Arrow": library("pyarrow", lambda pa, value: pa.scalar(value)),
    "torch": library("torch", lambda torch, value: torch.tensor(value)),
    "jax": library("jax", jax_array),
}


@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in SCALARS.items()])
def test_scalars_of_any_library_are_accepted(make):
    """A scalar of any library is one label, one depth, one ignored label, one dropped category."""
    np.testing.assert_array_equal(one_hot([0, 1], make(2), ignore_index=make(1)), [[1, 0], [0, 0]])
    assert infer_shape((4,), make(3)) == (4, 3)
    encoder = Encoder(["c"], drop={"c": make(2)}).fit({"c": [1, 2]})
    assert encoder.get_feature_names_out().tolist() == ["c_1"]
    known = Encoder(["c"]).fit({"c": [1, 2]})
    one_row = known.transform([{"c": make(2)}], "numpy")
    np.testing.assert_array_equal(one_row, [[False, True]])
    decoded = known.inverse_transform(np.zeros((1, 2)), missing=make(5))
    assert decoded["c"].tolist() == [5]
    assert multi_hot([[make(1)], []], 2).tolist() == [[0, 1], [0, 0]]
    torch = pytest.importorskip("torch")
    from onehot_fast.integrations import torch as onehot_torch

    found = onehot_torch.one_hot(torch.tensor([0, 1]), 2, ignore_index=make(1))
    assert found.tolist() == [[1, 0], [0, 0]]


@pytest.mark.parametrize("rows", [[[0, None], [1]], [[0, np.nan], [1]], [[None, 0], None, [1]]])
@pytest.mark.parametrize("options", [{"depth": 3}, {"categories": [0, 1, 2]}, {}])
def test_missing_labels_are_skipped(rows, options):
    """Beside integer classes too, with or without a depth."""
    present = [
        [label for label in row or [] if label == label and label is not None] for row in rows
    ]
    if not options:
        options = {"depth": None}
    np.testing.assert_array_equal(multi_hot(rows, **options), multi_hot(present, **options))
    counts = multi_hot(rows, **options, mode="count", out_of_range="error")
    np.testing.assert_array_equal(counts, multi_hot(present, **options, mode="count"))
    pa = pytest.importorskip("pyarrow")
    if not any(label != label for row in rows for label in row or []):
        np.testing.assert_array_equal(
            multi_hot(pa.array(rows), **options), multi_hot(present, **options)
        )


def matrices() -> dict[str, Any]:
    return {
        "NumPy": np.array,
        "torch": library("torch", lambda torch, rows: torch.tensor(rows)),
        "jax": library("jax", jax_array),
        "memoryview": lambda rows: memoryview(np.array(rows)),
        "DLPack": DLPack,
        "Arrow lists": library("pyarrow", lambda pa, rows: pa.array(rows)),
        "Arrow list scalars": library("pyarrow", lambda pa, rows: list(pa.array(rows))),
        "tensors": library("torch", lambda torch, rows: [torch.tensor(row) for row in rows]),
    }


@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in matrices().items()])
def test_matrices_of_labels_may_be_any_container(make):
    rows = [[0, 2], [1, 1]]
    for options in ({"depth": 3}, {"categories": [2, 1, 0]}):
        np.testing.assert_array_equal(multi_hot(make(rows), **options), multi_hot(rows, **options))
    assert distinct_labels(make(rows)).tolist() == [0, 1, 2]


def test_labels_of_a_library_are_no_codes():
    """The texts of a list column, without categories, have no classes: their codes are ours."""
    pa = pytest.importorskip("pyarrow")
    pl = pytest.importorskip("polars")
    for rows in (pa.array([["b", "a"], ["a"]]), pl.Series([["b", "a"], ["a"]])):
        with pytest.raises(TypeError, match="distinct_labels"):
            multi_hot(rows)
    with pytest.raises(TypeError, match="distinct_labels"):
        multi_hot(pa.array(["b", "a"]), offsets=[0, 2])


def test_codes_of_a_categorical_are_classes():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    sizes = ["S", "M", "L"]
    for flat in (pd.Categorical(["M", "S"], sizes), pl.Series(["M", "S"], dtype=pl.Enum(sizes))):
        assert multi_hot(flat, offsets=[0, 1, 2]).tolist() == [[0, 1, 0], [1, 0, 0]]


# Containers that hold no sequence of scalars, and the argument that the error must name.
WRONG = {
    "text": "ab",
    "bytes": b"ab",
    "a set": {1, 2},
    "a mapping": {1: 2},
    "a matrix": np.eye(2),
    "a tensor of rank 2": library("torch", lambda torch, _: torch.eye(2)),
    "a frame of pandas": library("pandas", lambda pd, _: pd.DataFrame({"x": [1], "y": [2]})),
    "a frame of polars": library("polars", lambda pl, _: pl.DataFrame({"x": [1], "y": [2]})),
    "a table of Arrow": library("pyarrow", lambda pa, _: pa.table({"x": [1], "y": [2]})),
    "tensors of rank 1": library("torch", lambda torch, _: [torch.tensor([1, 2])]),
    "arrays": [np.array([1, 2])],
    "Arrow arrays": library("pyarrow", lambda pa, _: [pa.array([1, 2])]),
    "bfloat16 of torch": library("torch", lambda torch, _: torch.ones(2, dtype=torch.bfloat16)),
    "a number": 3,
}


@pytest.mark.parametrize("given", [pytest.param(given, id=name) for name, given in WRONG.items()])
def test_other_objects_are_rejected(given):
    """An error names the argument if categories or offsets are text, sets, tables or the like."""
    wrong = given(None) if callable(given) else given
    for call in (
        lambda: Encoder(categories={"c": wrong}).fit({"c": [1]}),
        lambda: Encoder(categories={"c": wrong}, handle_unknown="ignore").fit({"c": [1]}),
        lambda: multi_hot([[1]], categories=wrong),
        lambda: multi_hot([[1]], categories=[1], offsets=wrong),
    ):
        with pytest.raises((TypeError, ValueError), match=r"categories|offsets"):
            call()


# Tensors without a form in NumPy, and the remedy that the error must name.
NO_ARRAYS = {
    "nested": (lambda torch: torch.nested.nested_tensor([torch.ones(2)]), "unbind"),
    "jagged": (
        lambda torch: torch.nested.nested_tensor([torch.ones(2)], layout=torch.jagged), "unbind"
    ),
    "sparse": (lambda torch: torch.ones(2).to_sparse(), "to_dense"),
    "with a gradient": (lambda torch: torch.ones(2, requires_grad=True), "detach"),
    "with a negative bit": (lambda torch: torch._neg_view(torch.ones(2)), "resolve_neg"),
    "without memory": (lambda torch: torch.ones(2, device="meta"), "CPU"),
    "bfloat16": (lambda torch: torch.ones(2, dtype=torch.bfloat16), "tensor.float"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*nested tensors:UserWarning")
@pytest.mark.parametrize(("make", "remedy"), NO_ARRAYS.values(), ids=NO_ARRAYS)
def test_tensors_without_a_numpy_form_are_rejected(make, remedy):
    """The error names the argument, and what to call."""
    tensor = make(pytest.importorskip("torch"))
    for call, name in (
        (lambda: one_hot(tensor, 3), "indices"),
        (lambda: one_hot([1], categories=tensor), "categories"),
        (lambda: multi_hot(tensor, 3), "rows"),
        (lambda: onehot_fast.decode(tensor), "tensor"),
        (lambda: Encoder(["c"]).fit({"c": tensor}), "column 'c'"),
        (lambda: Encoder().fit(tensor), "table"),
    ):
        with pytest.raises((TypeError, ValueError), match=rf"{name}.*{remedy}"):
            call()


@pytest.mark.parametrize(
    "make",
    [
        library("torch", lambda torch, _: torch.tensor([1, 2])),
        library("pyarrow", lambda pa, _: pa.array([1, 2])),
        library("polars", lambda pl, _: pl.Series([1, 2])),
        lambda _: np.array([1, 2]),
    ],
)
def test_an_array_is_no_value(make):
    """An array inside a column has no equal category; the error says where and which."""
    inner = make(None)
    for call in (
        lambda: Encoder(["c"]).fit({"c": [1, inner]}),
        lambda: Encoder(categories={"c": [1]}, handle_unknown="ignore").fit({"c": [1, inner]}),
        lambda: multi_hot([[inner]], categories=[1]),
        lambda: multi_hot([[inner]], 3),
        lambda: distinct_labels([[inner]]),
        lambda: onehot_fast.one_hot([0], 2, ignore_index=[inner]),
    ):
        with pytest.raises((TypeError, ValueError), match=r"scalar|hashable|integer"):
            call()


def test_integers_beyond_int64_beside_missing_labels():
    """They are out of range, and never wrap to a class or to a label that is skipped."""
    for rows in ([[2**63, None]], [[2**63]]):
        with pytest.raises(ValueError, match="depth must be"):
            multi_hot(rows)
        with pytest.raises(ValueError, match=r"rows\[0\]\[0\] must be in \[0, 3\)"):
            multi_hot(rows, 3, out_of_range="error")
        assert multi_hot(rows, 3).tolist() == [[0, 0, 0]]
        assert multi_hot(rows, categories=[2**63]).tolist() == [[1]]

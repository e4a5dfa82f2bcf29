"""Everybody who can encode a table, ourselves included, in the table `FORMERS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.kinds.frames import N_TAGS, FrameWork
from benchmarks.kinds.labels import Array
from benchmarks.peers.registry import OURSELVES, Call

Build = Callable[[Any, FrameWork], Call]
Read = Callable[[Any, FrameWork], Array]


@dataclass(frozen=True)
class Former:
    """A way to make one form of a table.

    ``build`` takes the imported library and the work and returns the call that is timed, ``read``
    makes an ndarray of its result, a row for each row.
    """

    name: str
    library: str
    form: str
    read: Read
    build: Build


FORMERS: dict[str, Former] = {}


def former(name: str, *, library: str, form: str, read: Read) -> Callable[[Build], Build]:
    """Enter the decorated function into the table."""

    def enter(build: Build) -> Build:
        full_name = f"{library} {name}"
        FORMERS[full_name] = Former(full_name, library, form, read, build)
        return build

    return enter


def formers(form: str) -> list[Former]:
    """Return those who make a form."""
    return [one for one in FORMERS.values() if one.form == form]


def size(result: Any) -> int:
    """Return the bytes of a result."""
    if hasattr(result, "memory_usage"):
        return int(result.memory_usage(index=False).sum())
    if hasattr(result, "indptr"):
        return int(result.data.nbytes + result.indices.nbytes + result.indptr.nbytes)
    if hasattr(result, "estimated_size"):
        return int(result.estimated_size())
    return int(np.asarray(result).nbytes)


def _ours() -> Any:
    return import_module("onehot_fast.integrations.pandas")


def _bool_frame(result: Any, work: FrameWork) -> Array:
    """Return the cells of a frame that must have these names and be Boolean."""
    if result.columns.tolist() != work.labels or set(result.dtypes) != {np.dtype(bool)}:
        raise AssertionError(f"{work.name}: other columns than asked")
    cells: Array = result.to_numpy()
    return cells


def _sparse_frame(result: Any, work: FrameWork) -> Array:
    """Return the cells of a frame that must have these names and be sparse Boolean."""
    dtype = import_module("pandas").SparseDtype(bool, False)
    if result.columns.tolist() != work.labels or set(result.dtypes) != {dtype}:
        raise AssertionError(f"{work.name}: other columns than asked")
    cells: Array = result.sparse.to_coo().toarray()
    return cells


def _tag_frame(result: Any, work: FrameWork) -> Array:
    """Return the cells of a frame that must have these names and be int64."""
    if result.columns.tolist() != work.labels or set(result.dtypes) != {np.dtype(np.int64)}:
        raise AssertionError(f"{work.name}: other columns than asked")
    cells: Array = result.to_numpy()
    return cells


def _by_name(result: Any, work: FrameWork) -> Array:
    """Return the cells of a polars frame, whose columns come as their values do."""
    cells: Array = result.select(work.labels).to_numpy()
    return cells


def _objects(result: Any, work: FrameWork) -> Array:
    cells: Array = result.to_numpy(dtype=object)
    return cells


def scattered(result: Any, work: FrameWork) -> Array:
    """Return the cells of a sparse matrix."""
    cells: Array = result.toarray()
    return cells


def itself(result: Any, work: FrameWork) -> Array:
    """Return the cells of a matrix."""
    cells: Array = result
    return cells


@former("get_dummies", library=OURSELVES, form="dense", read=_bool_frame)
def ours_dense(library: Any, work: FrameWork) -> Call:
    """Make the frame that pandas makes."""
    return _dense(_ours().get_dummies, work)


@former("DataFrame.onehot", library=OURSELVES, form="dense", read=_bool_frame)
def ours_accessor(library: Any, work: FrameWork) -> Call:
    """Make it through the accessor."""
    _ours()
    data = work.data
    return lambda: data.onehot(columns=list(data))


@former("get_dummies", library="pandas", form="dense", read=_bool_frame)
def pandas_dense(pandas: Any, work: FrameWork) -> Call:
    """Make it with pandas."""
    return _dense(pandas.get_dummies, work)


def _dense(get_dummies: Any, work: FrameWork) -> Call:
    data = work.data
    if work.source != "int64":
        return lambda: get_dummies(data)
    columns = list(data)  # numbers are encoded where they are named
    return lambda: get_dummies(data, columns=columns)


@former("to_dummies", library="polars", form="dense", read=_by_name)
def polars_dense(polars: Any, work: FrameWork) -> Call:
    """Make a frame of uint8, from polars' own columns."""
    frame = polars.DataFrame({name: _polars_column(polars, work, name) for name in work.data})
    return lambda: frame.to_dummies()


def _polars_column(polars: Any, work: FrameWork, name: str) -> Any:
    column = work.data[name]
    if work.source != "category":
        return polars.Series(column.tolist())
    return polars.Series(column.tolist(), dtype=polars.Enum(column.cat.categories.tolist()))


@former("get_dummies(sparse=True)", library=OURSELVES, form="sparse", read=_sparse_frame)
def ours_sparse(library: Any, work: FrameWork) -> Call:
    """Make the sparse frame that pandas makes."""
    get_dummies, data = _ours().get_dummies, work.data
    return lambda: get_dummies(data, sparse=True)


@former("get_dummies(sparse=True)", library="pandas", form="sparse", read=_sparse_frame)
def pandas_sparse(pandas: Any, work: FrameWork) -> Call:
    """Make it with pandas."""
    return lambda: pandas.get_dummies(work.data, sparse=True)


@former("str_get_dummies", library=OURSELVES, form="tags", read=_tag_frame)
def ours_tags(library: Any, work: FrameWork) -> Call:
    """Split the texts."""
    str_get_dummies, data = _ours().str_get_dummies, work.data
    return lambda: str_get_dummies(data)


@former("Series.onehot.multi_hot", library=OURSELVES, form="tags", read=_tag_frame)
def ours_multi_hot(library: Any, work: FrameWork) -> Call:
    """Split the texts through the accessor."""
    _ours()
    data = work.data
    return lambda: data.onehot.multi_hot("|", dtype=np.int64)


@former("str.get_dummies", library="pandas", form="tags", read=_tag_frame)
def pandas_tags(pandas: Any, work: FrameWork) -> Call:
    """Split the texts with pandas."""
    return lambda: work.data.str.get_dummies()


@former("Encoder, csr", library=OURSELVES, form="csr", read=scattered)
def ours_csr(library: Any, work: FrameWork) -> Call:
    """Transform a frame, fitted before."""
    _ours()
    transform, data = library.Encoder(dtype=np.uint8).fit(work.data).transform, work.data
    return lambda: transform(data, output="csr")


@former("by hand", library="numpy", form="csr", read=scattered)
def numpy_csr(numpy: Any, work: FrameWork) -> Call:
    """Add offsets to the codes: the columns and the number of a row's ones are known."""
    sparse = import_module("scipy.sparse")
    offsets = np.cumsum([0, *work.categories], dtype=np.int32).tolist()
    columns = [work.data[name].array for name in work.data]

    def call() -> Any:
        rows, width = len(columns[0]), len(columns)
        indices = np.empty((rows, width), np.int32)
        for i, column in enumerate(columns):
            np.add(column.codes, offsets[i], out=indices[:, i], dtype=np.int32)
        indptr = np.arange(0, rows * width + 1, width, dtype=np.int32)
        parts = np.ones(rows * width, np.uint8), indices.reshape(-1), indptr
        return sparse.csr_array(parts, shape=(rows, offsets[-1]))

    return call


@former("OneHotEncoder", library="sklearn", form="csr", read=scattered)
def sklearn_csr(library: Any, work: FrameWork) -> Call:
    """Transform a frame, fitted before."""
    return _sklearn(work, sparse_output=True)


def _sklearn(work: FrameWork, sparse_output: bool) -> Call:
    encoder = import_module("sklearn.preprocessing").OneHotEncoder
    fitted = encoder(dtype=np.uint8, sparse_output=sparse_output).fit(work.data)
    return lambda: fitted.transform(work.data)


@former("Encoder, numpy", library=OURSELVES, form="matrix", read=itself)
def ours_matrix(library: Any, work: FrameWork) -> Call:
    """Transform a frame, fitted before."""
    _ours()
    transform, data = library.Encoder(dtype=np.uint8).fit(work.data).transform, work.data
    return lambda: transform(data, output="numpy")


@former("OneHotEncoder, dense", library="sklearn", form="matrix", read=itself)
def sklearn_matrix(library: Any, work: FrameWork) -> Call:
    """Transform a frame, fitted before."""
    return _sklearn(work, sparse_output=False)


@former("get_dummies + ascontiguousarray", library="pandas", form="matrix", read=itself)
def pandas_matrix(pandas: Any, work: FrameWork) -> Call:
    """Make a frame, and of it the matrix that others take."""
    return lambda: np.ascontiguousarray(pandas.get_dummies(work.data, dtype=np.uint8).to_numpy())


@former("from_dummies", library=OURSELVES, form="undo", read=_objects)
def ours_undo(library: Any, work: FrameWork) -> Call:
    """Go back."""
    from_dummies, data = _ours().from_dummies, work.data
    return lambda: from_dummies(data, sep="_")


@former("from_dummies", library="pandas", form="undo", read=_objects)
def pandas_undo(pandas: Any, work: FrameWork) -> Call:
    """Go back with pandas."""
    return lambda: pandas.from_dummies(work.data, sep="_")


@former("multi_hot", library=OURSELVES, form="sets", read=itself)
def ours_sets(library: Any, work: FrameWork) -> Call:
    """Encode lists."""
    return lambda: library.multi_hot(work.data, N_TAGS, dtype=np.uint8)


@former("MultiLabelBinarizer", library="sklearn", form="sets", read=itself)
def sklearn_sets(library: Any, work: FrameWork) -> Call:
    """Transform lists, fitted before."""
    binarizer = import_module("sklearn.preprocessing").MultiLabelBinarizer
    transform, data = binarizer(classes=range(N_TAGS)).fit(work.data).transform, work.data
    return lambda: transform(data)

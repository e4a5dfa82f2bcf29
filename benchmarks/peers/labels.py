"""Columns with several labels in a row, by the libraries that encode them.

Each row has `IN_A_ROW` of `N_LABELS` labels. What a library cannot read is converted before.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.kinds.frames import IN_A_ROW, N_LABELS, FrameWork, label_names
from benchmarks.kinds.labels import Array
from benchmarks.peers.estimators import estimators
from benchmarks.peers.forms import former
from benchmarks.peers.registry import OURSELVES, Call

COLUMN = "labels"


def _read(result: Any, work: FrameWork) -> Array:
    """Return the features of each row of a matrix or frame of zeros and ones."""
    rows: Array
    if hasattr(result, "tocoo"):
        cells = result.tocoo()
        rows, features, values = cells.row, cells.col, cells.data
    else:
        cells = np.asarray(result)
        rows, features = cells.nonzero()
        values = cells[rows, features]
    if cells.shape != (len(work.codes[0]), N_LABELS):
        raise AssertionError(f"{work.name}: {cells.shape} is the wrong shape")
    order = np.lexsort((features, rows))
    if not np.array_equal(rows[order], np.arange(cells.shape[0]).repeat(IN_A_ROW)):
        raise AssertionError(f"{work.name}: a row has not {IN_A_ROW} labels")
    if np.any(values != 1):
        raise AssertionError(f"{work.name}: other values than ones")
    found: Array = features[order].reshape(-1, IN_A_ROW)
    return found


def _table(work: FrameWork) -> Any:
    """Return a table of the library whose data the labels are."""
    if work.source == "Arrow lists":
        return import_module("pyarrow").table({COLUMN: work.data})
    if work.source == "polars lists":
        return import_module("polars").DataFrame({COLUMN: work.data})
    import_module("onehot_fast.integrations.pandas")
    return import_module("pandas").DataFrame({COLUMN: work.data})


def _encoder(library: Any, work: FrameWork, dtype: object) -> Any:
    sep = "|" if work.source == "str" else None
    return library.Encoder([COLUMN], sep=sep, dtype=dtype)


def _learned(library: Any, work: FrameWork, dtype: object, output: str | None) -> Call:
    table, encoder = _table(work), _encoder(library, work, dtype)
    return lambda: encoder.fit_transform(table, output=output)


def _known(library: Any, work: FrameWork, output: str) -> Call:
    table = _table(work)
    transform = _encoder(library, work, np.uint8).fit(table).transform
    return lambda: transform(table, output)


def _multi_hot(library: Any, work: FrameWork, output: str) -> Call:
    options = {"categories": label_names(), "dtype": np.uint8, "output": output}
    if work.source == "str":
        options["sep"] = "|"
    return lambda: library.multi_hot(work.data, **options)


def _lists(work: FrameWork) -> Any:
    """Return the labels as lists of Python."""
    if work.source == "str":
        return [text.split("|") for text in work.data]
    return work.data.to_pylist() if work.source == "Arrow lists" else work.data


def _known_binarizer(work: FrameWork, sparse_output: bool) -> Call:
    binarizer = import_module("sklearn.preprocessing").MultiLabelBinarizer
    rows = _lists(work)
    fitted = binarizer(classes=label_names(), sparse_output=sparse_output).fit(rows)
    return lambda: fitted.transform(rows)


@former("Encoder.fit_transform of labels, csr", library=OURSELVES, form="label csr", read=_read)
def ours_csr(library: Any, work: FrameWork) -> Call:
    """Learn the labels and encode them."""
    return _learned(library, work, np.uint8, "csr")


@estimators("MultiLabelBinarizer(sparse_output).fit_transform", form="label csr", read=_read)
def sparse_label_sets(module: Any, work: FrameWork) -> Call:
    """Learn the labels of lists of Python and encode them."""
    rows = _lists(work)
    return lambda: module.MultiLabelBinarizer(sparse_output=True).fit_transform(rows)


@former("TransactionEncoder, sparse", library="mlxtend", form="label csr", read=_read)
def mlxtend_csr(library: Any, work: FrameWork) -> Call:
    """Learn the labels of lists of Python and encode them."""
    make, rows = import_module("mlxtend.preprocessing").TransactionEncoder, _lists(work)
    return lambda: make().fit(rows).transform(rows, sparse=True)


@former("Encoder.fit_transform of labels", library=OURSELVES, form="label matrix", read=_read)
def ours_matrix(library: Any, work: FrameWork) -> Call:
    """Learn the labels and encode them, in the dtype of MultiLabelBinarizer."""
    return _learned(library, work, np.int64, "numpy")


@estimators("MultiLabelBinarizer().fit_transform of texts", form="label matrix", read=_read)
def dense_label_sets(module: Any, work: FrameWork) -> Call:
    """Learn the labels and encode them."""
    return lambda: module.MultiLabelBinarizer().fit_transform(work.data)


@former("TransactionEncoder", library="mlxtend", form="label matrix", read=_read)
def mlxtend_matrix(library: Any, work: FrameWork) -> Call:
    """Learn the labels and encode them, as bool."""
    make, data = import_module("mlxtend.preprocessing").TransactionEncoder, work.data
    return lambda: make().fit(data).transform(data)


@former("Encoder.fit_transform, pandas", library=OURSELVES, form="label frame", read=_read)
def ours_frame(library: Any, work: FrameWork) -> Call:
    """Learn the labels of texts and encode them, in the dtype of `str.get_dummies`."""
    return _learned(library, work, np.int64, None)


@former("str.get_dummies of labels", library="pandas", form="label frame", read=_read)
def pandas_frame(pandas: Any, work: FrameWork) -> Call:
    """Split the texts with pandas."""
    return lambda: work.data.str.get_dummies()


@former("Encoder.fit_transform, polars", library=OURSELVES, form="label bits", read=_read)
def ours_bits(library: Any, work: FrameWork) -> Call:
    """Learn the labels and make Boolean columns of polars, of one bit for each row."""
    return _learned(library, work, bool, None)


@former("explode and pivot", library="polars", form="label bits", read=_read)
def polars_pivot(polars: Any, work: FrameWork) -> Call:
    """Make the same columns, and put them into the order of the labels."""
    frame = polars.DataFrame({COLUMN: work.data})
    names = label_names()

    def call() -> Any:
        long = frame.with_row_index().explode(COLUMN).with_columns(one=True)
        wide = long.pivot(COLUMN, index="index", values="one", aggregate_function="first")
        return wide.select(names).fill_null(False)

    return call


@former("Encoder.transform of labels, csr", library=OURSELVES, form="known label csr", read=_read)
def ours_known_csr(library: Any, work: FrameWork) -> Call:
    """Encode known labels."""
    return _known(library, work, "csr")


@former("multi_hot, csr", library=OURSELVES, form="known label csr", read=_read)
def multi_hot_csr(library: Any, work: FrameWork) -> Call:
    """Encode known labels by the function for one column."""
    return _multi_hot(library, work, "csr")


@former("MultiLabelBinarizer, sparse", library="sklearn", form="known label csr", read=_read)
def sklearn_known_csr(library: Any, work: FrameWork) -> Call:
    """Encode known labels, which are lists of Python."""
    return _known_binarizer(work, sparse_output=True)


@former("Encoder.transform of labels", library=OURSELVES, form="known label matrix", read=_read)
def ours_known_matrix(library: Any, work: FrameWork) -> Call:
    """Encode known labels."""
    return _known(library, work, "numpy")


@former("multi_hot of labels", library=OURSELVES, form="known label matrix", read=_read)
def multi_hot_matrix(library: Any, work: FrameWork) -> Call:
    """Encode known labels by the function for one column."""
    return _multi_hot(library, work, "numpy")


@former("MultiLabelBinarizer, dense", library="sklearn", form="known label matrix", read=_read)
def sklearn_known_matrix(library: Any, work: FrameWork) -> Call:
    """Encode known labels, which are lists of Python."""
    return _known_binarizer(work, sparse_output=False)

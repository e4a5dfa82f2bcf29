"""One column of pandas with its categories settled, and the memory of every form of it."""

import contextlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from onehot_fast import Column, one_hot
from onehot_fast._arguments import shapes
from onehot_fast._categories.learn import code_table, learn_table, schema_of
from onehot_fast._categories.lookup import places_of
from onehot_fast._categories.options import ColumnKeywords as ColumnOptions
from onehot_fast._categories.options import resolve
from onehot_fast._categories.schema import ColumnSchema, Special
from onehot_fast._encode import outputs, scipy_sparse
from onehot_fast._encode.outputs import Coded
from onehot_fast._runtime import dispatch, parallel
from onehot_fast._runtime.memory import allocate
from onehot_fast.column import Table
from onehot_fast.integrations.pandas.read import Codes, read

__all__ = ["ColumnOptions", "Encoded", "check_names", "encode", "result_dtype"]


# Kinds of result element that pandas.get_dummies also takes, and of which 0 and 1 are values.
RESULT_KINDS = "biufc"
DEFAULTS = ColumnOptions(
    categories="auto",
    drop=None,
    handle_missing="ignore",
    handle_unknown="error",
    min_frequency=None,
    max_categories=None,
)


class Encoded(NamedTuple):
    """The rows of one column as codes, and the columns that they make.

    Attributes
    ----------
    codes : integer ndarray of shape (n_rows,)
        Without `chosen` the column in which each row is on, negative for none.
    labels : pandas.Index
        One for each column.
    chosen : Coded, optional
        What options made of the codes.
    """

    codes: Codes
    labels: "pd.Index[Any]"
    chosen: Coded | None = None

    def block(self, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """Return the (columns, rows) block."""
        if self.chosen is not None:
            return outputs.block(self.chosen, 0, 1)
        return one_hot(self.codes, len(self.labels), axis=0, dtype=dtype)

    def matrix(self, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """Return the (rows, columns) matrix."""
        if self.chosen is not None:
            return outputs.matrix(self.chosen)
        return one_hot(self.codes, len(self.labels), axis=-1, dtype=dtype)

    def csr(self, dtype: np.dtype[Any]) -> Any:
        """Return the (rows, columns) matrix without its zeros."""
        if self.chosen is not None:
            return outputs.sparse(self.chosen, "csr")
        width = len(self.labels)
        table = np.append(np.arange(width, dtype=np.int32), np.int32(-1))
        threads = parallel.resolve(None, 4 * len(self.codes))
        parts = dispatch.csr([self.codes], [table], width, dtype, threads)
        return scipy_sparse.sparse_array("csr", parts, (len(self.codes), width))

    def record_batch(self, pa: Any, names: list[str]) -> Any:
        """Return pyarrow's batch of the columns, all in one buffer."""
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"two columns would be named {twice!r}: in Arrow names are texts")
        n_rows = len(self.codes)
        columns = [
            pa.Array.from_buffers(pa.bool_(), n_rows, [None, pa.py_buffer(bits)], null_count=0)
            for bits in self._bits()
        ]
        return pa.RecordBatch.from_arrays(columns, names)

    def _bits(self) -> npt.NDArray[np.uint8]:
        """Return the columns as rows of bits, the lowest first; nobody can write to them again."""
        table = None if self.chosen is None else self.chosen.tables[0]
        shape = (len(self.labels), -(-len(self.codes) // 8))
        shapes.check_size(shape, np.uint8)
        bits, _ = allocate(shape, np.dtype(np.uint8))
        dispatch.encode_bits(self.codes, table, bits, parallel.resolve(None, bits.nbytes))
        bits.flags.writeable = False
        return bits


def encode(series: "pd.Series[Any]", dtype: np.dtype[Any], options: Mapping[str, Any]) -> Encoded:
    """Return a Series as codes, under the options of an encoder fitted to it alone."""
    unknown = sorted(set(options) - set(DEFAULTS))
    if unknown:
        raise TypeError(f"{unknown[0]!r} is no option; accepted are {', '.join(DEFAULTS)}")
    codes, levels = read(series)
    given: dict[str, Any] = {**DEFAULTS, **options}
    if all(given[option] is default for option, default in DEFAULTS.items()):
        return Encoded(codes, levels)
    name = "x0" if series.name is None else series.name
    # As declared, so that they keep pandas' order and its unobserved ones.
    column = Column(codes, levels.to_numpy(object), source="category")
    table = Table((name,), len(column), (True,), lambda _: column, lambda _: series.to_numpy())
    if not isinstance(given["drop"], Mapping):
        given["drop"] = {name: given["drop"]}  # by its column a category may be dropped, too
    chosen = resolve({**given, "dtype": dtype, "prefix": None, "prefix_sep": "_"})
    schema = schema_of(learn_table(table, (name,), chosen), chosen)
    labels = _labels(schema.columns[0], levels)
    return Encoded(codes, labels, code_table(table, schema))


def _labels(schema: ColumnSchema, levels: "pd.Index[Any]") -> "pd.Index[Any]":
    """Return what the columns stand for: the levels themselves where each column is one."""
    places = places_of(schema, levels.to_numpy(object))[:-1]
    at = {int(place): level for level, place in enumerate(places)}
    if not schema.specials and all(place in at for place in range(len(schema.labels))):
        return levels.take([at[place] for place in range(len(schema.labels))])
    names = [f"({one.value})" if isinstance(one, Special) else one for one in schema.labels]
    return pd.Index(names, tupleize_cols=False)


def result_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the NumPy dtype of the result, or refuse what cannot hold a plain 0 and 1."""
    element: np.dtype[Any] | None = None
    # np.dtype(None) would be float64, which nobody who writes None means.
    if dtype is not None:
        with contextlib.suppress(TypeError):
            element = np.dtype(dtype)
    if element is None or element.kind not in RESULT_KINDS:
        raise TypeError(f"dtype = {dtype!r} is not a NumPy Boolean, integer, float or complex")
    return element


def check_names(prefix: object, prefix_sep: object) -> None:
    """Refuse prefixes that are not text."""
    if prefix is not None and not isinstance(prefix, str):
        raise TypeError(f"prefix must be a string or None, got {type(prefix).__name__}")
    if not isinstance(prefix_sep, str):
        raise TypeError(f"prefix_sep must be a string, got {type(prefix_sep).__name__}")

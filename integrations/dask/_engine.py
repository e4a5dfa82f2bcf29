"""Fit an encoder to the partitions of a Dask collection, and encode or decode the partitions.

Tasks never modify their inputs, so a task that runs twice returns the same result.
"""

from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.dataframe.utils import has_known_categories, make_meta
from dask.highlevelgraph import HighLevelGraph
from dask.tokenize import tokenize

from onehot_fast import Encoder, Special
from onehot_fast.adapter import (
    checked_format,
    decoded_matrix,
    every_value,
    integration,
    name_key,
    name_keys,
    part_of_table,
    possible_specials,
    read_table,
    warning_once,
    with_article,
)

# The format of a partition, if the collection has another name for it.
OF_PARTITION = {"dask": "pandas"}
# The number of encoders that one task merges.
SPLIT_EVERY = 8


def learn(encoder: Encoder, table: Any) -> Encoder:
    """Return the encoder, fitted to the rows of all partitions."""
    frame = as_frame(table)
    no_rows = make_meta(frame)
    # The dtype of unknown categories contains a placeholder of Dask.
    categoricals = no_rows.select_dtypes("category").items()
    unknown = [name for name, column in categoricals if not has_known_categories(column)]
    no_rows = no_rows.astype(dict.fromkeys(unknown, object))
    # The encoder selects its columns without rows, so Dask reads only the selected columns.
    encoder.partial_fit(no_rows)
    names = list(encoder.columns or ())
    part = Encoder(**{**encoder.get_params(), "columns": names}).partial_fit(no_rows)
    learned = frame[names].reduction(
        _learn_part,
        aggregate=_merge,
        combine=_merge,
        meta=_cell(part).iloc[:0],
        split_every=SPLIT_EVERY,
        chunk_kwargs={"encoder": part},
    )
    merged = encoder.merge(*learned.compute()["encoder"])
    if encoder.get_params()["columns"] is None:
        _check_chosen(merged)
    return merged


def _check_chosen(encoder: Encoder) -> None:
    """Raise an error if a column that was chosen by default turned out to have lists of numbers.

    The columns are chosen without rows, and a column of dtype object may have lists of anything.
    """
    for column in encoder.schema.columns:
        has_lists = column.is_ragged and not column.learned.is_split
        if has_lists and column.known.family == "number":
            raise TypeError(
                f"column {column.name!r} has lists of numbers, which are encoded only if you choose"
                " them: pass columns=[...], with or without this column"
            )


def _learn_part(part: pd.DataFrame, encoder: Encoder) -> pd.DataFrame:
    """Fit a copy of the encoder to a partition, and return the copy in a frame."""
    with part_of_table():
        return _cell(encoder.merge().partial_fit(part))


def _merge(learned: pd.DataFrame) -> pd.DataFrame:
    """Merge the encoders in a frame, and return the merged encoder in a frame."""
    first, *others = learned["encoder"]
    return _cell(first.merge(*others))


def _cell(encoder: Encoder) -> pd.DataFrame:
    """Return a frame with one cell, the encoder, because a Dask reduction works on frames."""
    return pd.DataFrame({"encoder": [encoder]})


def transform(encoder: Encoder, table: Any, output: str | None, num_threads: int | None) -> Any:
    """Return the encoded collection: a DataFrame, or an Array with one block per partition."""
    frame = as_frame(table)
    form: Any = "dask" if output is None else output
    chosen = checked_format(form, "output", "dask")
    if chosen.family in ("table", "category"):
        encoder.schema.column_order(list(frame.columns)).warn_if_absent()
        return on_partitions(
            transform_part,
            frame,
            encoder,
            OF_PARTITION.get(form, form),
            num_threads,
            tokenize(frame),
        )
    needed = {*name_keys(encoder.columns or ())}
    if chosen.family == "matrix" and encoder.schema.has_other_columns:
        needed.update(name_keys(encoder.schema.fitted_names or ()))
    blocks = frame[[name for name in frame.columns if name_key(name) in needed]]
    return _array(blocks, encoder, form, num_threads)


def _array(frame: dd.DataFrame, encoder: Encoder, form: Any, num_threads: int | None) -> da.Array:
    """Return an Array whose blocks are the encoded partitions.

    Delayed calls on optimized partitions avoid two problems of ``frame.map_partitions(f,
    dask.delayed(encoder), meta=array)``. First, Dask merges partitions if few columns of a file are
    read. The Array then has fewer blocks than `frame` has partitions, and computing it fails with
    "Missing dependency" (as does ``frame.to_dask_array(lengths=True)``). Second, Dask cannot fuse a
    delayed argument with a single partition ("Cannot fuse tasks").
    """
    meta = encoder.transform(_nullable_as_float64(make_meta(frame), encoder), form)
    encode = dask.delayed(_array_part, pure=True)
    shared = dask.delayed(encoder, pure=True, traverse=False)
    token = tokenize(frame)
    parts = [
        encode(part, shared, form, meta.dtype, num_threads, token) for part in frame.to_delayed()
    ]
    name = f"onehot-{tokenize(parts)}"
    aliases = {(name, i, 0): part.key for i, part in enumerate(parts)}
    graph = HighLevelGraph.from_collections(name, aliases, dependencies=parts)
    chunks = (_known_lengths(frame, len(parts)), (meta.shape[1],))
    return da.Array(graph, name, chunks, meta=meta)


def _nullable_as_float64(no_rows: pd.DataFrame, encoder: Encoder) -> pd.DataFrame:
    """Convert nullable integer and Boolean columns to float64, except for the encoded columns."""
    encoded = {*name_keys(encoder.columns or ())}
    nullable = {
        name: "float64"
        for name, dtype in no_rows.dtypes.items()
        if name_key(name) not in encoded
        and hasattr(dtype, "numpy_dtype")
        and dtype.numpy_dtype.kind in "biu"
    }
    return no_rows.astype(nullable)


def _array_part(
    part: pd.DataFrame,
    encoder: Encoder,
    form: str,
    dtype: np.dtype[Any],
    num_threads: int | None,
    token: str,
) -> Any:
    """Encode a partition as an array of `dtype`; raise ValueError if a cast could change values."""
    matrix = transform_part(part, encoder, form, num_threads, token)
    if matrix.dtype == dtype:
        return matrix
    if np.can_cast(matrix.dtype, dtype):
        return matrix.astype(dtype)
    table, encoded = read_table(part), {*name_keys(encoder.columns or ())}
    positions = (i for i, name in enumerate(part.columns) if name_key(name) not in encoded)
    others = ((i, table.numbers(i)) for i in positions)
    position = next(i for i, x in others if x is not None and not np.can_cast(x.dtype, dtype))
    name, column = part.columns[position], part.iloc[:, position]
    state = "has nulls" if column.isna().any() else f"has dtype {column.dtype}"
    raise ValueError(
        f"column {name!r} {state} in a partition, but the result must have dtype {dtype}, which"
        " follows from frame.dtypes: convert the column before you call transform, e.g."
        f" frame.astype({{{name!r}: 'float64'}})"
    )


def on_partitions(
    work: Callable[..., Any], frame: dd.DataFrame, encoder: Encoder, *arguments: Any
) -> Any:
    """Return a lazy collection of ``work(partition, encoder, *arguments)`` for all partitions."""
    # The encoder is one key of the graph: each process unpickles it and builds its look-ups once.
    meta = work(make_meta(frame), encoder, *arguments)
    shared = dask.delayed(encoder, pure=True, traverse=False)
    return frame.map_partitions(work, shared, *arguments, meta=meta, enforce_metadata=False)


def transform_part(
    part: pd.DataFrame, encoder: Encoder, form: str, num_threads: int | None, token: str
) -> Any:
    """Return an encoded partition; if `num_threads` is None, use one thread.

    `token` identifies the collection, whose partitions warn once of unknown values in a column.
    """
    with part_of_table(), warning_once(encoder.schema, token):
        return encoder.transform(part, form, num_threads=num_threads)  # type: ignore[call-overload]


def _known_lengths(frame: dd.DataFrame, n_parts: int) -> tuple[float, ...]:
    """Return the number of rows of each partition, or NaN if Dask would have to compute it."""
    try:
        from dask.dataframe.dask_expr import _expr as expressions

        known = expressions.Lengths(frame.expr).optimize()
        if isinstance(known, expressions.Literal) and len(known.value) == n_parts:
            lengths: tuple[float, ...] = known.value
            return lengths
    except (ImportError, AttributeError):  # this API of Dask is private
        pass
    return (np.nan,) * n_parts


def inverse_transform(
    encoder: Encoder, encoded: Any, missing: Any, unknown: Any, infrequent: Any
) -> dd.DataFrame:
    """Decode a Dask collection to a DataFrame.

    The dtypes do not depend on the rows. A column has the pandas dtype that `fit` saw, if the dtype
    can represent all categories, and the values of `missing`, `unknown` and `infrequent` that may
    be decoded. Otherwise it has dtype object, or that of its categories if it has no such values.
    """
    substitutes = {
        Special.MISSING: missing, Special.UNKNOWN: unknown, Special.INFREQUENT: infrequent,
    }  # fmt: skip
    if not isinstance(encoded, da.Array):
        frame = as_frame(encoded)
        dtypes = _decoded_dtypes(make_meta(frame), encoder, substitutes)
        return on_partitions(_decode_part, frame, encoder, substitutes, dtypes)
    whole_rows = encoded.rechunk({1: -1}) if encoded.ndim == 2 else encoded
    no_rows = np.empty((0, *encoded.shape[1:]), encoded.dtype)
    dtypes = _decoded_dtypes(no_rows, encoder, substitutes)
    meta = _decode_part(no_rows, encoder, substitutes, dtypes)
    decode = dask.delayed(_decode_part, pure=True)
    shared = dask.delayed(encoder, pure=True, traverse=False)
    parts = [
        decode(block, shared, substitutes, dtypes) for block in whole_rows.to_delayed().ravel()
    ]
    with dask.config.set({"dataframe.convert-string": False}):  # objects stay objects
        # Without the check, Dask cannot make an array of such a frame ("Missing dependency").
        return dd.from_delayed(parts, meta=meta)


def _decode_part(
    part: Any, encoder: Encoder, substitutes: dict[Special, Any], dtypes: dict[Any, Any]
) -> pd.DataFrame:
    """Return the decoded partition, with the dtypes that `_decoded_dtypes` returned."""
    return _decoded_frame(part, encoder, substitutes).astype(dtypes)


def _decoded_frame(part: Any, encoder: Encoder, substitutes: dict[Special, Any]) -> pd.DataFrame:
    """Return a decoded table or matrix as a DataFrame, whose dtypes may depend on the rows."""
    if isinstance(part, pd.DataFrame):
        keywords = {special.value: value for special, value in substitutes.items()}
        frame: pd.DataFrame = encoder.inverse_transform(part, **keywords)
        return frame
    table, parts = decoded_matrix(encoder.schema, part, substitutes)
    matrix: pd.DataFrame = integration("pandas").wrap(table, parts)
    return matrix


def _decoded_dtypes(
    no_rows: Any, encoder: Encoder, substitutes: dict[Special, Any]
) -> dict[Any, Any]:
    """Return the dtypes of the decoded columns, except those that only categories determine."""
    empty = _decoded_frame(no_rows, encoder, substitutes)
    dtypes: dict[Any, Any] = {}
    for column in encoder.schema.columns:
        every = every_value(column, substitutes)
        if any(name.startswith("pandas:") for name in column.types):
            rows = read_table({column.name: np.arange(every.n_rows)})
            fitted = integration("pandas").wrap(rows, [every])[column.name].dtype
            dtypes[column.name] = fitted if fitted == empty[column.name].dtype else object
        elif possible_specials(column):
            dtypes[column.name] = object
    return dtypes


def count_rows(table: Any) -> int:
    """Compute the number of rows of a collection."""
    return len(as_frame(table))


def as_frame(table: Any) -> dd.DataFrame:
    """Return a collection as a DataFrame; raise TypeError if it is not a DataFrame or Series."""
    if isinstance(table, dd.Series):
        return table.to_frame("x0" if table.name is None else table.name)
    if isinstance(table, dd.DataFrame):
        return table
    raise TypeError(
        "the table must be a DataFrame or a Series of dask.dataframe, got"
        f" {with_article(table)}; use dask.dataframe.from_dask_array to convert an Array"
    )

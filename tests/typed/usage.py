# pyright: reportUnnecessaryTypeIgnoreComment=true
"""A program that mypy and pyright accept, except the marked lines (`make types`)."""

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy.sparse import csc_array, csr_array, csr_matrix

import onehot_fast.integrations.polars as polars_api
from onehot_fast import (
    Encoder,
    OneHotMatrix,
    decode,
    lowercase_mask,
    multi_hot,
    one_hot,
    one_hot_sequences,
    tokenize_sequences,
)
from onehot_fast.integrations import arrow
from onehot_fast.integrations.pandas import FrameAccessor, OneHotAccessor, onehot
from onehot_fast.integrations.polars import LazyFrameNamespace, SeriesNamespace

AnyArray = npt.NDArray[Any]


def tensors(out: npt.NDArray[np.int8]) -> None:
    """The dtype of the result is that of `dtype` or `out`."""
    assert_type(one_hot([0, 1], 2), AnyArray)
    assert_type(one_hot([0, 1], 2, dtype=np.uint8), npt.NDArray[np.uint8])
    assert_type(one_hot([0, 1], 2, dtype=np.dtype(np.int16), axis=0), npt.NDArray[np.int16])
    assert_type(one_hot([0, 1], 2, dtype="uint8", ignore_index=[254, 255]), AnyArray)
    assert_type(one_hot([0, 1], 2, out=out, out_of_range="error"), npt.NDArray[np.int8])
    assert_type(one_hot([0, 1], 2, label_smoothing=0.1), AnyArray)
    assert_type(one_hot([7, 8], categories=[7, 8], handle_unknown="ignore"), AnyArray)
    assert_type(one_hot([7, 8], categories=[7, 8], dtype=np.uint8), npt.NDArray[np.uint8])
    assert_type(decode(out, rule="argmax"), npt.NDArray[np.int64])
    assert_type(decode(out, categories=[7, 8], default=None), AnyArray)
    one_hot([0, 1], 2, out_of_range="clip")  # type: ignore[call-overload]
    one_hot([0, 1], 2, label_smoothing="0.1")  # type: ignore[call-overload]
    decode(out, rule="max")  # type: ignore[call-overload]


def labels() -> None:
    """The type of the result depends on `output`."""
    assert_type(multi_hot([[0, 2], [1]]), AnyArray)
    assert_type(multi_hot([[0, 2], [1]], 3, output="csr"), csr_array)
    assert_type(multi_hot([[0, 2], [1]], 3, output="csc"), csc_array)
    multi_hot([[0]], mode="sum")  # type: ignore[call-overload]


def sequences() -> None:
    """The result is a tuple if `ragged` is True."""
    assert_type(one_hot_sequences("ACGT"), AnyArray)
    assert_type(one_hot_sequences(["A"], ragged=True), tuple[AnyArray, npt.NDArray[np.int64]])
    assert_type(tokenize_sequences(["A"], pad="left"), AnyArray)
    assert_type(lowercase_mask(["A"]), npt.NDArray[np.bool_])
    one_hot_sequences("A", pad="end")  # type: ignore[call-overload]


def encoder(frame: pd.DataFrame) -> None:
    """Options are literals that an editor completes; the type of a result depends on `output`."""
    fitted = Encoder(["size"], handle_unknown="ignore", drop={"size": "M"}).fit(frame)
    assert_type(fitted, Encoder)
    assert_type(fitted.transform(frame, "numpy"), AnyArray)
    assert_type(fitted.transform(frame, "indices"), AnyArray)
    assert_type(fitted.transform(frame, output="csr"), csr_array)
    assert_type(fitted.transform(frame, output="csc"), csc_array)
    assert_type(fitted.transform(frame, output="csr_matrix"), csr_matrix)
    assert_type(fitted.transform(frame), pd.DataFrame)
    assert_type(fitted.fit_transform(frame), pd.DataFrame)
    assert_type(fitted.transform(pl.DataFrame()), pl.DataFrame)
    assert_type(fitted.fit_transform(frame, output="numpy"), AnyArray)
    assert_type(fitted.transform(frame, output="implicit"), OneHotMatrix)
    assert_type(fitted.transform(frame, output="pandas"), pd.DataFrame)
    assert_type(fitted.transform(frame, output="polars"), pl.DataFrame)
    assert_type(fitted.transform(frame, output="arrow"), pa.Table)
    Encoder(handle_missing={"size": "indicator"}, min_frequency=2, dtype={"size": "uint8"})
    assert_type(Encoder.load("sizes.json"), Encoder)
    Encoder("size", "colour")  # type: ignore[call-arg]
    Encoder(handle_unknown="ignor")  # type: ignore[arg-type]
    Encoder(drop="frist")  # type: ignore[arg-type]
    assert_type(fitted.to_sql("sqlite"), str)
    fitted.transform(frame, output="xml")  # type: ignore[call-overload]


def pandas_frames(frame: pd.DataFrame, series: "pd.Series[str]") -> None:
    """The accessors that pandas adds at run time are also a function and classes."""
    assert_type(onehot(frame), pd.DataFrame)
    assert_type(onehot(frame, ["size"], drop="first", sparse=True, num_threads=1), pd.DataFrame)
    assert_type(
        onehot(series, prefix="is", dtype="uint8", handle_missing="indicator"), pd.DataFrame
    )
    assert_type(OneHotAccessor(series)(), pd.DataFrame)
    assert_type(OneHotAccessor(series).to_numpy(), AnyArray)
    assert_type(OneHotAccessor(series).to_csr(dtype="uint8"), csr_array)
    assert_type(OneHotAccessor(series).to_arrow("is"), pa.RecordBatch)
    assert_type(OneHotAccessor(series).codes(), npt.NDArray[np.integer[Any]])
    assert_type(OneHotAccessor(series).multi_hot("|"), pd.DataFrame)
    assert_type(OneHotAccessor(series).multi_hot("|", output="csr"), csr_array)
    assert_type(FrameAccessor(frame)(["size"]), pd.DataFrame)
    assert_type(FrameAccessor(frame).to_numpy(["size"], dtype="uint8"), AnyArray)
    assert_type(FrameAccessor(frame).to_csr(["size"], remainder="drop"), csr_array)
    assert_type(FrameAccessor(frame).to_arrow(["size"]), pa.Table)
    assert_type(FrameAccessor(frame).fit(["size"], handle_unknown="ignore"), Encoder)
    onehot(frame, handle_missing="drop")  # type: ignore[call-overload]
    onehot([1, 2])  # type: ignore[call-overload]


def polars_frames(frame: pl.DataFrame, lazy: pl.LazyFrame, series: pl.Series) -> None:
    """The same for polars, also for lazy frames."""
    assert_type(polars_api.onehot(frame, ["size"], dtype=pl.UInt8, num_threads=1), pl.DataFrame)
    assert_type(polars_api.onehot(lazy, categories={"size": ["S", "M"]}), pl.LazyFrame)
    assert_type(polars_api.onehot(series, prefix="is"), pl.DataFrame)
    assert_type(polars_api.onehot(pl.col("size"), ["S", "M"], layout="struct"), pl.Expr)
    assert_type(polars_api.onehot(pl.col("size"), num_threads=1), pl.Expr)
    assert_type(SeriesNamespace(series).to_numpy(dtype=pl.UInt8), AnyArray)
    assert_type(LazyFrameNamespace(lazy).fit(["size"]), Encoder)
    polars_api.onehot(pl.col("size"), ["S"], "list")  # type: ignore[call-overload]


def arrow_tables(table: pa.Table, fitted: Encoder) -> None:
    """Layouts are literals; tables of pyarrow have no types."""
    assert_type(arrow.one_hot(table["size"], layout="columns"), arrow.OneHotArray)
    arrow.encode(table, fitted, layout="rows")  # type: ignore[arg-type]

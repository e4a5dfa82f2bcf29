"""Frames of sparse columns, and the functions beside the accessors."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
from frame_strategies import TEXT, declared, typed  # noqa: E402  after the skip above

from onehot_fast.integrations.pandas import FrameAccessor, OneHotAccessor, onehot  # noqa: E402

BARE = pd.DataFrame({"n": [1, 2, 3], "size": ["S", None, "L"], "kind": list("xyx"), "m": [0, 1, 2]})

letters = st.sampled_from(["a", "b", "c", "d", None])


@st.composite
def columns(draw: st.DrawFn) -> Any:
    """Return texts, categories or numbers with missing values."""
    n_rows = draw(st.integers(0, 20))
    numbers = st.none() | st.integers(0, 5)
    kinds = [typed(letters, TEXT, n_rows), declared(n_rows), typed(numbers, ["Int8"], n_rows)]
    return draw(st.one_of(kinds)).rename(draw(st.sampled_from([None, "size", 7])))


@given(
    series=columns(),
    prefix=st.none() | st.just("x"),
    dtype=st.sampled_from(["bool", "uint8", "float32", "float16", "complex64"]),
    drop_first=st.booleans(),
)
def test_a_series_is_that_of_get_dummies(
    series: Any, prefix: str | None, dtype: str, drop_first: bool
) -> None:
    """Values, fill values and labels."""
    drop = "first" if drop_first else None
    actual = series.onehot(prefix=prefix, dtype=dtype, sparse=True, drop=drop)

    if dtype not in ("float16", "complex64"):  # of these pandas makes other columns
        expected = pd.get_dummies(
            series.astype(object) if series.dtype == "Int8" else series,
            prefix=prefix, sparse=True, drop_first=drop_first, dtype=dtype,
        )  # fmt: skip
        pd.testing.assert_frame_equal(actual, expected, check_column_type=False)
    dense = series.onehot(prefix=prefix, dtype=dtype, drop=drop)
    assert actual.columns.tolist() == dense.columns.tolist()
    assert actual.to_numpy(dtype).tolist() == dense.to_numpy(dtype).tolist()
    assert all(isinstance(kind, pd.SparseDtype) for kind in actual.dtypes)


@given(rows=st.lists(st.tuples(letters, letters, st.integers(0, 3)), max_size=20))
def test_a_frame_is_the_dense_one(rows: Any) -> None:
    """New columns where the old ones stood, with every option; others are as they were."""
    frame = pd.DataFrame(rows, columns=["p", "n", "q"], index=range(5, 5 + len(rows)))
    frame = frame.astype({"p": object, "n": "category"})[["p", "q", "n"]]
    options = {"handle_missing": "indicator", "drop": {"n": "first"}, "dtype": {"n": "uint8"}}

    actual = frame.onehot(["p", "n"], sparse=True, **options)

    dense = frame.onehot(["p", "n"], **options)
    new = [name for name in dense if name != "q"]
    assert all(isinstance(actual[name].dtype, pd.SparseDtype) for name in new)
    pd.testing.assert_frame_equal(
        actual.astype({name: dense[name].dtype for name in new}), dense, check_dtype=bool(rows)
    )


def test_an_encoder_fills_sparse_columns() -> None:
    encoder = BARE.onehot.fit(["kind"], handle_unknown="ignore", dtype="uint8")

    frame = pd.DataFrame({"kind": ["z", "y"], "n": [1, 2]}).onehot(encoder, sparse=True)

    assert frame.to_dict("list") == {"kind_x": [0, 0], "kind_y": [0, 1], "n": [1, 2]}
    assert str(frame["kind_x"].dtype) == "Sparse[uint8, 0]"
    with pytest.raises(TypeError, match="drop= cannot be combined with an Encoder"):
        BARE.onehot(encoder, sparse=True, drop="first")


def test_nan_in_sparse_columns_is_rejected() -> None:
    """A sparse column has one fill value, and that is 0."""
    options = {"handle_missing": "propagate", "dtype": "float32", "sparse": True}
    for data in (BARE, BARE["size"]):
        with pytest.raises(ValueError, match="'propagate' is not available with sparse=True"):
            data.onehot(**options)


def test_the_function_is_the_accessor() -> None:
    """`onehot(data)` is `data.onehot()`, for those whose type checker knows no accessors."""
    for data in (BARE, BARE["size"], pd.Index(["b", "a"])):
        pd.testing.assert_frame_equal(onehot(data), data.onehot())
    encoded = onehot(BARE, ["size"], prefix="is")
    assert encoded.columns.tolist() == ["n", "is_L", "is_S", "kind", "m"]
    assert onehot(BARE["size"], prefix="is", dtype="uint8").columns.tolist() == ["is_L", "is_S"]
    assert OneHotAccessor(BARE["size"]).to_numpy().tolist() == [[0, 1], [0, 0], [1, 0]]
    assert FrameAccessor(BARE).fit(["size"]).columns == ("size",)
    with pytest.raises(TypeError, match="data must be a pandas DataFrame, Series"):
        onehot([1, 2])


def test_the_function_is_the_namespace() -> None:
    """`onehot(data)` is `data.onehot()`, for those whose type checker knows no namespaces."""
    pl = pytest.importorskip("polars")
    polars_door = pytest.importorskip("onehot_fast.integrations.polars")
    frame = pl.DataFrame({"size": ["S", "L", None], "n": [1, 2, 3]})
    for data in (frame, frame["size"]):
        assert polars_door.onehot(data).equals(data.onehot())
    encoder = polars_door.LazyFrameNamespace(frame.lazy()).fit(["size"])
    assert polars_door.onehot(frame.lazy(), encoder).collect().equals(frame.onehot(encoder))
    encoded = frame.select(
        polars_door.onehot(pl.col("size"), ["S", "L"], layout="struct", prefix="is")
    )
    assert encoded.unnest("size").columns == ["is_S", "is_L"]
    with pytest.raises(TypeError, match="data must be a polars DataFrame, LazyFrame"):
        polars_door.onehot([1])

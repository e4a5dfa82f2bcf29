"""Frames of narwhals: what comes in as a frame of narwhals goes out as one, over its library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from libraries import plain

nw = pytest.importorskip("narwhals")

import narwhals.stable.v1 as stable  # noqa: E402  after the skip above

from onehot_fast import Encoder, multi_hot  # noqa: E402

COLUMNS = {"size": ["S", "L", None, "S"], "price": [1.5, 2.0, 3.0, 2.5]}


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def native(request: pytest.FixtureRequest) -> Any:
    """Return a table of a library that has an integration."""
    module = pytest.importorskip(request.param)
    return (getattr(module, "DataFrame", None) or module.table)(COLUMNS)


@pytest.fixture(params=[nw, stable], ids=["narwhals", "stable"])
def frame(request: pytest.FixtureRequest, native: Any) -> Any:
    """Return a frame of a version of the API over the native table."""
    return request.param.from_native(native, eager_only=True)


def as_native(columns: Any) -> dict[str, list[Any]]:
    """Return the columns of a native table as lists."""
    table = nw.from_native(columns, eager_only=True).to_dict(as_series=False)
    return {name: plain(values) for name, values in table.items()}


@pytest.mark.parametrize("output", [None, "category"])
def test_a_frame_equals_its_native_table(frame, native, output):
    """Encoded and decoded, in every form."""
    encoder = Encoder(["size"], handle_missing="indicator").fit(frame)
    assert encoder.to_json() == Encoder(["size"], handle_missing="indicator").fit(native).to_json()

    encoded, expected = (encoder.transform(table, output) for table in (frame, native))
    decoded = encoder.inverse_transform(encoded)

    for found, table in ((encoded, expected), (decoded, COLUMNS)):
        assert type(found) is type(frame)
        assert type(found.to_native()) is type(native)
        assert as_native(found) == (table if table is COLUMNS else as_native(table))
    assert type(encoder.transform(frame, "polars")).__module__.startswith("polars")
    assert encoder.transform(frame, "csr").shape == (4, 4)
    codes = encoder.transform(frame, "codes")
    np.testing.assert_array_equal(codes, encoder.transform(native, "codes"))
    assert Encoder().fit(frame["size"]).get_feature_names_out().tolist() == ["size_L", "size_S"]


def test_inverse_transform_restores_the_type_of_polars():
    pl = pytest.importorskip("polars")
    frame = nw.from_native(pl.DataFrame({"c": pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"]))}))
    encoder = Encoder().fit(frame)

    decoded = encoder.inverse_transform(encoder.transform(frame))

    assert decoded.to_native().equals(frame.to_native())
    assert decoded.to_native().schema == frame.to_native().schema


def test_rows_of_labels_come_as_a_series():
    pl = pytest.importorskip("polars")
    rows = nw.from_native(pl.Series([["a"], ["b", "a"]]), series_only=True)

    matrix = multi_hot(rows, categories=["a", "b"], dtype="uint8")

    assert matrix.tolist() == [[1, 0], [1, 1]]


def test_a_lazy_frame_is_sent_to_its_expressions():
    pl = pytest.importorskip("polars")
    frame = nw.from_native(pl.LazyFrame({"size": ["S"]}))

    with pytest.raises(TypeError, match=r"no rows: pass frame\.collect\(\), or .*expressions"):
        Encoder(["size"]).fit(frame)

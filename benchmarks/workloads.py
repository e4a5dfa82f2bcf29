"""Everything that is measured, in one list: the name, the size, the data, and what is done.

asv's suites (``bench_*.py``), `benchmarks.compare`, `benchmarks.regression` and the scripts for
devices and clusters choose from `WORKLOADS` by name or by group, and define no others.
`benchmarks.kinds` draws the data and checks results, `benchmarks.peers` knows who does each task.
Two suites of `bench_tracked` make their input themselves, because its memory is part of the number.
Without other libraries, the list loads NumPy only: an older version of the package is measured by
it too.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Protocol, TypeVar

from benchmarks.kinds.codes import CodesWorkload as Codes
from benchmarks.kinds.codes import (
    bases,
    integers,
    labels_of,
    palette,
    sizes,
    small_integers,
    texts,
)
from benchmarks.kinds.files import FileWorkload
from benchmarks.kinds.frames import FrameWorkload as Frame
from benchmarks.kinds.labels import LAYOUTS, of_size
from benchmarks.kinds.labels import LabelWorkload as Labels
from benchmarks.kinds.small import Program, SmallTable
from benchmarks.kinds.written import WrittenWorkload as Written


class Workload(Protocol):
    """What every kind of workload has; how its data is drawn depends on the kind."""

    @property
    def name(self) -> str:
        """The name, which is unique."""

    @property
    def title(self) -> str:
        """What is done with how much, in one line."""


Kind = TypeVar("Kind", bound=Workload)


def by_name(*group: Kind) -> dict[str, Kind]:
    """Return workloads by their names."""
    return {workload.name: workload for workload in group}


# Labels that become a tensor, beside arrays, tensors and tables of other libraries.
LABELS = by_name(
    Labels("W1", (1_000_000,), 10, "float32"),
    Labels("W2", (1_000_000,), 100, "float32"),
    Labels("W3", (1_000_000,), 100, "uint8"),
    Labels("W4", (20_000,), 10_000, "float32"),
    Labels("W5", (8, 512, 512), 21, "float32", axis=1),
    Labels("W5-uint8", (8, 512, 512), 21, "float32", index_dtype="uint8", axis=1),
    Labels("W6", (32,), 10, "float32"),
    Labels("W7", (1_000_000,), 50, "bool"),
    Labels("W8", (10_000_000,), 3, "float32"),
    Labels("W9", (1_000_000,), 10, "float64", axis=0),
)
# Those whose first call of a process is measured too.
FIRST = ("W1", "W2", "W4", "W5")
# Beside a process that keeps one processor busy.
BUSY = by_name(
    *(
        Labels(f"{rows:,} x 10", (rows,), 10, "float32")
        for rows in (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
    )
)

# Within the second-level cache, where other processes disturb less than in memory.
SMALL_BYTES = 1 << 18
# Larger than most last-level caches, and quick to write.
LARGE_BYTES = 48 << 20
# Tensors of the cache's size, whose time is divided by that of filling the same bytes.
KERNELS = by_name(
    *(
        of_size(f"one_hot, {layout}, {dtype}, {depth} classes", layout, dtype, depth, SMALL_BYTES)
        for layout, dtype, depth in product(LAYOUTS, ("uint8", "float32"), (10, 100))
    )
)
# Large tensors: every layout, dtype and width.
GRID = by_name(
    *(
        of_size(f"{layout}, {dtype}, {depth} classes", layout, dtype, depth, LARGE_BYTES)
        for layout, dtype, depth in product(
            LAYOUTS, ("uint8", "float32", "float64"), (3, 10, 100, 1000)
        )
    )
)
# The operators under their own signatures.
OPERATORS = by_name(
    of_size("small planes", "planes", "float32", 21, 4096),
    of_size("large planes", "planes", "float32", 21, LARGE_BYTES),
)
# A few rows.
ROWS = by_name(*(Labels(f"{rows:,} rows", (rows,), 10, "float32") for rows in (1, 32, 1000)))
# For GPUs; `benchmarks.torch_devices` makes tensors of them.
DEVICES = by_name(
    Labels("10M x 10 float32", (10_000_000,), 10, "float32"),
    Labels("1M x 10 float32", (1_000_000,), 10, "float32"),
    Labels("20M x 3 uint8", (20_000_000,), 3, "uint8"),
    Labels("20M x 3 uint8, labels uint8", (20_000_000,), 3, "uint8", "uint8"),
    Labels("4M x 64 bfloat16", (4_000_000,), 64, "bfloat16"),
    Labels("1M x 1000 bfloat16", (1_000_000,), 1000, "bfloat16"),
    Labels("8192 x 50257 bfloat16", (8192,), 50257, "bfloat16"),
    Labels("8 x 512 x 512 x 21 bfloat16, axis=1", (8, 512, 512), 21, "bfloat16", axis=1),
    Labels("16 x 1024 x 1024 x 19 uint8, axis=1", (16, 1024, 1024), 19, "uint8", axis=1),
)

# Tables, beside pandas, polars and scikit-learn.
FRAMES = by_name(
    Frame("F1", "dense", "category"),
    Frame("F2", "dense", "int64"),
    Frame("F3", "dense", "str"),
    Frame("F4", "dense", "object"),
    Frame("F5", "sparse", "category"),
    Frame("F6", "sparse", "str"),
    Frame("F7", "tags", "str", rows=100_000),
    Frame("F7-object", "tags", "object", rows=100_000),
    Frame("F8", "csr", "category"),
    Frame("F9", "matrix", "category"),
    Frame("F10", "undo", "bool", rows=100_000),
    Frame("F11", "sets", "lists", rows=100_000),
    Frame("A1", "tensor", "dictionary"),
    Frame("S1", "learned", "category"),
    Frame("S2", "learned", "int64"),
    Frame("S3", "learned", "str"),
    Frame("S4", "learned", "object"),
    Frame("S5", "learned dense", "category"),
    Frame("S6", "one row", "object"),
    Frame("S7", "labels", "int64"),
    Frame("S8", "label sets", "text lists", rows=100_000),
    Frame("S9", "cross-fitted means", "str", rows=200_000),
    Frame("S10", "means", "category", rows=200_000),
    # A column with several labels in a row: learned beside other libraries, known beside multi_hot.
    # Of a million rows, dense results in int64 would take eight gigabytes, and a pivot minutes.
    Frame("L1", "label csr", "text lists"),
    Frame("L1-arrow", "label csr", "Arrow lists"),
    Frame("L2", "label matrix", "text lists", rows=100_000),
    Frame("L3", "label frame", "str", rows=100_000),
    Frame("L4", "label bits", "polars lists", rows=100_000),
    Frame("L5", "known label csr", "text lists"),
    Frame("L6", "known label csr", "Arrow lists"),
    Frame("L7", "known label csr", "str"),
    Frame("L8", "known label matrix", "text lists", rows=100_000),
    Frame("L9", "known label matrix", "Arrow lists", rows=100_000),
    Frame("L10", "known label matrix", "str", rows=100_000),
)
# One column of a table.
COLUMNS = by_name(
    *(
        Frame(f"{source} of {n}", "dense", source, categories=(n,))
        for source, n in product(("category", "int64", "str"), (3, 50))
    )
)
# A vector and a column of texts that are small enough for a ratio.
VECTOR = Labels("vector", (20_000,), 10, "float32")
PLACES = Frame("places", "dense", "str", rows=20_000, categories=(50,), names="place {}")
# A table in Parquet files, for Dask and Spark.
PARTS = Frame("parts", "parts", "str", names="level {:03}")
# Tables of known categories, beside the floor of the bytes of the result.
WRITTEN = by_name(
    Written("T1", "numpy", "uint8"),
    Written("T2", "numpy", "float32", n_columns=3),
    Written("T3", "pandas", "bool"),
    Written("T4", "pandas", "float32", n_columns=3),
    Written("T5", "arrow", "bool"),
    Written("T6", "arrow", "float32", n_columns=3),
    Written("T7", "polars", "bool"),
    Written("T8", "csr", "bool"),
    Written("T9", "csr", "float64"),
    Written("T10", "csc", "bool"),
)

URL = "https://www.example.com/catalogue/%s/index.html"
LETTERS = 20_000_000
FIVE, TWENTY, WIDE = sizes(3, 12, 50, 100, 300), sizes(*[10] * 20), sizes(100_000)
# Values to codes, and products with codes: what, the usual library, the values, and what is done.
CODES = by_name(
    Codes("D1", "Arrow strings, 2 levels", "pyarrow", texts(2, 5, 8), "Arrow"),
    Codes("D2", "Arrow strings, 16 levels", "pyarrow", texts(16, 5, 8), "Arrow"),
    Codes("D3", "Arrow strings, 105 levels", "pyarrow", texts(105, 5, 8), "Arrow"),
    Codes("D4", "Arrow strings, 4,000 levels", "pyarrow", texts(4000, 5, 8), "Arrow"),
    Codes("D5", "Arrow strings, 100,000 levels", "pyarrow", texts(100_000, 5, 8), "Arrow"),
    Codes("D6", "Arrow strings, 1,000,000 levels", "pyarrow", texts(1_000_000, 5, 8), "Arrow"),
    Codes("D7", "Arrow strings of 16-32 bytes, 105 levels", "pyarrow", texts(105, 16, 32), "Arrow"),
    Codes("D8", "the same, 4,000 levels", "pyarrow", texts(4000, 16, 32), "Arrow"),
    Codes("D9", "Arrow strings of 60 bytes, 105 levels", "pyarrow", texts(105, 60, 60), "Arrow"),
    Codes("D10", "the same of 100 bytes, 4,000 levels", "pyarrow", texts(4000, 100, 100), "Arrow"),
    Codes("D11", "URLs in Arrow, 4,000 levels", "pyarrow", texts(4000, 6, 6, URL), "Arrow"),
    Codes("D12", "Arrow strings, 16 levels", "pyarrow", texts(16, 5, 8), "Arrow", 1000),
    Codes("D13", "Arrow strings, 4,000 levels", "pyarrow", texts(4000, 5, 8), "Arrow", 10_000_000),
    Codes("D14", "known Arrow strings, 4,000 levels", "pyarrow", texts(4000, 5, 8), "known Arrow"),
    Codes("D15", "strings of polars, 4,000 levels", "polars", texts(4000, 5, 8), "polars"),
    Codes("D16", "strings of polars, 100,000 levels", "polars", texts(100_000, 5, 8), "polars"),
    Codes("D17", "shared objects, 16 levels", "pandas", texts(16, 5, 8), "objects"),
    Codes("D18", "shared objects, 4,000 levels", "pandas", texts(4000, 5, 8), "objects"),
    Codes("D19", "objects of their own, 16 levels", "pandas", texts(16, 5, 8), "own"),
    Codes("D20", "objects of their own, 100,000 levels", "pandas", texts(100_000, 5, 8), "own"),
    Codes("D21", "<U8, 4,000 levels", "pandas", texts(4000, 5, 8), "U8"),
    Codes("D22", "StringDType, 105 levels", "pandas", texts(105, 5, 8), "StringDType"),
    Codes("D23", "int64 of large span, 4,000 levels", "pandas", integers(4000), "objects"),
    Codes("D24", "int64 of large span, 100,000 levels", "pandas", integers(100_000), "objects"),
    Codes("D25", "objects, sorted, 3,000 levels", "pandas", texts(3000, 5, 8), "fit", 200_000),
    Codes("D26", "objects, sorted, 90,000 levels", "pandas", texts(90_000, 5, 8), "fit", 200_000),
    Codes("D27", "integers, sorted, 3,000 levels", "pandas", small_integers, "fit", 200_000),
    Codes("D28", "objects to CSR, 3,000 levels", "sklearn", texts(3000, 5, 8), "to CSR", 200_000),
    Codes(
        "D29", "objects to CSR, 90,000 levels", "sklearn", texts(90_000, 5, 8), "to CSR", 200_000
    ),
    Codes("D30", "int64 to CSR, 300,000 levels", "sklearn", integers(300_000), "to CSR", 200_000),
    Codes(
        "D31", "to sparse columns of 2,000 levels", "pandas", texts(2000, 5, 8), "sparse", 200_000
    ),
    Codes("D32", "X @ w, 5 columns", "tabmat", FIVE, "X @ w"),
    Codes("D33", "X.T @ y, 5 columns", "tabmat", FIVE, "X.T @ y"),
    Codes("D34", "X.T @ diag(w) @ X, 5 columns", "tabmat", FIVE, "Gram"),
    Codes("D35", "X @ 8 vectors, 5 columns", "scipy", FIVE, "X @ block"),
    Codes("D36", "lsqr, 30 steps, 5 columns", "scipy", FIVE, "lsqr"),
    Codes("D37", "X @ w, 20 columns of 10 levels", "tabmat", TWENTY, "X @ w"),
    Codes("D38", "X @ w, 100,000 levels", "tabmat", WIDE, "X @ w"),
    Codes("D39", "X.T @ y, 100,000 levels", "tabmat", WIDE, "X.T @ y"),
    Codes("D40", "one_hot of 10 uint8 labels", "numpy", labels_of("u1", 10), "classes"),
    Codes("D41", "one_hot of 10 int64 labels", "numpy", labels_of("i8", 10), "classes"),
    Codes("D42", "one_hot of 10 far int64 ids", "numpy", integers(10), "classes"),
    Codes("D43", "one_hot of 10 float32", "numpy", labels_of("f4", 10), "classes"),
    Codes("D44", "one_hot of 21 colours", "numpy", palette(21), "classes"),
    Codes("D45", "planes of 21 uint8 labels", "numpy", labels_of("u1", 21), "planes of classes"),
    Codes("D46", "planes of 21 colours", "numpy", palette(21), "planes of classes"),
    Codes("D47", "letters to rows of uint8", "numpy", bases, "letters, uint8", LETTERS),
    Codes("D48", "letters to rows of float32", "numpy", bases, "letters, float32", LETTERS),
    Codes("D49", "letters to planes of uint8", "numpy", bases, "letter planes, uint8", LETTERS),
    Codes("D50", "letters to planes of float32", "numpy", bases, "letter planes, float32", LETTERS),
    Codes("D51", "letters, a batch of 64 x 1,000", "numpy", bases, "letters, uint8", 64_000),
)

# A Parquet file, for the command.
FILES = by_name(FileWorkload("flights", 5_000_000))

# Small calls. A service encodes one row; the way back takes a few.
SMALL_TABLES = by_name(
    SmallTable("one row, 50 levels", 1, 50),
    SmallTable("one row, 100,000 levels", 1, 100_000),
    SmallTable("2,000 rows", 2000, 53),
)
ROW = "row = {name: ['b'] for name in 'abcde'}"
FITTED = f"""
from onehot_fast import Encoder
{ROW}
encoder = Encoder([*'abcde']).fit({{name: ['a', 'b'] for name in 'abcde'}})
"""
DROP_IN = """
import numpy
from onehot_fast.integrations.sklearn import OneHotEncoder
encoder = OneHotEncoder().fit(numpy.array([['a'] * 5, ['b'] * 5], object))
row = numpy.array([['b'] * 5], object)
"""
# Calls whose instructions are counted in one process, in this order. polars and pyarrow come last,
# because their memory allocators do some work after a time.
COUNTED = by_name(
    Program("import", "import numpy", "import onehot_fast"),
    Program(
        "one_hot, 32 x 10",
        "import numpy, onehot_fast; labels = numpy.arange(32) % 10",
        "onehot_fast.one_hot(labels, 10)",
    ),
    Program("one row of a dict", FITTED, "encoder.transform(row, 'numpy')"),
    Program("one row, OneHotEncoder", DROP_IN, "encoder.transform(row)"),
    Program(
        "one row of pandas",
        f"{FITTED}\nimport pandas; row = pandas.DataFrame(row)",
        "encoder.transform(row)",
    ),
    Program(
        "Series.onehot, 32 texts",
        "import pandas, onehot_fast.integrations.pandas; column = pandas.Series(['a', 'b'] * 16)",
        "column.onehot()",
    ),
    Program(
        "one row of polars",
        f"{FITTED}\nimport polars; row = polars.DataFrame(row)",
        "encoder.transform(row)",
    ),
    Program(
        "one row of pyarrow",
        f"{FITTED}\nimport pyarrow; row = pyarrow.table(row)",
        "encoder.transform(row)",
    ),
)
# What a process pays before the first result.
STARTS = by_name(
    Program("import onehot_fast", "", "import onehot_fast"),
    Program("import numpy", "", "import numpy"),
    Program(
        "first call",
        "import numpy, onehot_fast; indices = numpy.arange(1_000_000) % 10",
        "onehot_fast.one_hot(indices, 10)",
    ),
    Program(
        "first touch",
        "import numpy",
        "numpy.zeros((1_000_000, 10), numpy.float32).reshape(-1)[::1024] = 1",
    ),
    Program(
        "first get_dummies of pandas",
        "",
        "import pandas; pandas.get_dummies(pandas.Series(['a', 'b']))",
    ),
    Program(
        "first get_dummies",
        "",
        "import pandas; from onehot_fast.integrations.pandas import get_dummies;"
        " get_dummies(pandas.Series(['a', 'b']))",
    ),
    Program(
        "first Encoder",
        "",
        "import pandas; from onehot_fast import Encoder;"
        " Encoder().fit_transform(pandas.DataFrame({'x': ['a', 'b']}))",
    ),
    Program(
        "first command",
        "import os, tempfile; folder = tempfile.TemporaryDirectory(); os.chdir(folder.name);"
        " file = open('first.csv', 'w'); file.write('x\\na\\nb\\n'); file.close()",
        "from onehot_fast.cli import main;"
        " assert main(['encode', 'first.csv', '-o', 'out.parquet', '-q', '--overwrite']) == 0",
    ),
)

GROUPS: dict[str, Mapping[str, Workload]] = {
    "labels": LABELS,
    "busy": BUSY,
    "ratios": KERNELS | by_name(VECTOR, PLACES),
    "grid": GRID,
    "operators": OPERATORS,
    "rows": ROWS,
    "devices": DEVICES,
    "frames": FRAMES,
    "columns": COLUMNS,
    "parts": by_name(PARTS),
    "written": WRITTEN,
    "codes": CODES,
    "files": FILES,
    "small tables": SMALL_TABLES,
    "counted": COUNTED,
    "starts": STARTS,
}
WORKLOADS = {name: workload for group in GROUPS.values() for name, workload in group.items()}

"""Tables that become any form, or come back from one, and the check of the results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.kinds.labels import Array

CATEGORIES = (3, 12, 50, 100, 300)
# How a category is written.
NAMES = "v{:03}"
# The number of tags, and the probability that a row holds a tag.
N_TAGS, TAGGED = 20, 0.15
# The number of labels, and how many of them a row has, in the forms of `LABELED`.
N_LABELS, IN_A_ROW = 1000, 3

# The column that is the target of classification.
LABELS = 2

# The number of parts of the table: the target means of a row come from the other parts.
N_FOLDS = 5

# The classes of one column that becomes a tensor.
N_CLASSES = 16

# The results of a table, by the name of the form.
FORMS = {
    "dense": "Boolean columns",
    "sparse": "sparse Boolean columns",
    "csr": "a CSR matrix of bytes",
    "matrix": "a row-major matrix of bytes",
    "undo": "the values of Boolean columns",
    "tags": "int64 columns of separated tags",
    "sets": "a row-major matrix of bytes from lists of classes",
    "tensor": "a tensor of bytes",
    "learned": "a CSR matrix of float64, the categories learned",
    "learned dense": "a row-major matrix of float32, the categories learned",
    "one row": "a CSR matrix of the first row, the categories known",
    "labels": "a matrix of int64 from one column, the categories learned",
    "label sets": "a matrix of int64 from lists of texts, the categories learned",
    "cross-fitted means": "a matrix of means of a target, the categories learned",
    "means": "a matrix of means of a target, the categories known",
    "label csr": "a CSR matrix from 3 of 1,000 labels in a row, learned",
    "label matrix": "a row-major matrix from 3 of 1,000 labels in a row, learned",
    "label frame": "int64 columns of pandas from 3 of 1,000 labels in a row, learned",
    "label bits": "Boolean columns of polars from 3 of 1,000 labels in a row, learned",
    "known label csr": "a CSR matrix from 3 of 1,000 labels in a row, known",
    "known label matrix": "a row-major matrix of bytes from 3 of 1,000 labels in a row, known",
}
# The forms in which clusters have the same table.
PARTS = {"parts": "Parquet files, to what an engine makes of their parts"}
# A row of these has any number of classes.
MULTI = ("tags", "sets", "label sets")
# A row of these has a few of many labels.
LABELED = tuple(form for form in FORMS if "1,000 labels" in FORMS[form])


@dataclass(frozen=True)
class FrameWork:
    """One task with its data, and what is known of it.

    `codes` are those of the columns; in `MULTI`, whether each row has each tag; in `LABELED`, the
    first, second and third label of each row.
    """

    name: str
    form: str
    source: str
    data: Any
    codes: Sequence[Array]
    categories: tuple[int, ...] = CATEGORIES
    names: str = NAMES

    @cached_property
    def labels(self) -> list[str]:
        """The names of the columns of a frame."""
        if self.form == "tags":
            return _names(N_TAGS).tolist()  # type: ignore[no-any-return]
        columns = zip(self.categories, self._values, strict=True)
        return [f"x{size}_{value}" for size, values in columns for value in values]

    @property
    def _values(self) -> list[Array]:
        """The categories of each column."""
        return [_categories(k, self.source, self.names) for k in self.categories]

    @property
    def expected(self) -> Array:
        """The expected result, transposed: a row for each column, as bool or as values."""
        if self.form in MULTI:
            return np.stack(self.codes)
        if self.form in LABELED:
            return np.sort(np.stack(self.codes), axis=0)
        if self.form == "undo":
            values = [each.astype(object) for each in self._values]
            return np.stack([own[codes] for own, codes in zip(values, self.codes, strict=True)])
        sizes = zip(self.categories, self.codes, strict=True)
        if self.form == "tensor":
            return self.codes[0] == np.arange(N_CLASSES)[:, None]  # type: ignore[no-any-return]
        if self.form in ("cross-fitted means", "means"):
            return self._means
        if self.form == "labels":
            return self.codes[LABELS] == np.arange(self.categories[LABELS])[:, None]  # type: ignore[no-any-return]
        rows = slice(1) if self.form == "one row" else slice(None)
        return np.concatenate([codes[rows] == np.arange(size)[:, None] for size, codes in sizes])

    @property
    def target(self) -> Array:
        """The class, 0 or 1, of each row."""
        return np.arange(len(self.codes[0])) % 2

    @property
    def _means(self) -> Array:
        """The mean target of each category, in all rows or in those of the other folds."""
        target, means = self.target, np.empty((len(self.codes), len(self.target)))
        rows = np.arange(len(target))
        for fold in np.array_split(rows, N_FOLDS) if self.form != "means" else [rows]:
            train = rows if self.form == "means" else np.delete(rows, fold)
            for own, codes, size in zip(means, self.codes, self.categories, strict=True):
                sums = np.bincount(codes[train], target[train], minlength=size)
                own[fold] = (sums / np.bincount(codes[train], minlength=size))[codes[fold]]
        return means


@dataclass(frozen=True)
class FrameWorkload:
    """The recipe of a task."""

    name: str
    form: str
    source: str
    rows: int = 1_000_000
    categories: tuple[int, ...] = CATEGORIES
    names: str = NAMES

    @property
    def title(self) -> str:
        """The task in one line."""
        return f"{self.rows:,} rows of {self.source}, to {(FORMS | PARTS)[self.form]}"

    def make(self, scale: float = 1.0) -> FrameWork:
        """Draw the same values each time; `scale` multiplies the number of rows."""
        # With fewer rows the widest column may lack a category.
        rows = max(10 * self.categories[-1], round(self.rows * scale))
        draw = np.random.default_rng(0)
        if self.form in MULTI:
            codes = [draw.random(rows) < TAGGED for _ in range(N_TAGS)]
            # Some versions of pandas make a column for an empty text.
            codes[0] |= ~np.any(codes, axis=0)
            return FrameWork(self.name, self.form, self.source, _rows(codes, self.source), codes)
        if self.form in LABELED:
            codes = _draw_labels(draw, rows)
            return FrameWork(self.name, self.form, self.source, _lists(codes, self.source), codes)
        if self.form == "tensor":
            one = draw.permutation(np.arange(rows) % N_CLASSES).astype(np.int32)
            return FrameWork(self.name, self.form, self.source, _dictionary(one), [one])
        codes = [draw.permutation(np.arange(rows) % k) for k in self.categories]
        data = _table(codes, self, "category" if self.form == "undo" else self.source)
        if self.form == "undo":
            data = import_module("pandas").get_dummies(data)
        options = self.categories, self.names
        return FrameWork(self.name, self.form, self.source, data, codes, *options)


def label_names() -> list[str]:
    """Return the labels of the forms in `LABELED`."""
    return _names(N_LABELS).tolist()  # type: ignore[no-any-return]


def _draw_labels(draw: np.random.Generator, rows: int) -> list[Array]:
    """Return the labels of each row, which differ. Every label occurs."""
    first = draw.permutation(np.arange(rows) % N_LABELS)
    half = N_LABELS // 2
    steps = [draw.integers(1, half, rows), draw.integers(half, N_LABELS, rows)]
    return [first, *((first + step) % N_LABELS for step in steps)]


def _lists(codes: Sequence[Array], source: str) -> Any:
    """Return rows of labels as lists of Python, Arrow or polars, or a Series of texts."""
    names, flat = _names(N_LABELS), np.stack(codes, axis=1)
    if source in ("Arrow lists", "polars lists"):
        arrow = import_module("pyarrow")
        offsets = np.arange(0, flat.size + 1, IN_A_ROW, dtype=np.int32)
        lists = arrow.ListArray.from_arrays(offsets, arrow.array(names.tolist()).take(flat.ravel()))
        return lists if source == "Arrow lists" else import_module("polars").from_arrow(lists)
    rows = names.astype(object)[flat].tolist()
    if source == "text lists":
        return rows
    return import_module("pandas").Series(["|".join(row) for row in rows], dtype=source)


def _names(size: int, names: str = NAMES) -> Array:
    """Return the categories that are texts."""
    return np.array([names.format(code) for code in range(size)])


def _categories(size: int, source: str, names: str) -> Array:
    """Return the categories of a column."""
    return np.arange(size) if source == "int64" else _names(size, names)


def _table(codes: Sequence[Array], recipe: FrameWorkload, source: str) -> Any:
    """Return a frame of columns of one dtype."""
    pandas = import_module("pandas")
    columns = {}
    for size, one in zip(recipe.categories, codes, strict=True):
        names, column = _names(size, recipe.names), one
        if source == "category":
            column = pandas.Categorical.from_codes(one, names)
        elif source != "int64":
            # Rows of one category are one Python object, as a reader of files makes them.
            column = pandas.Series(names.astype(object)[one], dtype=source)
        columns[f"x{size}"] = column
    return pandas.DataFrame(columns)


def write_parts(recipe: FrameWorkload, folder: str, n_files: int, scale: float = 1.0) -> None:
    """Write a table of texts into Parquet files in a folder."""
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    data = recipe.make(scale).data
    n_rows = -(-len(data) // n_files)
    for file in range(n_files):
        part = data.iloc[file * n_rows : (file + 1) * n_rows].reset_index(drop=True)
        table = arrow.Table.from_pandas(part)
        strings = arrow.schema([(name, "string") for name in data], table.schema.metadata)
        parquet.write_table(table.cast(strings), f"{folder}/{file}.parquet")


def _dictionary(codes: Array) -> Any:
    """Return an Arrow dictionary array."""
    arrow = import_module("pyarrow")
    return arrow.DictionaryArray.from_arrays(codes, _names(N_CLASSES).tolist())


def _rows(codes: Sequence[Array], source: str) -> Any:
    """Return the tags of each row: a Series of separated texts, or lists of numbers."""
    lists: list[list[int]] = [np.flatnonzero(row).tolist() for row in np.stack(codes, axis=1)]
    if source == "lists":
        return lists
    names = _names(N_TAGS).tolist()
    named = [[names[tag] for tag in row] for row in lists]
    if source == "text lists":
        return named
    texts = ["|".join(row) for row in named]
    return import_module("pandas").Series(texts, dtype=source)


def check(result: Array, work: FrameWork) -> None:
    """Raise AssertionError unless a result with one row per row of the data is the encoding."""
    expected = work.expected
    if result.T.shape != expected.shape:
        raise AssertionError(f"{work.name}: {result.shape} is the wrong shape")
    if n_wrong := np.count_nonzero(expected != result.T):
        raise AssertionError(f"{work.name}: {n_wrong} of {expected.size} elements are wrong")

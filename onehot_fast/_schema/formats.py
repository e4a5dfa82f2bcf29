"""The output formats of `Encoder.transform`, from which checks and error texts are derived."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from onehot_fast._arguments.checks import check_choice

# What the columns of the result are: features in a matrix, features in a table of a library, one
# column of integers for each encoded column, or one categorical column for each.
Family: TypeAlias = Literal["matrix", "table", "codes", "category"]


@dataclass(frozen=True)
class Format:
    """An output format, i.e. a value of `output`."""

    name: str
    family: Family
    is_dense: bool = False  # whether its size grows with the number of features
    scipy_class: str = ""  # the class of a sparse matrix in ``scipy.sparse``
    is_local: bool = True  # whether a table in memory can be converted to it
    engines: tuple[str, ...] = ()  # the engines whose tables can be converted to it
    one_code_per_row: bool = False  # whether a row of several labels has no place in it


FORMATS: dict[str, Format] = {
    each.name: each
    for each in (
        Format("numpy", "matrix", is_dense=True, engines=("dask",)),
        Format("csr", "matrix", scipy_class="csr_array", engines=("dask",)),
        Format("csc", "matrix", scipy_class="csc_array", engines=("dask",)),
        Format("csr_matrix", "matrix", scipy_class="csr_matrix", engines=("dask",)),
        Format("implicit", "matrix", one_code_per_row=True),
        Format("codes", "codes", engines=("dask", "spark"), one_code_per_row=True),
        Format("indices", "codes", engines=("dask", "spark"), one_code_per_row=True),
        Format("category", "category", engines=("dask",), one_code_per_row=True),
        Format("arrow", "table", is_dense=True),
        Format("pandas", "table", is_dense=True, engines=("dask",)),
        Format("polars", "table", is_dense=True),
        Format("dask", "table", is_dense=True, is_local=False, engines=("dask",)),
        Format("columns", "table", is_dense=True, is_local=False, engines=("spark",)),
        Format("array", "table", is_dense=True, is_local=False, engines=("spark",)),
        Format("vector", "table", is_local=False, engines=("spark",)),
    )
}
# The sparse formats, and their classes in SciPy.
SPARSE_CLASSES = {name: each.scipy_class for name, each in FORMATS.items() if each.scipy_class}


def format_names(
    families: Iterable[Family] = ("matrix", "codes", "category", "table"), engine: str = ""
) -> tuple[str, ...]:
    """Return the formats of some families that an engine has; by default, of tables in memory."""
    families = [*families]
    return tuple(
        name
        for name, each in FORMATS.items()
        if each.family in families and (engine in each.engines if engine else each.is_local)
    )


def checked_format(output: object, name: str, engine: str = "") -> Format:
    """Return the format that the argument `name` chooses, or raise an error that lists them."""
    return FORMATS[check_choice(output, name, format_names(engine=engine))]


def family_of(output: str | None) -> Family:
    """Return the family of a format, or of the library of a table, which may be unknown."""
    return FORMATS[output].family if output in FORMATS else "table"


def is_dense(output: object) -> bool:
    """Tell whether a result grows with the number of features; a format by default does."""
    # An object that is no string may compare as equal to anything, or have no hash.
    known = FORMATS.get(output) if isinstance(output, str) else None
    return known is None or known.is_dense

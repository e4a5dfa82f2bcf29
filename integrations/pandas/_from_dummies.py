"""`from_dummies`, a faster drop-in for `pandas.from_dummies`."""

from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from onehot_fast import decode

__all__ = ["from_dummies"]

Booleans: TypeAlias = npt.NDArray[np.bool_]


def from_dummies(
    data: pd.DataFrame,
    sep: str | None = None,
    default_category: Hashable | dict[str, Hashable] | None = None,
) -> pd.DataFrame:
    """Convert indicator columns back to categorical columns, as `pandas.from_dummies` does.

    Parameters
    ----------
    data : DataFrame of shape (n_rows, n_columns)
        Columns of 0 and 1, or Booleans.
    sep : str, optional
        The string between variable and category in the column names. By default, all columns encode
        a single variable without a name, and the column names are the categories.
    default_category : hashable or dict of hashable, optional
        The category that a row of zeros represents. A dict has one category for each variable.

    Returns
    -------
    pandas.DataFrame of n_rows
        One column per variable, with the dtype of ``data.columns``.

    Raises
    ------
    TypeError
        If `data` is not a DataFrame or has values other than 0 and 1, `sep` is not a string, or
        `default_category` is neither hashable nor a dict.
    ValueError
        If `data` has missing values, a column name does not contain `sep`, `default_category` has
        the wrong length, or a row has several categories or neither a category nor a default.

    Examples
    --------
    >>> table = pd.DataFrame({"size_S": [1, 0, 0], "size_L": [0, 1, 0], "hue_red": [1, 1, 1]})
    >>> from_dummies(table, sep="_", default_category={"size": "M", "hue": "blue"})
      size  hue
    0    S  red
    1    L  red
    2    M  red
    """
    if not isinstance(data, pd.DataFrame):
        raise TypeError(
            f"Expected 'data' to be a 'DataFrame'; Received 'data' of type: {type(data).__name__}"
        )
    _check_missing(data)
    block = _as_block(data)
    variables = _variables(data.columns, sep)
    defaults = _defaults(default_category, variables)
    decoded = {}
    for variable, positions in variables.items():
        codes = _decode(_rows(block, positions), data.index, default_category is not None)
        names: list[Any] = [data.columns[position] for position in positions]
        if sep is not None:
            names = [name[len(variable + sep) :] for name in names]
        if codes.size and codes.max() == len(names):
            names.append(defaults[variable])
        categories = pd.Series(names, dtype=data.columns.dtype)
        decoded[variable] = categories.take(codes).set_axis(data.index)
    result = pd.DataFrame(decoded)
    if sep is not None:
        result.columns = result.columns.astype(data.columns.dtype)
    return result


def _check_missing(data: pd.DataFrame) -> None:
    """Raise an error that names the first column with missing values."""
    # NumPy integers and Booleans cannot be missing.
    never = [isinstance(dtype, np.dtype) and dtype.kind in "iub" for dtype in data.dtypes]
    if all(never):
        return
    missing = data.loc[:, ~np.array(never)].isna().any()
    if missing.any():
        raise ValueError(f"Dummy DataFrame contains NA value in column: '{missing.idxmax()}'")


def _as_block(data: pd.DataFrame) -> Booleans:
    """Return the indicators with shape (n_columns, n_rows), without a copy if possible."""
    if data.shape[1] and all(dtype == np.dtype(bool) for dtype in data.dtypes):
        return data.to_numpy().T
    block: Booleans = np.empty(data.shape[::-1], bool)
    for row, (_, column) in zip(block, data.items(), strict=True):
        row[:] = _truth(column)
    return block


def _truth(column: "pd.Series[Any]") -> Booleans:
    """Return a column of indicators as Booleans; raise TypeError if a value is not 0 or 1."""
    values = column.to_numpy() if isinstance(column.dtype, np.dtype) else None
    if values is not None and values.dtype.kind in "iuf":
        truth = values != 0
        if np.array_equal(truth, values):
            return cast(Booleans, truth)
    try:
        return column.astype("boolean").to_numpy(bool)
    except TypeError as error:
        raise TypeError("Passed DataFrame contains non-dummy data") from error


def _variables(columns: "pd.Index[Any]", sep: str | None) -> dict[str, list[int]]:
    """Return a dict that maps each variable to the positions of its columns."""
    if not (sep is None or isinstance(sep, str)):
        raise TypeError(
            "Expected 'sep' to be of type 'str' or 'None'; "
            f"Received 'sep' of type: {type(sep).__name__}"
        )
    variables: dict[str, list[int]] = {"": []} if sep is None else {}
    names = [*columns]
    # As in pandas, which looks up columns by name, a 1 in a duplicated column counts several times.
    positions: dict[Hashable, list[int]] = {}
    for position, name in enumerate(names):
        positions.setdefault(name, []).append(position)
    for name in names:
        variable = "" if sep is None else name.split(sep)[0]
        if sep is not None and len(variable) == len(name):
            raise ValueError(f"Separator not specified for column: {name}")
        variables.setdefault(variable, []).extend(positions[name])
    return variables


def _defaults(defaults: Any, variables: dict[str, list[int]]) -> dict[str, Hashable]:
    """Return the default category of each variable that has one."""
    if defaults is None:
        return {}
    if isinstance(defaults, dict):
        if len(defaults) != len(variables):
            raise ValueError(
                f"Length of 'default_category' ({len(defaults)}) did not match the length of the "
                f"columns being encoded ({len(variables)})"
            )
        return defaults
    if not isinstance(defaults, Hashable):
        raise TypeError(
            "Expected 'default_category' to be of type 'None', 'Hashable', or 'dict'; "
            f"Received 'default_category' of type: {type(defaults).__name__}"
        )
    return dict.fromkeys(variables, defaults)


def _rows(block: Booleans, positions: Sequence[int]) -> Booleans:
    """Return some rows of the block, as a view if the positions are consecutive."""
    first = positions[0] if positions else 0
    if list(positions) == list(range(first, first + len(positions))):
        return block[first : first + len(positions)]
    return block[positions]


def _decode(rows: Booleans, index: "pd.Index[Any]", has_default: bool) -> npt.NDArray[np.int64]:
    """Return the position of True in each column of `rows`, or ``len(rows)`` if there is none."""
    n_categories = len(rows)
    try:
        codes = decode(rows, 0, on_value=True, default=n_categories)
    except ValueError:
        fullest = rows.sum(axis=0).argmax()
        raise ValueError(
            f"Dummy DataFrame contains multi-assignment(s); First instance in row: {index[fullest]}"
        ) from None
    is_unassigned = codes == n_categories
    if not has_default and is_unassigned.any():
        raise ValueError(
            "Dummy DataFrame contains unassigned value(s); First instance in row:"
            f" {index[is_unassigned.argmax()]}"
        )
    return codes

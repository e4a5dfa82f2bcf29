"""``DataFrame.onehot``: the accessor, registered when this module is imported."""

import dataclasses
from collections.abc import Hashable, Iterable
from functools import cache
from typing import Any, Unpack, cast

import numpy.typing as npt
import pandas as pd

from onehot_fast import Encoder
from onehot_fast.integrations.pandas.encoded import ColumnOptions
from onehot_fast.integrations.pandas.tables import read_table

__all__ = ["FrameAccessor"]


@pd.api.extensions.register_dataframe_accessor("onehot")
class FrameAccessor:
    """The one-hot form of a DataFrame, as ``frame.onehot``.

    Parameters
    ----------
    frame : pandas.DataFrame of n_rows
        Supplied by pandas. Nothing is read before the accessor is called: pandas 3 makes a new one
        on every access.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def __call__(
        self,
        columns: Iterable[Hashable] | None = None,
        *,
        prefix: Any = None,
        prefix_sep: Any = "_",
        dtype: npt.DTypeLike | dict[Any, Any] = bool,
        **options: Unpack[ColumnOptions],
    ) -> pd.DataFrame:
        """Encode some columns where they stand.

        The columns of the result depend on the rows at hand. Where other rows have to get the same
        ones, fit a `onehot_fast.Encoder`, which takes the same options.

        Parameters
        ----------
        columns : iterable of column labels, optional
            Those to encode, whatever they hold; by default those of text, object and categorical
            dtype.
        prefix : str, optional
            The new columns are named ``f"{prefix}{prefix_sep}{category}"``; by default the prefix
            is the name of the column.
        prefix_sep : str, default "_"
            What stands between prefix and category.
        dtype : NumPy dtype, default bool
            The dtype of the new columns.
        **options
            `categories`, `drop`, `handle_missing`, `handle_unknown`, `min_frequency` and
            `max_categories` of `onehot_fast.Encoder`. Every option, those above included, may be a
            dict from column labels to values.

        Returns
        -------
        pandas.DataFrame of n_rows
            The new columns stand in the place of those they were made of; neighbours of one dtype
            share a block of memory, which the frame alone owns. All other columns are untouched,
            and shared as pandas shares them.

        Raises
        ------
        TypeError
            If `columns` or an option is of the wrong kind, or values cannot be hashed.
        ValueError
            If a column is absent or there twice, two columns would have one name, or an option or
            a value is refused.
        MemoryError
            If the result cannot fit in memory, before it is allocated.

        Examples
        --------
        >>> frame = pd.DataFrame({"price": [2, 3], "size": ["S", "L"], "sold": [True, False]})
        >>> frame.onehot(dtype="uint8")
           price  size_L  size_S   sold
        0      2       0       1   True
        1      3       1       0  False
        >>> frame.onehot(["size"], drop={"size": "L"}, prefix="is")
           price   is_S   sold
        0      2   True   True
        1      3  False  False
        """
        table = read_table(self._frame)
        # The encoder reads a column to learn from it and to encode it: hashed once for both.
        table = dataclasses.replace(table, read=cache(table.read))
        encoder = Encoder(columns, prefix=prefix, prefix_sep=prefix_sep, dtype=dtype, **options)
        return cast(pd.DataFrame, encoder.fit_transform(table))

"""What an encoder tells of what it learned, and of tables that it is shown."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable
from html import escape
from typing import Any

import numpy.typing as npt

from onehot_fast._arguments.indices import as_integer
from onehot_fast._categories import coding, overview
from onehot_fast._categories.learn import check_table
from onehot_fast._categories.listing import Listing, feature_listing
from onehot_fast._categories.review import Check
from onehot_fast._encode.sizes import Estimate, estimate
from onehot_fast._estimator import Estimator
from onehot_fast._runtime.registry import engine_of
from onehot_fast.table import read_table


class ReportMixin(Estimator):
    """What a fitted encoder tells."""

    def check(self, table: Any) -> Check:
        """Report the values of a table that are unknown, missing or infrequent; nothing is refused.

        Parameters
        ----------
        table : as for `transform`

        Returns
        -------
        Check
            A dict of arrays, with a row for each such value of each column: "column", "kind",
            "value", "count" and "share". Without rows, the table has only values that `fit` met.

        Raises
        ------
        RuntimeError
            The encoder is not fitted.
        TypeError, ValueError
            A column cannot be read, is absent or there twice.

        Examples
        --------
        >>> from onehot_fast import Encoder
        >>> encoder = Encoder().fit({"size": ["S", "L"]})
        >>> encoder.check({"size": ["L", "XL", None, "XL"]})
        <Check of 4 rows: some values are unknown or missing>
        column  kind     value  count  share
        size    unknown  XL     2      50.00%
        size    missing  None   1      25.00%
        >>> encoder.check({"size": ["S", "S"]})
        <Check of 2 rows: every value is a category that fit has met>
        """
        return check_table(read_table(table), self.schema)

    @property
    def features(self) -> Listing:
        """What each output stands for: a dict of arrays, one row for each, in their order.

        "column", "kind" ("category", "infrequent", "unknown" or "missing"), "category" (None for
        the other kinds), "name", "count" (in how many rows of `fit` it was on; -1 where declared
        categories leave it open what the other rows held) and "dtype".

        Examples
        --------
        >>> from onehot_fast import Encoder
        >>> encoder = Encoder(handle_missing="indicator").fit({"size": ["S", "L", None, "S"]})
        >>> encoder.features
        column  kind      category  name            count  dtype
        size    category  L         size_L          1      bool
        size    category  S         size_S          2      bool
        size    missing   None      size_(missing)  1      bool
        """
        schema = self.schema
        assert self._state is not None  # or there were no schema
        return feature_listing(schema, self._state)

    @property
    def cardinalities(self) -> dict[Hashable, int]:
        """How many codes each column has, the three reserved ones included: see `transform`.

        Examples
        --------
        >>> from onehot_fast import Encoder
        >>> Encoder().fit({"size": ["S", "L", None], "color": ["r", "g", "b"]}).cardinalities
        {'size': 5, 'color': 6}
        """
        columns = self.schema.remember(coding.coding, ()).columns
        return {column.name: column.n_outputs for column in columns}

    @property
    def vocabulary(self) -> Listing:
        """What each code stands for: a dict of arrays, one row for each, in their order.

        "column", "kind" ("category", "infrequent", "unknown" or "missing"), "category" (None for
        the other kinds), "code" and "index": see `transform`.

        Examples
        --------
        >>> from onehot_fast import Encoder
        >>> Encoder().fit({"size": ["S", "L", None]}).vocabulary
        column  kind        category  code  index
        size    missing     None      0     0
        size    unknown     None      1     1
        size    infrequent  None      2     2
        size    category    L         3     3
        size    category    S         4     4
        """
        return coding.vocabulary_listing(self.schema)

    def summary(self) -> Listing:
        """Tell in a row for each encoded column what was learned of it.

        Returns
        -------
        Listing
            A dict of arrays: "column", "categories" and "features" (how many), "most_frequent"
            (None without categories), its "count" and its "share" of all rows.

        Raises
        ------
        RuntimeError
            The encoder is not fitted.

        Examples
        --------
        >>> from onehot_fast import Encoder
        >>> encoder = Encoder(drop="first")
        >>> encoder.fit({"size": ["S", "L", "S"], "plan": ["pro", None, None]}).summary()
        column  categories  features  most_frequent  count  share
        size    2           1         S              2      66.67%
        plan    1           0         pro            1      33.33%
        """
        schema = self.schema
        assert self._state is not None  # or there were no schema
        return overview.summary(schema, self._state)

    def _repr_html_(self) -> str:
        """Show a notebook the options, and the most frequent categories of each column."""
        with contextlib.suppress(RuntimeError, ValueError):  # not fitted, or no schema yet
            schema = self.schema
            assert self._state is not None  # or there were no schema
            return overview.as_html(repr(self), schema, self._state)
        return f"<code>{escape(repr(self))}</code>"

    def estimate(self, n_rows: Any) -> Estimate:
        """Return the size of every form of output for so many rows; nothing is built.

        Parameters
        ----------
        n_rows : int, or a table as for `fit`
            From 0; of a table the rows are counted.

        Returns
        -------
        Estimate
            With `rows`, `columns` and `bytes`, a dict from the form to its bytes; those of the
            columns that are kept are not among them.

        Examples
        --------
        >>> from onehot_fast import Encoder
        >>> sizes = Encoder(dtype="float32").fit({"size": ["S", "M", "L"]}).estimate(1_000_000)
        >>> sizes  # doctest: +ELLIPSIS
        <Estimate of 1,000,000 rows, 3 features: numpy 11.4 MiB, ..., csc 7.6 MiB>
        >>> sizes.bytes["csr"]
        12000004
        """
        engine = engine_of(n_rows)
        if engine is not None:
            n_rows = engine.count_rows(n_rows)
        elif hasattr(n_rows, "__len__") and not isinstance(n_rows, str):
            n_rows = read_table(n_rows).n_rows
        rows = as_integer(n_rows, "n_rows")
        if rows < 0:
            raise ValueError(f"n_rows = {rows} is negative")
        return estimate(self.schema, rows)

    @property
    def n_features(self) -> int:
        """How many outputs there are."""
        return self.schema.n_features

    @property
    def categories(self) -> dict[Hashable, npt.NDArray[Any]]:
        """The categories of each column in their order, infrequent and dropped ones included."""
        return {column.name: column.known.to_array() for column in self.schema.columns}

"""What a fitted encoder becomes in other systems; each form is made by an integration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onehot_fast._arguments.choices import with_article
from onehot_fast._runtime.registry import EXPRESSIVE, integration


class Exports:
    """The methods of `Encoder` that give it to other systems."""

    def to_sql(self, dialect: str = "duckdb", table: str | Sequence[str] | None = None) -> str:
        """Return SQL that gives the features: a database encodes by itself.

        Parameters
        ----------
        dialect : {"duckdb", "postgres", "spark", "bigquery", "sqlite"}, default "duckdb"
            The engine that runs it.
        table : str or sequence of str, optional
            The name of a table, or of a database or schema and a table in it. By default only the
            items of a SELECT are returned: ``f"SELECT id, {encoder.to_sql()} FROM flights"``.

        Returns
        -------
        str
            An item for each feature, named by `get_feature_names_out` (in BigQuery with "_" for
            what is neither letter nor digit). Names and categories are quoted, whatever they hold.

        Raises
        ------
        RuntimeError
            The encoder is not fitted.
        ValueError
            The engine cannot do the same, and the message says why: SQLite cannot refuse a value,
            no column holds texts beside numbers, none of the engines has durations, a name is
            empty, or too long for the engine, or there are too many features.

        Notes
        -----
        The columns are taken to have the types that were learned. NULL is missing, and so is NaN. A
        refused value makes the query fail, where the first feature of its column is selected. In
        SQLite days and instants are texts ("2024-01-31 12:00:00"), as its functions write them, and
        NaN is NULL.

        Examples
        --------
        >>> from onehot_fast import Encoder
        >>> encoder = Encoder(handle_unknown="ignore").fit({"size": ["S", "L"]})
        >>> print(encoder.to_sql(table="shirts"))
        SELECT CASE WHEN "size" = 'L' THEN TRUE ELSE FALSE END AS "size_L",
               CASE WHEN "size" = 'S' THEN TRUE ELSE FALSE END AS "size_S"
        FROM "shirts"
        """
        written: str = integration("sql").to_sql(self, dialect, table)
        return written

    def expressions(self, frame: Any) -> list[Any]:
        """Return expressions that give the features: the engine of a frame encodes by itself.

        ``frame.select(encoder.expressions(frame))`` is what `transform` makes of the frame, and
        nothing calls back into Python: a query is optimized as a whole, and runs wherever it runs.

        Parameters
        ----------
        frame : polars.DataFrame or LazyFrame, or narwhals.DataFrame or LazyFrame
            Only its schema is looked at. For any other engine ``narwhals.from_native(relation)``.

        Returns
        -------
        list of polars.Expr or narwhals.Expr
            One for each feature, of its name and dtype.

        Raises
        ------
        RuntimeError
            The encoder is not fitted.
        TypeError
            `frame` is of another kind, or a column of a dtype that cannot be encoded.
        ValueError
            A column is absent. In narwhals, also where values are to be refused: no expression of
            it can fail. In polars the query fails, where the first feature of the column is used.

        Notes
        -----
        Nobody is warned of unknown values.

        Examples
        --------
        >>> import polars as pl
        >>> from onehot_fast import Encoder
        >>> frame = pl.LazyFrame({"size": ["S", "L", None]})
        >>> encoder = Encoder(dtype="uint8").fit({"size": ["S", "L"]})
        >>> frame.select(encoder.expressions(frame)).collect().to_dict(as_series=False)
        {'size_L': [0, 1, 0], 'size_S': [1, 0, 0]}
        """
        library = type(frame).__module__.partition(".")[0]
        if library not in EXPRESSIVE:
            raise TypeError(
                f"{with_article(frame)} has no expressions; accepted are frames of polars and of"
                " narwhals: narwhals.from_native(frame)"
            )
        expressions: list[Any] = integration(library).expressions(self, frame)
        return expressions

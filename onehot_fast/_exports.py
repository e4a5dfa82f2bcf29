"""What a fitted encoder becomes in other systems; each form is made by an integration."""

from __future__ import annotations

from collections.abc import Sequence

from onehot_fast._runtime.registry import integration


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

"""What a fitted encoder becomes in other systems; each form is made by an integration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from onehot_fast._arguments.choices import with_article
from onehot_fast._runtime.registry import EXPRESSIVE, integration

if TYPE_CHECKING:
    import onnx


class ExportMixin:
    """The methods of `Encoder` that give it to other systems."""

    def to_sql(self, dialect: str = "duckdb", table: str | Sequence[str] | None = None) -> str:
        """Return SQL that gives the features: a database encodes by itself.

        Parameters
        ----------
        dialect : {"duckdb", "postgres", "spark", "bigquery", "sqlite"}, default "duckdb"
            The engine that runs it.
        table : str or sequence of str, optional
            The name of a table, or the names of a database or schema and of a table in it:
            ``["sales", "shirts"]``, for a dot is part of a name. By default only the items of a
            SELECT are returned: ``f"SELECT id, {encoder.to_sql()} FROM flights"``.

        Returns
        -------
        str
            An item for each feature, named by `get_feature_names_out` (in BigQuery with "_" for
            what is neither letter nor digit). Names and categories are quoted, whatever they hold.

        Raises
        ------
        RuntimeError
            The encoder is not fitted.
        TypeError
            `dialect` or `table` is of another type.
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

    def to_onnx(
        self,
        *,
        opset: int | None = None,
        batch: str | int = "N",
        output: Literal["matrix", "columns"] = "matrix",
    ) -> onnx.ModelProto:
        """Return a model of ONNX that encodes rows as `transform` does.

        Its first output is ``transform(table, "numpy")``, or with ``output="columns"`` there is
        one for each feature. It has an input of shape (N,) for each encoded column, by its name.
        `onehot_fast.integrations.onnx.input_feed` makes these inputs of a table.

        A missing value is NaN among floats, and an empty text. Integers and Booleans have none,
        but are given as float64 where missing values have an output of their own, or make NaN.
        What the encoder refuses ends a run with an error that names the column;
        ``handle_unknown="warn"`` does not warn.

        Parameters
        ----------
        opset : int, optional
            From 13, which is the default: later ones change nothing in the operators used.
        batch : str or int, default "N"
            The number of rows, or a name for any number.
        output : {"matrix", "columns"}, default "matrix"
            One output "onehot" of shape (N, n_features), or one of shape (N,) for each feature,
            by its name and of the dtype of its column.

        Returns
        -------
        onnx.ModelProto
            Checked. The names of the features are in its ``metadata_props``, under
            "feature_names", as JSON.

        Raises
        ------
        ImportError
            onnx is not installed: ``pip install "onehot-fast[onnx]"``.
        RuntimeError
            The encoder is not fitted.
        ValueError
            ONNX cannot say it: categories of times, bytes or several types, missing values beside
            a category "", a dtype that its operators do not take, two tensors of one name.

        Examples
        --------
        >>> from onehot_fast import Encoder
        >>> encoder = Encoder(handle_unknown="ignore").fit({"size": ["S", "L"]})
        >>> model = encoder.to_onnx()
        >>> [node.op_type for node in model.graph.node]
        ['LabelEncoder', 'Gather']
        """
        model: onnx.ModelProto = integration("onnx").to_onnx(
            self, opset=opset, batch=batch, output=output
        )
        return model

"""Encoding the rows of a table with what was learned, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.choices import check_choice
from onehot_fast._categories import coding
from onehot_fast._categories.lookup import code_table
from onehot_fast._categories.schema import Special
from onehot_fast._encode import decode, write
from onehot_fast._encode.codes import codes as write_codes
from onehot_fast._encode.scipy_sparse import FORMATS
from onehot_fast._encode.table_layout import EncodedLayout, categorical_parts
from onehot_fast._estimator import CATEGORY, CODES, Estimator
from onehot_fast._runtime.registry import engine_of, integration, wrappers
from onehot_fast.table import Table, read_table

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from scipy.sparse import csc_array, csr_array

Output: TypeAlias = Literal[
    "numpy", "csr", "csc", "pandas", "arrow", "polars", "codes", "indices", "category",
    "columns", "array", "vector",
]  # fmt: skip


class TransformMixin(Estimator):
    """What a fitted encoder does with rows."""

    @overload
    def transform(
        self,
        table: Any,
        output: Literal["numpy", "codes", "indices"],
        *,
        num_threads: int | None = None,
    ) -> npt.NDArray[Any]: ...
    @overload
    def transform(
        self, table: Any, output: Literal["csr"], *, num_threads: int | None = None
    ) -> csr_array: ...
    @overload
    def transform(
        self, table: Any, output: Literal["csc"], *, num_threads: int | None = None
    ) -> csc_array: ...
    @overload
    def transform(
        self, table: Any, output: Literal["pandas"], *, num_threads: int | None = None
    ) -> pd.DataFrame: ...
    @overload
    def transform(
        self, table: Any, output: Literal["polars"], *, num_threads: int | None = None
    ) -> pl.DataFrame: ...
    @overload
    def transform(
        self, table: Any, output: Literal["arrow"], *, num_threads: int | None = None
    ) -> pa.Table: ...
    @overload
    def transform(
        self, table: Any, output: Output | None = None, *, num_threads: int | None = None
    ) -> Any: ...
    def transform(
        self, table: Any, output: Output | None = None, *, num_threads: int | None = None
    ) -> Any:
        """Encode the rows of a table.

        Parameters
        ----------
        table : as for `fit`
            Columns that are not encoded may differ from those of `fit`.
        output : {"numpy", "csr", "csc", "pandas", "arrow", "polars", "codes", "indices", \
                "category"}, optional
            A row-major matrix, an array of scipy.sparse, or a table of a library whose integration
            is installed; by default what `set_output` chose, or a table of the library of `table`,
            or else a matrix. A matrix has the features only. In a table the other columns stay in
            place, untouched, unless ``remainder="drop"``. Of the last three, which have one column
            for each that is encoded, see the notes. Of Spark: "columns", "array", "vector",
            "codes" and "indices".
        num_threads : int, optional
            By default as many as the size of the result makes worthwhile.

        Returns
        -------
        ndarray of shape (n_rows, n_features), csr_array, csc_array, or a table
            The features stand in the order of `get_feature_names_out`.

        Raises
        ------
        RuntimeError
            The encoder is not fitted.
        TypeError
            The table or a column is of a kind that cannot be encoded.
        ValueError
            A column is absent or there twice, a value is refused by an option, `output` is not
            available, or a feature has the name of a column that is kept.
        MemoryError
            A dense result is larger than the free memory. Nothing has been allocated.

        Notes
        -----
        "codes" is a matrix of shape (n_rows, n_columns), of the smallest of uint8, int16 and int32
        that holds them. In every column 0 is missing, 1 is unknown, 2 is infrequent, and the other
        categories follow from 3 on; `drop` has no part in it. "indices" are the codes of all
        columns in one vocabulary, each column after the one before it, in int32 (int64 beyond):
        what ``torch.nn.Embedding(sum(encoder.cardinalities.values()), ...)`` takes, by
        ``torch.from_numpy`` without a copy. `vocabulary` lists what each stands for.

        "category" is a table of the library of `table` (pandas, polars, Arrow), whose encoded
        columns are of its dtype of categories, as LightGBM and XGBoost take them: always the same
        ones in the same order, all texts if a text is among them. A missing value, and an unknown
        one that is ignored, is missing. Nothing is dropped.

        Examples
        --------
        >>> from onehot_fast import Encoder
        >>> encoder = Encoder(handle_unknown="ignore")
        >>> encoder = encoder.fit({"size": ["S", "L"], "color": ["r", "g"]})
        >>> table = {"size": ["S", None, "XL"], "color": ["g", "g", "r"]}
        >>> encoder.transform(table, "codes")
        array([[4, 3],
               [0, 3],
               [1, 4]], dtype=uint8)
        >>> encoder.transform(table, "indices")
        array([[4, 8],
               [0, 8],
               [1, 9]], dtype=int32)
        """
        schema = self.schema
        engine = engine_of(table)
        if engine is not None:
            return engine.transform(self, table, output or self._output_form(), num_threads)
        source = read_table(table)
        self._check_width(source)
        form = output or self._output_form() or source.library
        if form != source.library:
            forms = ("numpy", *FORMATS, *CODES, CATEGORY, *wrappers())
            check_choice(form, "output", forms)
        if form in CODES:
            schema = schema.remember(coding.coding, ())
            columns = code_table(source, schema)
            return write_codes(form, columns, schema, source.n_rows, num_threads)
        if form == CATEGORY:
            return self._categorical(source)
        columns = code_table(source, schema)
        if form == "numpy":
            return write.rows(columns, schema.dtype, n_rows=source.n_rows, num_threads=num_threads)
        if form in FORMATS:
            return write.sparse_array(
                form, columns, schema.dtype, n_rows=source.n_rows, num_threads=num_threads
            )
        layout = schema.remember(EncodedLayout, source.names)
        return integration(form).wrap(source, layout.parts(columns), layout.memo, num_threads)

    def _categorical(self, source: Table) -> Any:
        """Return the table with its encoded columns in a dtype of categories."""
        library = source.library
        if library == "numpy":
            raise ValueError(
                f"output = {CATEGORY!r} needs a table of {', '.join(wrappers())}: a mapping and an"
                " array have no dtype of categories; output='codes' gives numbers"
            )
        schema = self.schema.remember(coding.grouping, ())
        columns = code_table(source, schema)
        # polars knows no categories but texts.
        parts = categorical_parts(source, schema, columns, as_text=library == "polars")
        return integration(library).wrap(source, parts)

    def inverse_transform(
        self,
        encoded: Any,
        *,
        missing: Any = None,
        unknown: Any = Special.UNKNOWN,
        infrequent: Any = Special.INFREQUENT,
    ) -> Any:
        """Return the values that encoded rows stand for.

        A row that is all off stands for the dropped category; without one for a missing value if
        these are ignored, else for an unknown one if those are ignored. Nothing is lost where each
        of the three has its own form: with ``handle_missing="indicator"`` and
        ``handle_unknown="indicator"`` (or "error") a dropped category is the only row all off.

        Parameters
        ----------
        encoded : ndarray of shape (n_rows, n_features), sparse array, or a table
            1 is on; all else is off. A table has the features by their names, in any order.
        missing, unknown, infrequent : scalar
            What stands for a value that is not known: by default None, `Special.UNKNOWN` and
            `Special.INFREQUENT`.

        Returns
        -------
        dict of str to ndarray of shape (n_rows,), or a table
            A table if one came in, with its other columns in place. A column has the dtype of its
            categories if nothing else occurs in it, otherwise dtype object.

        Raises
        ------
        RuntimeError
            The encoder is not fitted.
        ValueError
            The shape differs, a feature is absent, several outputs of one column are on, or none is
            and that stands for nothing.
        """
        schema = self.schema
        engine = engine_of(encoded)
        if engine is not None:
            return engine.inverse_transform(self, encoded, missing, unknown, infrequent)
        substitutes = {
            Special.MISSING: missing, Special.UNKNOWN: unknown, Special.INFREQUENT: infrequent,
        }  # fmt: skip
        names = [column.name for column in schema.columns]
        if hasattr(encoded, "tocoo"):
            return dict(zip(names, decode.decode_sparse(schema, encoded, substitutes), strict=True))
        if isinstance(encoded, np.ndarray) and encoded.dtype.names is None:
            return dict(zip(names, decode.decode_matrix(schema, encoded, substitutes), strict=True))
        table = read_table(encoded)
        values = decode.decode_features(schema, table, substitutes)
        parts = decode.decoded_parts(table, schema, values)
        if table.library == "numpy":
            return decode.decoded_mapping(table, parts)
        memo = schema.remember(decode.decoded_memo, table.names)
        return integration(table.library).wrap(table, parts, memo)

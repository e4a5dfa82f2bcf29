"""Convert a fitted encoder to polars expressions."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import polars as pl
from polars.selectors import by_name

from onehot_fast import Encoder
from onehot_fast.adapter import ColumnSchema, FeatureWriter, as_literal, require

from ._dtypes import EXTENSION
from ._options import element_of

__all__ = ["expressions"]

TEXTS = (pl.String, pl.Categorical, pl.Enum)
# Codes of rejected values, which a cast to unsigned integers rejects.
REJECTED = {"unknown": -1, "missing": -2}
# polars computes equal expressions once only if their literals have fewer than 1,000 values.
MAX_SHARED_KEYS = 500
ATTOSECONDS = {"ms": 10**15, "us": 10**12, "ns": 10**9}


def expressions(encoder: Encoder, frame: pl.DataFrame | pl.LazyFrame) -> list[pl.Expr]:
    """Return the features of a frame as expressions; see `Encoder.expressions`.

    Examples
    --------
    >>> frame = pl.DataFrame({"size": ["S", None]})
    >>> frame.select(expressions(Encoder().fit(frame), frame)).to_dict(as_series=False)
    {'size_S': [True, False]}
    """
    require("polars", "1.32", "Encoder.expressions")  # older versions treat names as patterns
    schema, dtypes = encoder.schema, frame.collect_schema()
    positions, kinds = schema.positions_in(dtypes.names()), dtypes.dtypes()
    features = []
    for column, position in zip(schema.columns, positions, strict=True):
        dtype = kinds[position]
        if dtype.is_nested() or dtype == pl.Object or isinstance(dtype, EXTENSION):
            raise TypeError(
                f"column {column.name!r} has dtype {dtype}, which expressions cannot encode: cast"
                " the column, or select its fields, its elements or the storage of its extension"
                " type (.ext.storage())"
            )
        rejects = "error" in (column.options.handle_unknown, column.options.handle_missing)
        written = (_CheckedWriter if rejects else _Writer)(column, dtype).features()
        features += [each.alias(name) for each, name in zip(written, column.names, strict=True)]
    return features


class _Writer(FeatureWriter[pl.Expr]):
    """Creates a polars expression for each feature of one column.

    `series` has the categories in the dtype of the column. The `literals` that the methods receive
    are positions in this Series.
    """

    def __init__(self, column: ColumnSchema, dtype: Any) -> None:
        self.dtype, self.element = dtype, element_of(column.options.dtype).dtype
        # Not pl.col, which treats "*" and "^x$" as patterns.
        self.value: pl.Expr = by_name(str(column.name)).as_expr()
        self.series = _literals(column.known.tolist(), dtype)
        is_null = self.series.is_null()
        super().__init__(column, [None if null else i for i, null in enumerate(is_null)])

    def is_missing(self) -> pl.Expr:
        is_null = self.value.is_null()
        return is_null | self.value.is_nan().fill_null(False) if self.dtype.is_float() else is_null

    def is_among(self, literals: list[int]) -> pl.Expr:
        if len(literals) == 1:
            return self.value.eq_missing(self._literal(literals[0]))
        return self.value.is_in(self.series.gather(literals).implode()).fill_null(False)

    def is_other(self, literals: list[int]) -> pl.Expr:
        return ~(self.is_among(literals) | self.is_missing())

    def feature(self, condition: pl.Expr, errors: dict[str, pl.Expr]) -> pl.Expr:
        feature = condition if self.element == pl.Boolean else condition.cast(self.element)
        if self.column.propagates_missing:
            nan = pl.lit(float("nan"), dtype=self.element)
            feature = pl.when(self.is_missing()).then(nan).otherwise(feature)
        return feature

    def _literal(self, position: int) -> pl.Expr:
        if self.dtype.is_temporal():  # pass an integer
            return pl.lit(self.series.to_physical()[position]).cast(self.dtype)
        value = self.series[position]
        return pl.lit(value) if isinstance(self.dtype, TEXTS) else pl.lit(value, dtype=self.dtype)


class _CheckedWriter(_Writer):
    """Creates the features of a column whose options reject some values.

    All features compare one shared expression, the code of the value, which fails for a rejected
    value. So the query fails whichever features it selects, and polars computes the code once. The
    code of a category is its position in `series`; larger codes are those of other values.
    """

    def __init__(self, column: ColumnSchema, dtype: Any) -> None:
        super().__init__(column, dtype)
        n_known, options = len(self.series), column.options
        self.missing, unknown, rejected = n_known, n_known + 1, []
        if options.handle_unknown == "error":
            unknown = REJECTED["unknown"]
            rejected.append(f"unknown ({unknown})")
        if options.handle_missing == "error":
            self.missing = REJECTED["missing"]
            rejected.append(f"missing ({self.missing})")
        # The error of a failed cast shows the name of the column and the code. A field of a
        # struct keeps its name, while polars renames the shared expressions.
        message = f"column {column.name!r}: the value is {' or '.join(rejected)};"
        message += " encoder.check(frame) lists such values"
        code = pl.struct(self._code(unknown).alias(message)).struct.field(message)
        self.value = code.cast(pl.UInt32)

    def _code(self, unknown: int) -> pl.Expr:
        """Return the code of each value; the codes of rejected values are negative."""
        value, keys = self.value, self.series
        if isinstance(self.dtype, pl.Decimal):  # polars 1.32 cannot look up decimals
            value, keys = value.to_physical(), keys.to_physical()
        codes = pl.Series(range(len(keys)), dtype=pl.Int32).filter(keys.is_not_null())
        missing = [None, float("nan")] if self.dtype.is_float() else [None]
        keys = pl.concat([keys.drop_nulls(), pl.Series(missing, dtype=keys.dtype)])
        codes = pl.concat([codes, pl.Series([self.missing] * len(missing), dtype=pl.Int32)])
        code = pl.lit(unknown, dtype=pl.Int32)
        for start in range(0, len(keys), MAX_SHARED_KEYS):
            part = slice(start, start + MAX_SHARED_KEYS)
            code = value.replace_strict(
                keys[part], codes[part], default=code, return_dtype=pl.Int32
            )
        return code

    def is_missing(self) -> pl.Expr:
        if self.missing < 0:
            return self.value.is_null()  # never, because the code has failed
        return self.value == self._literal(self.missing)

    def is_among(self, literals: list[int]) -> pl.Expr:
        if len(literals) == 1:
            return self.value == self._literal(literals[0])
        return self.value.is_in(pl.lit(pl.Series(literals, dtype=pl.UInt32)).implode())

    def _literal(self, position: int) -> pl.Expr:
        return pl.lit(position, dtype=pl.UInt32)


def _literals(items: Sequence[Any], dtype: Any) -> pl.Series:
    """Return categories as values of a dtype; a category that equals no such value becomes null."""
    if isinstance(dtype, TEXTS):
        texts = [as_literal(item, "text") for item in items]
        return pl.Series("", texts, pl.String).cast(dtype, strict=False)
    if isinstance(dtype, pl.Decimal):
        # Old versions of polars have no precision for the largest decimals.
        numbers = [_decimal(item, dtype.precision or 38, dtype.scale) for item in items]
        return pl.Series("", numbers, dtype)
    if isinstance(dtype, pl.Datetime | pl.Duration):
        kind = "duration"
        if isinstance(dtype, pl.Datetime):
            kind = "instant" if dtype.time_zone is None else "zoned"
        step = ATTOSECONDS[dtype.time_unit]
        counts = [as_literal(item, kind) for item in items]
        whole = [None if n is None or n % step else n // step for n in counts]
        return pl.Series("", [as_literal(n, "int64") for n in whole], pl.Int64).cast(dtype)
    kind = "bytes" if dtype == pl.Binary else str(dtype).lower()
    return pl.Series("", [as_literal(item, kind) for item in items], dtype)


def _decimal(item: Any, precision: int, scale: int) -> Decimal | None:
    """Return a category as a decimal with this precision and scale, or None if it would change."""
    number: Decimal | None = as_literal(item, "decimal38")
    # Zero has one digit before the point, but fits into a type without such digits.
    if number is None or (number and number.adjusted() >= precision - scale):
        return None
    return number if -int(number.as_tuple().exponent) <= scale else None

"""Convert a fitted encoder to polars expressions."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import Any

import polars as pl
from polars.selectors import by_name

from onehot_fast import Encoder
from onehot_fast.adapter import ColumnSchema, FeatureWriter, as_literal, require

from ._dtypes import EXTENSION
from ._options import element_of

__all__ = ["expressions"]

TEXTS = (pl.String, pl.Categorical, pl.Enum)
# Codes of values; a cast to unsigned integers rejects the negative ones.
ACCEPTED, CODES = 0, {"unknown": -1, "missing": -2}
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
        # Not pl.col, which treats "*" and "^x$" as patterns.
        value = by_name(str(column.name)).as_expr()
        writer: type[_Writer] = _Writer
        if column.is_ragged:
            writer = _LabelWriter
            value, dtype = _labels(column, value, dtype)
        if dtype.is_nested() or dtype == pl.Object or isinstance(dtype, EXTENSION):
            raise TypeError(
                f"column {column.name!r} has dtype {dtype}, which expressions cannot encode: cast"
                " the column, or select its fields, its elements or the storage of its extension"
                " type (.ext.storage())"
            )
        written = writer(column, value, dtype).features()
        features += [each.alias(name) for each, name in zip(written, column.names, strict=True)]
    return features


def _labels(column: ColumnSchema, value: pl.Expr, dtype: Any) -> tuple[pl.Expr, Any]:
    """Return a column with several labels in a row as lists, and the dtype of a label."""
    if isinstance(dtype, pl.List):
        return value, dtype.inner
    if isinstance(dtype, pl.Array) and not dtype.inner.is_nested():
        return value.arr.to_list(), dtype.inner
    if dtype == pl.Null:  # all rows are missing
        return value.cast(pl.List(pl.String)), pl.String()
    sep = column.options.sep
    if isinstance(dtype, TEXTS) and sep is not None:
        is_label = pl.element() != ""  # as in `transform`, which skips empty labels
        parts = value.cast(pl.String).str.split(sep).list.eval(pl.element().filter(is_label))
        return parts, pl.String()
    expected = "lists" if sep is None else f"lists, or texts with the separator {sep!r}"
    raise TypeError(
        f"column {column.name!r} must have {expected}, as in fit, got dtype {dtype}: cast the"
        " column, or fit the encoder to a column like this"
    )


class _Writer(FeatureWriter[pl.Expr]):
    """Creates a polars expression for each feature of one column.

    `series` has the categories in the dtype of the column. The `literals` that the methods receive
    are positions in this Series.

    If the options reject values, all features compare one shared expression, the checked value,
    which fails for a rejected value. So a query fails whichever features it selects, and polars
    checks the values once.
    """

    def __init__(self, column: ColumnSchema, value: pl.Expr, dtype: Any) -> None:
        self.value, self.dtype = value, dtype
        self.element = element_of(column.options.dtype).dtype
        self.series = _literals(column.known.tolist(), dtype)
        is_null = self.series.is_null()
        super().__init__(column, [None if null else i for i, null in enumerate(is_null)])
        self._check()

    def _check(self) -> None:
        """Replace `value` by the checked value."""
        options, known = self.column.options, self.series.drop_nulls()
        rejects_missing = options.handle_missing == "error"
        rejects_unknown = options.handle_unknown == "error"
        if isinstance(self.dtype, pl.Enum):  # often, it has no other values than the categories
            rejects_unknown = rejects_unknown and len(known) < len(self.dtype.categories)
        # A cast to codes costs less than a comparison of strings for each category.
        casts = rejects_unknown and self.dtype == pl.String
        rejected = {}
        if rejects_missing:
            rejected["missing"] = self.is_missing()
        if rejects_unknown and not casts:
            categories = [i for i in self.literals if i is not None]
            rejected["unknown"] = self.is_other(categories)
        if rejected:
            code = pl.lit(ACCEPTED, dtype=pl.Int8)
            for each, condition in rejected.items():
                code = pl.when(condition).then(pl.lit(CODES[each], dtype=pl.Int8)).otherwise(code)
            code = self._named(code, " or ".join(f"{each} ({CODES[each]})" for each in rejected))
            # If all rows are accepted, this is the column itself, without a copy.
            self.value = pl.when(code.cast(pl.UInt8) == ACCEPTED).then(self.value)
        if casts:
            self.dtype = pl.Enum(known)
            self.series = self.series.cast(self.dtype)
            self.value = self._named(self.value, "unknown").cast(self._row_dtype())

    def _named(self, value: pl.Expr, rejected: str) -> pl.Expr:
        """Return an expression whose name is the message for rejected values.

        The error of a failed cast shows the name. A field of a struct keeps its name, while polars
        renames the shared expressions.
        """
        message = f"column {self.column.name!r}: the value is {rejected};"
        message += " encoder.check(frame) lists such values"
        return pl.struct(value.alias(message)).struct.field(message)

    def _row_dtype(self) -> Any:
        """Return the dtype of a row whose value has the dtype `dtype`."""
        return self.dtype

    def is_missing(self) -> pl.Expr:
        return self._is_missing(self.value)

    def is_among(self, literals: list[int]) -> pl.Expr:
        return self._is_among(self.value, literals)

    def is_other(self, literals: list[int]) -> pl.Expr:
        return self._is_other(self.value, literals)

    def _is_missing(self, value: pl.Expr) -> pl.Expr:
        is_null = value.is_null()
        return is_null | value.is_nan().fill_null(False) if self.dtype.is_float() else is_null

    def _is_among(self, value: pl.Expr, literals: list[int]) -> pl.Expr:
        if len(literals) == 1:
            return value.eq_missing(self._literal(literals[0]))
        starts = range(0, max(1, len(literals)), MAX_SHARED_KEYS)
        parts = [self.series.gather(literals[i : i + MAX_SHARED_KEYS]) for i in starts]
        is_equal = [value.is_in(pl.lit(part).implode()).fill_null(False) for part in parts]
        return reduce(or_, is_equal)

    def _is_other(self, value: pl.Expr, literals: list[int]) -> pl.Expr:
        return ~(self._is_among(value, literals) | self._is_missing(value))

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


class _LabelWriter(_Writer):
    """Creates the expressions of a column whose rows are lists of labels.

    A condition is true in a row if it is true for one of its labels. `dtype` is that of a label.
    """

    takes_labels = True

    def _row_dtype(self) -> Any:
        return pl.List(self.dtype)

    def _has_label(self, condition: pl.Expr) -> pl.Expr:
        """Return the condition that a label of the row satisfies a condition."""
        return self.value.list.eval(condition).list.any().fill_null(False)

    def is_missing(self) -> pl.Expr:
        return self.value.is_null() | self._has_label(self._is_missing(pl.element()))

    def is_among(self, literals: list[int]) -> pl.Expr:
        if len(literals) == 1:
            found = self.value.list.contains(self._literal(literals[0]), nulls_equal=False)
            return found.fill_null(False)
        return self._has_label(self._is_among(pl.element(), literals))

    def is_other(self, literals: list[int]) -> pl.Expr:
        return self._has_label(self._is_other(pl.element(), literals))


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

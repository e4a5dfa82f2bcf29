"""Learn the categories of features, and look up values in the categories."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils._missing import is_scalar_nan
from sklearn.utils.validation import validate_data

from onehot_fast.adapter import (
    Cache,
    Categories,
    CodedColumn,
    Strings,
    Values,
    cached_property,
    lowest_code,
    lut_of,
    new_luts,
)

from ._columns import (
    KIND_TYPES,
    OBJECT,
    AnyArray,
    DType,
    InputColumn,
    SklearnFallback,
    python_type,
    read_table,
)
from ._exchange import Exchange
from ._originals import BaseEncoder

Positions: TypeAlias = npt.NDArray[np.int32]

# The option that scikit-learn passes if NaN must not become an infrequent category.
NAN_APART = "return_and_ignore_missing_for_infrequent"
# Comparing the memory of up to this many categories takes less than a microsecond.
MAX_COMPARED = 1024


class LookupLuts(NamedTuple):
    """The look-up tables from the codes of `CategoryLookup` to positions in the categories."""

    lut: Positions  # to len(categories) for an unknown value
    without_unknown: Positions  # to -1 for an unknown value
    derived: Cache[Positions]  # see `CodedColumn.luts`, of `without_unknown`


class CodedInput(NamedTuple):
    """An `InputColumn` in codes, with a look-up table to positions in `categories_`.

    It is more than a `CodedColumn`: scikit-learn raises an error or warns if a row has an unknown
    value. The look-up table does not tell, because it may have codes that occur in no row.
    """

    codes: AnyArray  # of the rows, negative for missing values
    # The position of each code, len(categories_) for an unknown value; the last entry is the
    # position of a missing value.
    lut: Positions
    has_unknown: bool  # whether a row has an unknown value
    # The tables that `lut` belongs to, or None if it does not last as long as the categories.
    lasting: LookupLuts | None = None

    def map(self, function: Callable[[Positions], AnyArray]) -> AnyArray:
        """Return ``function(positions)`` for the category positions of all rows."""
        codes, lut = self.codes, self.lut
        # The function treats each position alone, so call it for the shorter array.
        if len(codes) < len(lut):
            return function(lut.take(codes))
        return function(lut).take(codes, axis=0)


@dataclass(frozen=True, eq=False)
class CategoryLookup:
    """A hash table from the values of a fitted feature to positions in its categories."""

    categories: AnyArray  # the element of `categories_`
    original: AnyArray  # a copy, because a user may edit `categories` in place
    content: bytes  # the memory of `original`
    present: Categories  # the categories that are not missing
    type: type  # the Python type of the categories: str, int, float or bool
    missing: tuple[int, int]  # the positions of NaN and None, or else the number of categories

    @classmethod
    def of(cls, categories: AnyArray) -> CategoryLookup:
        """Return the hash table for the categories of a feature.

        Raise SklearnFallback for categories of several types, for duplicates, and for a missing
        value that is not last.
        """
        original = present = categories.copy()
        none = nan = len(categories)
        # pandas.NA has no truth value.
        if len(present) and is_scalar_nan(present[-1]):
            present, nan = present[:-1], len(present) - 1
        if len(present) and present[-1] is None:
            present, none = present[:-1], len(present) - 1
        kind, known = python_type(present) if len(present) else None, Categories.of(present)
        if kind is None or (kind is not str and known.family != "number"):
            raise SklearnFallback
        is_finite = kind is not float or np.isfinite(np.asarray(known.values)).all()
        if not is_finite or len({*present.tolist()}) < len(present):
            raise SklearnFallback
        return cls(categories, original, original.tobytes(), known, kind, (nan, none))

    def is_current(self, rows: CodedInput) -> bool:
        """Tell whether these rows need no category that a user has edited in place.

        The memory is compared, which for objects has their addresses. One row with known values
        must not take time in proportion to the categories, so only its own are compared.
        """
        categories, size = self.categories, len(self.original)
        if rows.has_unknown or size <= MAX_COMPARED or size <= len(rows.codes):
            return self.content == categories.tobytes()
        used = rows.lut.take(rows.codes)
        return self.original.take(used).tobytes() == categories.take(used).tobytes()

    def code(self, column: InputColumn) -> CodedInput:
        """Look up the values of a column in the categories."""
        codes = self._look_up(column)
        if codes is not None:
            return self._of_lookup(codes, column)
        dtype = column.dtype
        read = column.encode()
        codes, values = read.codes, read.stored
        if not self._accepts(dtype, python_type(values)):  # 1 equals 1.0
            raise SklearnFallback
        found = self.present.find(Categories.of(values))
        unknown, missing = len(self.categories), self.missing[column.missing_value(codes) is None]
        positions = np.where(found < 0, unknown, found)
        has_unknown = missing == unknown and bool(codes.min() < 0)
        if not has_unknown and (found < 0).any():
            has_unknown = bool(CodedColumn(codes, None, len(found)).counts()[found < 0].any())
        return CodedInput(codes, lut_of(positions, missing), has_unknown)

    def _look_up(self, column: InputColumn) -> npt.NDArray[np.int32] | None:
        """Return the codes of `Values.lookup`, or None if it cannot look up these values."""
        source, dtype = column.source, column.dtype
        if isinstance(source, list):
            return self.present.lookup_few(source) if self.type is str else None
        if isinstance(source, Values) and self._accepts(dtype, KIND_TYPES.get(dtype.kind, str)):
            return source.lookup(self.present)
        return None

    def _of_lookup(self, codes: npt.NDArray[np.int32], column: InputColumn) -> CodedInput:
        """Convert codes from `Values.lookup`, in which -1 means missing and -2 means unknown."""
        lowest = lowest_code(codes)
        luts = self._luts[lowest < 0 and column.missing_value(codes) is None]
        has_unknown = lowest < -1 or (lowest == -1 and luts.lut[-1] == len(self.categories))
        if lowest < -1:
            codes[codes < -1] = len(self.present)
            array = column.array
            if array is not None and array.dtype.kind == "f" and np.isinf(array).any():
                raise SklearnFallback  # scikit-learn raises an error for infinity
        return CodedInput(codes, luts.lut, has_unknown, luts)

    @cached_property
    def _luts(self) -> tuple[LookupLuts, LookupLuts]:
        """The look-up tables for columns whose missing value is NaN, and for those with None."""
        # `lookup` numbers the unknown values like a category behind the last one.
        unknown = len(self.categories)
        positions = np.append(np.arange(len(self.present)), unknown)
        nan, none = (lut_of(positions, missing) for missing in self.missing)
        return tuple(  # type: ignore[return-value]
            LookupLuts(lut, np.where(lut == unknown, np.int32(-1), lut), new_luts())
            for lut in (nan, none)
        )

    def _accepts(self, dtype: DType, kind: Any) -> bool:
        """Tell whether a look-up of values with this dtype and type gives scikit-learn's result."""
        both = dtype, self.categories.dtype
        if kind is not self.type or self.type is str:
            return kind is self.type
        # NumPy compares signed with unsigned integers as floats.
        is_exact = self.type is not int or np.result_type(*both).kind != "f"
        return is_exact and (both[0] == OBJECT) == (both[1] == OBJECT)


class CategoryEncoder(Exchange, BaseEncoder):
    """A base class that encodes common inputs, and calls scikit-learn's methods for others."""

    # If a subclass overrides one of these methods, scikit-learn's `transform` must run and call it.
    STEPS: ClassVar[tuple[str, ...]] = "_check_X", "_transform", "_map_infrequent_categories"
    # The attribute that `fit` sets last. Without it, scikit-learn's `transform` raises its error.
    FITTED: ClassVar[str]
    # The rows of `fit` while `fit_transform` runs, and a look-up for each feature. Slots keep these
    # attributes out of `vars`, copies and pickles.
    __slots__ = ("_fitted_rows", "_lookups")
    _fitted_rows: list[CodedInput] | None
    _lookups: list[CategoryLookup]

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes to pickle: only those that scikit-learn's class has."""
        return vars(self).copy()

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        # Read the rows once.
        if fit_params or self._overrides("fit", "transform", *self.STEPS):
            return super().fit_transform(X, y, **fit_params)
        self._fitted_rows = None
        try:
            self.fit(X, y)
            rows = self._fitted_rows
        finally:
            del self._fitted_rows
        with suppress(SklearnFallback):
            if rows is not None:
                return self._encode(rows, self._result_dtype())
        return super().transform(X)

    def transform(self, X: Any) -> Any:
        """Encode rows.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            An ndarray, a list of lists, or a pandas, polars or Arrow table.

        Returns
        -------
        ndarray, or csr_matrix if ``sparse_output=True``
            The encoded rows. The result is a CSR array if scikit-learn is configured to return
            sparse arrays, and a table after `set_output`.

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError, ValueError
            The same errors as scikit-learn.
        MemoryError
            A dense result is larger than the free memory. Nothing has been allocated.
        """
        if hasattr(self, self.FITTED) and not self._overrides(*self.STEPS):
            try:  # `suppress` would take longer than a look-up
                dtype = self._result_dtype()
                return self._encode(self._look_up(X), dtype)
            except SklearnFallback:
                pass
        return super().transform(X)

    def _result_dtype(self) -> DType:
        """Return the dtype of the result, or raise SklearnFallback. The encoder is fitted."""
        raise NotImplementedError

    def _encode(self, rows: list[CodedInput], dtype: DType) -> Any:
        """Return the encoded rows."""
        raise NotImplementedError

    def _fit(
        self, X: Any, handle_unknown: str = "error", ensure_all_finite: Any = True, **options: Any
    ) -> dict[str, Any]:
        """Learn the categories, and return what scikit-learn's `_fit` returns."""
        is_common = ensure_all_finite == "allow-nan" and options in ({}, {NAN_APART: True})
        if is_common and not self._overrides("_check_X"):
            with suppress(SklearnFallback):
                return self._fit_columns(X, handle_unknown, bool(options))
        return super()._fit(X, handle_unknown, ensure_all_finite, **options)

    def _fit_columns(self, X: Any, handle_unknown: str, is_nan_apart: bool) -> dict[str, Any]:
        """Learn the categories without scikit-learn; raise SklearnFallback for rare inputs."""
        (_, columns), declared = read_table(X), self.categories
        if isinstance(declared, str):
            learned = [*map(learn, columns)]
        elif len(declared) == len(columns):
            learned = [*map(find_declared, declared, columns)]
        else:
            raise SklearnFallback
        rows = [codes for _, codes in learned]
        if handle_unknown == "error" and any(codes.has_unknown for codes in rows):
            raise SklearnFallback
        self.categories_: list[AnyArray] = [categories for categories, _ in learned]
        self._check_infrequent_enabled()
        validate_data(self, X=X, reset=True, skip_check_array=True)
        n_samples = len(rows[0].codes)
        ends = enumerate(self.categories_) if is_nan_apart else ()
        nan_at = {i: len(known) - 1 for i, known in ends if is_scalar_nan(known[-1])}
        if self._infrequent_enabled:
            counts = [count_categories(*each) for each in zip(rows, self.categories_, strict=True)]
            self._fit_infrequent_category_mapping(n_samples, counts, nan_at)
        if hasattr(self, "_fitted_rows"):
            self._fitted_rows = rows
        return {"n_samples": n_samples, "missing_indices": nan_at}

    def _look_up(self, X: Any) -> list[CodedInput]:
        """Return the coded rows of each feature; build hash tables if `categories_` changed."""
        lookups, categories = getattr(self, "_lookups", []), self.categories_
        known = [each.categories for each in lookups]
        if [*map(id, known)] != [*map(id, categories)]:
            lookups = self._lookups = [*map(CategoryLookup.of, categories)]
        names, columns = read_table(X)
        if len(columns) != len(lookups):
            raise SklearnFallback
        rows = [*map(CategoryLookup.code, lookups, columns)]
        if not all(map(CategoryLookup.is_current, lookups, rows)):
            lookups = self._lookups = [*map(CategoryLookup.of, categories)]
            rows = [*map(CategoryLookup.code, lookups, columns)]
        if getattr(self, "handle_unknown", "") == "error" and any(row.has_unknown for row in rows):
            raise SklearnFallback
        fitted = vars(self).get("feature_names_in_")
        if names != (None if fitted is None else tuple(fitted.tolist())):
            validate_data(self, X=X, reset=False, skip_check_array=True)
        return rows

    def _overrides(self, *names: str) -> bool:
        """Tell whether a user's subclass overrides one of the named methods."""
        own = type(self)
        if own.__module__.startswith(__package__):
            return False
        ours = next(kind for kind in own.__mro__ if kind.__module__.startswith(__package__))
        return any(getattr(own, name) is not getattr(ours, name) for name in names)


def learn(column: InputColumn) -> tuple[AnyArray, CodedInput]:
    """Return the sorted categories of a column (a missing value is last), and its coded rows."""
    read = column.encode()
    codes, values = read.codes, read.stored
    used = np.flatnonzero(CodedColumn(codes, None, len(values)).counts())
    used = used[Categories.of(values.take(used)).argsort()]
    known = values.take(used)
    categories = known.to_object() if isinstance(known, Strings) else known
    categories = categories.astype(column.dtype, copy=False)
    if codes.min() < 0:
        categories = np.append(categories, np.array([column.missing_value(codes)], column.dtype))
    positions = np.full(len(values), len(categories), np.int32)
    positions[used] = np.arange(len(used))
    return categories, CodedInput(codes, lut_of(positions, missing=len(used)), False)


def find_declared(declared: Any, column: InputColumn) -> tuple[AnyArray, CodedInput]:
    """Return the categories declared by the user as an array, and the coded rows of a column."""
    try:
        categories = np.array(declared, object if column.dtype.kind == "U" else column.dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise SklearnFallback from error
    if categories.ndim != 1:
        raise SklearnFallback
    known = CategoryLookup.of(categories)
    values: Any = known.present.values
    if known.type is not str and (values[1:] < values[:-1]).any():
        raise SklearnFallback  # scikit-learn raises an error for unsorted numbers
    return categories, known.code(column)


def count_categories(rows: CodedInput, categories: AnyArray) -> npt.NDArray[np.int64]:
    """Return the number of rows of each category."""
    n_positions = len(categories) + 1  # the last one is that of unknown values
    positions = CodedColumn(rows.codes, rows.lut, n_positions).features()
    return CodedColumn(positions, None, n_positions).counts()[:-1]

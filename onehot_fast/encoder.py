"""`Encoder` encodes the categorical columns of a table as one-hot features."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.arraylikes import as_array, as_scalar
from onehot_fast._arguments.checks import columns_only, max_positional
from onehot_fast._arguments.indices import as_integer
from onehot_fast._arguments.messages import did_you_mean, number_of, shown, with_article
from onehot_fast._categories.keys import as_objects, name_keys
from onehot_fast._pipeline import decode, layout
from onehot_fast._pipeline.fit import learn_table
from onehot_fast._pipeline.write import Estimate, estimate
from onehot_fast._reports import guards, listing
from onehot_fast._reports.check import Check, check_report
from onehot_fast._reports.listing import Listing
from onehot_fast._reports.unknown import UnknownValueError, UnknownValueWarning
from onehot_fast._runtime.registry import (
    EXPRESSION_BACKENDS,
    engine_of,
    integration,
)
from onehot_fast._runtime.utils import restoring
from onehot_fast._schema import serialize
from onehot_fast._schema.column_choice import chosen_names, column_names
from onehot_fast._schema.column_schema import Special
from onehot_fast._schema.formats import family_of, is_dense
from onehot_fast._schema.options import (
    Drop,
    HandleMissing,
    HandleUnknown,
    Options,
    Remainder,
    option_names,
    resolve,
)
from onehot_fast._schema.schema import Schema, schema_of
from onehot_fast._schema.statistics import InputTable, TableStatistics
from onehot_fast._sklearn_mixin import SklearnMixin
from onehot_fast._transform import encode_table
from onehot_fast._version import __version__
from onehot_fast.implicit import OneHotMatrix
from onehot_fast.table import read_table

if TYPE_CHECKING:
    import onnx
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from scipy.sparse import csc_array, csr_array, csr_matrix

    Frame = TypeVar("Frame", pd.DataFrame, pl.DataFrame)

__all__ = [
    "Check", "Encoder", "Estimate", "HandleMissing", "HandleUnknown", "Listing", "Special",
    "UnknownValueError", "UnknownValueWarning",
]  # fmt: skip

# The maximum number of items of an option that a repr shows.
MAX_SHOWN = 10
# The attributes that are not pickled, because `_params` and `_fitted` determine them.
DERIVED = ("_columns", "_options", "_known_schema", "_state")
# A name, names, a function from a table to names, or a polars selector.
ColumnChoice: TypeAlias = Hashable | Iterable[Hashable] | Callable[[Any], Iterable[Hashable]]
Output: TypeAlias = Literal[
    "numpy", "csr", "csr_matrix", "csc", "implicit", "pandas", "arrow", "polars", "codes",
    "indices", "category", "columns", "array", "vector", None,
]  # fmt: skip
Dense: TypeAlias = Literal["numpy", "codes", "indices"]
SomeEncoder = TypeVar("SomeEncoder")


class NotFitted(RuntimeError, ValueError, AttributeError):
    """The encoder is not fitted. scikit-learn expects a ValueError and an AttributeError."""


class Option:
    """A read-only attribute for an option, which only `set_params` changes."""

    def __init__(self, name: str) -> None:
        self.name: str = name

    def __get__(self, instance: Any, owner: type) -> Any:
        """Return the option as it was passed."""
        return self if instance is None else instance._params[self.name]


def with_options(encoder: type[SomeEncoder]) -> type[SomeEncoder]:
    """Return the class with an attribute for each option.

    The attribute `categories` is not the option but what was learned.
    """
    for name in {*option_names()} - {"categories"}:
        setattr(encoder, name, Option(name))
    return encoder


@with_options
class Encoder(SklearnMixin):
    """Encode the categorical columns of a table as one-hot features.

    `fit` learns the categories. The categories and the options decide the features, their order and
    their names; the rows that you encode do not. Values that compare equal are one category: 1, 1.0
    and True are the same. None, NaN, NaT and pandas.NA are missing values.

    An Encoder is a scikit-learn transformer: use it in a Pipeline, ColumnTransformer or
    GridSearchCV. By default a frame becomes a frame and an array becomes a matrix; `set_output`
    chooses another output format. Every format has the same columns; see `remainder`.

    Each option is one value for all columns, or a mapping from columns to values. Columns that are
    not in a mapping use the default.

    Parameters
    ----------
    columns : column name, sequence of names, function, or polars selector, optional
        The columns to encode. By default the columns of strings, objects and categories; for an
        array without names, all columns ("x0", "x1", ...). A function is called with the table and
        must return column names, like `sklearn.compose.make_column_selector`. If you do not choose
        columns, a column with more than 250 features and more than half as many categories as rows
        causes a warning. If the table has several columns, more than 1,000 features in a dense
        result, or more than 100,000 in any other result, cause an error. A column that you choose
        gets one feature for each distinct value, even a column of numbers or dates.
    categories : "auto", or array_like or sequence of scalars, default "auto"
        The categories in order. "auto" takes all categories of a categorical dtype in their order,
        and for other columns the values that occur, sorted. The values of a list, an array, a
        Series or an Index, also a categorical one, are the categories, so they must be distinct. A
        dtype, such as ``table["size"].dtype``, has its categories.
    sep : str, optional
        The separator of the labels in a text, such as "|" in "action|drama". Each distinct label of
        a row sets its feature; empty labels are skipped, and spaces are kept. One separator applies
        to the columns of texts among the chosen ones, also to categoricals of texts; a mapping
        applies to the columns that it names. `categories` then lists labels. Rows that are lists,
        sets or arrays of labels need no separator. In both cases an empty row is a
        row of zeros, the other options apply to each label, frequencies count rows, and a missing
        row is like a row with a missing label. Lists of numbers are encoded if you choose them.
    drop : {"first", "last", "if_binary", "most_frequent"} or a category, optional
        The category without a feature: the first, the last, the first if there are exactly two, or
        the most frequent (the first of ties). Infrequent categories count as one category. To drop
        a category by name, pass ``{"size": "M"}``, or ``{"size": ["first"]}`` for the category
        "first". Rows of the dropped category are zeros. Columns with several labels in a row drop
        none, and must not be named.
    handle_missing : {"ignore", "indicator", "error", "propagate"}, default "ignore"
        A missing value becomes a row of zeros ("ignore"), sets a feature of its own
        ("size_(missing)"), raises an error (also in `fit`), or makes all features of its column NaN
        ("propagate"), which needs a float dtype.
    handle_unknown : {"error", "ignore", "warn", "indicator", "infrequent"}, default "error"
        A value that is not a category raises an error, becomes a row of zeros ("ignore"; "warn"
        also warns once for all columns), sets a feature of its own ("size_(unknown)"), or counts as
        an infrequent category (zeros if the column has none). If rows of zeros are also those of a
        dropped category, "ignore" and "infrequent" warn too.
    min_frequency : int or float, optional
        Categories in fewer rows (int), or in a smaller share of the rows (float), are infrequent.
        They share one feature ("size_(infrequent)") after the others.
    max_categories : int, optional
        The maximum number of features of one column before `drop`, including the feature of the
        infrequent categories. Among equally frequent categories, the last in order is kept.
    dtype : NumPy dtype, default bool
        The dtype of the features. A matrix has the common NumPy dtype of all its columns.
    prefix : str, optional
        Features are named ``f"{prefix}{prefix_sep}{category}"``; by default the prefix is the name
        of the column.
    prefix_sep : str, default "_"
        The string between prefix and category.
    remainder : {"passthrough", "drop"}, default "passthrough"
        Whether the result includes the columns that are not encoded. Columns come in the order of
        `fit`, features in place of their column. A matrix can include Boolean, integer and float
        columns; any other column raises an error.

    Raises
    ------
    TypeError, ValueError
        An option has the wrong type or an unknown value.
    RuntimeError
        A method or an attribute needs an encoder that is fitted.

    See Also
    --------
    onehot_fast.integrations.sklearn.OneHotEncoder : scikit-learn's class with its rules and names.

    Examples
    --------
    >>> from onehot_fast import Encoder
    >>> train = {"size": ["S", "L", None, "S"], "price": np.array([1.0, 2.5, 2.0, 1.5])}
    >>> encoder = Encoder(handle_unknown="indicator", dtype="uint8").fit(train)
    >>> encoder
    <Encoder(handle_unknown='indicator', dtype='uint8'): 1 column -> 3 features, from 4 rows>
    >>> encoder.get_feature_names_out()
    array(['size_L', 'size_S', 'size_(unknown)', 'price'], dtype=object)
    >>> encoded = encoder.transform({"size": ["M", "S", None], "price": [3, 2, 1]})
    >>> encoded
    array([[0, 0, 1, 3],
           [0, 1, 0, 2],
           [0, 0, 0, 1]])
    >>> encoder.inverse_transform(encoded)
    {'size': array([Special.UNKNOWN, 'S', None], dtype=object), 'price': array([3, 2, 1])}

    In a pipeline:

    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> frame = pd.DataFrame({"size": ["S", "L", "S", "M"], "price": [1.0, 2.5, 2.0, 1.5]})
    >>> model = make_pipeline(Encoder(handle_unknown="ignore"), LogisticRegression())
    >>> model.fit(frame, [0, 1, 0, 1]).predict(frame)
    array([0, 1, 0, 1])
    """

    # `with_options` makes these attributes; a type checker needs them written out.
    sep: Any
    drop: Any
    handle_missing: Any
    handle_unknown: Any
    min_frequency: Any
    max_categories: Any
    dtype: Any
    prefix: Any
    prefix_sep: Any
    remainder: Any

    _params: dict[str, Any]  # the options as they were passed
    _options: Options  # the checked options
    _columns: tuple[Hashable, ...] | None  # the chosen names, or None if `fit` chooses them
    _state: TableStatistics | None  # the learned categories and counts
    _known_schema: Schema | None  # made from the statistics and the options
    _is_subclass: ClassVar[bool] = False  # a subclass may have attributes of its own

    def __init_subclass__(cls) -> None:
        """Accept attributes of a subclass."""
        super().__init_subclass__()
        cls._is_subclass = True

    @columns_only
    def __init__(
        self,
        columns: ColumnChoice = None,
        *,
        categories: Any = "auto",
        sep: str | Mapping[Any, str | None] | None = None,
        drop: Drop | Mapping[Any, Any] | None = None,
        handle_missing: HandleMissing | Mapping[Any, HandleMissing] = "ignore",
        handle_unknown: HandleUnknown | Mapping[Any, HandleUnknown] = "error",
        min_frequency: float | Mapping[Any, float | None] | None = None,
        max_categories: int | Mapping[Any, int | None] | None = None,
        dtype: npt.DTypeLike | Mapping[Any, npt.DTypeLike] = bool,
        prefix: str | Mapping[Any, str | None] | None = None,
        prefix_sep: str | Mapping[Any, str] = "_",
        remainder: Remainder = "passthrough",
    ) -> None:
        passed = dict(locals())  # the arguments by name
        del passed["self"]
        self._columns = column_names(columns)
        self._options = resolve(passed)
        if isinstance(columns, Iterator):
            passed["columns"] = self._columns
        self._params = passed
        self._state = None
        self._known_schema = None

    def __setattr__(self, name: str, value: Any) -> None:
        """Reject assignments to options and unknown names, except in a subclass."""
        is_known = hasattr(type(self), name) and name not in self.__dict__.get("_params", ())
        if not (self._is_subclass or name.startswith("_") or is_known):
            if name in self._params:
                raise AttributeError(f"{name!r} is an option: call set_params({name}=...)")
            hint = did_you_mean(name, self._params)
            raise AttributeError(
                f"Encoder has no attribute {name!r}:{hint} use set_params(...) to change options"
            )
        super().__setattr__(name, value)

    @property
    def columns(self) -> tuple[Hashable, ...] | None:
        """The names of the encoded columns in order; before `fit`, the chosen names or None."""
        return self._columns if self._state is None else self._state.names

    @property
    def schema(self) -> Schema:
        """The schema: the features of each encoded column. It is created at the first use."""
        # Two threads may create the schema at the same time: both results are equal.
        return self._known_schema or self._create_schema(self._fitted_state)

    def _create_schema(self, state: TableStatistics) -> Schema:
        """Return the schema of the statistics, and store both.

        Warn about columns that look like identifiers. After an error, the encoder is unchanged.
        """
        state = state.in_schema_order()
        schema = schema_of(state, self._options)
        if schema.uses_default_columns:
            guards.check_default_columns(schema)
        self._known_schema, self._state = schema, state
        return schema

    @property
    def _input(self) -> InputTable:
        """The columns of the table in `fit`, or only the encoded columns if no others are known."""
        state = self._fitted_state
        return InputTable(state.names) if state.input is None else state.input

    @property
    def _fitted_state(self) -> TableStatistics:
        """The learned categories and counts. If there are none, raise NotFitted."""
        if self._state is None:
            raise NotFitted("the encoder is not fitted: call fit or partial_fit first")
        return self._state

    @property
    def n_features_in_(self) -> int:
        """The number of columns of the table that `fit` saw."""
        return len(self._input.names)

    @property
    def feature_names_in_(self) -> npt.NDArray[np.object_]:
        """The column names of the table that `fit` saw, if all names are strings.

        After `from_sklearn`, only the names of the encoded columns.
        """
        seen = self._input
        if not (seen.has_names and all(isinstance(name, str) for name in seen.names)):
            raise AttributeError(
                "feature_names_in_ requires that all column names of the table in fit are strings"
            )
        return as_objects(list(seen.names))

    def fit(self, table: Any, y: Any = None) -> Encoder:
        """Learn the categories of a table, and forget everything learned before.

        The encoder keeps the categories, how often they occur, and the names of all columns.

        Parameters
        ----------
        table : mapping of names to columns, records, ndarray, Column, or a table of a library
            Records are a list of mappings, one for each row; a single mapping from names to scalars
            is one row. `fit` reads a key that a record lacks as a missing value; `transform`,
            `check` and `inverse_transform` raise an error. The columns of an array without names
            are "x0", "x1", ...
        y : object, optional
            Ignored; scikit-learn's pipelines pass the target here.

        Returns
        -------
        Encoder
            Itself.

        Raises
        ------
        TypeError
            The table or a column has a type that cannot be encoded.
        ValueError
            A column is absent or duplicated, an option rejects a value, the category to drop does
            not exist or is infrequent, or two features have the same name. After an error, the
            encoder is unchanged.

        Warns
        -----
        UserWarning
            The options leave a column without features, or the table has no rows and an encoded
            column declares no categories (`partial_fit` accepts such a table), or a column that you
            did not choose looks like an identifier, or no text of a column contains its separator
            (`partial_fit` does not warn, because a later table may have it).
        """
        state = self._learn(table, self._params["columns"])
        schema = self._create_schema(state)
        guards.check_separators(schema)
        guards.check_rows_exist(schema)
        guards.check_features_exist(schema)
        return self

    def partial_fit(self, table: Any, y: Any = None) -> Encoder:
        """Learn from more rows, as if they had been in the table that was passed to `fit`.

        Never call this method of one encoder in two threads at the same time, or rows are lost.
        Let each thread fit its own encoder, and `merge` the encoders.

        Parameters
        ----------
        table : as for `fit`
            The first table decides which columns are encoded and which other columns are expected.
        y : object, optional
            Ignored.

        Returns
        -------
        Encoder
            Itself. The features are determined when you first use them. Until then, `drop` may name
            a category that only a later table contains.
        """
        if self._state is None:
            self._state = self._learn(table, self._params["columns"])
        else:
            names = self._state.names
            state = self._learn(table, list(names), is_more=True).in_order_of(names)
            # The columns that are not encoded are taken from the first table.
            self._state = self._state.merge(replace(state, input=None))
        self._known_schema = None
        return self

    def _learn(
        self, table: Any, columns: ColumnChoice, *, is_more: bool = False
    ) -> TableStatistics:
        """Return the statistics of the columns of a table that `columns` chooses.

        If `is_more`, reject an array with another number of columns than in `fit`.
        """
        engine = engine_of(table)
        if engine is None:
            source = read_table(table)
            if is_more:
                self._input.check_width(source.names, source.has_names, type(self).__name__)
            names = chosen_names(columns, source)
            return learn_table(source, names, self._options)
        encoder = Encoder(**{**self._params, "columns": columns})
        state: TableStatistics = engine.learn(encoder, table)._fitted_state
        if columns is not None or state.input is None:
            return state
        return replace(state, input=replace(state.input, uses_default_columns=True))

    def merge(self, *others: Encoder) -> Encoder:
        """Return an encoder that has learned the rows of this encoder and of all others.

        The order in which you merge encoders does not change the categories or their counts.
        Declared categories keep their order if all declarations are equal and no encoder saw an
        undeclared value; otherwise all categories are sorted.

        Parameters
        ----------
        *others : Encoder
            Encoders with the same columns and options. Encoders that are not fitted add nothing.

        Returns
        -------
        Encoder
            A new encoder. The columns that are not encoded, and their order, come from the first
            encoder that knows them.

        Raises
        ------
        TypeError
            An argument is not an Encoder.
        ValueError
            The options or the columns differ, including the columns that are not encoded.

        Examples
        --------
        >>> parts = [Encoder().fit({"size": sizes}) for sizes in (["S", "L"], ["M", None])]
        >>> parts[0].merge(parts[1]).get_feature_names_out()
        array(['size_L', 'size_M', 'size_S'], dtype=object)
        """
        merged = Encoder.__new__(Encoder)
        merged.__dict__.update(self.__dict__, _known_schema=None)
        for other in others:
            if not isinstance(other, Encoder):
                raise TypeError(f"merge requires Encoders, got {with_article(other)}")
            if not (other._options == self._options and merged._chooses_as(other)):
                raise ValueError(f"merge requires equal options, got {self!r} and {other!r}")
            if merged._state is None:
                merged._state = other._state
        states = [encoder._state for encoder in (self, *others) if encoder._state is not None]
        if len(states) > 1:
            merged._state = states[0].merge(*states[1:])
        return merged

    def _chooses_as(self, other: Encoder) -> bool:
        """Tell whether two encoders choose the same columns; return True if both are fitted."""
        if self._state is not None and other._state is not None:
            return True  # `TableStatistics` compares the columns that both learned
        if self._columns is not None or other._columns is not None:
            mine, others = self._columns or (), other._columns or ()
            is_chosen = self._columns is not None and other._columns is not None
            return is_chosen and name_keys(mine) == name_keys(others)
        return self._params["columns"] is other._params["columns"]

    @overload
    def fit_transform(
        self, table: Frame, y: Any = None, *, output: None = None, num_threads: int | None = None
    ) -> Frame: ...
    @overload
    def fit_transform(
        self, table: Any, y: Any = None, *, output: Dense, num_threads: int | None = None
    ) -> npt.NDArray[Any]: ...
    @overload
    def fit_transform(
        self, table: Any, y: Any = None, *, output: Output = None, num_threads: int | None = None
    ) -> Any: ...
    @max_positional(3, "pass the arguments after fit_transform(table, y) by keyword: output='csr'")
    def fit_transform(
        self, table: Any, y: Any = None, *, output: Output = None, num_threads: int | None = None
    ) -> Any:
        """Learn the categories of a table and encode it; see `fit` and `transform`."""
        if isinstance(y, str):
            raise TypeError(f"y = {y!r} is not a target; to choose the output, pass output={y!r}")
        if engine_of(table) is None:
            table = read_table(table).coded_once()
        return self.fit(table).transform(table, output, num_threads=num_threads)

    @overload
    def transform(
        self, table: Frame, output: None = None, *, num_threads: int | None = None
    ) -> Frame: ...
    @overload
    def transform(
        self, table: Any, output: Dense, *, num_threads: int | None = None
    ) -> npt.NDArray[Any]: ...
    @overload
    def transform(
        self, table: Any, output: Literal["csr"], *, num_threads: int | None = None
    ) -> csr_array: ...
    @overload
    def transform(
        self, table: Any, output: Literal["csr_matrix"], *, num_threads: int | None = None
    ) -> csr_matrix: ...
    @overload
    def transform(
        self, table: Any, output: Literal["csc"], *, num_threads: int | None = None
    ) -> csc_array: ...
    @overload
    def transform(
        self, table: Any, output: Literal["implicit"], *, num_threads: int | None = None
    ) -> OneHotMatrix: ...
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
        self, table: Any, output: Output = None, *, num_threads: int | None = None
    ) -> Any: ...
    @max_positional(3, "transform takes only table and output by position; pass dtype= to Encoder")
    def transform(
        self, table: Any, output: Output = None, *, num_threads: int | None = None
    ) -> Any:
        """Encode the rows of a table.

        Parameters
        ----------
        table : as for `fit`
            The columns may be in another order than in `fit`. The table must have the encoded
            columns and, for a matrix, all columns that `fit` saw unless ``remainder="drop"``.
        output : {"numpy", "csr", "csr_matrix", "csc", "implicit", "pandas", "arrow", "polars", \
                "codes", "indices", "category"}, optional
            The output format: a row-major array, a `scipy.sparse` array (or "csr_matrix", for
            libraries that need a sparse matrix), a `OneHotMatrix`, a library's table, or "codes",
            "indices" or "category", which the notes describe. By default the format that
            `set_output` chose, or else a table of the same library as `table` (a row-major array
            for arrays and mappings). For Spark: "columns", "array", "vector", "codes" or "indices".
        num_threads : int, optional
            The number of threads. By default it depends on the size of the result.

        Returns
        -------
        ndarray, sparse array or table of n_rows
            The columns are those of `get_feature_names_out`. In a table, columns that `fit` did not
            see come last. A warning names columns that `fit` saw but `table` lacks.

        Raises
        ------
        TypeError
            The table or a column has a type that cannot be encoded.
        ValueError
            A column is absent or duplicated, a record lacks a key that other records have,
            `handle_missing` or `handle_unknown` rejects a value, `output` is not available, a
            feature has the name of another column, a matrix would include a column that is not
            numeric, or a dense result has more than 1,000 features of columns that were chosen by
            default.
        MemoryError
            A dense result is larger than the free memory. Nothing has been allocated.

        Notes
        -----
        Nullable numeric columns are numeric. Their missing values become NaN in a matrix, which
        turns integers and Booleans into float64. Sparse formats do not store zeros of columns that
        are not encoded.

        "implicit" is a `OneHotMatrix`, which stores only codes. It multiplies, sums and computes
        Gram matrices from the codes, always in float64, even if the encoder has another dtype.

        "codes" is a matrix of shape (n_rows, n_encoded_columns). Its dtype is the smallest of
        uint8, int16 and int32 that fits. In every column 0 is missing, 1 is unknown, 2 is
        infrequent, and the other categories are numbered from 3. `drop` does not apply. "indices"
        adds an offset to the codes of each column, so that no two columns share an integer; the
        dtype is int32, or int64 if needed. Use the indices as the input of
        ``torch.nn.Embedding(sum(encoder.cardinalities.values()), ...)``; ``torch.from_numpy``
        converts them without a copy. `vocabulary` lists the meaning of each number.

        "category" is a table of the library of `table` (pandas, polars, Arrow) whose encoded
        columns have a categorical dtype, for LightGBM and XGBoost. The categories and their order
        do not depend on the rows. If one category is a string, all become strings. Missing values
        and ignored unknown values are missing in the result. `drop` does not apply.

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
        schema, form = self.schema, output or self._default_output()
        if is_dense(form):
            guards.check_dense(schema)
        engine = engine_of(table)
        if engine is not None:
            return engine.transform(self, table, form, num_threads)
        seen, name = self._input, type(self).__name__
        return encode_table(table, schema, seen, form, num_threads, estimator=name)

    def _default_output(self) -> str | None:
        """Return the output format chosen for `transform`, or None if the input's type decides."""
        config = self.__dict__.get("_sklearn_output_config")
        if config is None:
            # scikit-learn has no `get_config` while it is being imported.
            get_config: Any = getattr(sys.modules.get("sklearn"), "get_config", dict)
            config = {"transform": get_config().get("transform_output", "default")}
        return None if config["transform"] == "default" else config["transform"]

    def get_feature_names_out(
        self, input_features: Iterable[Hashable] | None = None
    ) -> npt.NDArray[np.object_]:
        """Return the names of the columns that `transform` returns, in order.

        Parameters
        ----------
        input_features : sequence of column names, optional
            The columns of the table to encode; by default the columns of the table that `fit` saw.
            For an encoder fitted to an array, these names replace "x0", "x1", ...

        Returns
        -------
        ndarray of str, shape (n_columns,)
            The features and, with ``remainder="passthrough"``, the other columns. `features` lists
            the features alone.

        Raises
        ------
        ValueError
            `input_features` lacks a column of the result, or its length is not the number of
            columns of the array that `fit` saw.

        Examples
        --------
        >>> import pandas as pd
        >>> from onehot_fast import Encoder
        >>> frame = pd.DataFrame({"price": [2, 3], "size": ["S", "L"]})
        >>> encoder = Encoder().fit(frame)
        >>> encoder.get_feature_names_out().tolist()
        ['price', 'size_L', 'size_S']
        >>> encoder.get_feature_names_out(["size", "price", "new"]).tolist()
        ['price', 'size_L', 'size_S', 'new']
        """
        schema, form, seen = self.schema, self._default_output(), self._input
        names = seen.names if input_features is None else tuple(input_features)
        if not seen.has_names:
            if len(names) != len(seen.names):
                raise ValueError(
                    f"input_features should have length equal to the number of columns"
                    f" ({len(seen.names)}), got {len(names)}"
                )
            schema = _renamed(schema, dict(zip(seen.names, names, strict=True)))
        form = form or seen.library
        family = family_of(form)
        if family == "codes":
            return as_objects([column.name for column in schema.columns])
        if family == "category":
            return as_objects([names[i] for i in schema.column_order(names).positions])
        columns = layout.EncodedLayout(schema, names)
        if family == "matrix":
            columns.order.check_absent()
            return as_objects(columns.matrix_names)
        return as_objects(columns.names)

    def inverse_transform(
        self,
        encoded: Any,
        *,
        missing: Any = None,
        unknown: Any = Special.UNKNOWN,
        infrequent: Any = Special.INFREQUENT,
    ) -> Any:
        """Return the values of encoded rows.

        A row of zeros is decoded as the dropped category, if there is one; else as a missing value,
        if missing values are ignored; else as an unknown value, if unknown values are ignored. To
        distinguish the three, set `handle_missing` and `handle_unknown` to "indicator" or "error".

        Parameters
        ----------
        encoded : ndarray, sparse array, OneHotMatrix, or a table
            The result of `transform` in any format except "codes" and "indices", or a matrix of
            only the features. The columns of a table may be in any order.
        missing, unknown, infrequent : scalar
            The values to return for missing, unknown and infrequent values; by default None,
            `Special.UNKNOWN` and `Special.INFREQUENT`. Texts of several labels cannot contain
            them: there, pass texts, or None to leave such labels out.

        Returns
        -------
        dict of str to ndarray of shape (n_rows,), or a table
            A table if `encoded` is a table. Columns of a matrix that were not encoded keep the
            dtype of the matrix. A decoded column has the type that `fit` saw (after `merge`, the
            common type), e.g. categorical or int8, if `fit` read a table of the same library and
            the type can represent all values. Otherwise the column has the dtype of its categories,
            or dtype object if some values are not categories. Rows of several labels are lists in
            the order of the categories, also if they were sets or arrays, or texts joined
            with `sep`. In Dask and Spark, the type does not
            depend on the rows: it must be able to represent all categories, and the values of
            `missing`, `unknown` and `infrequent` that may be decoded.

        Raises
        ------
        ValueError
            The shape is wrong, or a feature is absent. Or a row is invalid: several features of a
            column are 1, a feature is neither 0, 1 nor null (`onehot_fast.decode` decodes scores),
            or all features are 0 although no value is encoded as zeros.
        """
        schema = self.schema
        missing, unknown, infrequent = map(as_scalar, (missing, unknown, infrequent))
        engine = engine_of(encoded)
        if engine is not None:
            return engine.inverse_transform(self, encoded, missing, unknown, infrequent)
        substitutes = {
            Special.MISSING: missing, Special.UNKNOWN: unknown, Special.INFREQUENT: infrequent,
        }  # fmt: skip
        if isinstance(encoded, OneHotMatrix):
            encoded = encoded.to_csc()
        is_array = isinstance(encoded, np.ndarray) and encoded.dtype.names is None
        if is_array or hasattr(encoded, "tocsc"):
            if is_array:
                as_array(encoded, "encoded")  # rejects a masked array
            return decode.decode_matrix(schema, encoded, substitutes)
        table = read_table(encoded)
        if decode.holds_categories(schema, table.names):
            parts = decode.category_parts(table, schema, substitutes)
            return integration(table.library).wrap(table, parts)
        parts = decode.decoded_parts(table, schema, substitutes)
        if table.library == "numpy":
            return decode.decoded_mapping(table, parts)
        cache = schema.cached_for(table.names, decode.DecodedLayout).of_library
        return integration(table.library).wrap(table, parts, cache)

    def check(self, table: Any) -> Check:
        """Report the unknown, missing and infrequent values of a table.

        Parameters
        ----------
        table : as for `transform`

        Returns
        -------
        Check
            A dict of arrays with one entry for each unknown, missing or infrequent value of each
            column: "column", "kind", "value", "count" and "share". The arrays are empty if every
            value is a category that `fit` saw. If a column has values of another type than in
            `fit`, such as text instead of integers, a note below the rows says so.

        Raises
        ------
        TypeError, ValueError
            A column cannot be read, is absent or is duplicated, or a record lacks a key that other
            records have.

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
        <Check of 2 rows: every value is a category that fit has seen>
        """
        return check_report(read_table(table), self.schema)

    @property
    def features(self) -> Listing:
        """The meaning of each feature: a dict of arrays with one entry for each feature.

        The keys are "column", "kind" ("category", "infrequent", "unknown" or "missing"), "category"
        (None for the other kinds), "name", "count" (the number of rows in `fit` in which the
        feature was one; -1 if it is not known) and "dtype". Columns that are not encoded are not
        listed.

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
        return listing.feature_listing(self.schema)

    @property
    def cardinalities(self) -> dict[Hashable, int]:
        """The number of codes of each column in the output "codes".

        It includes three reserved codes: for missing, unknown and infrequent values.

        Examples
        --------
        >>> from onehot_fast import Encoder
        >>> Encoder().fit({"size": ["S", "L", None], "color": ["r", "g", "b"]}).cardinalities
        {'size': 5, 'color': 6}
        """
        self.schema.check_plain("the attribute cardinalities")
        columns = self.schema.of_codes.columns
        return {column.name: column.n_features for column in columns}

    @property
    def vocabulary(self) -> Listing:
        """The meaning of each code: a dict of arrays with one entry for each code, in order.

        The keys are "column", "kind" ("category", "infrequent", "unknown" or "missing"), "category"
        (None for the other kinds), "code" and "index". `transform` describes codes and indices.

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
        self.schema.check_plain("the attribute vocabulary")
        return listing.vocabulary_listing(self.schema)

    def summary(self) -> Listing:
        """Summarize each encoded column in one row.

        Returns
        -------
        Listing
            A dict of arrays: "column", the numbers of "categories" and "features", "most_frequent"
            (a category, or None if there is none), and its "count" and "share" of the rows.

        Examples
        --------
        >>> from onehot_fast import Encoder
        >>> encoder = Encoder(drop="first")
        >>> encoder.fit({"size": ["S", "L", "S"], "plan": ["pro", None, "free"]}).summary()
        column  categories  features  most_frequent  count  share
        size    2           1         S              2      66.67%
        plan    2           1         free           1      33.33%
        """
        return listing.summary(self.schema)

    def _repr_html_(self) -> str:
        """Return HTML with the options and the most frequent categories of each column."""
        with contextlib.suppress(RuntimeError, ValueError):  # not fitted, or no schema yet
            return listing.as_html(repr(self), self.schema)
        return f"<code>{escape(repr(self))}</code>"

    def estimate(self, n_rows: Any) -> Estimate:
        """Return the size in bytes that the features would have in five output formats.

        Parameters
        ----------
        n_rows : int, or a table as for `fit`
            The number of rows, at least 0, or a table whose rows are counted.

        Returns
        -------
        Estimate
            `rows`, `columns` (the number of features) and `bytes`, a dict from "numpy", "pandas",
            "arrow", "csr" and "csc" to numbers of bytes. Columns that are not encoded do not count.

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
            raise ValueError(f"n_rows must be at least 0, got {rows}")
        return estimate(self.schema, rows)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self.schema.n_features

    @property
    def infrequent_categories(self) -> dict[Hashable, npt.NDArray[Any]]:
        """The infrequent categories of each column, which share one feature unless it is dropped.

        Examples
        --------
        >>> from onehot_fast import Encoder
        >>> encoder = Encoder(min_frequency=2).fit({"size": ["S", "L", "S", "XL"]})
        >>> encoder.infrequent_categories
        {'size': array(['L', 'XL'], dtype=object)}
        """
        return {
            column.name: column.known.take(np.flatnonzero(column.is_infrequent)).to_array()
            for column in self.schema.columns
        }

    @property
    def categories(self) -> dict[Hashable, npt.NDArray[Any]]:
        """The categories of each column in order, including infrequent and dropped categories."""
        return {column.name: column.known.to_array() for column in self.schema.columns}

    @max_positional(1, "save(path) writes a file")
    def to_json(self) -> str:
        """Return the encoder as JSON, with its options, categories and counts.

        Returns
        -------
        str
            Indented JSON with a version. `from_json` restores each category and name with its type.

        Raises
        ------
        TypeError
            A category or a column name cannot be written as JSON, or the encoder is not fitted and
            `columns` is a function or a selector.
        ValueError
            A column name or a prefix has more than 10,000 letters, or a number more than 5,000.

        Warns
        -----
        UserWarning
            The name of a column's type has more than 4,000 letters. Only this type is lost.
        """
        chosen = self._params["columns"]
        columns = None if chosen is None else self._columns or self.columns
        if columns is None and chosen is not None:
            raise TypeError(f"columns = {chosen!r} cannot be saved as JSON before fit; call fit")
        return serialize.dumps(columns, self._options, self._state)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result of `to_json` to a file, which is replaced completely or not at all.

        Parameters
        ----------
        path : str or path
            The file to write or to replace.

        Raises
        ------
        OSError, TypeError, ValueError
            The file cannot be written, or the encoder cannot be written as JSON.

        Examples
        --------
        >>> from onehot_fast import Encoder
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp(), "sizes.json")
        >>> encoder = Encoder().fit({"size": ["S", "L"]})
        >>> encoder.save(path)
        >>> Encoder.load(path) == encoder
        True
        """
        serialize.save(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the encoder from a file that `save` or the command-line tool wrote.

        Raises
        ------
        OSError, ValueError
            The file cannot be read, or is not the JSON document of an encoder.
        """
        with open(path, "rb") as file:
            text = file.read()
        try:
            return cls.from_json(text)
        except serialize.NotJSONError:
            raise ValueError(
                f"{os.fspath(path)!r} is not a JSON document of an encoder; to read the encoder"
                " in a Parquet file, use `onehot-fast decode` or `onehot-fast inspect`"
            ) from None

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the encoder from a document that `to_json` returned. To read a file, use `load`.

        Raises
        ------
        ValueError
            The document is not an encoder (the error names the invalid part), or this release does
            not support the version of the document.
        TypeError
            `text` is neither str nor bytes.

        Examples
        --------
        >>> from onehot_fast import Encoder
        >>> encoder = Encoder(drop="first").fit({"size": ["S", "L"]})
        >>> Encoder.from_json(encoder.to_json()).get_feature_names_out()
        array(['size_S'], dtype=object)
        """
        columns, options, state = serialize.loads(text)
        with serialize.reading("'columns' and 'options'"):
            encoder = cls(**{"columns": columns, **options})
        encoder._state = state
        return encoder

    @classmethod
    def from_sklearn(cls, encoder: Any) -> Self:
        """Return the Encoder that encodes like a fitted OneHotEncoder of scikit-learn.

        The features are in the same order. They have the same names, except the features for
        missing values and for infrequent categories. A missing value among the categories becomes
        the feature for missing values.

        Parameters
        ----------
        encoder : sklearn.preprocessing.OneHotEncoder
            A fitted encoder, which may be a `onehot_fast.integrations.sklearn.OneHotEncoder`.

        Returns
        -------
        Encoder
            A fitted encoder. It knows neither the counts of the categories nor the columns that are
            not encoded.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            `encoder` is not fitted.
        TypeError
            `encoder` has another type.
        ValueError
            `encoder` encodes unknown values as infrequent, has several categories for missing
            values, or has a function as `feature_name_combiner`.
        """
        converted: Self = integration("sklearn").from_sklearn(encoder)
        return converted

    def to_sklearn(self) -> Any:
        """Return an equivalent scikit-learn OneHotEncoder, for tools that require that class.

        Returns
        -------
        sklearn.preprocessing.OneHotEncoder
            A fitted encoder for a table of only the encoded columns, in the order of `columns`. The
            features have scikit-learn's names.

        Raises
        ------
        ValueError
            scikit-learn's class cannot encode the same way: it has no separate feature for unknown
            values, and it treats missing values, except NaN among floats, as unknown. The option
            ``handle_missing="ignore"`` is accepted if `fit` saw no missing value.

        Examples
        --------
        >>> from onehot_fast import Encoder
        >>> encoder = Encoder(handle_unknown="ignore").fit({"size": ["S", "L"]})
        >>> import pandas as pd
        >>> encoder.to_sklearn().transform(pd.DataFrame({"size": ["S", "M"]}))
        array([[False,  True],
               [False, False]])
        """
        return integration("sklearn").to_sklearn(self)

    def to_sql(self, dialect: str = "duckdb", table: str | Sequence[str] | None = None) -> str:
        """Return SQL expressions that compute the features in a database.

        The result equals `transform` with ``remainder="drop"``. To keep other columns, add them to
        the SELECT: ``f"SELECT price, {encoder.to_sql()} FROM shirts"``.

        Parameters
        ----------
        dialect : {"duckdb", "postgres", "spark", "bigquery", "sqlite"}, default "duckdb"
            The database that will run the SQL.
        table : str or sequence of str, optional
            The table to select from. If it is in a database or schema, pass a list, such as
            ``["sales", "shirts"]``, because a dot counts as part of a name. By default only the
            items of a SELECT are returned: ``f"SELECT id, {encoder.to_sql()} FROM flights"``.

        Returns
        -------
        str
            One item for each feature, with its name (in BigQuery, "_" replaces characters other
            than letters and digits). Names and categories are quoted.

        Raises
        ------
        TypeError
            `dialect` or `table` has the wrong type.
        ValueError
            The SQL of the database cannot express the encoder; the message says why.

        Notes
        -----
        The SQL assumes that each column has the type that `fit` saw. NULL and NaN are missing. With
        `table`, a value that the options reject makes the query fail, whichever features of its
        column you select. Items without a table check it in the first feature of the column only.
        The page "Encode in a database with SQL" of the documentation describes each
        database.

        Examples
        --------
        >>> from onehot_fast import Encoder
        >>> encoder = Encoder(handle_unknown="ignore").fit({"size": ["S", "L"]})
        >>> print(encoder.to_sql("spark", table="shirts"))
        SELECT CASE WHEN CAST(`size` AS STRING) = 'L' THEN TRUE ELSE FALSE END AS `size_L`,
               CASE WHEN CAST(`size` AS STRING) = 'S' THEN TRUE ELSE FALSE END AS `size_S`
        FROM `shirts`
        """
        return str(integration("sql").to_sql(self, dialect, table))

    def expressions(self, frame: Any) -> list[Any]:
        """Return expressions that compute the features in polars or through narwhals.

        ``frame.select(encoder.expressions(frame))`` equals `transform` with ``remainder="drop"``.
        Use ``frame.select("price", *encoder.expressions(frame))`` to keep other columns. No
        expression calls Python, so the engine can optimize the whole query.

        Parameters
        ----------
        frame : polars.DataFrame or LazyFrame, or narwhals.DataFrame or LazyFrame
            Only its schema is read. For other engines pass ``narwhals.from_native(relation)``.

        Returns
        -------
        list of polars.Expr or narwhals.Expr
            One expression for each feature, with its name and dtype.

        Raises
        ------
        TypeError
            `frame` has another type, or a column has a dtype that cannot be encoded.
        ValueError
            A column is absent, or `handle_missing` or `handle_unknown` is "error" and `frame` is a
            frame of narwhals, whose expressions cannot raise errors. In polars, a query that uses
            the first feature of a column fails if the options reject a value of the column.

        Notes
        -----
        Expressions do not warn about unknown values.

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
        if library not in EXPRESSION_BACKENDS:
            raise TypeError(
                f"frame must be a frame of polars or narwhals, got {with_article(frame)}; pass"
                " narwhals.from_native(frame)"
            )
        return list(integration(library).expressions(self, frame))

    def to_onnx(
        self,
        *,
        opset: int | None = None,
        batch: str | int = "N",
        output: Literal["matrix", "columns"] = "matrix",
    ) -> onnx.ModelProto:
        """Return an ONNX model that encodes like `transform` with ``remainder="drop"``.

        The model has an input of shape (N,) for each encoded column, with the column's name;
        `onehot_fast.integrations.onnx.input_feed` makes the inputs from a table. To keep other
        columns, convert a pipeline with skl2onnx, which includes them.

        In the inputs, NaN and the empty string are missing values. If the options reject a value,
        an engine that checks the indices of Gather, as the standard requires, raises an error that
        names the column: onnxruntime on the CPU does. Other engines, such as onnxruntime's CUDA
        provider, return a row of zeros instead. ``handle_unknown="warn"`` does not warn.

        Parameters
        ----------
        opset : int, optional
            The opset version, at least 13; by default 13. Newer opsets use the same operators. If a
            text has several labels, the version is at least 20.
        batch : str or int, default "N"
            The number of rows, or a name for the dimension if the number is not fixed.
        output : {"matrix", "columns"}, default "matrix"
            One output "onehot" of shape (N, n_features), or an output of shape (N,) for each
            feature, with its name and dtype.

        Returns
        -------
        onnx.ModelProto
            A checked model. Its ``metadata_props`` store the names of the features as JSON under
            the key "feature_names".

        Raises
        ------
        ImportError
            onnx is not installed: ``pip install "onehot-fast[onnx]"``.
        ValueError
            ONNX cannot express the encoder; the message says why.

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

    def __eq__(self, other: object) -> bool:
        """Tell whether two encoders have equal options, categories and counts."""
        if type(other) is not type(self):
            return NotImplemented
        same_options = list(self._options.identity()) == list(other._options.identity())
        if self._state is None or other._state is None:
            return same_options and self._state is other._state and self._chooses_as(other)
        return same_options and self._state.is_same(other._state)

    def __getstate__(self) -> dict[str, Any]:
        """Return the options, categories and counts as plain types and arrays."""
        state = {name: value for name, value in vars(self).items() if name not in DERIVED}
        state["_fitted"] = None if self._state is None else self._state.to_plain()
        has_schema = self._known_schema is not None
        return {**state, "_has_schema": has_schema, "version": __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the encoder from the state that `__getstate__` returned."""
        remedy = "load its JSON document (Encoder.save), or fit it again"
        with restoring(state, "an Encoder", remedy):
            attributes = dict(state)
            del attributes["version"]
            fitted, has_schema = attributes.pop("_fitted"), attributes.pop("_has_schema")
            if not {*DERIVED}.isdisjoint(attributes):
                raise ValueError("it contains attributes that are computed")
            Encoder.__init__(self, **attributes.pop("_params"))
            self.__dict__.update(attributes)
            if fitted is not None:
                self._state = TableStatistics.from_plain(fitted)
                # Not `_create_schema`: the warnings were shown before the encoder was pickled.
                self._known_schema = schema_of(self._state, self._options) if has_schema else None

    def __hash__(self) -> int:
        """Return the same number for all encoders, because `fit` changes which encoders are equal.

        scikit-learn's ColumnTransformer requires hashable transformers.
        """
        return hash(Encoder)

    def __repr__(self) -> str:
        """Show the options that are not the default, and the numbers of columns and features."""
        columns = self._params["columns"]
        listed = repr(columns) if self._columns is None else _shown("columns", self._columns)
        names = [] if columns is None else [f"columns={listed}"]
        chosen = [f"{name}={_shown(name, value)}" for name, value in self._options.chosen()]
        call = f"Encoder({', '.join(names + chosen)})"
        if self._state is None:
            return call
        columns, rows = number_of(len(self._state.names), "column"), self._state.n_rows
        features = "?"
        with contextlib.suppress(ValueError):  # the options do not fit the learned categories
            features = f"{self.n_features:,}"
        return f"<{call}: {columns} -> {features} features, from {rows:,} rows>"


def _shown(option: str, value: Any) -> str:
    """Return an option as Python code, with at most `MAX_SHOWN` items."""
    if isinstance(value, Mapping):
        return f"{{{_listed(value, lambda c: f'{shown(c)}: {_shown(option, value[c])}')}}}"
    if isinstance(value, np.dtype):
        return repr(value.name)
    if option == "categories" and value is None:
        return "'auto'"
    value = serialize.drop_as_passed(value)
    is_list = isinstance(value, list) or option in ("categories", "columns")
    return f"[{_listed(value, shown)}]" if is_list else shown(value)


def _listed(values: Collection[Any], text: Callable[[Any], str]) -> str:
    """Return the first `MAX_SHOWN` values as text, and the number of values if it is larger."""
    rest = f", … ({len(values):,} in all)" if len(values) > MAX_SHOWN else ""
    return ", ".join(map(text, islice(values, MAX_SHOWN))) + rest


def _renamed(schema: Schema, names: dict[Hashable, Hashable]) -> Schema:
    """Return the schema with its columns renamed."""
    columns = (dataclasses.replace(column, name=names[column.name]) for column in schema.columns)
    fitted = schema.fitted_names and tuple(names[name] for name in schema.fitted_names)
    return dataclasses.replace(schema, columns=tuple(columns), fitted_names=fitted)

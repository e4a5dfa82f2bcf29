"""The encoder of a table: what it learns once, it applies to any rows, with one fixed schema."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.choices import ONE_LIST, at_most, with_article
from onehot_fast._categories import serialize
from onehot_fast._categories.identifiers import check_default_columns
from onehot_fast._categories.learn import learn_table, schema_of
from onehot_fast._categories.learned import TableStatistics
from onehot_fast._categories.listing import Listing
from onehot_fast._categories.options import (
    Drop,
    HandleMissing,
    HandleUnknown,
    chosen_names,
    column_names,
    resolve,
)
from onehot_fast._categories.review import Check
from onehot_fast._categories.schema import Schema, Special
from onehot_fast._encode.sizes import Estimate
from onehot_fast._estimator import FittedTable, NotFitted
from onehot_fast._exports import ExportMixin
from onehot_fast._reports import ReportMixin
from onehot_fast._runtime.registry import engine_of
from onehot_fast._saving import SavingMixin
from onehot_fast._transform import Output, TransformMixin
from onehot_fast.table import read_table

__all__ = [
    "Check",
    "Encoder",
    "Estimate",
    "HandleMissing",
    "HandleUnknown",
    "Listing",
    "Special",
]

# A name, names, a function from a table to names, or a selector of polars; None: by their types.
ColumnChoice: TypeAlias = Hashable | Iterable[Hashable] | Callable[[Any], Iterable[Hashable]]


class Encoder(ExportMixin, TransformMixin, ReportMixin, SavingMixin):
    """One-hot encoding of the categorical columns of a table.

    `fit` learns the categories, and with the options they settle the output: which columns it has,
    in what order and by what names. The rows to encode have no part in it. Values that compare
    equal are one category, as are 1, 1.0 and True; None, NaN, NaT and pandas.NA are missing.

    It is an estimator: scikit-learn's Pipeline, ColumnTransformer, GridSearchCV and `clone` take it
    as one of their own. A frame that comes in goes out as a frame, of the features and the columns
    that are kept; `set_output` chooses another form, a sparse matrix too. Numbers of a frame are
    kept where `columns` does not name them, in a ColumnTransformer too:
    ``("code", Encoder(["zip"]), ["zip"])``.

    Every option is one value for all columns, or a mapping from columns to values; a column that a
    mapping does not name has the default.

    Parameters
    ----------
    columns : column name, sequence of names, function, or selector of polars, optional
        Those to encode, whatever they hold; by default the texts, objects and categoricals of a
        table whose columns have names, and all columns of a plain array ("x0", "x1", ...). A
        function is called with the table that is fitted, as `sklearn.compose.make_column_selector`
        is, and returns names. Where nobody chose, a column of more than 250 features whose
        categories are more than half as many as the rows is warned of, as identifiers are like
        that, and so is a table without a column to encode; more than 100,000 features are an error.
    categories : "auto" or sequence of scalars, default "auto"
        The categories in their order, or those met in `fit`: a categorical column's own, in its
        order, also where they do not occur; otherwise the values that occur, sorted.
    drop : {"first", "last", "if_binary", "most_frequent"} or a category, optional
        The category without a column, chosen once the infrequent ones share theirs: the first or
        last column, the first of exactly two, that of the most rows (the first of several). A
        category is given for one column, ``{"size": "M"}``; ``{"size": ["first"]}`` where it is
        spelled like a rule. A row of the category is all off.
    handle_missing : {"ignore", "indicator", "error", "propagate"}, default "ignore"
        The row of a missing value is all off, or on in a column of its own ("size_(missing)"), or
        refused, in `fit` too, or NaN in every output of its column, which needs a float dtype.
    handle_unknown : {"error", "ignore", "warn", "indicator", "infrequent"}, default "error"
        A value that is no category is refused, or its row is all off, in silence or with one
        warning for all columns, or on in a column of its own ("size_(unknown)"), or counted among
        the infrequent (and all off if there are none).
    min_frequency : int or float, optional
        Categories in fewer rows, or in a smaller share of all rows, are infrequent: they share one
        column ("size_(infrequent)") after the others.
    max_categories : int, optional
        The most columns the categories of one column may make before `drop`, that of the
        infrequent ones included, by scikit-learn's rules: of equally frequent categories the last
        in order stay.
    dtype : NumPy dtype, default bool
        The dtype of the output. One matrix of several dtypes has the one NumPy promotes them to.
    prefix : str, optional
        The outputs are named ``f"{prefix}{prefix_sep}{category}"``; by default the prefix is the
        name of the column.
    prefix_sep : str, default "_"
        What stands between prefix and category.
    remainder : {"passthrough", "drop"}, default "passthrough"
        Whether a table that is encoded keeps its other columns, in their places. One rule for all
        of them; a matrix has the features only.

    Raises
    ------
    TypeError, ValueError
        An option is of the wrong kind or has a value that is not listed above.

    See Also
    --------
    onehot_fast.integrations.sklearn.OneHotEncoder : scikit-learn's own class, its rules and names.

    Examples
    --------
    >>> from onehot_fast import Encoder
    >>> train = {"size": ["S", "L", None, "S"], "price": np.array([1.0, 2.5, 2.0, 1.5])}
    >>> encoder = Encoder(handle_unknown="indicator", dtype="uint8").fit(train)
    >>> encoder
    <Encoder(handle_unknown='indicator', dtype='uint8'): 1 column -> 3 features, from 4 rows>
    >>> encoder.get_feature_names_out()
    array(['size_L', 'size_S', 'size_(unknown)'], dtype=object)
    >>> encoded = encoder.transform({"size": ["M", "S", None]})
    >>> encoded
    array([[0, 0, 1],
           [0, 1, 0],
           [0, 0, 0]], dtype=uint8)
    >>> encoder.inverse_transform(encoded)
    {'size': array([Special.UNKNOWN, 'S', None], dtype=object)}

    As a step of a model; the columns that it keeps are numbers:

    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> frame = pd.DataFrame({"size": ["S", "L", "S", "M"], "price": [1.0, 2.5, 2.0, 1.5]})
    >>> model = make_pipeline(Encoder(handle_unknown="ignore"), LogisticRegression())
    >>> model.fit(frame, [0, 1, 0, 1]).predict(frame)
    array([0, 1, 0, 1])
    """

    @at_most(2, ONE_LIST)
    def __init__(
        self,
        columns: ColumnChoice = None,
        *,
        categories: Any = "auto",
        drop: Drop | Mapping[Any, Any] | None = None,
        handle_missing: HandleMissing | Mapping[Any, HandleMissing] = "ignore",
        handle_unknown: HandleUnknown | Mapping[Any, HandleUnknown] = "error",
        min_frequency: float | Mapping[Any, float | None] | None = None,
        max_categories: int | Mapping[Any, int | None] | None = None,
        dtype: npt.DTypeLike | Mapping[Any, npt.DTypeLike] = bool,
        prefix: str | Mapping[Any, str | None] | None = None,
        prefix_sep: str | Mapping[Any, str] = "_",
        remainder: Literal["passthrough", "drop"] = "passthrough",
    ) -> None:
        options = {
            "categories": categories,
            "drop": drop,
            "handle_missing": handle_missing,
            "handle_unknown": handle_unknown,
            "min_frequency": min_frequency,
            "max_categories": max_categories,
            "dtype": dtype,
            "prefix": prefix,
            "prefix_sep": prefix_sep,
            "remainder": remainder,
        }
        self._columns = column_names(columns)
        self._options = resolve(options)
        names = self._columns if isinstance(columns, Iterator) else columns
        self._params = {"columns": names, **options}
        self._state = None
        self._input = None
        self._uses_default_columns = False  # whether features were made that nobody named
        self._known_schema: Schema | None = None

    def fit(self, table: Any, y: Any = None) -> Encoder:
        """Learn the categories of a table, and forget what was learned before.

        Nothing of the table is kept but the categories and how often they occur.

        Parameters
        ----------
        table : mapping of names to columns, ndarray, Column, or a table of a library
            See `onehot_fast.table.read_table`.
        y : object, optional
            Ignored: pipelines of scikit-learn pass a target.

        Returns
        -------
        Encoder
            Itself.

        Raises
        ------
        TypeError
            The table or a column is of a kind that cannot be encoded.
        ValueError
            A column is absent or there twice, a value is refused by an option, the category to
            drop has no column of its own, or two outputs have the same name. What was learned
            before is still there.
        """
        columns = self._params["columns"]
        learned, seen = self._learn(table, columns)
        state = learned.in_schema_order()
        schema = schema_of(state, self._options)
        uses_default_columns = columns is None and seen.is_named
        if uses_default_columns:
            check_default_columns(schema, state, seen.names)
        self._state, self._known_schema, self._input = state, schema, seen
        self._uses_default_columns = uses_default_columns
        return self

    def partial_fit(self, table: Any, y: Any = None) -> Encoder:
        """Learn from more rows, as if they had been part of the table that was fitted.

        Parameters
        ----------
        table : as for `fit`
            With the encoded columns; which these are the first table decides.
        y : object, optional
            Ignored.

        Returns
        -------
        Encoder
            Itself. The schema is settled when it is asked for: `drop` may name a category that a
            later part brings.

        Raises
        ------
        TypeError, ValueError
            As for `fit`, but for the errors of the schema.
        """
        if self._state is None:
            columns = self._params["columns"]
            self._state, self._input = self._learn(table, columns)
            self._uses_default_columns = columns is None and self._input.is_named
        else:
            state, _ = self._learn(table, list(self._state.names), is_more=True)
            self._state = self._state.merge(state)
        self._known_schema = None
        return self

    def _learn(
        self, table: Any, columns: ColumnChoice, is_more: bool = False
    ) -> tuple[TableStatistics, FittedTable]:
        """Return what some columns of a table teach, and what is kept of the table."""
        engine = engine_of(table)
        if engine is None:
            source = read_table(table)
            if is_more:
                self._check_width(source)
            names = chosen_names(columns, source)
            return learn_table(source, names, self._options), FittedTable.of(source)
        learned = engine.learn(Encoder(**{**self._params, "columns": columns}), table)
        assert learned._state is not None
        assert learned._input is not None
        return learned._state, learned._input

    def merge(self, *others: Encoder) -> Encoder:
        """Return the encoder that has seen the rows of all: the same in any order and grouping.

        Counts are added. Categories that the data declare keep their order where all parts that
        declare any agree and no part has another value; otherwise all are sorted.

        Parameters
        ----------
        *others : Encoder
            With the same columns and options. One that is not fitted adds nothing.

        Returns
        -------
        Encoder
            A new one.

        Raises
        ------
        TypeError
            One of them is no Encoder.
        ValueError
            They differ in their options or encoded columns.

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
                raise TypeError(f"{with_article(other)} cannot be merged into an Encoder")
            if not (other._options == self._options and merged._chooses_as(other)):
                raise ValueError(f"the encoders differ in their options: {self!r} and {other!r}")
            if merged._state is None:
                merged._state, merged._input = other._state, other._input
                merged._uses_default_columns = other._uses_default_columns
        states = [encoder._state for encoder in (self, *others) if encoder._state is not None]
        if len(states) > 1:
            merged._state = states[0].merge(*states[1:])
        return merged

    def _chooses_as(self, other: Encoder) -> bool:
        """Tell whether both encode the same columns, as far as that is settled."""
        if self._state is not None and other._state is not None:
            return True  # the states are compared
        if self._columns is not None or other._columns is not None:
            return self._columns == other._columns
        return self._params["columns"] is other._params["columns"]

    def fit_transform(
        self,
        table: Any,
        y: Any = None,
        *,
        output: Output | None = None,
        num_threads: int | None = None,
    ) -> Any:
        """Learn the categories of a table and encode it; see `fit` and `transform`."""
        if isinstance(y, str):
            raise TypeError(f"y = {y!r} is not a target; for a form of output, write output={y!r}")
        if engine_of(table) is not None:
            return self.fit(table).transform(table, output, num_threads=num_threads)
        once = read_table(table).coded_once()
        return self.fit(once).transform(once, output, num_threads=num_threads)

    def __eq__(self, other: object) -> bool:
        """Tell whether two encoders do the same: their options, and all that they have learned."""
        if type(other) is not type(self):
            return NotImplemented
        same_options = list(self._options.identity()) == list(other._options.identity())
        if self._state is None or other._state is None:
            return same_options and self._state is other._state and self._chooses_as(other)
        return same_options and self._state.is_same(other._state)

    def __hash__(self) -> int:
        """Return one number for all encoders: which are equal changes as they learn.

        scikit-learn's ColumnTransformer looks for its transformers in a set.
        """
        return hash(Encoder)

    def __repr__(self) -> str:
        """Show the options that are not the default, and the size."""
        columns = self._params["columns"] if self._columns is None else list(self._columns)
        names = [] if columns is None else [f"columns={columns!r}"]
        chosen = [f"{name}={_shown(name, value)}" for name, value in self._options.chosen()]
        call = f"Encoder({', '.join(names + chosen)})"
        if self._state is None:
            return call
        n, rows = len(self._state.names), self._state.n_rows
        plural = "" if n == 1 else "s"
        features = "?"
        with contextlib.suppress(ValueError):  # what keeps a schema from being settled yet
            features = f"{self.n_features:,}"
        return f"<{call}: {n:,} column{plural} -> {features} features, from {rows:,} rows>"

    @property
    def schema(self) -> Schema:
        """The output columns of each encoded column."""
        # Two threads may make it at once: both results are equal.
        if self._known_schema is None:
            if self._state is None:
                raise NotFitted("the encoder is not fitted: call fit or partial_fit first")
            self._state = self._state.in_schema_order()
            schema = schema_of(self._state, self._options)
            if self._uses_default_columns and self._input is not None:
                check_default_columns(schema, self._state, self._input.names)
            self._known_schema = schema
        return self._known_schema


def _shown(option: str, value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{c!r}: {_shown(option, one)}' for c, one in value.items())}}}"
    if isinstance(value, np.dtype):
        return repr(value.name)
    if option == "categories":
        return "'auto'" if value is None else repr(list(value))
    return repr(serialize.drop_as_passed(value))

"""The methods that scikit-learn calls; this module imports scikit-learn only for its tags."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.checks import check_choice
from onehot_fast._arguments.messages import did_you_mean
from onehot_fast._categories.keys import as_objects
from onehot_fast._pipeline.table_layout import EncodedLayout
from onehot_fast._pipeline.write import FORMATS
from onehot_fast._runtime.registry import wrappers
from onehot_fast._schema.lookup import schema_of
from onehot_fast._schema.options import Options
from onehot_fast._schema.reports import check_default_columns
from onehot_fast._schema.schema import Schema
from onehot_fast._schema.statistics import InputTable, TableStatistics
from onehot_fast.table import Table

MATRICES = ("numpy", *FORMATS, "implicit")
# Output formats with one column of integers for each encoded column.
CODES = ("codes", "indices")
CATEGORY = "category"
# Output formats whose size does not grow with the number of features; "vector" is for Spark.
SPARSE = (*FORMATS, *CODES, CATEGORY, "implicit", "vector")
# The options that `fit` needs. A change of any other option does not require a new `fit`.
REFIT_PARAMS = ("columns", "categories")


class NotFitted(RuntimeError, ValueError, AttributeError):
    """The encoder is not fitted. scikit-learn expects a ValueError and an AttributeError."""


class Option:
    """A read-only attribute for an option, which only `set_params` changes."""

    def __set_name__(self, owner: type, name: str) -> None:
        """Store the name of the attribute."""
        self.name: str = name

    def __get__(self, instance: Any, owner: type) -> Any:
        """Return the option as it was passed."""
        return self if instance is None else instance._params[self.name]


# The attributes of scikit-learn's encoders, and how an Encoder names the same. A test reads the
# names from scikit-learn.
FOREIGN_ATTRIBUTES = {
    "categories_": "encoder.categories, a dict from columns to arrays",
    "classes_": "encoder.categories, a dict from columns to arrays",
    "drop_idx_": "encoder.drop, or encoder.features, which lists the features that exist",
    "infrequent_categories_": "encoder.infrequent_categories, a dict from columns to arrays",
    "get_feature_names": "encoder.get_feature_names_out()",
    "n_features_out_": "encoder.n_features",
    "feature_name_combiner": "the options prefix= and prefix_sep=",
    "sparse_output": "encoder.transform(table, output='csr')",
    "encoded_missing_value": "encoder.transform(table, output='codes'), in which 0 is missing",
    "unknown_value": "encoder.transform(table, output='codes'), in which 1 is unknown",
}


class SklearnProtocol:
    """The methods of `Encoder` that implement the interface of scikit-learn's transformers."""

    drop: Any = Option()
    handle_missing: Any = Option()
    handle_unknown: Any = Option()
    min_frequency: Any = Option()
    max_categories: Any = Option()
    dtype: Any = Option()
    prefix: Any = Option()
    prefix_sep: Any = Option()
    remainder: Any = Option()

    _params: dict[str, Any]  # the options as they were passed
    _options: Options  # the checked options
    _columns: tuple[Hashable, ...] | None  # the chosen names, or None if `fit` chooses them
    _state: TableStatistics | None  # the learned categories and counts
    _known_schema: Schema | None  # made from the statistics and the options

    def __setattr__(self, name: str, value: Any) -> None:
        """Reject assignments to options and unknown names, except in a user's subclass."""
        is_ours = type(self).__module__.startswith("onehot_fast.")
        is_known = hasattr(type(self), name) and name not in self.__dict__.get("_params", ())
        if is_ours and not name.startswith("_") and not is_known:
            if name in self._params:
                raise AttributeError(f"{name!r} is an option: call set_params({name}=...)")
            hint = did_you_mean(name, self._params)
            raise AttributeError(
                f"Encoder has no attribute {name!r}:{hint} use set_params(...) to change options"
            )
        super().__setattr__(name, value)

    if not TYPE_CHECKING:  # for a type checker, an unknown attribute stays an error

        def __getattr__(self, name: str) -> Any:
            """Raise the AttributeError of an absent attribute, which names ours if there is one."""
            if hasattr(type(self), name):  # a property raised an AttributeError: raise it again
                return object.__getattribute__(self, name)
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            here = FOREIGN_ATTRIBUTES.get(name)
            raise AttributeError(f"{text}: use {here}" if here else text, name=name, obj=self)

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
            check_default_columns(schema)
        self._known_schema, self._state = schema, state
        return schema

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the options by name, as they were passed.

        Parameters
        ----------
        deep : bool, default True
            Ignored; an Encoder contains no other estimator.

        Returns
        -------
        dict of str to object
        """
        return dict(self._params)

    def set_params(self, **params: Any) -> Self:
        """Change some options. After an error, no option has changed.

        A fitted encoder stays fitted, and its features are updated to the new options. Only
        `columns` and `categories` require a new `fit`: if you change them, refit the encoder.

        Parameters
        ----------
        **params
            The options of the class.

        Returns
        -------
        Encoder
            Itself.

        Raises
        ------
        TypeError, ValueError
            An option does not exist or has a wrong value.

        Examples
        --------
        >>> from onehot_fast import Encoder
        >>> encoder = Encoder().fit({"size": ["S", "L"]})
        >>> encoder.set_params(handle_unknown="ignore").transform({"size": ["M", "S"]})
        array([[False, False],
               [False,  True]])
        """
        for name in params:
            if name not in self._params:
                hint = did_you_mean(name, self._params)
                raise ValueError(
                    f"{name!r} is not a parameter of {type(self).__name__}:{hint} the parameters"
                    f" are {[*self._params]}"
                )
        new = type(self)(**{**self._params, **params})
        if all(new._params[name] is self._params[name] for name in REFIT_PARAMS):
            new._state = self._state
        self.__dict__.update(new.__dict__)
        return self

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose the default output format of `transform`, like scikit-learn's transformers.

        Parameters
        ----------
        transform : {"default", "pandas", "polars", "numpy", "csr", "csr_matrix", ...}, optional
            A value for `output` of `transform`. "default" returns a table of the library of the
            input, or else an array; None changes nothing. If you never call `set_output`,
            scikit-learn's ``set_config(transform_output=...)`` applies if scikit-learn is imported.

        Returns
        -------
        Encoder
            Itself.

        Raises
        ------
        TypeError, ValueError
            The output format does not exist.

        Examples
        --------
        >>> from onehot_fast import Encoder
        >>> encoder = Encoder(dtype="uint8").set_output(transform="csr")
        >>> encoder.fit_transform({"size": ["S", "L"]}).indices
        array([1, 0], dtype=int32)
        """
        if transform is not None:
            forms = ("default", *MATRICES, *CODES, CATEGORY, *wrappers())
            check_choice(transform, "transform", forms)
            # scikit-learn's `clone` copies the attribute of this name.
            self._sklearn_output_config = {"transform": transform}
        return self

    def _output_form(self) -> str | None:
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
        schema, form, seen = self.schema, self._output_form(), self._input
        names = seen.names if input_features is None else tuple(input_features)
        if not seen.has_names:
            if len(names) != len(seen.names):
                raise ValueError(
                    f"input_features should have length equal to the number of columns"
                    f" ({len(seen.names)}), got {len(names)}"
                )
            schema = _renamed(schema, dict(zip(seen.names, names, strict=True)))
        if form in CODES:
            return as_objects([column.name for column in schema.columns])
        if form == CATEGORY:
            return as_objects([names[i] for i in schema.column_order(names).positions])
        layout = EncodedLayout(schema, names)
        if form in MATRICES or (form is None and seen.library == "numpy"):
            layout.order.check_absent()
            return as_objects(layout.matrix_names)
        return as_objects(layout.names)

    def _check_width(self, table: Table) -> None:
        """Reject an array with another number of columns than in `fit`."""
        seen = self._input
        has_names = seen.has_names or table.has_names
        if not has_names and len(seen.names) != len(table.names):
            raise ValueError(
                f"X has {len(table.names)} features, but {type(self).__name__} is expecting"
                f" {len(seen.names)} features as input"
            )

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

    def __sklearn_is_fitted__(self) -> bool:
        """Tell `sklearn.utils.validation.check_is_fitted` whether the encoder is fitted."""
        return self._state is not None

    def __sklearn_tags__(self) -> Any:
        """Return the tags of the estimator, for scikit-learn."""
        from sklearn import utils

        return utils.Tags(
            estimator_type=None,
            target_tags=utils.TargetTags(required=False),
            transformer_tags=utils.TransformerTags(preserves_dtype=[]),
            input_tags=utils.InputTags(categorical=True, string=True, allow_nan=True),
        )


def _renamed(schema: Schema, names: dict[Hashable, Hashable]) -> Schema:
    """Return the schema with its columns renamed."""
    columns = (dataclasses.replace(column, name=names[column.name]) for column in schema.columns)
    fitted = schema.fitted_names and tuple(names[name] for name in schema.fitted_names)
    return dataclasses.replace(schema, columns=tuple(columns), fitted_names=fitted)

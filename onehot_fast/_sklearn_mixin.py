"""What scikit-learn asks of an `Encoder`; scikit-learn is imported only for its tags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from onehot_fast._arguments.checks import check_choice
from onehot_fast._arguments.messages import did_you_mean
from onehot_fast._schema.formats import format_names
from onehot_fast._schema.options import option_names
from onehot_fast._schema.statistics import TableStatistics

# The options that `fit` needs. A change of any other option does not require a new `fit`.
REFIT_PARAMS = ("columns", *option_names(["categories"]))
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


class SklearnMixin:
    """The part of the interface of scikit-learn's transformers that encodes nothing."""

    _params: dict[str, Any]  # the options as they were passed
    _state: TableStatistics | None  # the learned categories and counts

    if not TYPE_CHECKING:  # for a type checker, an unknown attribute stays an error

        def __getattr__(self, name: str) -> Any:
            """Raise the AttributeError of an absent attribute, which names ours if there is one."""
            if hasattr(type(self), name):  # a property raised an AttributeError: raise it again
                return object.__getattribute__(self, name)
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            here = FOREIGN_ATTRIBUTES.get(name)
            raise AttributeError(f"{text}: use {here}" if here else text, name=name, obj=self)

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
        `columns`, `categories` and `sep` require a new `fit`: if you change one, refit the encoder.

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
            check_choice(transform, "transform", ("default", *format_names()))
            # scikit-learn's `clone` copies the attribute of this name.
            self._sklearn_output_config = {"transform": transform}
        return self

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

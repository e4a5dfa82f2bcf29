"""Copies of fitted estimators as instances of scikit-learn's class, and of ours."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from sklearn.utils.validation import check_is_fitted

Estimator = TypeVar("Estimator", bound="Exchange")


class Exchange:
    """A base class of the drop-in estimators, which adds `from_sklearn` and `to_sklearn`."""

    __slots__ = ()

    @classmethod
    def from_sklearn(cls: type[Estimator], encoder: Any) -> Estimator:
        """Return a copy of a fitted scikit-learn estimator as an instance of this class.

        Parameters
        ----------
        encoder : estimator
            A fitted instance of scikit-learn's class of the same name.

        Returns
        -------
        estimator
            A fitted instance of this class.

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError
            `encoder` is not fitted, or an instance of another class.

        Examples
        --------
        >>> from sklearn import preprocessing
        >>> from onehot_fast.integrations.sklearn import OneHotEncoder
        >>> theirs = preprocessing.OneHotEncoder(sparse_output=False).fit([["a"], ["b"]])
        >>> OneHotEncoder.from_sklearn(theirs).transform([["b"]])
        array([[0., 1.]])
        """
        check_fitted_instance(encoder, sklearn_class(cls))
        own: Estimator = copied(encoder, cls)
        return own

    def to_sklearn(self) -> Any:
        """Return a copy of the fitted estimator as an instance of scikit-learn's own class.

        Returns
        -------
        estimator
            A copy for tools that accept only scikit-learn's class.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            The estimator is not fitted.
        """
        check_is_fitted(self)
        return copied(self, sklearn_class(type(self)))


def sklearn_class(kind: type) -> type:
    """Return the class of scikit-learn from which a drop-in class is derived."""
    return next(base for base in kind.__mro__ if base.__module__.startswith("sklearn."))


def check_fitted_instance(encoder: Any, kind: type) -> None:
    """Raise an error unless the encoder is a fitted instance of a class of scikit-learn."""
    if not isinstance(encoder, kind):
        raise TypeError(f"encoder must be a sklearn.preprocessing.{kind.__name__}, got {encoder!r}")
    check_is_fitted(encoder)


def copied(encoder: Any, kind: type[Any]) -> Any:
    """Return an instance of a class with copies of an estimator's parameters and attributes."""
    own = kind()
    vars(own).update(copy.deepcopy(vars(encoder)))
    return own

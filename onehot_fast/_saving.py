"""Encoders as JSON, as files and as those of scikit-learn."""

from __future__ import annotations

import os
from typing import Any, Self

from onehot_fast._arguments.choices import at_most
from onehot_fast._categories import serialize
from onehot_fast._estimator import Estimator
from onehot_fast._runtime.registry import integration


class SavingMixin(Estimator):
    """The ways in which an encoder leaves the process, and comes back."""

    @at_most(1, "save(path) writes a file")
    def to_json(self) -> str:
        """Return the encoder as text: its options and all it has learned.

        Returns
        -------
        str
            JSON with a version, for people to read too. Every scalar comes back as it was.

        Raises
        ------
        TypeError
            A category is of a type that has no form in JSON, or `columns` is a function or a
            selector, which text cannot hold, and the encoder is not fitted.
        """
        columns = self._columns
        if columns is None and self._params["columns"] is not None:
            columns = self.columns
            if columns is None:
                columns = self._params["columns"]
                raise TypeError(f"columns = {columns!r} has no form in JSON before fit")
        return serialize.dumps(columns, self._options, self._state)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what `to_json` returns to a file, which is there whole or as it was before.

        Parameters
        ----------
        path : str or path
            Of a file to write or to replace.

        Raises
        ------
        OSError
            It cannot be written.
        TypeError
            As for `to_json`.

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
        """Return the encoder in a file that `save`, or the command, wrote.

        Raises
        ------
        OSError
            It cannot be read.
        ValueError
            As for `from_json`.
        """
        with open(path, "rb") as file:
            return cls.from_json(file.read())

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the encoder that `to_json` wrote; `load` reads a file.

        Raises
        ------
        ValueError
            The text is no encoder, and where it is not, or of a version that this release does not
            read yet.
        TypeError
            It is neither text nor bytes.

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
        """Return the Encoder that does what a fitted OneHotEncoder of scikit-learn does.

        Its features stand in the same order and have the same names, but for those of missing
        values and infrequent categories. What is missing is a feature where the other has a
        category for it.

        Parameters
        ----------
        encoder : sklearn.preprocessing.OneHotEncoder
            Fitted; or that of `onehot_fast.integrations.sklearn`.

        Returns
        -------
        Encoder
            Fitted; in how many rows a category occurred it does not know.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            It is not fitted.
        TypeError
            It is something else.
        ValueError
            It has infrequent categories and takes what is unknown, and so what is missing, for one
            of them; several categories of what is missing; or names of its own.
        """
        converted: Self = integration("sklearn").from_sklearn(encoder)
        return converted

    def to_sklearn(self) -> Any:
        """Return the OneHotEncoder of scikit-learn that does the same, for tools that know only it.

        Returns
        -------
        sklearn.preprocessing.OneHotEncoder
            Fitted, as if to a table of the encoded columns alone, in the order of `columns`; the
            names of its features are scikit-learn's.

        Raises
        ------
        RuntimeError
            The encoder is not fitted.
        ValueError
            scikit-learn's cannot do the same: it has no outputs for unknown values, and takes what
            is missing for unknown, unless it is NaN among floats.

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

"""A stage of Spark's ML pipelines: the estimator, and its fitted model."""

from __future__ import annotations

from typing import Any

from pyspark import keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasInputCols, HasOutputCol, HasOutputCols
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql import DataFrame

from onehot_fast import Encoder

from ._fields import CODES, check_output
from .encoding import encode

__all__ = ["OneHotEncoder", "OneHotEncoderModel"]

# The options of Encoder by the names that Spark gives to such things.
OPTIONS = {
    "handleUnknown": "handle_unknown",
    "handleMissing": "handle_missing",
    "minFrequency": "min_frequency",
    "maxCategories": "max_categories",
    "drop": "drop",
    "dtype": "dtype",
}


def _number(value: Any) -> Any:
    """Return a number of rows or a share of them as it is: 1 and 1.0 differ."""
    return value if isinstance(value, int) else TypeConverters.toFloat(value)


class _OneHotParams(HasInputCols, HasOutputCols, HasOutputCol):
    """The parameters that both have."""

    handleUnknown: Param[str] = Param(
        Params._dummy(),
        "handleUnknown",
        "a value that fit did not meet: error, ignore, warn, indicator or infrequent",
        TypeConverters.toString,
    )
    handleMissing: Param[str] = Param(
        Params._dummy(),
        "handleMissing",
        "a null or NaN: ignore, indicator, error or propagate",
        TypeConverters.toString,
    )
    minFrequency: Param[float] = Param(
        Params._dummy(),
        "minFrequency",
        "categories in fewer rows, or in a smaller share of them, share one feature",
        _number,
    )
    maxCategories: Param[int] = Param(
        Params._dummy(),
        "maxCategories",
        "the most features that the categories of a column make",
        TypeConverters.toInt,
    )
    drop: Param[str] = Param(
        Params._dummy(),
        "drop",
        "the category without a feature: first, last, if_binary or most_frequent",
        TypeConverters.toString,
    )
    dtype: Param[str] = Param(
        Params._dummy(),
        "dtype",
        "of columns and of the elements of arrays: bool, int8, float32, ...",
        TypeConverters.toString,
    )
    output: Param[str] = Param(
        Params._dummy(),
        "output",
        "vector, array, columns, codes or indices",
        TypeConverters.toString,
    )

    def __init__(self) -> None:
        super().__init__()
        self._setDefault(
            handleUnknown="error", handleMissing="ignore", dtype="bool", output="vector"
        )

    def _options(self) -> dict[str, Any]:
        """Return the options of an Encoder."""
        options = {
            option: self.getOrDefault(name)
            for name, option in OPTIONS.items()
            if self.isDefined(name)
        }
        if self.getOrDefault("output") == "columns" and self.isSet("outputCols"):
            options["prefix"] = dict(zip(self.getInputCols(), self.getOutputCols(), strict=True))
        return options

    def _encode(self, dataset: DataFrame, encoder: Encoder) -> DataFrame:
        """Return the dataset with what is new at its end."""
        output: Any = self.getOrDefault("output")
        if output == "columns":
            return encode(dataset, encoder, output=output, keep=True)
        is_each = self.isSet("outputCols")
        names = self.getOutputCols() if is_each else self.getOutputCol()
        return encode(dataset, encoder, output=output, names=names, keep=True)

    def _check(self) -> None:
        """Refuse parameters that do not fit together."""
        output = self.getOrDefault("output")
        check_output(output)
        if not self.isSet("inputCols"):
            raise ValueError("inputCols is not set: name the columns to encode")
        if self.isSet("outputCols") and self.isSet("outputCol"):
            raise ValueError("outputCol and outputCols are both set: one or the other")
        if self.isSet("outputCols") and len(self.getOutputCols()) != len(self.getInputCols()):
            raise ValueError(
                f"outputCols = {self.getOutputCols()!r} and inputCols = {self.getInputCols()!r}"
                " differ in length"
            )
        if output in CODES and not self.isSet("outputCols"):
            raise ValueError(
                f"output = {output!r} is a column for each of inputCols: set outputCols"
            )


class OneHotEncoder(
    Estimator["OneHotEncoderModel"],
    _OneHotParams,
    DefaultParamsReadable["OneHotEncoder"],
    DefaultParamsWritable,
):
    """One-hot encoding as one stage of a Pipeline of Spark's ML: no StringIndexer before it.

    The parameters are the options of `onehot_fast.Encoder` in Spark's spelling.

    Parameters
    ----------
    inputCols : list of str
        The columns to encode, of any type that holds categories.
    outputCol : str, optional
        The vector or array of all features.
    outputCols : list of str, optional
        Instead: one vector, array or code for each of `inputCols`, or for ``output="columns"`` the
        prefixes of the names.
    handleUnknown : {"error", "ignore", "warn", "indicator", "infrequent"}, default "error"
    handleMissing : {"ignore", "indicator", "error", "propagate"}, default "ignore"
    minFrequency : int or float, optional
    maxCategories : int, optional
    drop : {"first", "last", "if_binary", "most_frequent"}, optional
    dtype : str, default "bool"
    output : {"vector", "array", "columns", "codes", "indices"}, default "vector"

    Raises
    ------
    TypeError, ValueError
        In `fit`: a parameter is refused, a column is absent or cannot be encoded.

    Examples
    --------
    >>> frame = spark.createDataFrame([("S",), ("L",), (None,)], "size string")
    >>> encoder = OneHotEncoder(inputCols=["size"], outputCol="sizes", handleMissing="indicator")
    >>> model = encoder.fit(frame)
    >>> [row.sizes for row in model.transform(frame).collect()]
    [SparseVector(3, {1: 1.0}), SparseVector(3, {0: 1.0}), SparseVector(3, {2: 1.0})]
    >>> model.getEncoder().get_feature_names_out().tolist()
    ['size_L', 'size_S', 'size_(missing)']
    """

    _input_kwargs: dict[str, Any]

    @keyword_only
    def __init__(
        self,
        *,
        inputCols: list[str] | None = None,
        outputCol: str | None = None,
        outputCols: list[str] | None = None,
        handleUnknown: str = "error",
        handleMissing: str = "ignore",
        minFrequency: float | None = None,
        maxCategories: int | None = None,
        drop: str | None = None,
        dtype: str = "bool",
        output: str = "vector",
    ) -> None:
        super().__init__()
        self._set(**self._input_kwargs)

    @keyword_only
    def setParams(
        self,
        *,
        inputCols: list[str] | None = None,
        outputCol: str | None = None,
        outputCols: list[str] | None = None,
        handleUnknown: str = "error",
        handleMissing: str = "ignore",
        minFrequency: float | None = None,
        maxCategories: int | None = None,
        drop: str | None = None,
        dtype: str = "bool",
        output: str = "vector",
    ) -> OneHotEncoder:
        """Set parameters by name; see the class."""
        self._set(**self._input_kwargs)
        return self

    def _fit(self, dataset: DataFrame) -> OneHotEncoderModel:
        self._check()
        columns = self.getInputCols()
        # In the order of inputCols, whatever that of the columns is.
        encoder = Encoder(columns, **self._options()).fit(dataset.select(*map(_quoted, columns)))
        model = OneHotEncoderModel()
        model._set(encoder=encoder.to_json())
        return self._copyValues(model)


class OneHotEncoderModel(
    Model, _OneHotParams, DefaultParamsReadable["OneHotEncoderModel"], DefaultParamsWritable
):
    """What `OneHotEncoder` learned: a stage that appends features to a DataFrame, or to a stream.

    It is saved and loaded as every stage is; what it knows is the text of `Encoder.to_json`, in the
    parameter `encoder`, which any other process reads without Spark.

    Examples
    --------
    >>> frame = spark.createDataFrame([("S",), ("L",)], "size string")
    >>> model = OneHotEncoder(inputCols=["size"], output="columns").fit(frame)
    >>> model.transform(frame).columns
    ['size', 'size_L', 'size_S']
    >>> Encoder.from_json(model.getOrDefault("encoder")).transform({"size": ["L"]})
    array([[ True, False]])
    """

    encoder: Param[str] = Param(
        Params._dummy(), "encoder", "the fitted encoder as JSON", TypeConverters.toString
    )
    _read: tuple[str, Encoder] | None = None

    def getEncoder(self) -> Encoder:
        """Return the fitted encoder, which encodes tables of every library."""
        text = self.getOrDefault("encoder")
        if self._read is None or self._read[0] is not text:
            self._read = text, Encoder.from_json(text)
        return self._read[1]

    def _transform(self, dataset: DataFrame) -> DataFrame:
        self._check()
        return self._encode(dataset, self.getEncoder())


def _quoted(name: str) -> str:
    """Return a name as that of a column, dots and all."""
    return f"`{name.replace('`', '``')}`"

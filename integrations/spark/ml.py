"""One-hot encoding as a stage of Spark ML pipelines: the estimator and its fitted model."""

from __future__ import annotations

from typing import Any, TypeVar

from pyspark import keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasInputCols, HasOutputCol, HasOutputCols
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql import DataFrame

from onehot_fast import Encoder
from onehot_fast.adapter import OPTIONS, check_options, option_names

from ._columns import CODES, OUTPUTS, check_output
from .encoding import encode

__all__ = ["OneHotEncoder", "OneHotEncoderModel"]

Stage = TypeVar("Stage")


def _in_camel_case(name: str) -> str:
    """Return the name of an option as Spark writes it, e.g. "handleUnknown"."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


# Maps each parameter of the stage to the corresponding option of Encoder. Spark chooses the
# categories by `fit` and the names by `outputCols`.
PARAMETERS = {_in_camel_case(name): name for name in ("sep", *option_names(["features", "dtype"]))}


def _number(value: Any) -> Any:
    """Keep an int (a number of rows) and convert other values to float (a share of the rows)."""
    return value if isinstance(value, int) else TypeConverters.toFloat(value)


# The conversion of an option's value, by its types.
CONVERTERS: dict[tuple[type, ...], Any] = {
    (str,): TypeConverters.toString,
    (int,): TypeConverters.toInt,
    (int, float): _number,
}


def _param(name: str, doc: str, converter: Any = TypeConverters.toString) -> Param[Any]:
    return Param(Params._dummy(), name, doc, converter)


def _param_of(name: str) -> Param[Any]:
    """Return the parameter for an option of Encoder."""
    option = OPTIONS[PARAMETERS[name]]
    rules = f": {', '.join(option.rules)}" if option.rules else ""
    return _param(name, f"{option.summary}{rules}", CONVERTERS[option.value_types])


def _with_options(stage: type[Stage]) -> type[Stage]:
    """Return the class with a parameter for each option of Encoder."""
    for name in PARAMETERS:
        setattr(stage, name, _param_of(name))
    return stage


@_with_options
class _OneHotParams(HasInputCols, HasOutputCols, HasOutputCol):
    """The parameters of the stage and its model."""

    # `_with_options` makes these parameters; a type checker needs them written out.
    sep: Param[Any]
    drop: Param[Any]
    handleMissing: Param[Any]
    handleUnknown: Param[Any]
    minFrequency: Param[Any]
    maxCategories: Param[Any]
    dtype: Param[Any]
    output: Param[Any] = _param("output", f"The type of output: {', '.join(OUTPUTS)}")

    def __init__(self) -> None:
        super().__init__()
        options = {name: OPTIONS[option] for name, option in PARAMETERS.items()}
        defaults = {
            name: option.shown_default
            for name, option in options.items()
            if option.default is not None
        }
        self._setDefault(**defaults, output="vector")

    def _check(self) -> None:
        """Raise an error if parameters are missing, invalid or contradict each other."""
        output = self.getOrDefault("output")
        check_output(output)
        if not self.isSet("inputCols"):
            raise ValueError("inputCols must name the columns to encode, but is not set")
        if self.isSet("outputCols") and self.isSet("outputCol"):
            raise ValueError("outputCol and outputCols are both set: set only one of them")
        if self.isSet("outputCols") and len(self.getOutputCols()) != len(self.getInputCols()):
            raise ValueError(
                f"outputCols must have one name per input column: inputCols is"
                f" {self.getInputCols()!r}, got {self.getOutputCols()!r}"
            )
        if output in CODES and not self.isSet("outputCols"):
            raise ValueError(
                f"output={output!r} returns one output column per input column: set outputCols to"
                " the names of the output columns"
            )


class OneHotEncoder(
    Estimator["OneHotEncoderModel"],
    _OneHotParams,
    DefaultParamsReadable["OneHotEncoder"],
    DefaultParamsWritable,
):
    """One-hot encode columns in a Spark ML Pipeline, without a StringIndexer.

    The parameters are the options of `onehot_fast.Encoder`, in camelCase as usual in Spark.

    Parameters
    ----------
    inputCols : list of str
        The columns to encode.
    outputCol : str, optional
        The name of the vector or array column with all features.
    outputCols : list of str, optional
        The names of one vector, array or code column per input column, instead of `outputCol`. If
        ``output="columns"``, these are the prefixes of the feature names.
    sep : str, optional
        The separator of texts with several labels. It applies to all columns of texts in
        `inputCols`, so give other columns a stage of their own. Arrays need no separator.
    handleUnknown, handleMissing, drop, dtype : str
        The options of `onehot_fast.Encoder` of this name, with its values and defaults. `drop` is
        a rule, not a category.
    minFrequency : int or float, optional
        As for `onehot_fast.Encoder`.
    maxCategories : int, optional
        As for `onehot_fast.Encoder`.
    output : {"vector", "array", "columns", "codes", "indices"}, default "vector"

    Raises
    ------
    TypeError, ValueError
        In `fit`: a parameter is invalid, or a column is absent or cannot be encoded.

    Examples
    --------
    >>> frame = spark.createDataFrame([("S",), ("L",), (None,)], "size string")
    >>> encoder = OneHotEncoder(inputCols=["size"], outputCol="sizes", handleMissing="indicator")
    >>> model = encoder.fit(frame)
    >>> [row.sizes for row in model.transform(frame).collect()]
    [SparseVector(3, {1: 1.0}), SparseVector(3, {0: 1.0}), SparseVector(3, {2: 1.0})]
    >>> model.getEncoder().get_feature_names_out().tolist()
    ['size_L', 'size_S', 'size_(missing)']

    Texts with several labels:

    >>> frame = spark.createDataFrame([("comedy|drama",), ("drama",)], "genres string")
    >>> encoder = OneHotEncoder(inputCols=["genres"], output="columns", sep="|")
    >>> encoder.fit(frame).transform(frame).columns
    ['genres', 'genres_comedy', 'genres_drama']
    """

    _input_kwargs: dict[str, Any]

    @keyword_only
    def __init__(
        self,
        *,
        inputCols: list[str] | None = None,
        outputCol: str | None = None,
        outputCols: list[str] | None = None,
        sep: str | None = None,
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

    def setParams(self, **params: Any) -> OneHotEncoder:
        """Set parameters by name; see the class."""
        check_options(params, [param.name for param in self.params])
        self._set(**params)
        return self

    def _fit(self, dataset: DataFrame) -> OneHotEncoderModel:
        self._check()
        columns = self.getInputCols()
        defined = [name for name in PARAMETERS if self.isDefined(name)]
        options = {PARAMETERS[name]: self.getOrDefault(name) for name in defined}
        if self.getOrDefault("output") == "columns" and self.isSet("outputCols"):
            options["prefix"] = dict(zip(columns, self.getOutputCols(), strict=True))
        # The features follow the order of inputCols. In backquotes, a name is not split at dots.
        quoted = [f"`{name.replace('`', '``')}`" for name in columns]
        encoder = Encoder(columns, **options).fit(dataset.select(*quoted))
        model = OneHotEncoderModel()
        model._set(encoder=encoder.to_json())
        return self._copyValues(model)


class OneHotEncoderModel(
    Model, _OneHotParams, DefaultParamsReadable["OneHotEncoderModel"], DefaultParamsWritable
):
    """A fitted `OneHotEncoder`, which appends features to a batch or streaming DataFrame.

    Save and load it like any other stage. Its parameter `encoder` is the result of
    `Encoder.to_json`, which `Encoder.from_json` can read without Spark.

    Examples
    --------
    >>> frame = spark.createDataFrame([("S",), ("L",)], "size string")
    >>> model = OneHotEncoder(inputCols=["size"], output="columns").fit(frame)
    >>> model.transform(frame).columns
    ['size', 'size_L', 'size_S']
    >>> Encoder.from_json(model.getOrDefault("encoder")).transform({"size": ["L"]})
    array([[ True, False]])
    """

    encoder: Param[Any] = _param("encoder", "the fitted encoder as JSON")
    _read: tuple[str, Encoder] | None = None

    def getEncoder(self) -> Encoder:
        """Return the fitted encoder."""
        text = self.getOrDefault("encoder")
        if self._read is None or self._read[0] is not text:
            self._read = text, Encoder.from_json(text)
        return self._read[1]

    def _transform(self, dataset: DataFrame) -> DataFrame:
        self._check()
        output: Any = self.getOrDefault("output")
        names = None
        if output != "columns":
            names = self.getOutputCols() if self.isSet("outputCols") else self.getOutputCol()
        return encode(dataset, self.getEncoder(), output=output, names=names, keep=True)

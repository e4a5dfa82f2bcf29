"""The fitted encoder elsewhere: each method calls an integration by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from onehot_fast._runtime.registry import integration

if TYPE_CHECKING:
    import onnx


class Exports:
    """The methods of an encoder that write it for other engines."""

    def to_onnx(
        self,
        *,
        opset: int | None = None,
        batch: str | int = "N",
        output: Literal["matrix", "columns"] = "matrix",
    ) -> onnx.ModelProto:
        """Return a model of ONNX that encodes rows as `transform` does.

        Its first output is ``transform(table, "numpy")``, or with ``output="columns"`` there is
        one for each feature. It has an input of shape (N,) for each encoded column, by its name.
        `onehot_fast.integrations.onnx.input_feed` makes these inputs of a table.

        A missing value is NaN among floats, and an empty text. Integers and Booleans have none,
        but are given as float64 where missing values have an output of their own, or make NaN.
        What the encoder refuses ends a run with an error that names the column;
        ``handle_unknown="warn"`` does not warn.

        Parameters
        ----------
        opset : int, optional
            From 13, which is the default: later ones change nothing in the operators used.
        batch : str or int, default "N"
            The number of rows, or a name for any number.
        output : {"matrix", "columns"}, default "matrix"
            One output "onehot" of shape (N, n_features), or one of shape (N,) for each feature,
            by its name and of the dtype of its column.

        Returns
        -------
        onnx.ModelProto
            Checked. The names of the features are in its ``metadata_props``, under
            "feature_names", as JSON.

        Raises
        ------
        ImportError
            onnx is not installed: ``pip install "onehot-fast[onnx]"``.
        RuntimeError
            The encoder is not fitted.
        ValueError
            ONNX cannot say it: categories of times, bytes or several types, missing values beside
            a category "", a dtype that its operators do not take, two tensors of one name.

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

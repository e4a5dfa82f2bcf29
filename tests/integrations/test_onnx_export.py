"""An exported encoder gives in every engine what `transform` gives, bit for bit."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from strategies import examples

pytest.importorskip("onnx")
pytest.importorskip("pandas")

import onnx
from onnx.reference import ReferenceEvaluator
from onnx_cases import Case, cases

from onehot_fast import Encoder
from onehot_fast.integrations.onnx import input_feed

Run = Callable[[Any, dict[str, Any]], list[Any]]


def onnxruntime(model: Any, feed: dict[str, Any]) -> list[Any]:
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4  # what is refused is told by the error
    options.intra_op_num_threads = 1
    providers = ["CPUExecutionProvider"]
    session = runtime.InferenceSession(model.SerializeToString(), options, providers)
    return session.run(None, feed)


def reference(model: Any, feed: dict[str, Any]) -> list[Any]:
    with np.errstate(over="ignore"):  # a float64 beyond float32 is infinite there, as it is meant
        return ReferenceEvaluator(model).run(None, feed)


def check(case: Case, run: Run) -> None:
    """Hold both forms of the output against `transform`, errors included."""
    try:
        encoder = case.encoder.fit(case.fitted)
    except ValueError:
        return  # it cannot be fitted, which has nothing to do with ONNX
    if not all(map(len, encoder.categories.values())):
        with pytest.raises(ValueError, match="has no category"):
            encoder.to_onnx()
        return
    matrix = encoder.to_onnx()
    try:
        columns = encoder.to_onnx(output="columns")
    except ValueError as error:
        reason = str(error)
        assert re.search("has no feature|has no output", reason)
        columns = None
    feed = input_feed(matrix, case.rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of unknown values
        try:
            expected = encoder.transform(case.rows, "numpy")
        except ValueError as error:
            for model in filter(None, (matrix, columns)):
                with pytest.raises(Exception, match=r"unknown|missing|out of bounds|index"):
                    run(model, feed)
            reason = str(error)
            assert re.search("is unknown|is missing", reason)
            return
        frame = encoder.transform(case.rows, "pandas")
    assert_same(run(matrix, feed)[0], expected)
    if columns is None:
        return
    for got, name in zip(run(columns, feed), frame, strict=True):
        assert_same(got, frame[name].to_numpy())


def assert_same(got: Any, expected: Any) -> None:
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    assert got.tobytes() == expected.tobytes()


@given(case=cases())
@examples(2.5)
def test_onnxruntime_gives_what_transform_gives(case: Case) -> None:
    check(case, onnxruntime)


@pytest.mark.long
@pytest.mark.timeout(3600)
@given(case=cases())
@settings(max_examples=10_000)
def test_onnxruntime_gives_what_transform_gives_often(case: Case) -> None:
    check(case, onnxruntime)


@given(case=cases())
@examples(0.5)
def test_the_reference_of_the_standard_does_too(case: Case) -> None:
    # That of onnx 1.16 loses a dimension of tables without rows; onnxruntime does not.
    assume(len(next(iter(case.rows.values()))) > 0 or not onnx.__version__.startswith("1.16."))
    check(case, reference)


@pytest.fixture
def sizes() -> Encoder:
    options = {"handle_missing": "indicator", "handle_unknown": "indicator", "dtype": "float32"}
    return Encoder(["size"], **options).fit({"size": ["S", "M", None]})


@pytest.mark.parametrize("dtype", ["bool", "float64"])
def test_a_hundred_thousand_categories_are_scattered(dtype: str) -> None:
    """A table of all their rows would have ten thousand million elements."""
    levels = [f"k{i}" for i in range(100_000)]
    options = {"max_categories": {"a": 99_000}, "handle_unknown": {"a": "infrequent"}}
    rules = {"a": "ignore", "b": "propagate"} if dtype == "float64" else "ignore"
    encoder = Encoder(["a", "b"], **options, handle_missing=rules, dtype=dtype)
    encoder.fit({"a": levels, "b": np.arange(100_000.0)})
    rows = {"a": ["k77", None, "k99999", "new"], "b": np.array([5.0, np.nan, 0.0, 99_999.0])}

    model = encoder.to_onnx()
    assert model.ByteSize() < 12_000_000
    assert_same(onnxruntime(model, input_feed(model, rows))[0], encoder.transform(rows, "numpy"))
    rows["b"][0] = 0.5
    with pytest.raises(Exception, match="column 'b': unknown value"):
        onnxruntime(model, input_feed(model, rows))


def test_a_model_describes_itself(sizes: Encoder) -> None:
    """Names of features, types and shapes, and how a missing value is written."""
    model = sizes.to_onnx(opset=17, batch="rows")
    props = {each.key: each.value for each in model.metadata_props}
    (needed,), (given,) = model.graph.input, model.graph.output

    assert json.loads(props["feature_names"]) == sizes.get_feature_names_out().tolist()
    assert {each.domain: each.version for each in model.opset_import} == {"": 17, "ai.onnx.ml": 2}
    assert (needed.name, needed.doc_string) == ("size", "A missing value is ''.")
    shape = given.type.tensor_type.shape.dim
    assert (given.name, shape[0].dim_param, shape[1].dim_value) == ("onehot", "rows", 4)
    assert sizes.to_onnx(batch=3).graph.input[0].type.tensor_type.shape.dim[0].dim_value == 3


def test_bfloat16_has_no_numpy_dtype_in_onnxruntime_but_is_written(sizes: Encoder) -> None:
    pytest.importorskip("ml_dtypes")
    sizes.set_params(dtype="bfloat16")
    rows = {"size": ["S", None, "XL"]}
    model = sizes.to_onnx()

    got = reference(model, input_feed(model, rows))[0]
    assert_same(got, sizes.transform(rows, "numpy"))


@pytest.mark.parametrize("output", ["matrix", "columns"])
def test_openvino_encodes_texts(output: str) -> None:
    """Its LabelEncoder is in openvino-tokenizers, and takes texts alone."""
    pytest.importorskip("openvino_tokenizers")
    import openvino

    options = {"handle_unknown": {"a": "indicator", "b": "infrequent"}, "drop": {"a": "first"}}
    options |= {"handle_missing": {"a": "indicator"}, "min_frequency": {"b": 2}, "dtype": "uint8"}
    fitted = {"a": ["x", "y", None, "é"], "b": ["p", "p", "q", "r"]}
    encoder = Encoder(["a", "b"], **options).fit(fitted)
    rows = {"a": ["é", None, "q", "x", "y"], "b": ["r", None, "zz", "p", "q"]}
    model = encoder.to_onnx(output=output)
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU")

    feed = {name: texts.astype(str) for name, texts in input_feed(model, rows).items()}
    results = [*compiled(feed).values()]
    got = results[0] if output == "matrix" else np.stack(results, axis=1)
    assert_same(got, encoder.transform(rows, "numpy"))


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (np.array(["2024-01-01"], "M8[D]"), {}, r"datetime64\[D\], for which ONNX has no type"),
        ([b"a"], {}, "bytes, for which ONNX has no type"),
        (["a", 1], {}, "categories of several types"),
        (["a", "", None], {"handle_missing": "indicator"}, "writes a missing text as an empty one"),
        ([2**53, None], {"handle_missing": "indicator"}, "float64 cannot hold"),
        ([2**53 + 1, 0.5], {}, "float64 cannot hold"),
        (["\ud800"], {}, "UTF-8"),
        ([None], {}, "has no category"),
        (["a"], {"dtype": "complex64"}, "for ONNX, got complex64"),
        (["size"], {"prefix": "", "prefix_sep": ""}, "would be named 'size'"),
    ],
)
def test_what_onnx_cannot_say_is_refused(values: Any, options: Any, message: str) -> None:
    encoder = Encoder(["size"], **options).fit({"size": values})

    with pytest.raises(ValueError, match=message):
        encoder.to_onnx(output="columns")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"opset": 12}, ValueError, r"opset must be in \[13, \d+\], got 12"),
        ({"opset": "13"}, TypeError, "opset must be an int, got '13'"),
        ({"batch": -1}, ValueError, "number of rows, got -1"),
        ({"batch": None}, TypeError, "number of rows, got None"),
        ({"output": "column"}, ValueError, "did you mean 'columns'"),
    ],
)
def test_wrong_arguments(sizes: Encoder, arguments: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        sizes.to_onnx(**arguments)


def test_one_tensor_has_one_name() -> None:
    """Two columns that are one to ONNX, and an encoder without columns."""
    encoder = Encoder([1, "1"], prefix={1: "a", "1": "b"}).fit({1: ["x"], "1": ["x"]})
    with pytest.raises(ValueError, match="two inputs or outputs would be named '1'"):
        encoder.to_onnx()
    with pytest.raises(ValueError, match="encodes no column"):
        Encoder([]).fit({"a": ["x"]}).to_onnx()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            {"n": [1, None]},
            "column 'n', row 1: the value is missing, and int64 has no missing value",
        ),
        ({"n": [1, 2.5]}, "column 'n': int64 cannot hold the value 2.5"),
        ({"n": ["1"]}, "column 'n': int64 cannot hold the value '1'"),
        ({"n": [2**63]}, "int64 cannot hold"),
        ({"m": [1]}, "the table has no column 'n'"),
    ],
)
def test_what_an_input_cannot_hold_is_refused(rows: Any, message: str) -> None:
    model = Encoder(["n"], handle_unknown="ignore").fit({"n": [1, 2]}).to_onnx()

    with pytest.raises(ValueError, match=message):
        input_feed(model, rows)


def test_every_library_feeds_a_model(library: Any, sizes: Encoder) -> None:
    table = library.table({"size": ["M", None, "XL"]})
    model = sizes.to_onnx()

    assert input_feed(model, table)["size"].tolist() == ["M", "", "XL"]

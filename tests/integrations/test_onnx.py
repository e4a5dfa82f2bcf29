"""Models of ONNX: their inputs, descriptions and errors; and the operator in the reference.

`test_exporters.py` compares the values of models with those of `transform`.
"""

import importlib
import json

import numpy as np
import pytest

from support.onnx_models import assert_same, run

pytest.importorskip("onnx")

import onnx
from onnx import parser
from onnx.backend.test.case import node
from onnx.reference import ReferenceEvaluator

from onehot_fast import Encoder
from onehot_fast.integrations.onnx import OneHot, input_feed

importlib.import_module("onnx.backend.test.case.node.onehot")  # registers the examples of OneHot
EXAMPLES = [case for case in node._NodeTestCases if case.name.startswith("test_onehot_")]


@pytest.fixture
def sizes():
    options = {"handle_missing": "indicator", "handle_unknown": "indicator", "dtype": "float32"}
    return Encoder(["size"], **options).fit({"size": ["S", "M", None]})


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int16", "uint64"])
def test_inputs_have_the_dtype_of_the_categories(dtype):
    encoder = Encoder(["n"], handle_unknown="indicator", dtype="int8")
    encoder.fit({"n": np.array([1, 3, 7], dtype)})
    model, rows = encoder.to_onnx(), {"n": np.array([7, 2, 1, 3], dtype)}

    feed = input_feed(model, rows)
    assert feed["n"].dtype == encoder.categories["n"].dtype
    assert_same(run(model, feed)[0], encoder.transform(rows, "numpy"))


@pytest.mark.parametrize("dtype", ["bool", "float64"])
def test_many_categories_are_scattered(dtype):
    """A table of all their rows would have 9 * 10**8 elements."""
    levels = [f"k{i}" for i in range(30_000)]
    options = {"max_categories": {"a": 29_000}, "handle_unknown": {"a": "infrequent"}}
    rules = {"a": "ignore", "b": "propagate"} if dtype == "float64" else "ignore"
    encoder = Encoder(["a", "b"], **options, handle_missing=rules, dtype=dtype)
    encoder.fit({"a": levels, "b": np.arange(30_000.0)})
    rows = {"a": ["k77", None, "k29999", "new"], "b": np.array([5.0, np.nan, 0.0, 29_999.0])}

    model = encoder.to_onnx()
    assert model.ByteSize() < 4_000_000
    assert_same(run(model, input_feed(model, rows))[0], encoder.transform(rows, "numpy"))
    rows["b"][0] = 0.5
    with pytest.raises(Exception, match="column 'b': unknown value"):
        run(model, input_feed(model, rows))


def test_a_model_describes_itself(sizes):
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


def test_bfloat16_is_a_dtype_of_models(sizes):
    pytest.importorskip("ml_dtypes")
    sizes.set_params(dtype="bfloat16")
    rows = {"size": ["S", None, "XL"]}
    model = sizes.to_onnx()

    [got] = run(model, input_feed(model, rows), "reference")
    assert_same(got, sizes.transform(rows, "numpy"))


@pytest.mark.parametrize("output", ["matrix", "columns"])
def test_openvino_encodes_texts(output):
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
        (["a", 1], {}, "categories of the types int and str"),
        (["a", "", None], {"handle_missing": "indicator"}, "represents a missing string as ''"),
        ([2**53, None], {"handle_missing": "indicator"}, "float64 cannot represent"),
        ([2**53 + 1, 0.5], {}, "float64 cannot represent"),
        (["\ud800"], {}, "UTF-8"),
        ([None], {}, "has no categories"),
        (["a"], {"dtype": "complex64"}, "for ONNX, got complex64"),
        (["size"], {"prefix": "", "prefix_sep": ""}, "would be named 'size'"),
        (
            ["a"],
            {"columns": ["size", "b"], "drop": {"size": "first"}},
            "column 'size' has no features, but with output='columns'",
        ),
        (["a"], {"columns": []}, "encodes no column"),
        (["a"], {"columns": [""]}, "has an empty name"),
        (["a"], {"columns": ["\ud800"]}, "cannot be stored as UTF-8"),
        (["a"], {"columns": [1, "1"], "prefix": {1: "a", "1": "b"}}, "would be named '1'"),
        (["a"], {"drop": "first", "handle_unknown": "ignore"}, "has no feature"),
    ],
)
def test_encoders_that_onnx_cannot_represent_are_rejected(values, options, message):
    encoder = Encoder(**{"columns": ["size"], **options})
    encoder.fit({name: values for name in encoder.get_params()["columns"] or ["size"]})

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
def test_invalid_arguments_raise_errors(sizes, arguments, error, message):
    with pytest.raises(error, match=message):
        sizes.to_onnx(**arguments)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"n": [1, None]}, "'n', row 1: the value is missing, but int64 has no missing value"),
        ({"n": [1, 2.5]}, "column 'n': int64 cannot hold the value 2.5"),
        ({"n": ["1"]}, "column 'n': int64 cannot hold the value '1'"),
        ({"n": [2**63]}, "int64 cannot hold"),
        ({"m": [1]}, "the table has no column 'n'"),
    ],
)
def test_values_that_an_input_cannot_hold_are_rejected(rows, message):
    model = Encoder(["n"], handle_unknown="ignore").fit({"n": [1, 2]}).to_onnx()

    with pytest.raises(ValueError, match=message):
        input_feed(model, rows)


def evaluate(model, inputs):
    """Return the output of the reference evaluator with our operator."""
    names = [each.name for each in model.graph.input]
    evaluator = ReferenceEvaluator(model, new_ops=[OneHot])
    return evaluator.run(None, dict(zip(names, inputs, strict=True)))[0]


def test_the_examples_of_the_standard_were_found():
    names = ("without_axis", "with_axis", "negative_indices", "with_negative_axis")

    assert {case.name for case in EXAMPLES} >= {f"test_onehot_{name}" for name in names}


@pytest.mark.parametrize("case", EXAMPLES, ids=lambda case: case.name)
def test_examples_of_the_standard_pass(case):
    """The evaluator calls our operator under the name of its own."""
    [(inputs, [expected])] = case.data_sets

    assert_same(evaluate(case.model, inputs), expected)


@pytest.mark.parametrize(("opset", "last"), [(9, 0.0), (11, 1.0), (13, 1.0)])
def test_the_opset_of_the_model_decides(opset, last):
    """Negative indices count from the end since 11; those out of range never wrap."""
    model = parser.parse_model(f"""<ir_version: 8, opset_import: ["": {opset}]>
        labels (int64[N] i, int64 depth, float[2] values) => (float[N, M] o) {{
            o = OneHot(i, depth, values)
        }}""")

    got = evaluate(model, [np.array([-1, 7]), np.int64(3), np.float32([0, 1])])
    assert got.tolist() == [[0, 0, last], [0, 0, 0]]


def without_checks(model, mode):
    """Return a model as an engine runs it that does not check the indices of Gather.

    An index beyond the table reads the last entry ("clamp"), or zeros ("zeros").
    """
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    tables = {table.name: table for table in model.graph.initializer}
    nodes = []
    for i, each in enumerate(model.graph.node):
        if each.op_type != "Gather":
            nodes.append(each)
            continue
        table, index = each.input
        last = f"last {i}"
        changed.graph.initializer.append(
            onnx.numpy_helper.from_array(np.int64(tables[table].dims[0] - 1), last)
        )
        found = each.output[0] if mode == "clamp" else f"found {i}"
        nodes.append(onnx.helper.make_node("Min", [index, last], [f"within {i}"]))
        nodes.append(onnx.helper.make_node("Gather", [table, f"within {i}"], [found]))
        if mode == "clamp":
            continue
        # An element times 0, in the shape of the result: a row of the table has one dimension more.
        nodes.append(onnx.helper.make_node("Sub", [index, f"within {i}"], [f"beyond {i}"]))
        nodes.append(onnx.helper.make_node("Cast", [f"beyond {i}"], [f"is beyond {i}"], to=9))
        is_beyond = f"is beyond {i}"
        if len(tables[table].dims) > 1:
            changed.graph.initializer.append(
                onnx.numpy_helper.from_array(np.array([1]), f"axis {i}")
            )
            nodes.append(
                onnx.helper.make_node("Unsqueeze", [is_beyond, f"axis {i}"], [f"column {i}"])
            )
            is_beyond = f"column {i}"
        kind = onnx.helper.tensor_dtype_to_np_dtype(tables[table].data_type)
        zero = onnx.numpy_helper.from_array(np.zeros((), kind), f"zero {i}")
        changed.graph.initializer.append(zero)
        nodes.append(
            onnx.helper.make_node("Where", [is_beyond, f"zero {i}", found], [each.output[0]])
        )
    del changed.graph.node[:]
    changed.graph.node.extend(nodes)
    onnx.checker.check_model(changed)
    return changed


@pytest.mark.parametrize("mode", ["clamp", "zeros"])
@pytest.mark.parametrize("output", ["matrix", "columns"])
@pytest.mark.parametrize("n_categories", [1, 3, 600])
@pytest.mark.parametrize(
    "options",
    [
        {}, {"handle_missing": "error"}, {"handle_missing": "indicator"}, {"drop": "first"},
        {"handle_missing": "propagate"}, {"handle_unknown": "ignore", "handle_missing": "error"},
    ],
)  # fmt: skip
def test_a_rejected_value_is_never_a_category(mode, output, n_categories, options):
    """Engines that do not check the indices of Gather return a row of zeros."""
    texts = [f"c{i:03}" for i in range(n_categories)]
    encoder = Encoder(["c"], dtype="float32", **options).fit({"c": texts})
    if not encoder.n_features:
        return
    model = encoder.to_onnx(output=output)
    rejected = {"handle_unknown": "unknown", "handle_missing": ""}
    values = [rejected[option] for option in rejected if getattr(encoder, option) == "error"]

    for value in values:
        feed = {"c": np.array([texts[-1], value, texts[0]], object)}
        with pytest.raises(Exception, match=r"column 'c'|out of bounds"):
            run(model, feed)
        found = run(without_checks(model, mode), feed)
        found = found[0] if output == "matrix" else np.column_stack(found)
        expected = encoder.transform({"c": [texts[-1], texts[0]]}, "numpy")
        np.testing.assert_array_equal(found[[0, 2]], expected)
        assert not found[1].any(), value

"""The encoding plan of each column of a fitted encoder, and the ONNX nodes that execute the plan.

A LabelEncoder maps each value to a code. If the matrix with one encoded row per code is small,
Gather looks up each code in this matrix. Otherwise, ScatterElements writes one element of each row.
These operators are the fastest in onnxruntime, and they support every dtype.

A rejected value has a code beyond the table of a Gather, which the standard calls an error. Some
engines do not check it: they read 0 or a row of zeros (onnxruntime with CUDA, OpenVINO, TensorRT),
or the last entry (DirectML). Code 0 and the last code therefore mean a row of zeros, never a
category.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from onehot_fast import Encoder
from onehot_fast.adapter import Categories, ColumnSchema, as_literal, read_column

AnyArray: TypeAlias = npt.NDArray[Any]

ML = "ai.onnx.ml"
# The results for a value without a feature: a row of zeros, a row of NaN, or an error.
ZEROS, NAN, ERROR = -1, -2, -3
# The maximum size of the matrix with one encoded row per code.
MAX_TABLE_BYTES = 1 << 20
EMPTY_KEYS = {"string": "", "int64": 0, "float": 0.0}
FLOATS = {TensorProto.FLOAT16, TensorProto.FLOAT, TensorProto.DOUBLE}
INTEGERS = {*map(helper.np_dtype_to_tensor_dtype, map(np.dtype, "bBhHiIlL"))}
# float64 represents all integers below this limit exactly.
EXACT = 2**53


def ml_version(node: onnx.NodeProto) -> int:
    """Return the ai.onnx.ml opset that a node needs: 4 for a keys tensor, otherwise 2."""
    return 4 if any(each.name == "keys_tensor" for each in node.attribute) else 2


class Graph:
    """The nodes and constants of a graph; `names` yields names that are not in use."""

    def __init__(self, names: Iterator[str]) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._names = names

    def node(self, operator: str, inputs: list[str], **attributes: Any) -> str:
        """Add a node, and return the name of its output."""
        output = next(self._names)
        # The operator that splits texts also counts the parts of each text.
        others = [next(self._names)] if operator == "StringSplit" else []
        self.nodes.append(helper.make_node(operator, inputs, [output, *others], **attributes))
        return output

    def constant(self, values: npt.ArrayLike) -> str:
        """Add a constant, and return its name."""
        name = next(self._names)
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def rename_outputs(self, names: dict[str, str]) -> None:
        """Rename outputs of nodes from old to new names; no node may use them as inputs."""
        for node in self.nodes:
            node.output[0] = names.get(node.output[0], node.output[0])


@dataclass(frozen=True, eq=False)
class Plan:
    """How each value of one column is encoded.

    A value is encoded as the position of its feature, or as ZEROS, NAN or ERROR.
    """

    name: str
    outputs: dict[Any, int]  # the encoding of each category: a position, or ZEROS
    unknown: int  # the encoding of unknown values: a position, ZEROS or ERROR
    missing: int  # the encoding of missing values: a position, ZEROS, NAN or ERROR
    n_features: int  # the number of features
    kind: int  # the TensorProto.DataType that holds all categories
    sep: str | None = None  # the separator of several labels in a text; None: a row has one value

    def code(self, output: int) -> int:
        """Return the code of an output: 0 for ZEROS, one more than its position for a feature."""
        if output == NAN:
            return self.n_features + 1
        return self.n_codes if output == ERROR else output + 1

    @property
    def n_codes(self) -> int:
        """The number of codes that can be looked up; `Gather` fails for the code of ERROR.

        If there is an ERROR, the last one is another code for a row of zeros.
        """
        has_error = ERROR in (self.unknown, self.missing)
        return 1 + self.n_features + (self.missing == NAN) + has_error

    def of_codes(
        self, zero: Any, values: npt.ArrayLike, nan: Any, dtype: npt.DTypeLike
    ) -> AnyArray:
        """Return an array with an entry for each code.

        The entries are `zero` for a row of zeros, `values` for the features, and `nan` for NaN.
        """
        entries = np.full(self.n_codes, zero, dtype)
        entries[1 : self.n_features + 1] = values
        if self.missing == NAN:
            entries[self.code(NAN)] = nan
        return entries

    @property
    def error(self) -> str | None:
        """The name of a node that fails for rejected values, or None; engines show it in errors."""
        rules = {"unknown": self.unknown, "missing": self.missing}
        kinds = [kind for kind, output in rules.items() if output == ERROR]
        return f"column {self.name!r}: {' or '.join(kinds)} value" if kinds else None

    @property
    def missing_value(self) -> str | None:
        """The input value that means missing, as text for messages, or None if there is none."""
        if self.kind in FLOATS:
            return "NaN"
        return "''" if self.kind == TensorProto.STRING and "" not in self.outputs else None


def plan_encoder(encoder: Any) -> list[Plan]:
    """Return the plans of an `onehot_fast.Encoder` or of scikit-learn's OneHotEncoder."""
    if isinstance(encoder, Encoder):
        return [_plan_column(column) for column in encoder.schema.columns]
    if not hasattr(encoder, "drop_idx_"):
        raise TypeError(
            f"encoder must be a fitted onehot_fast.Encoder or OneHotEncoder, got {encoder!r};"
            " convert pipelines with skl2onnx.to_onnx"
        )
    rule = encoder.handle_unknown
    release = tuple(map(int, sys.modules["sklearn"].__version__.split(".")[:2]))
    if rule == "warn" and release < (1, 8):
        rule = "ignore"  # older releases encode unknown values as zeros, never as infrequent
    names = map(str, input_names(encoder))
    return [_plan_sklearn(encoder, i, name, rule) for i, name in enumerate(names)]


def input_names(encoder: Any) -> list[Any]:
    """Return the names of the columns seen in `fit`, by default x0, x1, …."""
    n_columns = encoder.n_features_in_
    return [*getattr(encoder, "feature_names_in_", [f"x{i}" for i in range(n_columns)])]


def _plan_column(column: ColumnSchema) -> Plan:
    sep = _separator(column)
    *outputs, unknown, missing = column.lut.tolist()
    options, name = column.options, str(column.name)
    unknown = {"error": ERROR}.get(options.handle_unknown, unknown)
    missing = {"error": ERROR, "propagate": NAN}.get(options.handle_missing, missing)
    needs_missing = column.propagates_missing or column.missing_feature >= 0
    kind = _kind_of(name, column.known, needs_missing)
    of_key = dict(zip(column.known.tolist(), outputs, strict=True))
    return Plan(name, of_key, unknown, missing, column.n_features, kind, sep)


def _separator(column: ColumnSchema) -> str | None:
    """Return the separator of several labels in a row, or None if a row has one value."""
    if not column.is_ragged:
        return None
    if not column.learned.is_split:
        raise ValueError(
            f"column {column.name!r} has lists, for which ONNX has no input: join the labels of"
            " each row, e.g. '|'.join(row), and fit the texts with sep='|'"
        )
    if column.options.handle_missing != "ignore":
        raise ValueError(
            f"column {column.name!r} has handle_missing={column.options.handle_missing!r}, but ONNX"
            " represents a missing string as '', which is a text without labels: use"
            " encoder.set_params(handle_missing='ignore').to_onnx()"
        )
    return column.options.sep


def _plan_sklearn(encoder: Any, i: int, name: str, rule: str) -> Plan:
    """Return the plan of column i of scikit-learn's OneHotEncoder.

    `Encoder.from_sklearn` is not used, because it rejects some encoders with infrequent categories.
    """
    categories = encoder.categories_[i]
    rare = encoder._infrequent_indices[i] if encoder._infrequent_enabled else None
    outputs = np.arange(len(categories))
    if rare is not None:
        outputs = encoder._default_to_infrequent_mappings[i]
    drops = encoder._drop_idx_after_grouping
    if drops is not None and drops[i] is not None:
        outputs = np.where(outputs == drops[i], ZEROS, outputs - (outputs > drops[i]))
    unknown = ERROR if rule == "error" else ZEROS
    if rule not in ("error", "ignore") and rare is not None:
        unknown = int(outputs[rare[0]])
    is_missing = read_column(categories).encode().codes < 0
    missing = {*outputs[is_missing].tolist()} or {unknown}
    if len(missing) > 1:
        raise ValueError(
            f"column {name!r}: the encoder encodes None and NaN differently, but ONNX cannot tell"
            " them apart: replace None by NaN before fit"
        )
    known = Categories.of(categories[~is_missing])
    kind = _kind_of(name, known, bool(is_missing.any()))
    of_key = dict(zip(known.tolist(), outputs[~is_missing].tolist(), strict=True))
    return Plan(name, of_key, unknown, missing.pop(), int(encoder._n_features_outs[i]), kind)


def _kind_of(name: str, known: Categories, needs_missing: bool) -> int:
    """Return an ONNX input type that can hold the categories and, if needed, missing values."""
    keys = known.tolist()
    if not keys:
        raise ValueError(
            f"column {name!r} has no categories, so its ONNX input type is unknown: leave the"
            " column out of columns="
        )
    if known.family == "string":
        if needs_missing and "" in keys:
            raise ValueError(
                f"column {name!r}: ONNX represents a missing string as '', but '' is also a"
                " category: replace the empty strings or the missing values before fit"
            )
        check_utf8("".join(keys), f"a category of column {name!r}")
        return TensorProto.STRING
    if known.dtype is not None and known.family == "number":
        if known.dtype.kind == "f" or not needs_missing:
            return int(helper.np_dtype_to_tensor_dtype(known.dtype))
    elif known.family is not None:
        what = "bytes" if known.family == "binary" else known.dtype
        raise ValueError(
            f"column {name!r} has categories of {what}, for which ONNX has no type: convert the"
            " column to strings or integers before fit"
        )
    if not all(isinstance(key, Real | np.number) and not isinstance(key, str) for key in keys):
        raise ValueError(
            f"column {name!r} has categories of {_types_of(keys)}, but an ONNX input holds strings,"
            " numbers or Booleans of one type: convert all values of the column to strings before"
            " fit"
        )
    inexact = [key for key in keys if not _is_exact(key)]
    if inexact:
        raise ValueError(
            f"column {name!r} needs a float64 input, because it has missing values or categories of"
            f" several types, but float64 cannot represent the category {inexact[0]!r}: convert the"
            " column to strings before fit"
        )
    return TensorProto.DOUBLE


def _types_of(keys: list[Any]) -> str:
    """Return the types of categories as text, e.g. "the types Interval and str"."""
    names = sorted({type(key).__name__ for key in keys})
    return f"the type{'s' if len(names) > 1 else ''} {' and '.join(names)}"


def check_utf8(text: str, what: str) -> None:
    """Raise ValueError if UTF-8 cannot store a text; `what` describes the text in the message."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{what} cannot be stored as UTF-8, which ONNX requires ({error})"
        ) from None


def _is_exact(key: Any) -> bool:
    """Tell whether a number is exact as float64 and no other integer rounds to the same float64."""
    is_float = isinstance(key, float | np.floating)
    return as_literal(key, "float") is not None and (is_float or abs(key) < EXACT)


def encode_values(graph: Graph, values: str, kind: int, plan: Plan) -> str:
    """Add the nodes that map an input to codes; return the name of the tensor of codes."""
    is_text = kind == TensorProto.STRING
    if not is_text and kind not in FLOATS and kind not in INTEGERS and kind != TensorProto.BOOL:
        raise TypeError(
            f"column {plan.name!r}: the input must hold strings, integers, floats or Booleans, got"
            f" {_name(kind)}"
        )
    codes = {key: plan.code(output) for key, output in plan.outputs.items()}
    unknown, missing = plan.code(plan.unknown), plan.code(plan.missing)
    if not all(isinstance(key, str) == is_text for key in codes):
        raise TypeError(
            f"the input of column {plan.name!r} must be declared as {_name(plan.kind)}, because the"
            f" column has categories such as {next(iter(codes))!r}; got {_name(kind)}"
        )
    if is_text:
        if plan.sep is not None:
            return _codes_of_labels(graph, values, codes, plan)
        if plan.missing_value:
            codes[""] = missing
        return _look_up(graph, values, "string", codes, unknown)
    if kind not in FLOATS:
        if kind != TensorProto.INT64:  # the cast of uint64 keeps all bits; see `_integers`
            values = graph.node("Cast", [values], to=TensorProto.INT64)
        return _look_up(graph, values, "int64", _integers(codes, kind), unknown)
    if kind == TensorProto.FLOAT16:
        values = graph.node("Cast", [values], to=TensorProto.FLOAT)
    found = _look_up_floats(graph, values, kind, codes, plan)
    if missing == unknown:
        return found  # because NaN equals no key
    is_nan = graph.node("IsNaN", [values])
    return graph.node("Where", [is_nan, graph.constant(np.int64(missing)), found])


def _codes_of_labels(graph: Graph, texts: str, codes: dict[str, int], plan: Plan) -> str:
    """Add the nodes that map texts to the codes (N, n) of their labels; return the codes' name.

    The rows are padded with the code of ZEROS. At least one column is such codes, because a
    reduction of no columns is not defined.
    """
    labels = graph.node("StringSplit", [texts], delimiter=plan.sep)
    codes[""] = plan.code(ZEROS)  # `transform` skips empty labels
    found = _look_up(graph, labels, "string", codes, plan.code(plan.unknown))
    one_more = graph.constant(np.array([0, 0, 0, 1]))
    return graph.node("Pad", [found, one_more, graph.constant(np.int64(plan.code(ZEROS)))])


def _integers(codes: dict[Any, int], kind: int) -> dict[int, int]:
    """Return the codes of the categories that fit the input type `kind`.

    A category that only uint64 can hold becomes the int64 with the same bits.
    """
    low, high = 0, 1
    if kind in INTEGERS:
        limits = np.iinfo(helper.tensor_dtype_to_np_dtype(kind))
        low, high = limits.min, limits.max
    known = {int(key): codes[key] for key in codes if low <= key <= high and key == int(key)}
    return {key if key < 2**63 else key - 2**64: code for key, code in known.items()}


def _look_up_floats(graph: Graph, values: str, kind: int, codes: dict[Any, int], plan: Plan) -> str:
    """Add the nodes that map floats to codes.

    Floats are looked up as float32 if possible: LabelEncoder supports float64 only since opset 4.
    """
    keys, unknown = np.array([*map(float, codes)]), plan.code(plan.unknown)
    with np.errstate(over="ignore"):
        narrow = dict(zip(keys.astype(np.float32).tolist(), codes.values(), strict=True))
    is_distinct = len(narrow) == len(keys)
    if kind != TensorProto.DOUBLE:
        if not is_distinct:
            raise ValueError(
                f"column {plan.name!r} has several categories that are equal as float32: declare"
                " the input as float64"
            )
        return _look_up(graph, values, "float", narrow, unknown)
    of_position = np.array([*codes.values(), unknown])
    if not is_distinct:
        tensors = {"keys": keys, "values": of_position[:-1], "default": of_position[-1:]}
        as_tensors = {f"{k}_tensor": numpy_helper.from_array(v) for k, v in tensors.items()}
        return graph.node("LabelEncoder", [values], domain=ML, **as_tensors)
    # Several float64 values round to the same float32 value, but only one of them equals the key.
    rounded = graph.node("Cast", [values], to=TensorProto.FLOAT)
    positions = dict(zip(narrow, range(len(keys)), strict=True))
    position = _look_up(graph, rounded, "float", positions, len(keys))
    key = graph.node("Gather", [graph.constant(np.append(keys, np.nan)), position])
    code = graph.node("Gather", [graph.constant(of_position), position])
    is_same = graph.node("Equal", [key, values])
    return graph.node("Where", [is_same, code, graph.constant(of_position[-1:])])


def _look_up(graph: Graph, values: str, kind: str, codes: dict[Any, int], unknown: int) -> str:
    """Add a LabelEncoder that maps keys to codes, and other values to the code `unknown`."""
    # Keys with the code `unknown` can be omitted, but at least one key is needed.
    known = {key: code for key, code in codes.items() if code != unknown}
    known = known or {EMPTY_KEYS[kind]: unknown}
    attributes = {f"keys_{kind}s": [*known], "values_int64s": [*known.values()]}
    return graph.node("LabelEncoder", [values], domain=ML, **attributes, default_int64=unknown)


def encode_rows(graph: Graph, codes: str, plan: Plan, dtype: np.dtype[Any]) -> str:
    """Add the nodes that map codes to a matrix (N, n_features); return the matrix's name."""
    if plan.sep is not None:
        return _encode_labels(graph, codes, plan, dtype)
    if plan.n_codes * plan.n_features * dtype.itemsize <= MAX_TABLE_BYTES:
        rows = np.zeros((plan.n_codes, plan.n_features), dtype)
        np.fill_diagonal(rows[1:], 1)
        if plan.missing == NAN:
            rows[plan.code(NAN)] = np.nan
        return _gather(graph, rows, codes, plan)
    # Exactly one element of each row is written, with the value 0 in a row of zeros.
    positions = plan.of_codes(0, np.arange(plan.n_features), 0, np.int64)
    hot = plan.of_codes(0, 1, np.nan, dtype)
    cold = plan.of_codes(0, 0, np.nan, dtype)
    codes = _checked(graph, codes, plan)
    codes = graph.node("Unsqueeze", [codes, graph.constant(np.array([1]))])
    tables = map(graph.constant, (positions, hot, cold))
    where, ones, zeros = (graph.node("Gather", [table, codes]) for table in tables)
    shape = graph.constant(np.array([1, plan.n_features]))
    rows_of_zeros = graph.node("Expand", [zeros, shape])
    return graph.node("ScatterElements", [rows_of_zeros, where, ones], axis=1)


def _encode_labels(graph: Graph, codes: str, plan: Plan, dtype: np.dtype[Any]) -> str:
    """Add the nodes that map the codes (N, n) of labels to a matrix (N, n_features).

    Each label writes a one. That of a label without a feature is in another column, cut off later.
    """
    width = plan.n_features + 1
    positions = plan.of_codes(plan.n_features, np.arange(plan.n_features), 0, np.int64)
    codes = _checked(graph, codes, plan)
    where = graph.node("Gather", [graph.constant(positions), codes])
    all_ones = graph.constant(np.ones(plan.n_codes, dtype))
    ones = graph.node("Gather", [all_ones, codes])
    first, last, axis = (graph.constant(np.array([i])) for i in (0, 1, 1))
    column = graph.node("Slice", [codes, first, last, axis])  # (N, 1)
    zeros = graph.node("Gather", [graph.constant(np.zeros(plan.n_codes, dtype)), column])
    rows = graph.node("Expand", [zeros, graph.constant(np.array([1, width]))])
    written = graph.node("ScatterElements", [rows, where, ones], axis=1)
    end = graph.constant(np.array([plan.n_features]))
    return graph.node("Slice", [written, first, end, axis])


def _checked(graph: Graph, codes: str, plan: Plan) -> str:
    """Return codes that can be looked up; a node fails for rejected values, or makes them zeros."""
    if not plan.error:
        return codes
    same = np.arange(plan.n_codes)
    same[-1] = plan.code(ZEROS)
    return _gather(graph, same, codes, plan)


def _gather(graph: Graph, of_code: AnyArray, codes: str, plan: Plan) -> str:
    """Add a node that looks up each code in the array `of_code`, and fails for rejected values."""
    return graph.node("Gather", [graph.constant(of_code), codes], name=plan.error)


def encode_columns(graph: Graph, codes: str, plan: Plan, dtype: np.dtype[Any]) -> list[str]:
    """Add the nodes that map codes to n_features columns of shape (N,); return their names."""
    if plan.error and not plan.n_features:
        raise ValueError(
            f"column {plan.name!r} has no features, but with output='columns' only the node of a"
            " feature can raise errors for unknown or missing values: pass output='matrix', or set"
            " handle_unknown='ignore' and handle_missing='ignore'"
        )
    if plan.sep is not None:
        matrix = _encode_labels(graph, codes, plan, dtype)
        each = (graph.constant(np.int64(i)) for i in range(plan.n_features))
        return [graph.node("Gather", [matrix, i], axis=1) for i in each]
    codes = _checked(graph, codes, plan)
    kind = TensorProto.INT64 if plan.missing == NAN else helper.np_dtype_to_tensor_dtype(dtype)
    columns = []
    for output in range(plan.n_features):
        is_one = graph.node("Equal", [codes, graph.constant(np.int64(plan.code(output)))])
        columns.append(graph.node("Cast", [is_one], to=kind))
    if plan.missing != NAN:
        return columns
    # onnxruntime has no Where for float16: Gather takes each value from [0, 1, NaN].
    values = graph.constant(np.array([0, 1, np.nan], dtype))
    twice = graph.node("Gather", [graph.constant(plan.of_codes(0, 0, 2, np.int64)), codes])
    states = [graph.node("Add", [column, twice]) for column in columns]
    return [graph.node("Gather", [values, state]) for state in states]


def _name(kind: int) -> str:
    return str(TensorProto.DataType.Name(kind)).lower()

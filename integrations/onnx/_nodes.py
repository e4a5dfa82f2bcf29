"""The nodes by which one column of a table becomes output columns.

A LabelEncoder gives every value a code, and every code is a row of the result: rows of a small
table are gathered, of a large one only the ones are scattered. Of the operators that could do it
these are the fastest in onnxruntime, and they take every dtype.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from onnx import TensorProto, helper, numpy_helper

AnyArray: TypeAlias = npt.NDArray[Any]

ML = "ai.onnx.ml"
# What a value becomes that has no output: a row that is all off, all NaN, or an error.
NONE, NAN, REFUSED = -1, -2, -3
# What the documentation of an input says that has none.
NO_MISSING_VALUE = "There is no missing value."
# What a table of rows may take in a model.
MOST_TABLE_BYTES = 1 << 20
EMPTY_KEYS = {"string": "", "int64": 0, "float": 0.0}
FLOATS = {TensorProto.FLOAT16, TensorProto.FLOAT, TensorProto.DOUBLE}
INTEGERS: dict[int, np.dtype[Any]] = {
    kind: helper.tensor_dtype_to_np_dtype(kind)
    for kind in map(helper.np_dtype_to_tensor_dtype, map(np.dtype, "bBhHiIlL"))
}


def ml_version(attributes: Container[str]) -> int:
    """Return the version of `ML` in which a node is: keys are a tensor since the fourth."""
    return 4 if "keys_tensor" in attributes else 2


class Nodes(Protocol):
    """Where nodes are added: to a graph of ours, or to one of skl2onnx."""

    def node(self, operator: str, inputs: list[str], **attributes: Any) -> str:
        """Add a node, and return the name of its output."""

    def constant(self, values: npt.ArrayLike) -> str:
        """Add a constant, and return its name."""


@dataclass(frozen=True, eq=False)
class Plan:
    """What becomes of the values of one column.

    Attributes
    ----------
    name : str
    keys : list of str or numbers
        The categories.
    outputs : list of int
        The output of each category: its position, or `NONE`.
    unknown, missing : int
        The output of an unknown and of a missing value: a position, `NONE`, `NAN` or `REFUSED`.
    n_outputs : int
    kind : int
        The `TensorProto.DataType` that holds all categories.
    """

    name: str
    keys: list[Any]
    outputs: list[int]
    unknown: int
    missing: int
    n_outputs: int
    kind: int

    def code(self, output: int) -> int:
        """Return the code of an output: positions, and then those without one."""
        return output if output >= 0 else self.n_outputs - 1 - output

    @property
    def n_codes(self) -> int:
        """How many codes have a row. That of `REFUSED` is beyond, which ONNX makes an error."""
        return self.n_outputs + 1 + (self.missing == NAN)

    @property
    def refusal(self) -> str | None:
        """What is refused; the name of the node that does it, which engines show."""
        rules = {"unknown": self.unknown, "missing": self.missing}
        kinds = [kind for kind, output in rules.items() if output == REFUSED]
        return f"column {self.name!r}: {' or '.join(kinds)} value" if kinds else None

    @property
    def missing_value(self) -> str | None:
        """How a missing value is written in the input, None if there is no way."""
        if self.kind in FLOATS:
            return "NaN"
        return "''" if self.kind == TensorProto.STRING and "" not in self.keys else None

    def rows(self, dtype: np.dtype[Any]) -> AnyArray:
        """Return the row of each code, shape (n_codes, n_outputs)."""
        table = np.zeros((self.n_codes, self.n_outputs), dtype)
        np.fill_diagonal(table, 1)
        if self.missing == NAN:
            table[self.code(NAN)] = np.nan
        return table


def encode_values(nodes: Nodes, values: str, kind: int, plan: Plan) -> str:
    """Add the nodes that give each value of an input of some kind its code; return their name."""
    pairs = list(zip(plan.keys, plan.outputs, strict=True))
    is_text = kind == TensorProto.STRING
    if not is_text and kind not in FLOATS and kind not in INTEGERS and kind != TensorProto.BOOL:
        raise TypeError(
            f"column {plan.name!r} is an input of {_name(kind)}; accepted are strings, integers,"
            " floats and Booleans"
        )
    pairs = [(key, output) for key, output in pairs if isinstance(key, str) == is_text]
    if len(pairs) < len(plan.keys):
        raise TypeError(
            f"column {plan.name!r} is an input of {_name(kind)}, and its categories, as"
            f" {plan.keys[0]!r}, are {_name(plan.kind)}: declare that as its type"
        )
    if is_text:
        missing = [("", plan.missing)] if plan.missing_value else []
        return _look_up(nodes, values, "string", pairs + missing, plan)
    if kind not in FLOATS:
        if kind != TensorProto.INT64:  # integers of 64 bits keep theirs, uint64 too
            values = nodes.node("Cast", [values], to=TensorProto.INT64)
        return _look_up(nodes, values, "int64", _integers(pairs, kind), plan)
    if kind == TensorProto.FLOAT16:
        values = nodes.node("Cast", [values], to=TensorProto.FLOAT)
    codes = (_look_up_doubles if kind == TensorProto.DOUBLE else _look_up_floats)(
        nodes, values, pairs, plan
    )
    if plan.missing == plan.unknown:
        return codes  # NaN equals no key
    missing_code = nodes.constant(np.int64(plan.code(plan.missing)))
    return nodes.node("Where", [nodes.node("IsNaN", [values]), missing_code, codes])


def _integers(pairs: list[tuple[Any, int]], kind: int) -> list[tuple[int, int]]:
    """Return the keys that can occur among integers of some kind, as those of int64."""
    info = np.iinfo(INTEGERS[kind]) if kind in INTEGERS else np.iinfo(np.int8)
    low, high = (info.min, info.max) if kind in INTEGERS else (0, 1)
    known = [(int(key), output) for key, output in pairs if low <= key <= high and key == int(key)]
    return [(key if key < 2**63 else key - 2**64, output) for key, output in known]


def _look_up_floats(nodes: Nodes, values: str, pairs: list[tuple[Any, int]], plan: Plan) -> str:
    keys = _narrow(pairs)
    if len(np.unique(keys)) < len(keys):
        raise ValueError(
            f"column {plan.name!r} has categories that are one number as float32: declare float64"
            " as its type"
        )
    outputs = [output for _, output in pairs]
    return _look_up(nodes, values, "float", list(zip(keys.tolist(), outputs, strict=True)), plan)


def _look_up_doubles(nodes: Nodes, values: str, pairs: list[tuple[Any, int]], plan: Plan) -> str:
    """Look float64 up by the nearest float32, which older LabelEncoders take, and compare it."""
    keys, narrow = np.array([float(key) for key, _ in pairs]), _narrow(pairs)
    codes = np.array([plan.code(output) for _, output in pairs], np.int64)
    unknown = np.array([plan.code(plan.unknown)])
    if len(np.unique(narrow)) < len(keys):
        tensors = {"keys": keys, "values": codes, "default": unknown}
        as_tensors = {f"{k}_tensor": numpy_helper.from_array(v) for k, v in tensors.items()}
        return nodes.node("LabelEncoder", [values], domain=ML, **as_tensors)
    position = nodes.node(
        "LabelEncoder",
        [nodes.node("Cast", [values], to=TensorProto.FLOAT)],
        domain=ML,
        keys_floats=[*narrow.tolist(), np.nan],
        values_int64s=[*range(len(keys) + 1)],
        default_int64=len(keys),
    )
    key = nodes.node("Gather", [nodes.constant(np.append(keys, np.nan)), position])
    code = nodes.node("Gather", [nodes.constant(np.append(codes, unknown)), position])
    is_same = nodes.node("Equal", [key, values])
    return nodes.node("Where", [is_same, code, nodes.constant(unknown)])


def _narrow(pairs: list[tuple[Any, int]]) -> AnyArray:
    """Return keys as float32."""
    with np.errstate(over="ignore"):
        return np.array([float(key) for key, _ in pairs]).astype(np.float32)


def _look_up(nodes: Nodes, values: str, kind: str, pairs: list[tuple[Any, int]], plan: Plan) -> str:
    """Add a LabelEncoder. Keys that become what unknown values become need not be in it."""
    known = [(key, plan.code(output)) for key, output in pairs if output != plan.unknown]
    unknown = plan.code(plan.unknown)
    known = known or [(EMPTY_KEYS[kind], unknown)]  # there must be one
    keys, codes = map(list, zip(*known, strict=True))
    attributes = {f"keys_{kind}s": keys, "values_int64s": codes, "default_int64": unknown}
    return nodes.node("LabelEncoder", [values], domain=ML, **attributes)


def encode_rows(nodes: Nodes, codes: str, plan: Plan, dtype: np.dtype[Any]) -> str:
    """Add the nodes that make a matrix of shape (N, n_outputs); return its name."""
    if plan.n_codes * plan.n_outputs * dtype.itemsize <= MOST_TABLE_BYTES:
        return _gather(nodes, plan.rows(dtype), codes, plan)
    # One element of each row is written, an off where nothing is on.
    written = np.arange(plan.n_codes)
    written[plan.n_outputs :] = 0
    on, off = np.ones(plan.n_codes, dtype), np.zeros(plan.n_codes, dtype)
    on[plan.code(NONE)] = 0
    if plan.missing == NAN:
        on[plan.code(NAN)] = off[plan.code(NAN)] = np.nan
    if plan.refusal:
        codes = _gather(nodes, np.arange(plan.n_codes), codes, plan)
    codes = nodes.node("Unsqueeze", [codes, nodes.constant(np.array([1]))])
    where = nodes.node("Gather", [nodes.constant(written), codes])
    ons, offs = (nodes.node("Gather", [nodes.constant(each), codes]) for each in (on, off))
    shape = nodes.constant(np.array([1, plan.n_outputs]))
    return nodes.node("ScatterElements", [nodes.node("Expand", [offs, shape]), where, ons], axis=1)


def _gather(nodes: Nodes, of_code: AnyArray, codes: str, plan: Plan) -> str:
    """Add the node that ends with an error where a value is refused."""
    named = {"name": plan.refusal} if plan.refusal else {}
    return nodes.node("Gather", [nodes.constant(of_code), codes], **named)


def encode_columns(nodes: Nodes, codes: str, plan: Plan, dtype: np.dtype[Any]) -> list[str]:
    """Add the nodes that make n_outputs columns of shape (N,); return their names."""
    if plan.refusal and not plan.n_outputs:
        raise ValueError(
            f"{plan.refusal} is refused, but the column has no output by which a model could do"
            " it: choose output='matrix', or handle_unknown= and handle_missing='ignore'"
        )
    if plan.refusal:
        codes = _gather(nodes, np.arange(plan.n_codes), codes, plan)
    outputs = [nodes.constant(np.int64(output)) for output in range(plan.n_outputs)]
    is_on = [nodes.node("Equal", [codes, output]) for output in outputs]
    if plan.missing != NAN:
        kind = helper.np_dtype_to_tensor_dtype(dtype)
        return [nodes.node("Cast", [each], to=kind) for each in is_on]
    nan = nodes.constant(np.int64(plan.code(NAN)))
    # 0, 1, and 2 for NaN.
    is_nan = nodes.node("Cast", [nodes.node("Equal", [codes, nan])], to=TensorProto.INT64)
    twice = nodes.node("Add", [is_nan, is_nan])
    values = nodes.constant(np.array([0, 1, np.nan], dtype))
    states = [nodes.node("Cast", [each], to=TensorProto.INT64) for each in is_on]
    return [nodes.node("Gather", [values, nodes.node("Add", [s, twice])]) for s in states]


def _name(kind: int) -> str:
    return str(TensorProto.DataType.Name(kind)).lower()

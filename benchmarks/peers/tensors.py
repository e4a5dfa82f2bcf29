"""The tensor libraries, each through its own operator."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.kinds.labels import Work
from benchmarks.peers.registry import Call, Task, contender


def _torch_index(task: Task) -> Any:
    """Return the indices as a tensor over the same memory."""
    return task.library.from_numpy(task.work.indices)


@contender("one_hot + cast", library="torch")
def torch_one_hot(task: Task) -> Call:
    """Call its operator, which makes int64 along the last axis whatever is wanted."""
    torch, work = task.library, task.work
    one_hot, index, axis = torch.nn.functional.one_hot, _torch_index(task), work.position
    dtype, order = getattr(torch, work.dtype.name), torch.contiguous_format

    def call() -> Any:
        wide = one_hot(index.long(), work.depth)
        return wide.movedim(-1, axis).to(dtype, memory_format=order)

    return call


@contender("zeros.scatter_", library="torch")
def torch_scatter(task: Task) -> Call:
    """Make zeros, then scatter the ones."""
    torch, work = task.library, task.work
    index, axis, dtype = _torch_index(task), work.position, getattr(torch, work.dtype.name)

    def call() -> Any:
        zeros = torch.zeros(work.shape, dtype=dtype)
        return zeros.scatter_(axis, index.long().unsqueeze(axis), 1)

    return call


@contender("zero_ + scatter_", library="torch", reuses=True)
def torch_scatter_out(task: Task) -> Call:
    """Do the same in the warm output."""
    index, axis, out = _torch_index(task), task.work.position, task.library.from_numpy(task.out)
    return lambda: out.zero_().scatter_(axis, index.long().unsqueeze(axis), 1)


@contender("one_hot", library="tensorflow")
def tensorflow_one_hot(task: Task) -> Call:
    """Call its operator, eager."""
    tf, work = task.library, task.work
    index, dtype = tf.constant(work.indices), tf.as_dtype(work.dtype)
    # Its defaults are 1 and 0, which it refuses to make bool of.
    on, off = work.dtype.type(1), work.dtype.type(0)
    return lambda: tf.one_hot(index, work.depth, on, off, axis=work.axis, dtype=dtype)


@contender("one_hot", library="jax")
def jax_one_hot(task: Task) -> Call:
    """Call its operator, which is compiled on the first call."""
    jax, work = task.library, task.work
    index = jax.numpy.asarray(work.indices)

    def call() -> Any:
        result = jax.nn.one_hot(index, work.depth, dtype=work.dtype, axis=work.axis)
        return result.block_until_ready()

    return call


def _onnx_model(work: Work) -> bytes:
    """Return a model of one OneHot, between the casts that ONNX Runtime's kernels need."""
    onnx = import_module("onnx")
    node, element = onnx.helper.make_node, onnx.helper.np_dtype_to_tensor_dtype
    wide, element_out = onnx.TensorProto.INT64, element(work.dtype)
    nodes = [
        node("Cast", ["indices"], ["wide"], to=wide),  # removed by the optimiser where not needed
        node("OneHot", ["wide", "depth", "values"], ["float"], axis=work.axis),
        node("Cast", ["float"], ["result"], to=element_out),
    ]
    constants = [
        onnx.numpy_helper.from_array(np.array(work.depth, np.int64), "depth"),
        onnx.numpy_helper.from_array(np.array([0, 1], np.float32), "values"),
    ]
    info = onnx.helper.make_tensor_value_info
    inputs = [info("indices", element(work.indices.dtype), work.indices.shape)]
    outputs = [info("result", element_out, work.shape)]
    graph = onnx.helper.make_graph(nodes, "one_hot", inputs, outputs, constants)
    opset = [onnx.helper.make_opsetid("", 11)]
    # An older IR version than onnx writes by default: the runtime reads no newer one than its own.
    model = onnx.helper.make_model(graph, opset_imports=opset, ir_version=8)
    serialized: bytes = model.SerializeToString()
    return serialized


def _first(results: Any) -> Any:
    return np.asarray(results[0])


@contender("OneHot", library="onnxruntime", read=_first)
def onnxruntime_one_hot(task: Task) -> Call:
    """Run a model of this one operator."""
    runtime, indices = task.library, task.work.indices
    options = runtime.SessionOptions()
    options.intra_op_num_threads = task.threads or 0
    providers = ["CPUExecutionProvider"]
    session = runtime.InferenceSession(_onnx_model(task.work), options, providers=providers)
    return lambda: session.run(None, {"indices": indices})


def _openvino_request(task: Task) -> Any:
    """Return an inference request of a compiled model of this one operator."""
    openvino, work = task.library, task.work
    opset, element = openvino.opset1, openvino.Type
    indices = opset.parameter(list(work.indices.shape), element(work.indices.dtype))
    on, off = (opset.constant(np.array(value, work.dtype)) for value in (1, 0))
    depth = opset.constant(np.array(work.depth, np.int64))
    # Its kernel reads int32 alone; of int64 it makes that by itself.
    wide = indices if work.indices.dtype == np.int64 else opset.convert(indices, "i32")
    result = opset.one_hot(wide, depth, on, off, axis=work.axis)
    limit = {"INFERENCE_NUM_THREADS": task.threads} if task.threads else {}
    model = openvino.Core().compile_model(openvino.Model([result], [indices]), "CPU", limit)
    return model.create_infer_request()


@contender("OneHot", library="openvino", read=_first)
def openvino_one_hot(task: Task) -> Call:
    """Run its operator; the result is copied out of the request."""
    request, inputs = _openvino_request(task), [task.work.indices]
    return lambda: request.infer(inputs, share_inputs=True)


@contender("OneHot (shared)", library="openvino", reuses=True, read=_first)
def openvino_one_hot_shared(task: Task) -> Call:
    """Do the same; the result is the memory of the request, which the next call overwrites."""
    request, inputs = _openvino_request(task), [task.work.indices]
    return lambda: request.infer(inputs, share_inputs=True, share_outputs=True)

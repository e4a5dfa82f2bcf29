"""Who sees a call of the torch functions: graphs, modes, subclasses, autograd, or nobody."""

from typing import ClassVar

import pytest

torch = pytest.importorskip("torch")

from torch.overrides import TorchFunctionMode  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from onehot_fast.integrations.torch import (  # noqa: E402
    _fastpath,
    _operators,
    decode,
    multi_hot,
    one_hot,
)
from support.programs import run  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
can_detect_export = pytest.mark.skipif(
    not hasattr(torch.compiler, "is_exporting"), reason="needs torch 2.7"
)
SCORES = torch.arange(30.0).reshape(2, 5, 3) - 9
LABELS = torch.tensor([[0, 4, 255], [1, 2, 3]])


class Model(torch.nn.Module):
    """A model that encodes and decodes."""

    def forward(self, scores, labels):
        hot = one_hot(labels, scores.shape[1], axis=1, ignore_index=255)
        return (torch.relu(scores) * hot).sum(1), decode(hot, 1)


def assert_same(got, expected=None):
    expected = Model()(SCORES, LABELS) if expected is None else expected
    assert [torch.equal(torch.as_tensor(a), b) for a, b in zip(got, expected, strict=True)] == [
        True,
        True,
    ]


def exported(strict=False):
    return torch.export.export(Model(), (SCORES, LABELS), strict=strict)


@can_detect_export
@pytest.mark.parametrize("strict", [False, True])
def test_an_exported_graph_has_plain_operations_only(strict):
    program = exported(strict)

    targets = [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
    assert targets
    assert all(target.startswith("aten.") for target in targets)
    assert not any("view.dtype" in target for target in targets)
    assert_same(program.module()(SCORES, LABELS))
    with pytest.raises(RuntimeError, match=r"a label is not in \[0, num_classes\)"):
        program.module()(SCORES, LABELS + 1)


LOAD = """
    import sys

    sys.modules["onehot_fast"] = None  # an import would fail
    import torch

    scores = torch.arange(30.0).reshape(2, 5, 3) - 9
    labels = torch.tensor([[0, 4, 255], [1, 2, 3]])
    model = {load}
    for result in model(scores, labels):
        print(result.tolist())
"""


@can_detect_export
def test_a_saved_graph_runs_without_this_package(tmp_path):
    torch.export.save(exported(), tmp_path / "model.pt2")

    printed = run(LOAD.format(load=f"torch.export.load({str(tmp_path / 'model.pt2')!r}).module()"))

    assert printed.splitlines() == [str(each.tolist()) for each in Model()(SCORES, LABELS)]


@can_detect_export
@pytest.mark.long
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_package_of_aot_inductor_runs_without_this_package(tmp_path):
    """The package is machine code, which encodes and rejects labels without this library."""
    inductor = pytest.importorskip("torch._inductor")
    path = str(tmp_path / "model.pt2")
    inductor.aoti_compile_and_package(exported(), package_path=path)

    printed = run(LOAD.format(load=f"torch._inductor.aoti_load_package({path!r})"))

    assert printed.splitlines() == [str(each.tolist()) for each in Model()(SCORES, LABELS)]
    with pytest.raises(RuntimeError, match="a label is not in"):
        inductor.aoti_load_package(path)(SCORES, LABELS + 1)


@can_detect_export
@pytest.mark.filterwarnings("ignore")
def test_onnxruntime_runs_an_exported_model(tmp_path):
    """ONNX has no assertions: an invalid label becomes zeros, as the documentation says."""
    pytest.importorskip("onnxscript")
    runtime = pytest.importorskip("onnxruntime")
    path = str(tmp_path / "model.onnx")
    torch.onnx.export(Model(), (SCORES, LABELS), dynamo=True, verbose=False).save(path)
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]

    def results(labels):
        inputs = dict(zip(names, [SCORES.numpy(), labels.numpy()], strict=True))
        return session.run(None, inputs)

    assert_same(results(LABELS))
    invalid = torch.where(LABELS == 4, 5, LABELS)
    expected = Model()(SCORES, torch.where(LABELS == 4, 255, LABELS))
    assert_same(results(invalid), expected)


def test_fx_traces_a_model():
    graph = torch.fx.symbolic_trace(Model())

    targets = [node.target for node in graph.graph.nodes if node.op == "call_function"]
    assert one_hot in targets
    assert decode in targets
    assert_same(graph(SCORES, LABELS))


class Named(torch.Tensor):
    """A tensor with data of its own, as MONAI's MetaTensor."""

    seen: ClassVar[list] = []

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        cls.seen.append(function)
        return super().__torch_function__(function, types, args, kwargs or {})


def test_subclasses_are_encoded_and_kept():
    """A subclass sees the call as it sees calls of torch's functions, and the result keeps it."""
    Named.seen.clear()
    labels = torch.tensor([0, 2, 1]).as_subclass(Named)
    offsets = torch.tensor([0, 3]).as_subclass(Named)

    encoded = one_hot(labels, 3)
    decoded = decode(encoded)

    assert type(encoded) is type(decoded) is Named
    assert one_hot in Named.seen
    assert decode in Named.seen
    assert encoded.tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert decoded.tolist() == [0, 2, 1]
    assert type(one_hot(tensor=labels, num_classes=3)) is Named
    assert type(multi_hot(flat=labels, num_classes=3, offsets=[0, 3])) is Named
    assert type(multi_hot(labels.as_subclass(torch.Tensor), 3, offsets=offsets)) is Named
    out = torch.empty(3, 3).as_subclass(Named)
    assert one_hot(torch.tensor([0, 2, 1]), 3, out=out) is out
    assert torch.equal(out, encoded)


@pytest.mark.skipif(not torch.distributed.is_available(), reason="torch has no distributed")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_distributed_tensors_are_rejected_with_the_remedy():
    """The error for a distributed tensor says that each process encodes its own part."""
    tensors = pytest.importorskip("torch.distributed.tensor")
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("gloo", rank=0, world_size=1, store=store)
    try:
        mesh = torch.distributed.device_mesh.init_device_mesh("cpu", (1,))
        labels, eye = (
            tensors.distribute_tensor(each, mesh, [tensors.Shard(0)])
            for each in (torch.tensor([0, 2, 1]), torch.eye(3))
        )
        for call in (one_hot, decode):
            with pytest.raises(TypeError, match=r"got a DTensor: pass tensor\.to_local\(\)"):
                call(labels)
        with pytest.raises(TypeError, match=r"pass out\.to_local\(\)"):
            one_hot(torch.arange(3), 3, out=eye)
        with pytest.raises(TypeError, match=r"pass flat\.to_local\(\)"):
            multi_hot(labels, 3, offsets=[0, 3])
        assert torch.equal(one_hot(labels.to_local(), 3), one_hot(torch.tensor([0, 2, 1]), 3))
    finally:
        torch.distributed.destroy_process_group()


@pytest.mark.parametrize("is_out", [False, True])
def test_a_compiled_function_is_one_graph_with_the_words_of_the_call(is_out):
    """A call with keywords, also with `out=`, compiles to one graph."""
    labels = torch.tensor([0, 2, 1])

    @torch.compile(fullgraph=True, backend="eager")
    def compiled(labels, out):
        return one_hot(tensor=labels, num_classes=3, out=out)

    got = compiled(labels, torch.empty(3, 3) if is_out else None)

    assert torch.equal(got, one_hot(labels, 3))


def test_modes_see_the_functions_and_the_operators():
    labels = torch.tensor([0, 2, 1])
    seen = []

    class Functions(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            seen.append(function)
            return function(*args, **(kwargs or {}))

    class Operators(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    with Functions():
        decode(one_hot(labels, 3))
    with Operators():
        decode(one_hot(labels, 3, out=one_hot(labels, 3)))

    assert {one_hot, decode} <= set(seen)
    assert {f"onehot_fast.{name}.default" for name in ("one_hot", "one_hot_out", "decode")} <= {
        each for each in seen if isinstance(each, str)
    }
    traced = torch.jit.trace(lambda labels: one_hot(labels, 3), (labels,))
    assert torch.equal(traced(labels.flip(0)), one_hot(labels.flip(0), 3))


def test_a_plain_call_does_not_pass_through_the_operators(monkeypatch):
    """A plain call bypasses torch's dispatcher, which takes longer than a small call."""

    def fail(*arguments):
        raise AssertionError("an operator was called")

    for name in ("ALLOCATING", "FILLING", "DECODING"):
        monkeypatch.setattr(f"onehot_fast.integrations.torch.function.{name}", fail)
    labels = torch.tensor([0, 2, 1])
    decode(one_hot(labels, 3, out=one_hot(labels, 3)))
    one_hot(labels.to(torch.float32), 3, out=one_hot(labels.to(torch.float32), 3))
    decode(one_hot(torch.nn.Parameter(labels, requires_grad=False), 3))
    with pytest.raises(AssertionError, match="operator"), torch.inference_mode():
        torch.vmap(lambda labels: one_hot(labels, 3))(labels)


@pytest.mark.parametrize("has_observers", [False, True])
@pytest.mark.parametrize("dtype", [torch.int64, torch.float32])  # floats are no small calls
def test_autograd_sees_that_out_changed(monkeypatch, dtype, has_observers):
    """A backward pass that needs the overwritten tensor raises."""
    for module in (_operators, _fastpath):
        monkeypatch.setattr(module, "has_observers", lambda: has_observers)
    out = torch.zeros(3, 3)
    loss = (torch.ones(3, 3, requires_grad=True) * out).sum()
    one_hot(torch.tensor([0, 2, 1], dtype=dtype), 3, out=out)

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_views_that_torch_negates_later_are_read_as_their_values():
    """A view that torch negates later is read by its values, not by its memory."""
    labels, offsets = torch.tensor([0, -2, -1]), torch.tensor([0, -2, -3])
    expected = torch.tensor([[1.0, 0, 0], [0, 0, 1], [0, 1, 0]])

    assert torch.equal(one_hot(torch._neg_view(labels), 3), expected)
    assert torch.equal(one_hot(torch._neg_view(labels.to(torch.float32)), 3), expected)
    assert torch.equal(one_hot(torch._neg_view(labels), categories=[0, 1, 2]), expected)
    assert torch.equal(decode(torch._neg_view(-expected)), -labels)
    several = multi_hot(torch._neg_view(labels), 3, offsets=torch._neg_view(offsets))
    assert several.tolist() == [[1, 0, 1], [0, 1, 0]]
    for out in (
        torch._neg_view(torch.empty(3, 3)),
        torch.empty(3, 3, dtype=torch.complex64).conj(),
    ):
        with pytest.raises(ValueError, match=r"^out must not be a lazily .* view: pass the tensor"):
            one_hot(-labels, 3, out=out)


def test_tensors_of_inference_mode_are_written():
    with torch.inference_mode():
        out = torch.zeros(3, 3)
        one_hot(torch.tensor([0, 2, 1]), 3, out=out)
    assert out.argmax(-1).tolist() == [0, 2, 1]

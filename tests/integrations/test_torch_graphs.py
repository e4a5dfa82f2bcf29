"""torch's graphs, devices and workers around `one_hot` and `decode`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from onehot_fast.integrations.torch import _composition, decode, one_hot  # noqa: E402
from onehot_fast.integrations.torch._operators import ALLOCATING, DECODING, FILLING  # noqa: E402

# The compiler's imports warn about their own deprecations.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_torch_accepts_the_operators(dtype: Any, device: str) -> None:
    """Their schemas, their fake kernels, and tracing with shapes that are not known yet."""
    labels = torch.tensor([[0, 2], [1, 255]], dtype=torch.uint8, device=device)
    policies = 1, [255], "ignore", "ignore", 0.0
    out = torch.zeros(2, 3, 2, dtype=dtype, device=device)

    torch.library.opcheck(ALLOCATING, (labels, 3, dtype, *policies))
    torch.library.opcheck(FILLING, (labels, 3, *policies, out))
    torch.library.opcheck(DECODING, (out, 1, 1, -1, "error"))


def test_batches_of_vmap_are_encoded_at_once() -> None:
    labels = torch.tensor([[0, 2, 1], [1, 255, 0]])
    expected = torch.stack([one_hot(row, 3, axis=0, ignore_index=255) for row in labels])
    encode = torch.vmap(lambda row: one_hot(row, 3, axis=0, ignore_index=255))

    assert torch.equal(encode(labels), expected)
    assert torch.equal(torch.vmap(lambda row: decode(row, 0))(expected), decode(expected, 1))
    columns = torch.vmap(lambda row: one_hot(row, 3, axis=0, ignore_index=255), in_dims=1)
    assert torch.equal(columns(labels.T), expected)
    out = torch.empty(3, 3, 2)
    fill = torch.vmap(
        lambda row, out: one_hot(row, 3, axis=0, ignore_index=255, out=out), in_dims=(0, 2)
    )
    fill(labels, out)
    assert torch.equal(out.movedim(2, 0), expected)


class Loss(torch.nn.Module):  # type: ignore[misc]  # its types are not checked
    """A model with labels in it."""

    def forward(self, scores: Any, labels: Any) -> Any:
        hot = one_hot(labels, scores.shape[1], axis=1, ignore_index=255)
        return (torch.relu(scores) * hot).sum(1)


def test_a_compiled_model_is_one_graph() -> None:
    scores, labels = torch.randn(2, 5, 3), torch.tensor([[0, 4, 255], [1, 2, 3]])
    model = Loss()
    expected = model(scores, labels)

    for dynamic in (False, True):
        compiled = torch.compile(model, fullgraph=True, dynamic=dynamic, backend="aot_eager")
        torch.testing.assert_close(compiled(scores, labels), expected)
    graph = torch.export.export(model, (scores, labels)).module()
    torch.testing.assert_close(graph(scores, labels), expected)
    with pytest.raises(ValueError, match=r"indices\[0, 1\] must be in \[0, 5\), got 5"):
        graph(scores, labels + 1)


def operators_of(function: Callable[..., Any], *arguments: Any) -> list[str]:
    """Return the operators in the graph of a compiled function."""
    targets: list[str] = []

    def backend(graph: Any, inputs: Any) -> Any:
        targets.extend(str(node.target) for node in graph.graph.nodes)
        return graph.forward

    torch._dynamo.reset()
    torch.compile(function, fullgraph=True, backend=backend)(*arguments)
    return targets


@pytest.mark.parametrize("dynamic", [False, True])
def test_the_composition_compiles_without_custom_operators(dynamic: bool) -> None:
    labels = torch.tensor([[0, 4, 255], [1, 2, 3]])

    def encode(labels: Any) -> Any:
        policies = 1, [255], "error", "error", 0.1
        return _composition.encode(labels, 5, torch.bfloat16, *policies)

    compiled = torch.compile(encode, fullgraph=True, dynamic=dynamic, backend="aot_eager")
    options = {"ignore_index": 255, "label_smoothing": 0.1, "dtype": torch.bfloat16}
    assert torch.equal(compiled(labels), one_hot(labels, 5, axis=1, **options))
    with pytest.raises(RuntimeError, match="a label is negative"):
        compiled(labels - 1)


def test_only_graphs_for_the_cpu_contain_custom_operators() -> None:
    """A meta tensor stands for one on another device."""
    labels = torch.tensor([0, 2, 1])

    def round_trip(labels: Any) -> Any:
        return decode(one_hot(labels, 3, out=one_hot(labels, 3)))

    assert any("onehot_fast" in name for name in operators_of(round_trip, labels))
    elsewhere = operators_of(round_trip, labels.to("meta"))
    assert any("_assert_async" in name for name in elsewhere)
    assert not any("onehot_fast" in name for name in elsewhere)


def test_tensors_of_other_devices_stay_there() -> None:
    """Meta tensors and the fake tensors of a GPU are neither read nor copied."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    meta = one_hot(torch.empty(2, 4, dtype=torch.int64, device="meta"), 3, axis=1)
    assert (meta.device.type, meta.shape, meta.dtype) == ("meta", (2, 3, 4), torch.float32)
    assert decode(meta, 1).shape == (2, 4)
    with FakeTensorMode(allow_non_fake_inputs=True):
        labels = torch.empty(3, dtype=torch.int64, device="cuda")
        encoded = one_hot(labels, 3, dtype=torch.bfloat16)
        assert encoded.device == decode(encoded).device == labels.device
        with pytest.raises(ValueError, match="out must be on cuda:0 like tensor, got cpu"):
            one_hot(labels, 3, out=torch.empty(3, 3, device="cpu"))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("is_compiled", [False, True])
def test_a_gpu_encodes_like_the_cpu(is_compiled: bool) -> None:
    labels = torch.randint(0, 21, (2, 64, 64))
    labels[0, :3] = 255
    call = torch.compile(one_hot, fullgraph=True) if is_compiled else one_hot
    for dtype in (torch.float32, torch.bfloat16, torch.uint8):
        expected = one_hot(labels, 21, axis=1, ignore_index=255, dtype=dtype)
        got = call(labels.cuda(), 21, axis=1, ignore_index=255, dtype=dtype)
        assert torch.equal(got.cpu(), expected)
        assert torch.equal(decode(got, 1).cpu(), decode(expected, 1))


def test_gradients_pass_by() -> None:
    scores = torch.randn(2, 5, 3, requires_grad=True)
    Loss()(scores, torch.zeros(2, 3, dtype=torch.int64)).sum().backward()
    assert (scores.grad[:, 1:] == 0).all()

    labels = torch.tensor([0.0, 1.0], requires_grad=True)
    assert not one_hot(labels, 2).requires_grad
    assert not decode(one_hot(labels, 2)).requires_grad
    with pytest.raises(ValueError, match=r"out\.detach\(\)"):
        one_hot(labels, 2, out=torch.empty(2, 2, requires_grad=True))


class Masks(torch.utils.data.Dataset):  # type: ignore[misc]
    """Label masks that workers encode."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> Any:
        return one_hot(torch.full((64, 64), index), 8, axis=0, dtype=torch.uint8)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # threads and fork
def test_workers_encode() -> None:
    """They are forked from a process that has used threads."""
    one_hot(torch.zeros(1 << 22, dtype=torch.int64), 8)
    loader = torch.utils.data.DataLoader(Masks(), batch_size=4, num_workers=2, timeout=60)

    batches = torch.cat(list(loader))

    assert batches.shape == (8, 8, 64, 64)
    assert torch.equal(batches.argmax(1)[:, 0, 0], torch.arange(8))


def test_an_exported_graph_needs_the_number_of_classes() -> None:
    class Inferred(torch.nn.Module):  # type: ignore[misc]
        def forward(self, labels: Any) -> Any:
            return one_hot(labels)

    with pytest.raises(Exception, match=r"must be given under torch\.export"):
        torch.export.export(Inferred(), (torch.arange(3),), strict=False)

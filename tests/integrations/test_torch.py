"""One-hot tensors of torch: as `onehot_fast.one_hot` makes them, in graphs and workers too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onehot_fast

torch = pytest.importorskip("torch")

from onehot_fast.integrations.torch import one_hot  # noqa: E402  only where there is torch
from onehot_fast.integrations.torch.function import ALLOCATING, FILLING, INDICES  # noqa: E402

DTYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.bool, torch.uint8,
    torch.int8, torch.int64, torch.uint16, torch.complex64, torch.float8_e4m3fn, torch.float8_e5m2,
]  # fmt: skip
# What the compiler imports warns of its own deprecations.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, int, dict[str, Any]]:
    """Return a tensor, a number of classes and options."""
    dtype = draw(st.sampled_from(INDICES))
    shape = draw(st.lists(st.integers(0, 4), max_size=3))
    low = 0 if dtype in (torch.uint8, torch.uint16, torch.uint32, torch.uint64) else -4
    values = draw(
        st.lists(st.integers(low, 9), min_size=int(np.prod(shape)), max_size=int(np.prod(shape)))
    )
    tensor = torch.tensor(values, dtype=torch.float64).to(dtype).reshape(shape)
    if draw(st.booleans()) and tensor.ndim > 1:
        tensor = tensor.transpose(0, -1)
    options = {
        "axis": draw(st.integers(-tensor.ndim - 1, tensor.ndim)),
        "ignore_index": draw(st.sampled_from([None, 3, -1, [0, 5]])),
        "negative_indices": draw(st.sampled_from(["ignore", "normalize", "error"])),
        "out_of_range": draw(st.sampled_from(["ignore", "error"])),
    }
    return tensor, draw(st.integers(0, 8)), options


def outcome(work: Callable[[], Any]) -> Any:
    """Return what a call gives, or what its error says."""
    try:
        return work()
    except ValueError as error:
        return str(error)


@given(case=cases(), dtype=st.sampled_from(DTYPES), is_out=st.booleans())
def test_tensors_are_encoded_as_arrays_are(case: Any, dtype: Any, is_out: bool) -> None:
    """Whatever the dtypes, strides and policies; what is refused is refused in the same words."""
    tensor, depth, options = case
    array = tensor.numpy()
    expected = outcome(lambda: onehot_fast.one_hot(array, depth, dtype=bool, **options))
    if isinstance(expected, str):
        assert outcome(lambda: one_hot(tensor, depth, dtype=dtype, **options)) == expected
        return
    out = None
    if is_out:  # every other element of its memory
        out = torch.empty((*expected.shape, 2), dtype=dtype)[..., 0]

    encoded = one_hot(tensor, depth, dtype=dtype, out=out, **options)

    assert encoded.dtype == dtype
    assert encoded is out or out is None
    np.testing.assert_array_equal(encoded.to(torch.complex64).numpy() == 1, expected)
    assert ((encoded == 1) | (encoded == 0)).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_torch_accepts_the_operators(dtype: Any) -> None:
    """Their schemas, their fake kernels, and tracing with shapes that are not known yet."""
    labels = torch.tensor([[0, 2], [1, 255]], dtype=torch.uint8)
    policies = 1, [255], "ignore", "ignore"

    torch.library.opcheck(ALLOCATING, (labels, 3, dtype, *policies))
    torch.library.opcheck(FILLING, (labels, 3, *policies, torch.empty(2, 3, 2, dtype=dtype)))


class Loss(torch.nn.Module):  # type: ignore[misc]  # its types are not looked at
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


def test_gradients_pass_by() -> None:
    scores = torch.randn(2, 5, 3, requires_grad=True)
    Loss()(scores, torch.zeros(2, 3, dtype=torch.int64)).sum().backward()

    assert (scores.grad[:, 1:] == 0).all()


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


def test_the_result_is_the_memory_of_the_kernels() -> None:
    labels = torch.arange(4)
    out = torch.zeros(4, 4)

    assert one_hot(labels, 4, out=out) is out
    assert torch.equal(out, torch.eye(4))
    assert one_hot(labels, 4).data_ptr() % 64 == 0


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((np.arange(3), 3), {}, TypeError, r"tensor is an ndarray; accepted is a torch.Tensor"),
        ((torch.tensor([True]), 3), {}, TypeError, r"tensor has dtype torch.bool; accepted"),
        ((torch.arange(3), -1), {}, ValueError, r"num_classes = -1 is negative; .* \+ 1"),
        ((torch.arange(3), None), {}, TypeError, r"num_classes = None is a NoneType; .* \+ 1"),
        ((torch.arange(3), 3.0), {}, TypeError, r"num_classes = 3.0 is a float; accepted"),
        ((torch.arange(3), 3), {"axis": "1"}, TypeError, r"axis = '1' is a str; accepted"),
        (
            (torch.arange(3), 3),
            {"ignore_index": [1.5]},
            TypeError,
            r"ignore_index = 1.5 is a float",
        ),
        ((torch.arange(3), 3), {"dtype": "int8"}, TypeError, r"dtype = 'int8' .* torch.float32"),
        ((torch.eye(3).to_sparse(), 3), {}, ValueError, r"layout torch.sparse_coo; .*to_dense"),
        ((torch.arange(3), 3), {"axis": 2}, ValueError, r"axis = 2 is outside \[-2, 2\)"),
        ((torch.arange(3), 3), {"out": torch.empty(3)}, ValueError, r"out has shape \(3,\)"),
        (
            (torch.arange(3), 3),
            {"out": torch.empty(3, 3), "dtype": torch.uint8},
            ValueError,
            r"dtype = torch.uint8, and out has torch.float32",
        ),
    ],
)
def test_what_is_refused_is_said(arguments: Any, options: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        one_hot(*arguments, **options)


def test_whole_numbers_of_any_type_are_accepted() -> None:
    labels = torch.arange(3)
    got = one_hot(labels, labels.max() + 1, axis=np.int64(1), ignore_index=np.int64(2))

    assert torch.equal(got, one_hot(labels, 3, ignore_index=(2,)))


def test_a_tensor_of_another_device_is_refused_with_what_to_do() -> None:
    """No such device is here: a fake tensor says that it is there."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode(allow_non_fake_inputs=True):
        labels = torch.empty(3, dtype=torch.int64, device="cuda")
        with pytest.raises(ValueError, match=r"on cuda:0, .* one_hot\(tensor.cpu\(\), ...\).to"):
            one_hot(labels, 3)

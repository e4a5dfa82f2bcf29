"""Rows of several labels in flat tensors; arrays of other libraries on a GPU."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onehot_fast
from support.strategies import examples

torch = pytest.importorskip("torch")

from onehot_fast.integrations.torch import _composition, decode, multi_hot, one_hot  # noqa: E402
from onehot_fast.integrations.torch.function import COUNTABLE, INTEGERS, VALUES  # noqa: E402
from support.tensors import LIMITS, outcome  # noqa: E402

pytestmark = pytest.mark.filterwarnings(
    "ignore:ComplexHalf:UserWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"
)


@st.composite
def ragged(draw):
    """Return flat labels, their offsets and the number of classes."""
    dtype = draw(st.sampled_from(INTEGERS))
    low = -2 if dtype.is_signed else 0
    values = st.integers(low, 7) | st.sampled_from(LIMITS.get(dtype, [0]))
    flat = torch.tensor(draw(st.lists(values, max_size=9)), dtype=dtype)
    offsets = draw(st.lists(st.integers(0, len(flat)), min_size=1, max_size=5))
    if draw(st.integers(0, 4)):  # sometimes they decrease
        offsets = sorted(offsets)
    offsets = torch.tensor(offsets, dtype=draw(st.sampled_from([torch.int32, torch.int64])))
    return flat, offsets, draw(st.integers(0, 8))


@given(case=ragged(), data=st.data())
def test_flat_labels_are_encoded_like_those_of_the_core(case, data):
    """Kernels and torch operations equal the core, and reject the same labels."""
    flat, offsets, depth = case
    mode = data.draw(st.sampled_from(["set", "count"]))
    dtype = data.draw(st.sampled_from(COUNTABLE if mode == "count" else VALUES))
    policy = data.draw(st.sampled_from(["ignore", "error"]))
    expected = outcome(
        lambda: onehot_fast.multi_hot(
            flat.numpy(), depth, offsets=offsets.numpy(), mode=mode, out_of_range=policy
        )
    )
    rules = mode, dtype, policy
    if isinstance(expected, str):
        assert (
            outcome(
                lambda: multi_hot(
                    flat, depth, offsets=offsets, mode=mode, dtype=dtype, out_of_range=policy
                )
            )
            == expected
        )
        with pytest.raises(RuntimeError, match=r"multi_hot: (a label|offsets)"):
            _composition.multi_hot(flat, depth, offsets.to(torch.int64), *rules)
        return

    direct = multi_hot(flat, depth, offsets=offsets, mode=mode, dtype=dtype, out_of_range=policy)
    composed = _composition.multi_hot(flat, depth, offsets.to(torch.int64), *rules)

    for got in (direct, composed):
        assert got.dtype == dtype
        np.testing.assert_array_equal(got.to(torch.complex64).numpy(), expected)


def test_the_number_of_classes_is_inferred():
    flat = torch.tensor([0, 3, -1])

    assert multi_hot(flat, offsets=[0, 1, 3]).tolist() == [[1, 0, 0, 0], [0, 0, 0, 1]]
    with pytest.raises(ValueError, match="num_classes cannot be inferred"):
        multi_hot(flat[:0], offsets=[0])


FLAT = torch.tensor([0, 2, 1])


@pytest.mark.parametrize(
    ("flat", "options", "error", "message"),
    [
        ([0, 2, 1], {}, TypeError, r"flat must be a torch.Tensor, got a list"),
        (FLAT.float(), {}, TypeError, r"flat must have an integer dtype, got torch.float32"),
        (FLAT[None], {}, ValueError, r"flat must have one dimension, got shape \(1, 3\)"),
        (FLAT, {"offsets": []}, ValueError, r"offsets must have one dimension.*\(0,\)"),
        (FLAT, {"offsets": FLAT[None]}, ValueError, r"offsets must have one dimension.*\(1, 3\)"),
        (FLAT, {"offsets": [0, 1.5]}, TypeError, r"offsets must be an int, got 1.5"),
        (FLAT, {"offsets": FLAT.float()}, TypeError, r"offsets must have an integer dtype"),
        (FLAT, {"offsets": FLAT.to("meta")}, ValueError, r"offsets must be on cpu.*got meta"),
        (FLAT, {"mode": "counts"}, ValueError, r"mode must be .*got 'counts'"),
        (FLAT, {"out_of_range": "clip"}, ValueError, r"out_of_range must be .*got 'clip'"),
        (FLAT, {"mode": "count", "dtype": torch.bfloat16}, TypeError, r"dtype must be an integer"),
        (FLAT, {"dtype": "int8"}, TypeError, r"torch.dtype such as .* got 'int8'"),
        (FLAT, {"num_classes": -2}, ValueError, r"num_classes must be in \[0, 2\*\*63\), got -2"),
        (FLAT, {"depth": 3}, TypeError, "num_classes|depth"),
    ],
)
def test_invalid_arguments_raise_errors(flat, options, error, message):
    with pytest.raises(error, match=message):
        multi_hot(flat, **({"num_classes": 3, "offsets": [0, 3]} | options))


def test_graphs_and_other_devices_use_torch_operations():
    """Graphs and other devices, here the meta device, use torch operations."""
    expected = multi_hot(FLAT, 3, offsets=[0, 1, 3])
    meta = multi_hot(FLAT.to("meta"), 3, offsets=FLAT.to("meta"), dtype=torch.bfloat16)
    assert (meta.device.type, meta.shape, meta.dtype) == ("meta", (2, 3), torch.bfloat16)

    def encode(flat, offsets):
        return multi_hot(flat, 3, offsets=offsets)

    compiled = torch.compile(encode, fullgraph=True, backend="aot_eager")
    offsets = torch.tensor([0, 1, 3])
    assert torch.equal(compiled(FLAT, offsets), expected)
    with pytest.raises(RuntimeError, match="multi_hot: a label"):
        compiled(FLAT + 2, offsets)
    with pytest.raises(RuntimeError, match="multi_hot: offsets"):
        compiled(FLAT, offsets + 1)


def test_vmap_batches_rows_without_a_check():
    """`vmap` encodes rows without the check, because torch has no assertion for batches."""
    offsets = torch.tensor([0, 1, 3])
    expected = multi_hot(FLAT, 3, offsets=offsets)
    encode = torch.vmap(lambda flat: multi_hot(flat, 3, offsets=offsets, out_of_range="ignore"))

    batched = encode(torch.stack([FLAT, FLAT]))

    assert torch.equal(batched, torch.stack([expected, expected]))


class OnDevice:
    """An array that claims to be on a GPU, as one of CuPy or JAX."""

    def __init__(self, tensor, device_type=2):
        self.tensor, self.device_type = tensor, device_type

    def __dlpack_device__(self):
        return self.device_type, 0


@examples(0.1)
@given(device_type=st.sampled_from([2, 7, 8, 10, 13, 14]))
def test_arrays_on_other_devices_become_tensors(device_type):
    """An array on another device becomes a tensor that shares its memory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "from_dlpack", lambda array: array.tensor)
        labels = OnDevice(FLAT, device_type)

        encoded = one_hot(labels, 3)
        assert torch.equal(encoded, one_hot(FLAT, 3))
        assert torch.equal(decode(OnDevice(encoded, device_type)), FLAT)
        rows = multi_hot(labels, 3, offsets=OnDevice(torch.tensor([0, 1, 3]), device_type))
        assert torch.equal(rows, multi_hot(FLAT, 3, offsets=[0, 1, 3]))


@pytest.mark.parametrize("function", [one_hot, decode])
@pytest.mark.parametrize("array", [np.arange(3), OnDevice(FLAT, 1), OnDevice(FLAT, 3)])
def test_arrays_on_the_cpu_belong_to_the_core(function, array):
    with pytest.raises(TypeError, match=r"must be a torch.Tensor.*onehot_fast.one_hot"):
        function(array)

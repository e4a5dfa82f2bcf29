"""Small calls of the torch functions, which skip the checks of arguments that they do not need."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from onehot_fast.integrations.torch import function, one_hot  # noqa: E402
from onehot_fast.integrations.torch._fastpath import MAX_LABELS, one_hot_small  # noqa: E402
from onehot_fast.integrations.torch.function import INTEGERS, VALUES  # noqa: E402
from support.tensors import labels_and_options, outcome, stored  # noqa: E402

pytestmark = pytest.mark.filterwarnings(
    "ignore:ComplexHalf:UserWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"
)
LABELS = torch.tensor([[0, 2], [1, 255]])
CALL = {
    "num_classes": 3,
    "dtype": None,
    "axis": -1,
    "ignore_index": 255,
    "negative_indices": "error",
    "out_of_range": "error",
    "label_smoothing": 0.0,
    "out": None,
}


@given(case=labels_and_options(), dtype=st.sampled_from(VALUES), is_out=st.booleans())
def test_small_calls_give_what_other_calls_give(case, dtype, is_out):
    """The fast path equals the general path bit for bit, into memory of any strides."""
    tensor, depth, options = case
    call = CALL | options | {"num_classes": depth, "dtype": dtype}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(function, "one_hot_small", lambda *arguments: None)
        expected = outcome(lambda: one_hot(tensor, **call))
    if is_out and not isinstance(expected, str):
        call["out"] = torch.full((*expected.shape, 2), 3).to(dtype)[..., 0]

    got = one_hot_small(tensor, **call)

    if isinstance(expected, str):
        assert got is None
    elif got is not None:
        assert call["out"] is None or got is call["out"]
        assert (got.dtype, got.shape) == (dtype, expected.shape)
        assert stored(got) == stored(expected)


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("policy", ["error", "ignore"])
def test_common_calls_are_small_calls(dtype, policy):
    """The fast path accepts common calls, which take three times as long without it."""
    call = CALL | {"axis": 1, "negative_indices": policy, "out_of_range": policy}
    for labels in INTEGERS:
        tensor = LABELS.to(labels)
        call["ignore_index"] = -1 if labels == torch.int8 else 255
        for out in (None, torch.empty(2, 3, 2, dtype=dtype)):
            got = one_hot_small(tensor, **call | {"dtype": dtype, "out": out})
            assert got.shape == (2, 3, 2)


OTHER_CALLS = [
    {"num_classes": -1},
    {"num_classes": True},
    {"num_classes": None},
    {"num_classes": 2**70},
    {"num_classes": 0},
    {"num_classes": 2},
    {"axis": 3},
    {"axis": -4},
    {"axis": None},
    {"ignore_index": 2},
    {"ignore_index": None},
    {"ignore_index": [255]},
    {"ignore_index": np.int64(255)},
    {"negative_indices": "normalize"},
    {"negative_indices": "ignore"},
    {"negative_indices": "normalize", "out_of_range": "normalize"},
    {"negative_indices": np.array(["error", "error"])},
    {"out_of_range": np.array(["error", "error"])},
    {"label_smoothing": 0.1},
    {"label_smoothing": 0},
    {"label_smoothing": float("nan")},
    {"dtype": [torch.float32]},
    {"dtype": "float32"},
    {"dtype": np.array([1, 2])},
    {"dtype": torch.qint8},
    {"out": torch.empty(2, 2, 4)},
    {"out": torch.empty(2, 2, 3), "dtype": torch.float64},
    {"out": torch.empty(2, 2, 3), "dtype": np.array([1, 2])},
    {"out": torch.empty(2, 2, 3, requires_grad=True)},
    {"out": torch.empty(2, 2, 3, device="meta")},
    {"out": torch.empty(2, 2, 3).to_sparse()},
    {"out": torch.nn.Parameter(torch.empty(2, 2, 3), requires_grad=False)},
    {"out": torch.conj(torch.empty(2, 2, 3, dtype=torch.complex64))},
    {"out": torch._neg_view(torch.empty(2, 2, 3))},
    {"out": np.empty((2, 2, 3), np.float32)},
]


@pytest.mark.parametrize("options", OTHER_CALLS, ids=range(len(OTHER_CALLS)))
def test_other_options_are_left_to_the_checks(options):
    """The fast path returns None for each other option, also an invalid one of any type."""
    assert one_hot_small(LABELS, **CALL | options) is None


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_other_tensors_are_left_to_the_checks():
    others = [
        LABELS.to(torch.float32),
        LABELS.to(torch.bool),
        LABELS.to("meta"),
        LABELS.to_sparse(),
        LABELS.to(torch.complex64).conj(),
        torch._neg_view(LABELS),
        torch.nested.nested_tensor([LABELS[0], LABELS[1, :1]]),
        torch.nn.Parameter(LABELS, requires_grad=False),
        torch.empty(0, dtype=torch.int64),
        torch.zeros(MAX_LABELS + 1, dtype=torch.int64),
        LABELS.numpy(),
        LABELS.tolist(),
        None,
    ]

    assert [one_hot_small(other, **CALL) for other in others] == [None] * len(others)


def test_tensors_of_inference_mode_are_left_to_the_checks():
    """The fast path leaves tensors of inference mode alone: torch does not count their changes."""
    with torch.inference_mode():
        out = torch.empty(2, 2, 3)
        assert one_hot_small(LABELS, **CALL | {"out": out}) is None
        assert one_hot_small(LABELS, **CALL) is not None

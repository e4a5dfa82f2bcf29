"""Torch tensors whose elements are listed, on the CPU by kernels and elsewhere by operations."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

torch = pytest.importorskip("torch")

import onehot_fast  # noqa: E402
from onehot_fast import UnknownValueError  # noqa: E402
from onehot_fast.integrations.torch import decode, function, one_hot  # noqa: E402
from onehot_fast.integrations.torch.function import ELEMENTS  # noqa: E402

PALETTE = [(0, 0, 0), (255, 0, 0), (0, 255, 0)]
POOL = [0, 1, 2, 3, 7, 100, -1, -100, 0.5, math.nan]


def tensor_of(numbers, dtype):
    """Return the numbers that a dtype can hold as a tensor."""
    kept = []
    for number in numbers:
        if dtype.is_floating_point or (number == number and float(number).is_integer()):
            limits = (
                (0, 1)
                if dtype == torch.bool
                else (
                    (-448, 448)
                    if dtype.is_floating_point
                    else (torch.iinfo(dtype).min, torch.iinfo(dtype).max)
                )
            )
            if not limits[0] <= number <= limits[1] and number == number:
                continue
            kept.append(number)
    return torch.tensor(kept, dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("dtype", ELEMENTS, ids=str)
@given(data=st.data())
def test_kernels_and_operations_equal_the_core(dtype, data):
    """Kernels and operations equal the core for every dtype, form of categories, and with NaN."""
    pool = tensor_of(POOL, dtype)
    numbers = pool[data.draw(st.lists(st.integers(0, len(pool) - 1), max_size=20))]
    known = pool[data.draw(st.lists(st.integers(0, len(pool) - 1), unique=True))]
    ignored = pool[data.draw(st.lists(st.integers(0, len(pool) - 1), max_size=2))].tolist()
    form = data.draw(st.sampled_from([lambda t: t, lambda t: t.tolist()]))
    options = {"handle_unknown": "ignore", "axis": data.draw(st.integers(-2, 1))}
    if ignored:
        options["ignore_index"] = ignored
    wide = numbers.to(torch.float64) if dtype.is_floating_point else numbers
    expected = onehot_fast.one_hot(wide.numpy(), categories=known.tolist(), **options)
    np.testing.assert_array_equal(one_hot(numbers, categories=form(known), **options), expected)
    on_device = function._categories_like(form(known), numbers)[0]
    left_out = function._ignored_like(ignored, numbers, 0) if ignored else None
    labels = function.labels_of_elements(numbers, on_device, left_out, strict=False)
    found = one_hot(
        labels, len(known), negative_indices="ignore", out_of_range="ignore", axis=options["axis"]
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64, torch.float32])
def test_colors(dtype):
    image = torch.tensor([[PALETTE[1], PALETTE[0]], [PALETTE[2], PALETTE[1]]], dtype=dtype)
    for palette in (PALETTE, torch.tensor(PALETTE, dtype=dtype), np.array(PALETTE)):
        found = one_hot(image, categories=palette, axis=0, dtype=torch.uint8)
        assert found.argmax(0).tolist() == [[1, 0], [2, 1]]
        assert torch.equal(decode(found, 0, categories=palette).to(dtype), image)
    planes = image.movedim(-1, 0)
    assert one_hot(planes.movedim(0, -1), categories=PALETTE).shape == (2, 2, 3)
    with pytest.raises(UnknownValueError, match="indices"):
        one_hot(image, categories=PALETTE[:2])
    left_out = one_hot(image, categories=PALETTE[:2], ignore_index=PALETTE[2])
    assert left_out.sum(-1).tolist() == [[1, 1], [0, 1]]


def test_graphs_use_operations():
    """A compiled function gets plain operations, and an unknown element fails an assertion."""
    categories = torch.tensor([7, 8, 11])

    @torch.compile(backend="eager", fullgraph=True)
    def encode(tensor, known):
        return one_hot(tensor, categories=known, axis=1)

    ids = torch.tensor([[7, 11], [8, 7]])
    assert torch.equal(encode(ids, categories), one_hot(ids, categories=categories, axis=1))
    with pytest.raises(RuntimeError, match="not one of the categories"):
        encode(ids + 1, categories)
    repeated = torch.tensor([7, 8, 7, 11])  # the first one wins
    assert encode(ids, repeated).argmax(1).tolist() == [[0, 3], [1, 0]]


def test_options():
    ids = torch.tensor([7, 11])
    with pytest.raises(UnknownValueError, match=r"indices\[1\].*got 11"):
        one_hot(ids, categories=[7, 8])
    assert one_hot(ids, categories=[7, 8], handle_unknown="ignore").tolist() == [[1, 0], [0, 0]]
    out = torch.empty(2, 2, dtype=torch.bfloat16)
    assert one_hot(ids, categories=[7, 11], out=out) is out
    assert out.tolist() == [[1, 0], [0, 1]]
    smoothed = one_hot(ids, categories=[7, 11], label_smoothing=0.1)
    assert torch.equal(smoothed, one_hot(torch.tensor([0, 1]), 2, label_smoothing=0.1))
    for options, message in (
        ({"num_classes": 2, "categories": [7, 11]}, "num_classes and categories"),
        ({"categories": [7, 11], "out_of_range": "ignore"}, "handle_unknown"),
        ({"handle_unknown": "error"}, "needs categories"),
        ({"categories": "ab"}, "list"),
    ):
        with pytest.raises(TypeError, match=message):
            one_hot(ids, **options)
    with pytest.raises(ValueError, match="must differ"):
        one_hot(ids, categories=[7, 7.0])


def test_decode():
    planes = torch.tensor([[0, 1], [0, 0]])
    with pytest.raises(ValueError, match="no element"):
        decode(planes, categories=[7, 8])
    assert decode(planes, categories=[7, 8], default=-1).tolist() == [8, -1]
    small = torch.tensor([7, 8], dtype=torch.uint8)
    decoded = decode(planes, categories=small, default=255)
    assert (decoded.dtype, decoded.tolist()) == (torch.uint8, [8, 255])
    with pytest.raises(ValueError, match="default must fit"):
        decode(planes, categories=small, default=256)
    scores = torch.tensor([[0.2, 0.8], [0.6, 0.4]])
    assert decode(scores, categories=[0.1, 0.2], rule="argmax").tolist() == [0.2, 0.1]
    with pytest.raises(ValueError, match="2 positions on axis 1"):
        decode(planes.new_zeros(2, 3), categories=[7, 8])
    with pytest.raises(TypeError, match="numbers"):
        decode(planes, categories=["a", "b"])


IGNORED = [
    ([7, 8], [None], [7.0, math.nan]),
    ([7, 8], None, [7.0, 8.0]),
    ([7, 8], torch.tensor(9.0), [7.0, 9.0]),
    ([7, 8], [9, None], [math.nan, 9.0]),
    ([(7, 8)], [None], [[7, 8], [7, math.nan], [math.nan, math.nan]]),
    ([(7, 8)], [(9, 9), None], [[7, 8], [9, 9], [math.nan, 8]]),
    ([(7, 8)], (9, 9), [[7, 8], [9, 9]]),
    ([(7, 8)], torch.tensor([9.0, 9.0]), [[7.0, 8.0], [9.0, 9.0]]),
]


@pytest.mark.parametrize(("categories", "ignored", "elements"), IGNORED, ids=str)
def test_missing_elements_are_left_out(categories, ignored, elements):
    """None in `ignore_index` is every NaN, and for colours every pixel with NaN, in graphs too."""
    tensor = torch.tensor(elements)
    expected = onehot_fast.one_hot(
        tensor.numpy(), categories=categories, ignore_index=ignored, handle_unknown="error"
    )

    def encode(tensor):
        return one_hot(tensor, categories=categories, ignore_index=ignored)

    np.testing.assert_array_equal(encode(tensor), expected)
    torch._dynamo.reset()  # numbers that differ from those of an earlier graph become symbols
    compiled = torch.compile(encode, backend="eager", fullgraph=True)
    np.testing.assert_array_equal(compiled(tensor), expected)


@pytest.mark.parametrize("dtype", ELEMENTS, ids=str)
def test_operations_read_categories_of_every_form(dtype):
    """Whole floats, colours of a frame and an empty palette mean the same as for kernels."""
    pandas = pytest.importorskip("pandas")
    tensor = torch.tensor([[0, 1], [1, 1]]).to(dtype)
    for categories in ([1.0, 0.5, 0], [True, 7, math.inf], np.array([1, 0], "i1")):
        _assert_composed(tensor, categories)
    for palette in (pandas.DataFrame([(1, 1), (0, 1)]), np.zeros((0, 2)), [(1.0, 1), (0.5, 0)]):
        _assert_composed(tensor, palette)


def _assert_composed(tensor, categories):
    """Assert that the operations of other devices give the positions that kernels find."""
    found, n_classes, places = function._categories_like(categories, tensor)
    labels = function.labels_of_elements(tensor, found, None, strict=False)
    if places is not None:
        labels = torch.where(labels < 0, labels, places[labels.clamp(min=0)])
    expected = one_hot(tensor, categories=categories, handle_unknown="ignore")
    assert expected.shape == (*labels.shape, n_classes)
    ignore = {"negative_indices": "ignore", "out_of_range": "ignore"}
    assert torch.equal(one_hot(labels, n_classes, **ignore), expected)


DECODED = [
    ([True, False], torch.bool),
    ([7, 8], torch.int64),
    ([7, 2**63], torch.uint64),
    ([7, 0.5], torch.float64),
    (np.array([7, 8], "i1"), torch.int8),
    (np.array([7, 8], "f4"), torch.float32),
    ([(7, 8), (9, 10)], torch.int64),
    ([(7, 2**63), (9, 10)], torch.uint64),
]


@pytest.mark.parametrize(("categories", "dtype"), DECODED, ids=str)
def test_decode_gives_lists_a_dtype(categories, dtype):
    decoded = decode(torch.eye(2), categories=categories)
    assert decoded.dtype == dtype
    assert decoded.tolist() == [
        list(each) if isinstance(each, tuple) else each for each in categories
    ]


@pytest.mark.parametrize(
    "categories", [[-1, 2**63 + 1], [0.5, 2**53 + 1], ["a", "b"], [7, None]], ids=str
)
def test_decode_needs_one_dtype(categories):
    with pytest.raises(TypeError, match="one dtype"):
        decode(torch.eye(2), categories=categories)


def test_graphs_decode_to_lists():
    @torch.compile(backend="eager", fullgraph=True)
    def run(planes):
        return decode(planes, categories=[7, 11])

    assert run(torch.eye(2)).tolist() == [7, 11]


@pytest.mark.parametrize(
    "categories", [[7.0, None], (8, 7), [0.1, 2**70, 7], [(7,), (8,)]], ids=str
)
def test_graphs_read_lists(categories):
    """Categories in a list become constants of the graph, also those that the dtype lacks."""
    tensor = torch.tensor([[7.0], [8.0], [math.nan]])

    def encode(tensor):
        return one_hot(tensor, categories=categories, handle_unknown="ignore")

    torch._dynamo.reset()  # numbers that differ from those of an earlier graph become symbols
    compiled = torch.compile(encode, backend="eager", fullgraph=True)
    assert torch.equal(compiled(tensor), encode(tensor))


def test_names_the_channels_of_a_tensor():
    """The error says `movedim`, for kernels and for operations of other devices."""
    planes = torch.zeros(2, 3, 4, 5)
    palette = torch.tensor(PALETTE, dtype=planes.dtype)
    for device in ("cpu", "meta"):
        with pytest.raises(ValueError, match=r"pass tensor\.movedim\(1, -1\)"):
            one_hot(planes.to(device), categories=palette.to(device))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_fractions_of_labels_are_announced(dtype):
    labels = torch.tensor([1.5, 2.0], dtype=dtype)
    with pytest.warns(FutureWarning, match="1.5 is truncated to 1"):
        found = one_hot(labels, 3)
    assert found.argmax(-1).tolist() == [1, 2]
    assert one_hot(labels.trunc(), 3).argmax(-1).tolist() == [1, 2]
    assert one_hot(labels, 3, out_of_range="ignore").argmax(-1).tolist() == [1, 2]
    assert one_hot(labels, 3, ignore_index=1).tolist() == [[0, 0, 0], [0, 0, 1]]  # no warning


def test_the_loss_of_the_documentation_equals_that_of_torch():
    """The three lines of the documentation equal torch's cross entropy with an ignored label."""
    torch.manual_seed(0)
    labels, scores = torch.randint(0, 21, (2, 8, 8)), torch.randn(2, 21, 8, 8)
    labels[:, :3] = 255
    target = one_hot(labels, 21, axis=1, ignore_index=255)
    loss = -(target * scores.log_softmax(1)).sum(1)
    loss = loss[labels != 255].mean()
    wanted = torch.nn.functional.cross_entropy(scores, labels, ignore_index=255)
    torch.testing.assert_close(loss, wanted)

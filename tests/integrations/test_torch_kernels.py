"""The Triton kernels of the torch functions, run on the CPU by the interpreter of Triton.

The interpreter must be chosen before triton is imported, so these tests need their own process:
``TRITON_INTERPRET=1 pytest tests/integrations/test_torch_kernels.py``.
"""

import importlib.util
import os

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from support.strategies import examples

torch = pytest.importorskip("torch")
if importlib.util.find_spec("triton") is None:
    pytest.skip("needs triton, which has wheels for Linux", allow_module_level=True)
if os.environ.get("TRITON_INTERPRET") != "1":
    pytest.skip("needs TRITON_INTERPRET=1 and a process of its own", allow_module_level=True)

from onehot_fast.integrations.torch import _launch, decode, one_hot  # noqa: E402
from onehot_fast.integrations.torch.function import INDICES, SMOOTHED, VALUES  # noqa: E402
from support.tensors import labels_and_options, operator_policies, outcome, stored  # noqa: E402

# The interpreters of some versions of triton convert arrays of one element to scalars.
pytestmark = pytest.mark.filterwarnings(
    "ignore:ComplexHalf:UserWarning", "ignore:Conversion of an array:DeprecationWarning"
)
LABELS = [dtype for dtype in INDICES if not dtype.is_floating_point]
NAN = float("nan")


@pytest.fixture(autouse=True)
def device(monkeypatch):
    """Let tensors of the CPU in, and forget the flags that a rejected label leaves."""
    monkeypatch.setattr(_launch, "DEVICES", {"cpu"})
    monkeypatch.setattr(_launch, "_flags", {})


def filled(shape, dtype, is_scattered):
    """Return an output that holds no 0 or 1, in memory of any strides."""
    if is_scattered:
        return torch.full((*shape, 2), 3).to(dtype)[..., 0]
    return torch.full(shape, 3).to(dtype)


def launch(tensor, depth, policies, out, way=None):
    """Encode by the kernel of a way, or by the one for the shape."""
    _launch._flags.clear()
    chosen = _launch.choose_way
    try:
        if way is not None:
            _launch.choose_way = lambda *shape: way
        _launch.encode_into(tensor, depth, *policies, out)
    finally:
        _launch.choose_way = chosen


def ways(depth, axis, rank, dtype):
    """Return the kernels that can write a shape."""
    if dtype == torch.complex128:
        return ["scatter"]
    found = ["scatter", "planes"]
    if axis == rank:
        found += ["fill_and_scatter"]
        if depth * dtype.itemsize <= _launch.EXPANDED_BYTES:
            found += ["expand"]
    return found


# The CPU announces that fractions become errors.
@pytest.mark.filterwarnings("ignore:a label of .* is truncated:FutureWarning")
@examples(0.5)
@given(case=labels_and_options(), dtype=st.sampled_from(VALUES), data=st.data())
def test_every_kernel_equals_the_kernel_of_the_cpu(case, dtype, data):
    """Triton's kernels equal the CPU's bit for bit, and reject the same labels."""
    tensor, depth, options = case
    smoothing = data.draw(st.sampled_from([0.0, 0.1])) if dtype in SMOOTHED else 0.0
    expected = outcome(
        lambda: one_hot(tensor, depth, dtype=dtype, label_smoothing=smoothing, **options)
    )
    policies = operator_policies(tensor, options, smoothing)
    way = data.draw(st.sampled_from(ways(depth, policies[0], tensor.ndim, dtype)))
    shape = [*tensor.shape[: policies[0]], depth, *tensor.shape[policies[0] :]]
    got = filled(shape, dtype, data.draw(st.booleans()))
    if isinstance(expected, str):
        with pytest.raises(RuntimeError, match=r"a label is not in \[0, num_classes\)"):
            launch(tensor, depth, policies, got, way)
        return

    launch(tensor, depth, policies, got, way)

    assert stored(got) == stored(expected)


# The shapes of the benchmark, with fewer labels: each has a kernel of its own.
SHAPES = [
    ((1000,), 10, -1, torch.float32, "expand"),
    ((1000,), 1, -1, torch.float64, "expand"),
    ((700,), 32, -1, torch.int32, "expand"),
    ((100,), 16, -1, torch.complex64, "expand"),
    ((3000,), 3, -1, torch.uint8, "fill_and_scatter"),
    ((300,), 64, -1, torch.bfloat16, "fill_and_scatter"),
    ((1025,), 600, -1, torch.bfloat16, "fill_and_scatter"),
    ((20,), 1000, -1, torch.bfloat16, "scatter"),
    ((9,), 50257, -1, torch.bfloat16, "scatter"),
    ((300,), 7, -1, torch.complex128, "scatter"),
    ((2, 40, 50), 21, 1, torch.bfloat16, "planes"),
    ((3, 33, 41), 19, 1, torch.uint8, "planes"),
    ((50, 7), 4, 1, torch.float32, "scatter"),
]


@pytest.mark.parametrize(
    ("shape", "depth", "axis", "dtype", "way", "labels"),
    [(*shape, LABELS[i % len(LABELS)]) for i, shape in enumerate(SHAPES)],
)
def test_shapes_of_several_tiles_are_encoded(shape, depth, axis, dtype, way, labels):
    """Each label is read as it is stored, and the last tile ends at the last row."""
    limit = min(depth, torch.iinfo(labels).max + 1)
    tensor = torch.randint(0, limit, shape, generator=torch.Generator().manual_seed(depth))
    tensor = tensor.to(labels)
    expected = one_hot(tensor, depth, axis=axis, dtype=dtype)
    axis = axis % (len(shape) + 1)
    inner = 1 if axis == len(shape) else expected[0, 0].numel()
    size = min(dtype.itemsize, 8)
    assert _launch.choose_way(tensor.numel(), depth, inner, size, dtype.itemsize // size) == way
    memory = filled([expected.numel() + 64], dtype, is_scattered=False)
    got = memory[32:-32].view(expected.shape)

    launch(tensor, depth, (axis, [], "error", "error", 0.0), got)

    assert stored(got) == stored(expected)
    canary = filled([32], dtype, is_scattered=False)
    assert stored(memory[:32]) == stored(memory[-32:]) == stored(canary)


@pytest.mark.parametrize("position", [0, 517, 999])
@pytest.mark.parametrize(("shape", "depth", "axis", "dtype", "way"), SHAPES[:1] + SHAPES[4:6])
def test_an_invalid_label_of_any_tile_is_found(shape, depth, axis, dtype, way, position):
    tensor = torch.zeros(shape, dtype=torch.int64)
    tensor[position % len(tensor)] = depth
    out = torch.empty((*shape, depth), dtype=dtype)

    with pytest.raises(RuntimeError, match=r"a label is not in \[0, num_classes\)"):
        launch(tensor, depth, (1, [], "error", "error", 0.0), out)
    launch(tensor, depth, (1, [depth], "error", "error", 0.0), out)
    launch(tensor, depth, (1, [], "error", "ignore", 0.0), out)


def test_outputs_of_other_memory_orders_are_written_in_place():
    """A channels_last output is written in place, as one with the classes last."""
    tensor = torch.randint(0, 5, (2, 6, 7))
    expected = one_hot(tensor, 5, axis=1)
    got = torch.empty(2, 5, 6, 7, memory_format=torch.channels_last)

    launch(tensor, 5, (1, [], "error", "error", 0.0), got)

    assert torch.equal(got, expected)
    assert torch.equal(_launch.decode(got, 1, 1, -1, "error"), tensor)
    turned = torch.empty(7, 2, 5, 6).permute(1, 2, 3, 0)
    launch(tensor, 5, (1, [], "error", "error", 0.0), turned)
    assert torch.equal(turned, expected)
    assert torch.equal(_launch.decode(turned, 1, 1, -1, "error"), tensor)


@st.composite
def encoded(draw):
    """Return rows of few distinct elements, and the rules to decode them."""
    dtype = draw(st.sampled_from(VALUES))
    shape = draw(st.lists(st.integers(0, 5), min_size=1, max_size=3))
    size = torch.Size(shape).numel()
    pool = [0, 0, 0, 1]
    if dtype.is_floating_point or dtype.is_complex:
        pool += draw(st.sampled_from([[], [-0.0], [NAN, -NAN], [2]]))
    else:
        pool += draw(st.sampled_from([[], [1], [0]]))
    values = draw(st.lists(st.sampled_from(pool), min_size=size, max_size=size))
    tensor = torch.tensor(values, dtype=torch.float64).reshape(shape).to(dtype)
    if dtype.is_complex and draw(st.booleans()) and tensor.numel():
        torch.view_as_real(tensor)[..., 1].view(-1)[-1] = draw(st.sampled_from([0.0, -0.0, NAN, 1]))
    if draw(st.booleans()):
        tensor = tensor.transpose(0, -1)
    if draw(st.booleans()):
        tensor = torch.stack([tensor, tensor], -1)[..., 1]
    special = [-0.0, NAN] if dtype.is_floating_point or dtype.is_complex else [0]
    on_value = draw(st.sampled_from([1, 1, 0, *special]))
    axis = draw(st.integers(0, tensor.ndim - 1))
    return (
        tensor, axis, on_value, draw(st.sampled_from([-1, 7, None])),
        draw(st.sampled_from(["error", "first"])),
    )  # fmt: skip


@given(case=encoded(), smallest_plane=st.sampled_from([0, 128]))
@example(case=(torch.tensor([[0.0, -0.0], [NAN, -NAN]]), 1, 1, 5, "error"), smallest_plane=0)
@example(case=(torch.tensor([[0.0, NAN], [0, 1]]), 0, 1, 5, "error"), smallest_plane=0)
@example(case=(torch.tensor([[0j, -0j], [0, 1]]), 1, 1, 5, "error"), smallest_plane=0)
def test_every_kernel_decodes_like_the_kernel_of_the_cpu(case, smallest_plane):
    """Rows without a hot element get the default if their elements are equal, as values."""
    tensor, axis, on_value, default, multiple = case
    rules = {"default": "error" if default is None else default, "multiple": multiple}
    expected = outcome(lambda: decode(tensor, axis, on_value=on_value, **rules))
    _launch._flags.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_launch, "MIN_DECODED_PLANE", smallest_plane)
        if isinstance(expected, str):
            with pytest.raises(RuntimeError, match="decode: a row has"):
                _launch.decode(tensor, axis, on_value, default, multiple)
            return
        got = _launch.decode(tensor, axis, on_value, default, multiple)

    assert torch.equal(got, expected)
    assert got.is_contiguous()


DECODED = [(1, 1100), (3, 1100), (16, 300), (64, 130), (600, 9)]


@pytest.mark.parametrize(("depth", "n_rows"), DECODED)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.bfloat16, torch.complex64])
def test_rows_of_several_tiles_are_decoded(dtype, depth, n_rows, axis):
    """An invalid row is found in the first, a middle and the last tile of any width."""
    labels = torch.randint(-1, depth, (n_rows,), generator=torch.Generator().manual_seed(depth))
    encoded = one_hot(labels, depth, axis=axis, negative_indices="ignore", dtype=dtype)
    rows = encoded.movedim(axis, -1)

    assert torch.equal(_launch.decode(encoded, axis, 1, -1, "error"), labels)
    for row in (0, n_rows - 1):
        kept = rows[row].clone()
        if depth > 1:
            rows[row, :] = torch.ones((), dtype=dtype)
            with pytest.raises(RuntimeError, match="more than one element"):
                _launch.decode(encoded, axis, 1, -1, "error")
            _launch._flags.clear()
            assert _launch.decode(encoded, axis, 1, -1, "first")[row] == 0
            if dtype != torch.bool:
                rows[row, :] = torch.zeros((), dtype=dtype)
                rows[row, -1] = torch.tensor(3).to(dtype)
                with pytest.raises(RuntimeError, match="no element equal"):
                    _launch.decode(encoded, axis, 1, -1, "error")
                _launch._flags.clear()
        rows[row] = kept


def test_a_call_with_first_does_not_reject_a_later_one():
    """`multiple="first"` allows rows of several ones, and leaves the flag of other calls alone."""
    twice = torch.ones(2, 2)
    assert _launch.decode(twice, 1, 1, -1, "first").tolist() == [0, 0]
    assert _launch.decode(torch.eye(2), 1, 1, -1, "error").tolist() == [0, 1]


@examples(0.3)
@given(
    shape=st.tuples(st.integers(1, 3), st.integers(1, 40)),
    depth=st.integers(1, 70),
    size=st.sampled_from([torch.uint8, torch.float16, torch.float32, torch.float64]),
    tile=st.sampled_from([1024, 8192]),
    plane=st.sampled_from([64, 4096]),
)
def test_tiles_of_any_size_are_encoded(shape, depth, size, tile, plane):
    """Rows and planes may end within a tile, at its end and after it."""
    tensor = torch.arange(shape[0] * shape[1]).reshape(shape) * 7 % depth
    kept = _launch.TILE_BYTES, _launch.PLANE_TILE_BYTES
    _launch.TILE_BYTES, _launch.PLANE_TILE_BYTES = max(tile, depth * size.itemsize * 16), plane
    try:
        for axis in (1, 2):
            got = torch.full((*shape[:axis], depth, *shape[axis:]), 3).to(size)
            launch(tensor, depth, (axis, [], "error", "error", 0.0), got)
            assert torch.equal(got, one_hot(tensor, depth, axis=axis, dtype=size))
    finally:
        _launch.TILE_BYTES, _launch.PLANE_TILE_BYTES = kept

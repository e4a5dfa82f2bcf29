"""One-hot tensors of torch: kernels, composition of torch operations, graphs and devices."""

from math import nan

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import onehot_fast

torch = pytest.importorskip("torch")

from onehot_fast.integrations.torch import (  # noqa: E402
    _composition,
    _operators,
    decode,
    multi_hot,
    one_hot,
)
from onehot_fast.integrations.torch._operators import ALLOCATING, DECODING, FILLING  # noqa: E402
from onehot_fast.integrations.torch.function import SMOOTHED, VALUES  # noqa: E402
from support.programs import HANG  # noqa: E402
from support.tensors import (  # noqa: E402
    FRACTION,
    array_for_core,
    labels_and_options,
    operator_policies,
    outcome,
    stored,
)

# torch warns that complex32 is experimental, and its compiler of its own deprecations.
pytestmark = pytest.mark.filterwarnings(
    "ignore:ComplexHalf:UserWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"
)


can_pad = pytest.mark.skipif(
    not hasattr(torch.library, "triton_op"), reason="torch 2.5 cannot pad jagged tensors"
)


@example(case=FRACTION, dtype=torch.bool, is_out=False)
@given(case=labels_and_options(), dtype=st.sampled_from(VALUES), is_out=st.booleans())
def test_tensors_are_encoded_like_arrays(case, dtype, is_out):
    """The results equal those of arrays for all dtypes, strides and policies; so do the errors."""
    tensor, depth, options = case
    array = array_for_core(tensor, options)
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
    assert ((encoded.to(torch.complex64) == 1) | (encoded.to(torch.complex64) == 0)).all()


@given(
    case=labels_and_options(),
    dtype=st.sampled_from(VALUES),
    smoothing=st.sampled_from([0.0, 0.1]),
    is_traced=st.booleans(),
)
def test_the_composition_equals_the_kernel(case, dtype, smoothing, is_traced):
    """Both forms of the composition equal the kernel bit for bit, and reject the same labels."""
    tensor, depth, options = case
    smoothing = smoothing if dtype in SMOOTHED else 0.0
    expected = outcome(
        lambda: one_hot(tensor, depth, dtype=dtype, label_smoothing=smoothing, **options)
    )
    policies = operator_policies(tensor, options, smoothing)
    if isinstance(expected, str):
        with pytest.raises(RuntimeError, match=r"a label is not in \[0, num_classes\)"):
            _composition.encode(tensor, depth, dtype, *policies)
        return
    if is_traced:
        got = _composition.encode(tensor, depth, dtype, *policies)
    else:
        got = torch.empty((*expected.shape, 2), dtype=dtype)[..., 0]
        _composition.encode_into(tensor, depth, *policies, got)

    assert got.dtype == dtype
    assert got.shape == expected.shape
    assert stored(got) == stored(expected)


@given(
    values=st.lists(st.sampled_from([0, 0, 0, 1, 2, -0.0, nan]), min_size=12, max_size=12),
    dtype=st.sampled_from(VALUES),
    axis=st.integers(0, 2),
    on_value=st.sampled_from([1, 0]),
    default=st.sampled_from([-1, 7, "error"]),
    multiple=st.sampled_from(["error", "first"]),
)
def test_tensors_are_decoded_like_arrays(values, dtype, axis, on_value, default, multiple):
    """The kernel and the composition of torch operations decode as the core does."""
    tensor = torch.tensor(values).nan_to_num(nan if dtype.is_floating_point else 0)
    tensor = tensor.reshape(3, 2, 2).to(dtype).transpose(0, 1)
    array = tensor.to(torch.complex64).numpy().real
    options = {"on_value": on_value, "multiple": multiple}
    expected = outcome(lambda: onehot_fast.decode(array, axis, default=default, **options))
    rules = axis, on_value, None if default == "error" else default, multiple
    if isinstance(expected, str):
        with pytest.raises(ValueError, match="element"):
            decode(tensor, axis, default=default, **options)
        with pytest.raises(RuntimeError, match="decode: a row has"):
            _composition.decode(tensor, *rules)
        return

    np.testing.assert_array_equal(decode(tensor, axis, default=default, **options), expected)
    np.testing.assert_array_equal(_composition.decode(tensor, *rules), expected)


DTYPES = sorted({each for each in vars(torch).values() if isinstance(each, torch.dtype)}, key=str)
OFTEN_CONFUSED = [
    0.0,
    -0.0,
    0,
    False,
    1,
    True,
    nan,
    float(np.uint64(0x7FF8_0000_0000_0123).view(float)),
]


@pytest.mark.filterwarnings("ignore:Casting complex values:UserWarning")
def test_every_dtype_of_torch_that_holds_zero_and_one_is_encoded():
    """The function encodes each dtype in torch's own list."""
    for dtype in DTYPES:
        try:
            kept = torch.tensor([0.0, 1.0]).to(dtype).to(torch.float32).tolist()
        except (RuntimeError, TypeError, NotImplementedError):
            kept = []
        assert (dtype in VALUES) == (kept == [0, 1]), dtype


def patterns(dtype):
    """Return a tensor of all elements of one and two bytes; of wider ones, those of all kinds."""
    if dtype == torch.bool:
        return torch.tensor([False, True])
    size = dtype.itemsize
    if dtype == torch.complex32:
        return torch.view_as_complex(patterns(torch.float16)[:, None].repeat(1, 2))
    if size > 2 and (dtype.is_floating_point or dtype.is_complex):
        values = [0.0, -0.0, 0.9, 0.1, 1.0, -1.0, nan, -nan, float("inf"), -float("inf"), 1e-40]
        return torch.tensor(values).to(dtype)
    bits = np.arange(256 ** min(size, 2))
    return torch.from_numpy(bits.astype(f"u{size}").view(np.uint8)).view(dtype)


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("on_value", [*OFTEN_CONFUSED, -nan, 0.9, 0.1, 3])
def test_the_cpu_finds_the_same_elements_as_other_devices(dtype, on_value):
    """The composition finds the kernel's elements for each dtype and each kind of `on_value`."""
    if not (dtype.is_floating_point or dtype.is_complex):
        is_whole = on_value == on_value and on_value == int(on_value)
        if not is_whole or (dtype == torch.bool and on_value > 1):
            with pytest.raises(ValueError, match="on_value must be representable"):
                decode(torch.zeros(1, 1, dtype=dtype), on_value=on_value)
            return
    element = _composition.scalar(on_value, dtype)
    elements = torch.cat([patterns(dtype), element[None]])
    rows = elements[:, None].expand(-1, 2)

    expected = _composition.decode(rows, 1, on_value, -1, "first")
    assert torch.equal(decode(rows, on_value=on_value, multiple="first"), expected)
    assert expected[-1] == 0


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.float16])
def test_the_value_of_a_hot_element_is_rounded_to_the_dtype(dtype):
    """`decode` finds 0.9 in a dtype that holds only a number near it."""
    tensor = torch.tensor([[0.1, 0.9], [0.9, 0.1]]).to(dtype)

    assert decode(tensor, on_value=0.9).tolist() == [1, 0]
    assert decode(tensor, on_value=0.1).tolist() == [0, 1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float8_e5m2])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_a_result_does_not_depend_on_earlier_calls(dtype, is_reversed):
    """No call takes a value for another one that is equal to it or has the same hash."""
    values = OFTEN_CONFUSED[::-1] if is_reversed else OFTEN_CONFUSED
    encoded = stored(one_hot(torch.tensor([0, 1]), 2, dtype=dtype))
    for value in values:
        element = _composition.scalar(value, dtype)
        rows = torch.stack([element, torch.tensor(3.0).to(dtype)])[None]
        other = torch.tensor([[3.0, 3.0]]).to(dtype)

        assert decode(rows, on_value=value).tolist() == [0]
        assert decode(other, on_value=value).tolist() == [-1]
        assert stored(one_hot(torch.tensor([0, 1]), 2, dtype=dtype)) == encoded
    twins = torch.tensor([[0.0, -0.0]]).to(dtype)
    assert decode(twins, on_value=-0.0).tolist() == [1]
    assert decode(twins, on_value=0.0).tolist() == [0]
    assert encoded == stored(torch.tensor([[1.0, 0.0], [0.0, 1.0]]).to(dtype))


def test_smoothing_keeps_nothing():
    """A smoothing that changes in every step must not fill the memory."""
    labels = torch.tensor([0, 1])
    _operators.one_and_zero.cache_clear()
    for step in range(50):
        one_hot(labels, 3, label_smoothing=step / 100)
        decode(torch.tensor([[float(step), -1.0]]), on_value=step)

    assert _operators.one_and_zero.cache_info().currsize == 1  # those of float32
    assert stored(one_hot(labels, 2, label_smoothing=-0.0)) == stored(one_hot(labels, 2))


@pytest.mark.parametrize("dtype", [dtype for dtype in VALUES if not dtype.is_complex])
def test_the_largest_element_is_the_class(dtype):
    """`decode` takes the largest score of every real dtype; NaN counts as the largest."""
    scores = torch.tensor([[0, 1, 1], [1, 0, 0]]).to(dtype)

    assert decode(scores, rule="argmax").tolist() == [1, 0]
    assert decode(scores, axis=0, rule="argmax").tolist() == [1, 0, 0]
    nan = torch.tensor([[3.0, float("nan"), 5.0]])
    assert decode(nan, rule="argmax").tolist() == [1]
    large = torch.tensor([[2**63 - 1, 2**63 + 5, 1]], dtype=torch.uint64)
    assert decode(large, rule="argmax").tolist() == [1]


def test_rows_without_classes_are_decoded():
    empty = torch.empty(2, 0)

    assert decode(empty, default=4).tolist() == [4, 4]
    assert _composition.decode(empty, 1, 1, 4, "error").tolist() == [4, 4]


def test_defaults_are_those_of_torch():
    """Invalid labels are errors, and -1 or nothing means one class more than the largest label."""
    labels = torch.tensor([[0, 3], [2, 0]])
    expected = torch.nn.functional.one_hot(labels)

    assert torch.equal(one_hot(labels, dtype=torch.int64), expected)
    assert torch.equal(one_hot(labels, -1), one_hot(labels, None))
    assert one_hot(labels).data_ptr() % 64 == 0  # the memory that the kernel filled
    for invalid in (21, -1):
        with pytest.raises(ValueError, match=rf"indices\[0\] must be in \[0, 21\), got {invalid}"):
            one_hot(torch.tensor([invalid]), 21)


@example(case=FRACTION)
@given(case=labels_and_options())
def test_the_number_of_classes_is_inferred_like_depth(case):
    """The depth is that of arrays; only `negative_indices="normalize"` needs a number."""
    tensor, _, options = case
    if options["negative_indices"] == "normalize":
        with pytest.raises(ValueError, match="num_classes must be given"):
            one_hot(tensor, None, **options)
        return
    array = array_for_core(tensor, options)
    expected = outcome(lambda: onehot_fast.one_hot(array, None, **options))
    got = outcome(lambda: one_hot(tensor, None, **options))
    if isinstance(expected, str):
        # An unsigned label above int64 is named here, and there the depth that it makes.
        assert isinstance(got, str) or "depth must be in [0, 2**63)" in expected
    else:
        np.testing.assert_array_equal(got, expected)


def test_labels_are_smoothed():
    labels = torch.tensor([0, 255, 1])
    got = one_hot(labels, 2, label_smoothing=0.1, ignore_index=255, dtype=torch.float64)
    expected = onehot_fast.one_hot(labels.numpy(), 2, label_smoothing=0.1, dtype=float)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("name", ["float4_e2m1fn_x2", "float8_e8m0fnu", "bits8", "quint8"])
def test_dtypes_without_zero_and_one_are_rejected(name):
    if not hasattr(torch, name):
        pytest.skip(f"this torch has no {name}")
    with pytest.raises(TypeError, match=rf"dtype must be a Boolean.* got torch\.{name}"):
        one_hot(torch.arange(3), 3, dtype=getattr(torch, name))


INVALID = [
    ((np.arange(3), 3), {}, TypeError, r"tensor must be a torch.Tensor, got an ndarray"),
    ((torch.tensor([True]), 3), {}, TypeError, r"tensor must have an integer dtype.* torch.bool"),
    ((torch.arange(3), -2), {}, ValueError, r"must be in \[0, 2\*\*63\), got -2; -1"),
    ((torch.tensor([]).long(),), {}, ValueError, r"shape \(0,\) is empty"),
    ((torch.tensor([255]),), {"ignore_index": 255}, ValueError, r"all its labels are ignored"),
    ((torch.arange(3), 2**63), {}, ValueError, r"must be in \[0, 2\*\*63\), got 92"),
    ((torch.arange(3), 3.0), {}, TypeError, r"num_classes must be an int, got 3.0"),
    ((torch.arange(3), 3), {"axis": "1"}, TypeError, r"axis must be an int, got '1'"),
    ((torch.arange(3), 3), {"ignore_index": [1.5]}, TypeError, r"ignore_index must be an int"),
    ((torch.arange(3), 3), {"dtype": "int8"}, TypeError, r"torch.dtype such as .* got 'int8'"),
    ((torch.eye(3).to_sparse(), 3), {}, ValueError, r"strided, got torch.sparse_coo: .*to_dense"),
    ((torch.arange(3), 3), {"axis": 2}, ValueError, r"axis must be in \[-2, 2\), got 2"),
    ((torch.arange(3), 3), {"out": torch.empty(3)}, ValueError, r"out must have shape \(3, 3\)"),
    ((torch.arange(3), 3), {"out": torch.empty(3, 3), "dtype": torch.uint8}, ValueError,
     r"must be the same, got torch.uint8 and torch.float32"),
    ((torch.arange(3), 3), {"label_smoothing": 1}, ValueError, r"must be in \[0, 1\), got 1"),
    ((torch.arange(3), 3), {"label_smoothing": "s"}, TypeError, r"must be a float, got 's'"),
    ((torch.arange(3), 3), {"label_smoothing": 0.1, "dtype": torch.int8}, TypeError, r"must be fl"),
]  # fmt: skip


INVALID_ENCODED = [
    (torch.tensor(1), {}, ValueError, "at least one dimension"),
    (torch.empty(2, 0), {"rule": "argmax"}, ValueError, "at least one class"),
    (torch.eye(2), {"axis": 2}, ValueError, r"axis must be in \[-2, 2\), got 2"),
    (torch.eye(2), {"on_value": "1"}, TypeError, "on_value must be an int or a float"),
    (torch.eye(2).bool(), {"on_value": 2}, ValueError, "representable as torch.bool, got 2"),
    (torch.eye(2), {"on_value": 10**400}, ValueError, "on_value must be representable as torch.fl"),
    (torch.eye(2).bfloat16(), {"on_value": 1e39}, ValueError, "largest value is 3.38"),
    (
        torch.eye(2).half(),
        {"on_value": -65520},
        ValueError,
        r"largest value is 65504.0, got -65520",
    ),
    (torch.eye(2), {"default": 2**63}, ValueError, r"default must be in \[-2\*\*63, 2\*\*63\)"),
    (torch.eye(2), {"default": "first"}, ValueError, "got 'first'"),
    (torch.eye(2), {"rule": "argmax", "default": 3}, TypeError, "do not apply"),
    (torch.eye(2, dtype=torch.complex64), {"rule": "argmax"}, TypeError, "must be real"),
]


@pytest.mark.parametrize(
    ("call", "arguments", "options", "error", "message"),
    [(one_hot, *case) for case in INVALID]
    + [(decode, (tensor,), *case) for tensor, *case in INVALID_ENCODED],
)
def test_invalid_arguments_raise_errors(call, arguments, options, error, message):
    with pytest.raises(error, match=message):
        call(*arguments, **options)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
@pytest.mark.parametrize("layout", [torch.strided, pytest.param(torch.jagged, marks=can_pad)])
def test_nested_tensors_are_rejected_with_the_way_to_pad_them(layout):
    nested = torch.nested.nested_tensor([torch.arange(2), torch.arange(3)], layout=layout)

    for call in (one_hot, decode):
        with pytest.raises(ValueError, match=r"not be nested: pass tensor.to_padded_tensor\(-1\)"):
            call(nested)
    padded = nested.to_padded_tensor(-1)
    assert one_hot(padded, 3, ignore_index=-1).sum(-1).tolist() == [[1, 1, 0], [1, 1, 1]]


def test_whole_numbers_of_any_type_are_accepted():
    labels = torch.arange(3)
    got = one_hot(labels, labels.max() + 1, axis=np.int64(1), ignore_index=np.int64(2))

    assert torch.equal(got, one_hot(labels, 3, ignore_index=(2,)))


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_torch_accepts_the_operators(dtype, device):
    """Torch's own check accepts the schemas, the fake kernels and traces with unknown shapes."""
    labels = torch.tensor([[0, 2], [1, 255]], dtype=torch.uint8, device=device)
    policies = 1, [255], "ignore", "ignore", 0.0
    out = torch.zeros(2, 3, 2, dtype=dtype, device=device)

    torch.library.opcheck(ALLOCATING, (labels, 3, dtype, *policies))
    torch.library.opcheck(FILLING, (labels, 3, *policies, out))
    torch.library.opcheck(DECODING, (out, 1, 1, -1, "error"))


def test_batches_of_vmap_are_encoded_at_once():
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


@pytest.mark.filterwarnings("ignore:.*non-contiguous:UserWarning")
def test_batches_of_vmap_are_checked():
    """Each batch must pass the assertion, also where torch has no rule for batches."""
    labels, ends = torch.tensor([[0, 2], [1, 1]]), torch.tensor([[0, 2], [1, 2]])

    def several(labels, offsets, depth=3):
        return multi_hot(labels, depth, offsets=offsets)

    expected = torch.stack([several(*each) for each in zip(labels, ends, strict=True)])
    assert torch.equal(torch.vmap(several)(labels, ends), expected)
    categories = [2, 1, 0]
    found = torch.vmap(lambda labels: one_hot(labels, categories=categories))(labels)
    assert torch.equal(found, one_hot(labels, categories=categories))
    with pytest.raises(RuntimeError, match="multi_hot: a label is not below num_classes"):
        torch.vmap(lambda labels, offsets: several(labels, offsets, 2))(labels, ends)
    with pytest.raises(RuntimeError, match="one_hot: an element is not one of the categories"):
        torch.vmap(lambda labels: one_hot(labels, categories=[1, 0]))(labels)


class Loss(torch.nn.Module):
    """A model with labels in it."""

    def forward(self, scores, labels):
        hot = one_hot(labels, scores.shape[1], axis=1, ignore_index=255)
        return (torch.relu(scores) * hot).sum(1)


def test_a_compiled_model_is_one_graph():
    scores, labels = torch.randn(2, 5, 3), torch.tensor([[0, 4, 255], [1, 2, 3]])
    model = Loss()
    expected = model(scores, labels)

    for dynamic in (False, True):
        compiled = torch.compile(model, fullgraph=True, dynamic=dynamic, backend="aot_eager")
        torch.testing.assert_close(compiled(scores, labels), expected)
    with pytest.raises(ValueError, match=r"indices\[0, 1\] must be in \[0, 5\), got 5"):
        compiled(scores, labels + 1)


def operators_of(function, *arguments):
    """Return the operators in the graph of a compiled function."""
    targets = []

    def backend(graph, inputs):
        targets.extend(str(node.target) for node in graph.graph.nodes)
        return graph.forward

    torch._dynamo.reset()
    torch.compile(function, fullgraph=True, backend=backend)(*arguments)
    return targets


@pytest.mark.parametrize("dynamic", [False, True])
def test_the_composition_compiles_without_custom_operators(dynamic):
    labels = torch.tensor([[0, 4, 255], [1, 2, 3]])

    def encode(labels):
        policies = 1, [255], "error", "error", 0.1
        return _composition.encode(labels, 5, torch.bfloat16, *policies)

    compiled = torch.compile(encode, fullgraph=True, dynamic=dynamic, backend="aot_eager")
    options = {"ignore_index": 255, "label_smoothing": 0.1, "dtype": torch.bfloat16}
    assert torch.equal(compiled(labels), one_hot(labels, 5, axis=1, **options))
    with pytest.raises(RuntimeError, match="a label is not in"):
        compiled(labels - 1)


def test_only_graphs_for_the_cpu_contain_custom_operators():
    """Graphs for other devices, here the meta device, consist of torch's own operations."""
    labels = torch.tensor([0, 2, 1])

    def round_trip(labels):
        return decode(one_hot(labels, 3, out=one_hot(labels, 3)))

    assert any("onehot_fast" in name for name in operators_of(round_trip, labels))
    elsewhere = operators_of(round_trip, labels.to("meta"))
    assert any("_assert_async" in name for name in elsewhere)
    assert not any("onehot_fast" in name for name in elsewhere)


def test_tensors_of_other_devices_stay_there():
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
def test_a_gpu_encodes_like_the_cpu(is_compiled):
    labels = torch.randint(0, 21, (2, 64, 64))
    labels[0, :3] = 255
    call = torch.compile(one_hot, fullgraph=True) if is_compiled else one_hot
    for dtype in (torch.float32, torch.bfloat16, torch.uint8):
        expected = one_hot(labels, 21, axis=1, ignore_index=255, dtype=dtype)
        got = call(labels.cuda(), 21, axis=1, ignore_index=255, dtype=dtype)
        assert torch.equal(got.cpu(), expected)
        assert torch.equal(decode(got, 1).cpu(), decode(expected, 1))


def test_results_have_no_gradient():
    scores = torch.randn(2, 5, 3, requires_grad=True)
    Loss()(scores, torch.zeros(2, 3, dtype=torch.int64)).sum().backward()
    assert (scores.grad[:, 1:] == 0).all()

    labels = torch.tensor([0.0, 1.0], requires_grad=True)
    assert not one_hot(labels, 2).requires_grad
    assert not decode(one_hot(labels, 2)).requires_grad
    with pytest.raises(ValueError, match=r"out\.detach\(\)"):
        one_hot(labels, 2, out=torch.empty(2, 2, requires_grad=True))


class Masks(torch.utils.data.Dataset):
    """Label masks that workers encode."""

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return one_hot(torch.full((64, 64), index), 8, axis=0, dtype=torch.uint8)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # threads and fork
def test_workers_encode():
    """Workers encode after a fork from a process that has used threads."""
    one_hot(torch.zeros(1 << 22, dtype=torch.int64), 8)
    loader = torch.utils.data.DataLoader(Masks(), batch_size=4, num_workers=2, timeout=HANG)

    batches = torch.cat(list(loader))

    assert batches.shape == (8, 8, 64, 64)
    assert torch.equal(batches.argmax(1)[:, 0, 0], torch.arange(8))


def test_an_exported_graph_needs_the_number_of_classes():
    class Inferred(torch.nn.Module):
        def forward(self, labels):
            return one_hot(labels)

    with pytest.raises(Exception, match=r"must be given under torch\.export"):
        torch.export.export(Inferred(), (torch.arange(3),), strict=False)

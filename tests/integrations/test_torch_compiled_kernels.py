"""The Triton kernels of the torch functions, compiled for GPUs on a machine without one."""

import importlib.util
import os
import re

import pytest

torch = pytest.importorskip("torch")
if importlib.util.find_spec("triton") is None:
    pytest.skip("needs triton, which has wheels for Linux", allow_module_level=True)
if os.environ.get("TRITON_INTERPRET") == "1":
    pytest.skip("needs the compiler of triton: unset TRITON_INTERPRET", allow_module_level=True)

import triton  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

from onehot_fast.integrations.torch import _kernels, _launch  # noqa: E402
from onehot_fast.integrations.torch.function import INDICES, VALUES  # noqa: E402

pytestmark = pytest.mark.filterwarnings(
    "ignore:ComplexHalf:UserWarning", "ignore:TRITON_DEFAULT:UserWarning"
)
POINTERS = {torch.int8: "*i8", torch.int16: "*i16", torch.int32: "*i32", torch.int64: "*i64"}
LABELS = [dtype for dtype in INDICES if not dtype.is_floating_point]
DEPTHS = (1, 2, 3, 4, 10, 16, 17, 21, 32, 33, 64, 100, 128, 256, 1000, 4096, 50257)


# An eager program compiles the variants that it needs, each in up to some seconds. Nobody needs
# all, and the limit of about 100 leaves room for a few more shapes or dtypes. A new argument of
# kernels that is compiled into them multiplies their number, which this limit finds.
MAX_VARIANTS = 100


class Recorder:
    """Takes the place of the module of the kernels, and records what is launched."""

    def __init__(self):
        self.launched = set()
        self.labels = None

    def __getattr__(self, name):
        return Launcher(self, name)


class Launcher:
    def __init__(self, recorder, name):
        self.recorder, self.name = recorder, name

    def __getitem__(self, grid):
        def launch(num_warps, **arguments):
            self.recorder.labels = arguments.get("labels")
            parameters = {each.name: each for each in getattr(_kernels, self.name).params}
            assert set(arguments) == set(parameters)
            kinds = []
            for name in parameters:
                value = arguments[name]
                if parameters[name].is_constexpr:
                    kinds.append((name, value))
                elif isinstance(value, torch.Tensor):
                    kinds.append((name, POINTERS[value.dtype]))
                else:
                    assert isinstance(value, int), name
                    assert parameters[name].do_not_specialize, name
                    bits = int(parameters[name].annotation_type[1:])
                    assert -(2 ** (bits - 1)) <= value < 2 ** (bits - 1), name
            self.recorder.launched.add((self.name, num_warps, tuple(kinds)))

        return launch


@pytest.fixture(scope="module")
def recorder():
    """Return the recorder that all launches of this module meet."""
    recorder = Recorder()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_launch, "find_kernels", lambda device: recorder)
        patch.setattr(_launch, "_flags", {})
        patch.setattr(torch, "_assert_async", lambda *arguments: None)
        yield recorder


@pytest.fixture(scope="module")
def variants(recorder):
    """Return all that the functions can launch, for labels and elements of all dtypes."""
    for depth in DEPTHS:
        for shape, axis in [((4096,), 1), ((2**20,), 1), ((2, 4096), 1), ((2, 4097), 1)]:
            launch_all(depth, shape, axis)
    return set(recorder.launched)


def launch_all(depth, shape, axis):
    """Encode and decode tensors without memory."""
    shape_of_out = (*shape[:axis], depth, *shape[axis:])
    for dtype in VALUES:
        out = torch.empty(shape_of_out, dtype=dtype, device="meta")
        _launch.decode(out, axis, 1, -1, "error")
        for labels_dtype in LABELS:
            labels = torch.empty(shape, dtype=labels_dtype, device="meta")
            for policy in ("error", "ignore"):
                _launch.encode_into(labels, depth, axis, [], policy, policy, 0.0, out)


def test_the_number_of_variants_is_small(variants):
    count = {}
    for name, *_ in variants:
        count[name] = count.get(name, 0) + 1

    assert set(count) == {
        "expand", "fill_and_scatter", "planes", "scatter", "decode_rows", "decode_planes",
    }  # fmt: skip
    assert sum(count.values()) <= MAX_VARIANTS, count


@pytest.mark.parametrize("labels_dtype", LABELS)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.bfloat16, torch.float32, torch.complex128])
@pytest.mark.parametrize("depth", [1, 10, 100, 1000, 50257])
def test_labels_of_every_width_are_read_as_they_are_stored(recorder, labels_dtype, dtype, depth):
    """The call launches one kernel, which reads the labels as they are stored."""
    for shape, axis in [((30,), 1), ((30, 16), 1), ((3, 4097), 1), ((2, 4096), 1), ((), 0)]:
        labels = torch.zeros(shape, dtype=labels_dtype)
        out = torch.empty((*shape[:axis], depth, *shape[axis:]), dtype=dtype, device="meta")
        _launch.encode_into(labels, depth, axis, [], "error", "error", 0.0, out)
        assert recorder.labels.data_ptr() == labels.data_ptr()
        assert recorder.labels.nbytes == labels.nbytes


@pytest.mark.parametrize("capability", [80, 90])
def test_kernels_compile_for_a_gpu(variants, capability):
    """Kernels for int64 labels, which almost all callers use, and all that decode compile.

    Whole tiles are stored 16 bytes at a time where the alignment is known. The loop over the
    classes of planes stores only: threads do not exchange labels or elements in it.
    """
    chosen = sorted(
        each for each in variants if ("labels", "*i64") in each[2] or each[0].startswith("decode")
    )
    # The rest differ in the width of a pointer only.
    for name, num_warps, kinds in chosen[capability % 3 :: 3]:
        ptx = compiled(name, num_warps, dict(kinds), capability)
        is_aligned = dict(kinds).get("IS_ALIGNED", name in ("expand", "fill_and_scatter"))
        if name in ("expand", "fill_and_scatter", "planes") and is_aligned:
            assert "st.global.v" in ptx or "st.global.L1" in ptx, (name, kinds)
        if name == "planes":
            body = loop_of(ptx)
            assert "st.global" in body
            assert "bar.sync" not in body, kinds
            assert "ld." not in body, kinds


def loop_of(ptx):
    """Return the code between the first label to which a later line jumps back, and that line."""
    return re.search(r"^(\$L__\w+):(.*)bra\S* \t\1;", ptx, re.DOTALL | re.MULTILINE)[2]


def compiled(name, num_warps, kinds, capability):
    """Return the code of a kernel whose pointers are aligned, as those of torch's allocator."""
    function = getattr(_kernels, name)
    constants = {each.name: kinds[each.name] for each in function.params if each.is_constexpr}
    signature = {
        each.name: "constexpr" if each.is_constexpr else kinds.get(each.name, each.annotation_type)
        for each in function.params
    }
    alignment = {
        (each.num,): [["tt.divisibility", 16]]
        for each in function.params
        if str(signature[each.name]).startswith("*")
    }
    source = ASTSource(function, signature, constants, alignment)
    target = GPUTarget("cuda", capability, 32)
    return triton.compile(source, target=target, options={"num_warps": num_warps}).asm["ptx"]

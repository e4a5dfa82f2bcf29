"""The Triton kernels of the torch functions, compiled for GPUs on a machine without one."""

import importlib.util
import os

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


class Recorder:
    """Takes the place of the module of the kernels, and records what is launched."""

    def __init__(self):
        self.launched = set()

    def __getattr__(self, name):
        return Launcher(self.launched, name)


class Launcher:
    def __init__(self, launched, name):
        self.launched, self.name = launched, name

    def __getitem__(self, grid):
        def launch(num_warps, **arguments):
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
            self.launched.add((self.name, num_warps, tuple(kinds)))

        return launch


@pytest.fixture(scope="module")
def variants():
    """Return all that the functions can launch, for labels and elements of all dtypes."""
    recorder = Recorder()
    patch = pytest.MonkeyPatch()
    patch.setattr(_launch, "DEVICES", {"meta"})
    patch.setattr(_launch, "find_kernels", lambda device: recorder)
    patch.setattr(_launch, "_flags", {})
    patch.setattr(torch, "_assert_async", lambda *arguments: None)
    try:
        for depth in DEPTHS:
            for shape, axis in [((4096,), 1), ((2**20,), 1), ((2, 4096), 1), ((2, 4097), 1)]:
                launch_all(depth, shape, axis)
    finally:
        patch.undo()
    return recorder.launched


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
    """Each takes up to a second to compile when a process first needs it."""
    count = {}
    for name, *_ in variants:
        count[name] = count.get(name, 0) + 1

    assert set(count) == {
        "expand", "fill_and_scatter", "planes", "scatter", "decode_rows", "decode_planes",
    }  # fmt: skip
    assert sum(count.values()) <= 102, count


@pytest.mark.parametrize("capability", [80, 90])
def test_kernels_compile_for_a_gpu(variants, capability):
    """Those for int64 labels, which almost all callers use, and every kernel that decodes.

    Whole tiles are stored 16 bytes at a time where the alignment is known.
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

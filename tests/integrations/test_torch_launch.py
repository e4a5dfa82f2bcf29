"""When the torch functions use Triton, and what they do where they cannot."""

import warnings

import pytest

torch = pytest.importorskip("torch")

from onehot_fast.integrations.torch import _launch, decode, one_hot  # noqa: E402
from support.programs import run, start  # noqa: E402

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
LABELS = torch.tensor([[0, 2, 1], [1, 255, 0]])
POLICIES = 1, [255], "error", "error", 0.0


@pytest.fixture
def kernels(monkeypatch):
    """Let tensors of the CPU in, and count the attempts to import the kernels, which fail."""
    attempts = []

    def import_module(name, package):
        attempts.append(name)
        raise RuntimeError("Failed to find C compiler.\nPlease specify via CC")

    monkeypatch.setattr(_launch, "DEVICES", {"cpu"})
    monkeypatch.setattr(_launch, "_found", {})
    monkeypatch.setattr(_launch.importlib, "import_module", import_module)
    return attempts


def test_plain_operations_take_over_where_triton_cannot_compile(kernels):
    """One warning says why; later calls do not try again."""
    expected = one_hot(LABELS, 3, axis=1, ignore_index=255)
    got = torch.full((2, 3, 3), 7.0)

    with pytest.warns(RuntimeWarning, match=r"cpu: RuntimeError: Failed to find C compiler\.$"):
        _launch.encode_into(LABELS, 3, *POLICIES, got)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = _launch.decode(got, 1, 1, -1, "error")

    assert torch.equal(got, expected)
    assert torch.equal(labels, decode(expected, 1))
    assert kernels == ["._kernels"]


def test_tensors_of_other_devices_do_not_load_the_kernels(monkeypatch, kernels):
    monkeypatch.setattr(_launch, "DEVICES", {"cuda"})
    got = torch.empty(2, 3, 3)

    _launch.encode_into(LABELS, 3, *POLICIES, got)

    assert torch.equal(got, one_hot(LABELS, 3, axis=1, ignore_index=255))
    assert kernels == []


def test_triton_is_not_imported_for_tensors_of_the_cpu():
    """A call on the CPU does not import triton; the import would fail here."""
    printed = run("""
        import pathlib, sys, tempfile

        folder = tempfile.mkdtemp()
        (pathlib.Path(folder) / "triton.py").write_text("raise SystemExit('triton was imported')")
        sys.path.insert(0, folder)
        from onehot_fast.integrations.torch import decode, multi_hot, one_hot
        import torch

        labels = torch.tensor([0, 2, 1])
        print(decode(one_hot(labels, 3)).tolist(), multi_hot(labels, 3, offsets=[0, 3]).tolist())
    """)

    assert printed == "[0, 2, 1] [[1.0, 1.0, 1.0]]"


RULES = [
    (torch.int64, ("error", "error"), range(10), []),
    (torch.int64, ("normalize", "error"), range(-10, 10), []),
    (torch.int64, ("normalize", "ignore"), "all", []),
    (torch.int64, ("ignore", "error"), [*range(-30, 10), -(2**63)], []),
    (torch.int64, ("error", "ignore"), [*range(31), 2**63 - 1], []),
    (torch.int64, ("ignore", "ignore"), "all", []),
    (torch.int64, ("error", "error"), [*range(10), 20], [20]),
    (torch.int64, ("error", "error"), [*range(10), -(2**63)], [-(2**63)]),
    (torch.uint8, ("error", "error"), range(10), []),
    (torch.uint64, ("normalize", "error"), range(10), []),
    (torch.uint64, ("ignore", "ignore"), "all", []),
]


@pytest.mark.parametrize(("dtype", "policies", "accepted", "ignored"), RULES)
def test_rules_accept_the_labels_of_the_policies(dtype, policies, accepted, ignored):
    """The rules accept the labels of the policies, computed with integers that wrap around."""
    rules = _launch.rules(dtype, 10, ignored, *policies)
    labels = [*range(-30, 31), 2**63 - 1, -(2**63)]

    def is_accepted(label):
        difference = (label - rules.low + 2**63) % 2**64 - 2**63
        return difference <= rules.span or label == rules.ignored

    expected = labels if accepted == "all" else [each for each in labels if each in accepted]
    assert [each for each in labels if is_accepted(each)] == expected
    assert rules.can_reject == (accepted != "all")
    assert all(-(2**63) <= each < 2**63 for each in rules)


@needs_gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.uint8, torch.complex128])
def test_a_gpu_is_not_waited_for(dtype):
    """A call never waits for the GPU, in a graph or on another stream either."""
    labels = LABELS.cuda()
    call = {"axis": 1, "ignore_index": 255, "dtype": dtype}
    out = one_hot(labels, 3, **call)  # compiles, and makes the flags
    decode(out, 1)
    torch.cuda.set_sync_debug_mode("error")
    try:
        one_hot(labels, 3, axis=1, ignore_index=255, out=out)
        decoded = decode(out, 1)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert torch.equal(decoded.cpu(), decode(one_hot(LABELS, 3, **call), 1))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = one_hot(labels, 3, **call)
    labels.copy_(LABELS.flip(1))
    graph.replay()
    assert torch.equal(captured.cpu(), one_hot(LABELS.flip(1), 3, **call))
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        there = one_hot(labels, 3, **call)
    stream.synchronize()
    assert torch.equal(there.cpu(), captured.cpu())


@needs_gpu
def test_a_gpu_rejects_labels_later():
    """A rejected label stops the GPU later: the process cannot use CUDA afterwards."""
    done = start("""
        import torch
        from onehot_fast.integrations.torch import one_hot

        one_hot(torch.tensor([0, 3]).cuda(), 3)
        try:
            torch.cuda.synchronize()
        except RuntimeError as error:
            print("assert" in str(error))
    """)

    assert done.stdout == "True\n"  # CUDA also writes to stderr

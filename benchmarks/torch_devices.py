"""Measure `one_hot` of torch tensors on a device: python -m benchmarks.torch_devices [cuda].

Each row is a workload and a way to encode it. Times are minima of interleaved rounds; "bandwidth"
is the time over that of writing the same bytes with `Tensor.fill_`, and "F.one_hot" the time of
`torch.nn.functional.one_hot` with a permutation and a cast over that of the row.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

ROUNDS = 15


def workloads(torch: Any, device: str) -> dict[str, tuple[Any, int, int, Any]]:
    """Return labels, number of classes, axis and dtype by name."""
    return {
        "1M labels, 10 classes": (
            torch.randint(0, 10, (1_000_000,), device=device), 10, -1, torch.float32,
        ),
        "masks 8 x 512 x 512, 21 classes, channels first": (
            torch.randint(0, 21, (8, 512, 512), device=device), 21, 1, torch.bfloat16,
        ),
    }  # fmt: skip


def ways(
    torch: Any, labels: Any, depth: int, axis: int, dtype: Any
) -> dict[str, Callable[[], Any]]:
    """Return the ways to encode, by name."""
    from onehot_fast.integrations.torch import one_hot

    functional = torch.nn.functional.one_hot
    classes = torch.arange(depth, device=labels.device)
    classes = classes.view(-1, *[1] * (labels.ndim - 1)) if axis == 1 else classes

    def ours() -> Any:
        return one_hot(labels, depth, axis=axis, dtype=dtype)

    def reference() -> Any:
        return functional(labels, depth).movedim(-1, axis).to(dtype).contiguous()

    def comparison() -> Any:
        return (labels.unsqueeze(axis) == classes).to(dtype)

    out = torch.empty_like(ours())
    return {
        "fill_": lambda: out.fill_(1),
        "one_hot": ours,
        "one_hot, out=": lambda: one_hot(labels, depth, axis=axis, out=out),
        "one_hot, compiled": torch.compile(ours, fullgraph=True),
        "F.one_hot": reference,
        "F.one_hot, compiled": torch.compile(reference, fullgraph=True),
        "comparison": comparison,
        "comparison, compiled": torch.compile(comparison, fullgraph=True),
    }


def seconds(call: Callable[[], Any], synchronize: Callable[[], None]) -> float:
    """Return the time of one call, until the device has finished."""
    synchronize()
    start = time.perf_counter()
    call()
    synchronize()
    return time.perf_counter() - start


def measure(device: str | None) -> None:
    """Print a table of each workload."""
    import torch  # asv imports every module of this folder

    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    accelerator = getattr(torch, torch.device(device).type)
    synchronize = accelerator.synchronize
    for name, workload in workloads(torch, device).items():
        calls = ways(torch, *workload)
        for call in calls.values():  # compile, and fill the caches of the allocators
            call(), call()
        times: dict[str, list[float]] = {way: [] for way in calls}
        for _ in range(ROUNDS):
            for way, call in calls.items():
                times[way].append(seconds(call, synchronize))
        best = {way: min(each) for way, each in times.items()}
        print(f"\n{name}\n{'':24}{'ms':>9}{'bandwidth':>11}{'F.one_hot':>11}")
        for way, taken in best.items():
            over, gain = taken / best["fill_"], best["F.one_hot"] / taken
            print(f"{way:24}{taken * 1e3:9.3f}{over:10.2f}x{gain:10.2f}x")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("device", nargs="?", help="a GPU by default, else the CPU")
    measure(parser.parse_args().device)

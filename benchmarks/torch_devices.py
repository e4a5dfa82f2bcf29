"""Check and measure the torch functions on a device: python -m benchmarks.torch_devices [cuda].

``--check`` compares them with the kernels of the CPU on random tensors. ``--table`` measures each
workload and each way to encode or decode it. Without either, both run; together they should take
at most four minutes on a GPU. Times are medians by the clock of the device, with cold caches.
"bound" is the time to fill the output and to read the labels at the same rate. The ratios are times
over this bound.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.kinds.labels import LabelWorkload
from benchmarks.workloads import DEVICES, LABELS

ROUNDS = 12
FLUSHED_BYTES = 256 << 20  # more than the cache of any GPU
CHECK_SECONDS = 60
# On the CPU, the workloads have this share of their labels: there the program is only tried out.
SHARE_ON_CPU = 1 / 1000
SMALL = LABELS["W6"]


class Clock:
    """The time of a call on a device whose caches hold other memory."""

    def __init__(self, torch: Any, device: str) -> None:
        self.torch, self.is_cuda = torch, device == "cuda"
        n_bytes = FLUSHED_BYTES if self.is_cuda else 1
        self.other = torch.empty(n_bytes, dtype=torch.uint8, device=device)

    def microseconds(self, call: Callable[[], Any]) -> float:
        """Return the median time of a call."""
        for _ in range(3):  # compile, and fill the caches of the allocators
            call()
        return statistics.median(self._once(call) for _ in range(ROUNDS))

    def _once(self, call: Callable[[], Any]) -> float:
        self.other.fill_(1)
        if not self.is_cuda:
            start = time.perf_counter()
            call()
            return (time.perf_counter() - start) * 1e6
        first, last = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        call()
        last.record()
        self.torch.cuda.synchronize()
        return float(first.elapsed_time(last)) * 1e3


def tensors(torch: Any, device: str, work: LabelWorkload, scale: float) -> tuple[Any, Any]:
    """Return random labels and an output."""
    labels = torch.from_numpy(work.draw(scale)).to(device)
    axis = work.axis % (labels.ndim + 1)
    shape = *labels.shape[:axis], work.depth, *labels.shape[axis:]
    return labels, torch.empty(shape, dtype=getattr(torch, work.dtype), device=device)


def ways(torch: Any, labels: Any, out: Any, work: LabelWorkload) -> dict[str, Callable[[], Any]]:
    """Return the ways to encode and to decode, by name."""
    from onehot_fast.integrations.torch import decode, one_hot

    depth, axis, dtype = work.depth, work.axis, out.dtype
    unchecked = {"negative_indices": "ignore", "out_of_range": "ignore"}
    positions = labels.to(torch.int64)

    # Each workload is a program of its own, and torch limits the number of recompilations.
    torch.compiler.reset()

    def plain(labels: Any) -> Any:
        return one_hot(labels, depth, axis=axis, dtype=dtype)

    compiled = torch.compile(plain, fullgraph=True, dynamic=False)
    encoded = plain(labels)
    place = axis % encoded.ndim
    return {
        "out=, no check": lambda: one_hot(labels, depth, axis=axis, out=out, **unchecked),
        "out=": lambda: one_hot(labels, depth, axis=axis, out=out),
        "one_hot": lambda: plain(labels),
        "compiled": lambda: compiled(labels),
        "F.one_hot": lambda: (
            torch.nn.functional.one_hot(positions, depth).movedim(-1, place).to(dtype).contiguous()
        ),
        "scatter_": lambda: torch.zeros_like(out).scatter_(place, positions.unsqueeze(place), 1),
        "decode": lambda: decode(encoded, axis),
        "argmax": lambda: encoded.argmax(axis),
    }


def print_table(torch: Any, device: str) -> None:
    """Print the times of all workloads, and the CPU's time of a small call."""
    clock = Clock(torch, device)
    for work in DEVICES.values():
        labels, out = tensors(torch, device, work, SHARE_ON_CPU if device == "cpu" else 1.0)
        fill = clock.microseconds(lambda out=out: out.fill_(1))
        n_bytes = out.numel() * out.element_size()
        bound = fill * (1 + labels.numel() * labels.element_size() / n_bytes)
        print(f"\n{work.name}: fill_ {fill:.0f} µs, bound {bound:.0f} µs", flush=True)
        for name, call in ways(torch, labels, out, work).items():
            try:
                taken = clock.microseconds(call)
            except torch.OutOfMemoryError:  # e.g. of F.one_hot, whose int64 elements take 8 GB
                print(f"    {name:16}     needs more memory", flush=True)
                torch.cuda.empty_cache()
                continue
            print(f"    {name:16}{taken:10.0f} µs{taken / bound:8.2f}x", flush=True)
        del labels, out
        if device == "cuda":
            torch.cuda.empty_cache()
    print(f"\n{SMALL.title}: time of the CPU")
    for name, taken in small_calls(torch, device).items():
        print(f"    {name:16}{taken:10.1f} µs")


def small_calls(torch: Any, device: str, n_calls: int = 1000) -> dict[str, float]:
    """Return the time in µs that the CPU takes for a small call, by name."""
    from onehot_fast.integrations.torch import one_hot

    labels, out = tensors(torch, device, SMALL, scale=1.0)
    depth = SMALL.depth
    calls: dict[str, Callable[[], Any]] = {
        "one_hot": lambda: one_hot(labels, depth),
        "out=": lambda: one_hot(labels, depth, out=out),
        "F.one_hot": lambda: torch.nn.functional.one_hot(labels, depth).to(torch.float32),
        "scatter_": lambda: torch.zeros_like(out).scatter_(1, labels.unsqueeze(1), 1),
    }
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(5):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(n_calls):
                call()
            best[name] = min(best[name], (time.perf_counter() - start) / n_calls * 1e6)
            if device == "cuda":
                torch.cuda.synchronize()
    return best


def cases(torch: Any, seed: int) -> Iterator[tuple[Any, int, dict[str, Any]]]:
    """Yield labels, a number of classes, and options that accept all labels."""
    from onehot_fast.integrations.torch.function import INDICES, SMOOTHED, VALUES

    choose = random.Random(seed)
    generator = torch.Generator().manual_seed(seed)
    while True:
        shape = [choose.choice((1, 2, 3, 17, 64, 1000)) for _ in range(choose.randint(0, 3))]
        depth = choose.choice((1, 2, 3, 10, 16, 21, 32, 33, 64, 100, 128, 1000, 9000))
        dtype, kind = choose.choice(VALUES), choose.choice(INDICES)
        size = torch.Size(shape).numel() * depth
        if size > 5_000_000:
            continue
        low = -2 * depth if kind.is_signed and choose.random() < 0.5 else 0
        labels = torch.randint(low, 2 * depth, shape, generator=generator).clamp(-100, 127)
        options = {
            "axis": choose.randint(0, len(shape)),
            "dtype": dtype,
            "ignore_index": choose.choice((None, 0, -1, [1, 255])),
            "negative_indices": choose.choice(("ignore", "normalize", "error")),
            "out_of_range": choose.choice(("ignore", "error")),
            "label_smoothing": choose.choice((0.0, 0.1)) if dtype in SMOOTHED else 0.0,
        }
        if options["out_of_range"] == "error":
            labels = labels.clamp(-depth if low else 0, depth - 1)
        if options["negative_indices"] == "error":
            labels = labels.clamp(0)
        labels = labels.to(kind)
        if choose.random() < 0.3 and labels.ndim > 1:
            labels = labels.transpose(0, -1)
        yield labels, depth, options


def check(torch: Any, device: str, seconds: float, seed: int) -> int:
    """Compare random calls with the kernels of the CPU; return the number of comparisons."""
    from onehot_fast.integrations.torch import decode, one_hot

    n_compared = 0
    end = time.monotonic() + seconds
    for labels, depth, options in cases(torch, seed):
        if time.monotonic() > end:
            return n_compared
        expected = one_hot(labels, depth, **options)
        there = labels.to(device)
        out = torch.empty_like(expected, device=device)
        encoded = one_hot(there, depth, **options)
        one_hot(there, depth, **options, out=out)
        for got in (encoded, out):
            _compare(torch, got, expected, (labels.shape, labels.dtype, depth, options))
        if not options["label_smoothing"]:
            axis = options["axis"]
            for multiple in ("error", "first"):
                want = decode(expected, axis, multiple=multiple)
                got = decode(encoded, axis, multiple=multiple)
                _compare(torch, got, want, (labels.shape, depth, options, multiple))
        n_compared += 4
    return n_compared


def _compare(torch: Any, got: Any, expected: Any, case: Any) -> None:
    """Raise an error unless two tensors have the same bits."""
    got = got.cpu()
    is_same = (got.shape, got.dtype) == (expected.shape, expected.dtype)
    if is_same and got.numel():
        both = (each.contiguous().flatten().view(torch.uint8) for each in (got, expected))
        is_same = torch.equal(*both)
    if not is_same:
        raise AssertionError(f"the device and the CPU differ for {case}")


def main() -> None:
    """Run what the options choose."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("device", nargs="?", help="a GPU by default, else the CPU")
    parser.add_argument("--check", action="store_true", help="compare with the kernels of the CPU")
    parser.add_argument("--table", action="store_true", help="measure")
    parser.add_argument("--seconds", type=float, default=CHECK_SECONDS, help="of the check")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    import torch  # asv imports every module of this folder

    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    name = torch.cuda.get_device_name() if device == "cuda" else device
    print(f"{name}, torch {torch.__version__}", flush=True)
    if options.check or not options.table:
        n_compared = check(torch, device, options.seconds, options.seed)
        print(f"{n_compared} comparisons with the kernels of the CPU (seed {options.seed}): equal")
    if options.table or not options.check:
        print_table(torch, device)


if __name__ == "__main__":
    main()

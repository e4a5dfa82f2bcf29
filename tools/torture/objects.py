"""Objects with hostile methods: their errors are raised unchanged, their changes are harmless."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from onehot_fast import Encoder, decode, infer_shape, multi_hot, one_hot


class BiteError(Exception):
    """What a biting object raises."""


ERRORS = (
    BiteError, ValueError, TypeError, RuntimeError, IndexError, OverflowError, MemoryError,
    AttributeError,
)  # fmt: skip


class Biter:
    """An object whose special methods sometimes raise, change the input, or return nonsense."""

    def __init__(self, draw: random.Random, victims: list[Any]) -> None:
        self.draw, self.victims = draw, victims
        self.number = draw.randrange(5)

    def bite(self, usual: Any) -> Any:
        """Return the usual value, raise an error, change the input, or return another value."""
        what = self.draw.random()
        if what < 0.8:
            return usual
        if what < 0.9:
            raise BiteError
        if what < 0.97:
            self.change()
            return usual
        return self.draw.choice([None, -1, 2**70, "x", 1.5, NotImplemented, [], b"", True])

    def change(self) -> None:
        """Change the memory and the length of the input."""
        for victim in self.victims:
            if isinstance(victim, list):
                victim[:] = self.draw.choice([[], [*victim, *[self] * 50], victim[::-1]])
            elif isinstance(victim, dict):
                victim[self.draw.randrange(99)] = self
            elif isinstance(victim, np.ndarray):
                victim[: self.draw.randrange(1, 9)] = 7

    def __eq__(self, other: object) -> Any:
        return self.bite(isinstance(other, Biter) and self.number == other.number)


USUAL: dict[str, Callable[..., Any]] = {
    "__hash__": lambda biter: biter.number,
    "__lt__": lambda biter, other: id(biter) < id(other),
    "__bool__": lambda biter: True,
    "__index__": lambda biter: biter.number,
    "__float__": lambda biter: float(biter.number),
    "__len__": lambda biter: 3,
    "__getitem__": lambda biter, key: biter.number,
    "__repr__": lambda biter: "Biter()",
    "__str__": lambda biter: "b",
    "__iter__": lambda biter: iter([biter.number, biter]),
}
for name, usual in USUAL.items():
    setattr(Biter, name, lambda self, *others, f=usual: self.bite(f(self, *others)))


class BitingText(str):
    """A text that is equal to itself at random."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return random.random() < 0.5

    def __hash__(self) -> int:
        return 1


class AsArray:
    """An object that converts itself to an array."""

    def __init__(self, biter: Biter, array: Any) -> None:
        self.biter, self.array = biter, array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.biter.bite(self.array)

    def __len__(self) -> int:
        return self.biter.bite(len(self.array))


def case(seed: int) -> Counter[str]:
    """Call everything with objects that bite."""
    draw = random.Random(seed)
    random.seed(seed)
    n = draw.choice([3, 40, 1500])
    array = np.arange(n) % 5
    objects = np.empty(n, object)
    rows: list[Any] = []
    table: dict[Any, Any] = {}
    victims: list[Any] = [array, objects, rows, table]
    biters = [Biter(draw, victims) for _ in range(4)]
    pool = [*biters, "a", "b", BitingText("a"), None, 1, 1.0, float("nan"), b"x", (1, biters[0])]
    share = draw.choice([0.01, 0.3, 1.0])
    chosen = [draw.choice(pool) if draw.random() < share else "a" for _ in range(n)]
    objects[:] = chosen
    rows += [draw.choice([[*chosen[:3]], biters[0], None, ["a"]]) for _ in range(min(n, 60))]
    table.update(c=objects, d=[*chosen])
    found: Counter[str] = Counter()
    for name, call in _calls(draw, array, objects, rows, table, biters):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                call()
            except ERRORS:
                found["rejected"] += 1
        found[name] += 1
    return found


def _calls(
    draw: random.Random, array: Any, objects: Any, rows: Any, table: Any, biters: Any
) -> list[tuple[str, Callable[[], Any]]]:
    """Return the calls, in any order."""
    one = biters[0]
    wrapped = AsArray(one, array)
    known = Encoder(["c"], handle_unknown="ignore").fit({"c": ["a", "b"]})
    dtype = draw.choice([object, "f4", "S3", one])
    biting = {"columns": [*biters], "prefix": one, "min_frequency": one}
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("one_hot", lambda: one_hot(wrapped, 5)),
        ("one_hot", lambda: one_hot(array, one, axis=one)),
        ("one_hot", lambda: one_hot(array, 5, on_value=one, off_value=biters[1], dtype=dtype)),
        ("one_hot", lambda: one_hot(array, 5, ignore_index=[one, *biters], dtype=dtype)),
        ("one_hot", lambda: one_hot([*objects[:9]], 5, num_threads=one)),
        ("decode", lambda: decode(np.array([[*biters], [*biters]], object), on_value=one)),
        ("decode", lambda: decode(wrapped, one)),
        ("infer_shape", lambda: infer_shape([one, one], one, one)),
        ("multi_hot", lambda: multi_hot(rows, categories=["a", one], output="csr")),
        ("multi_hot", lambda: multi_hot(rows, one)),
        ("multi_hot", lambda: multi_hot(array, 5, offsets=wrapped)),
        ("multi_hot", lambda: multi_hot(objects, sep=one, categories=["a"])),
        ("multi_hot", lambda: multi_hot(objects, sep="a", categories=biters)),
        ("fit", lambda: Encoder(["c", "d"]).fit_transform(table, "numpy")),
        ("fit", lambda: Encoder().fit(table).to_json()),
        ("fit", lambda: Encoder(["c"], categories={"c": [*biters]}, drop=one).fit(table)),
        ("fit", lambda: Encoder(**biting).fit({biter: ["a"] for biter in biters})),
        ("transform", lambda: known.transform(table, "csr")),
        ("transform", lambda: known.transform({"c": wrapped}, one)),
        ("inverse_transform", lambda: known.inverse_transform(wrapped)),
        ("check", lambda: known.check(table)),
    ]
    with suppress(ImportError):
        import pandas as pd

        import onehot_fast.integrations.pandas  # noqa: F401  the accessors

        calls += [
            ("pandas", lambda: Encoder(["c"]).fit_transform(pd.DataFrame({"c": objects}))),
            ("pandas", lambda: pd.Series(objects).onehot(prefix=one)),
        ]
    draw.shuffle(calls)
    return calls

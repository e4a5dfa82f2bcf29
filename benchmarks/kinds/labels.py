"""Labels that become a tensor, and the check of the result."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Work:
    """One concrete task: these indices, encoded along this axis, in this dtype."""

    name: str
    indices: Array
    depth: int
    axis: int
    dtype: np.dtype[Any]

    @cached_property
    def position(self) -> int:
        """The new axis, counted from the front of the result."""
        return self.axis % (self.indices.ndim + 1)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        shape = self.indices.shape
        return (*shape[: self.position], self.depth, *shape[self.position :])

    @cached_property
    def n_bytes(self) -> int:
        """The size of the result."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def is_rows(self) -> bool:
        """Whether the new axis is the last one."""
        return self.position == self.indices.ndim

    @cached_property
    def classes(self) -> Array:
        """The classes, in the dtype of the indices, shaped to be compared with them."""
        return along(np.arange(self.depth, dtype=self.indices.dtype), self.shape, self.position)


def along(vector: Array, shape: tuple[int, ...], axis: int) -> Array:
    """Return a view of a vector that broadcasts along one axis of a shape."""
    return vector.reshape([-1 if i == axis else 1 for i in range(len(shape))])


@dataclass(frozen=True)
class LabelWorkload:
    """The recipe of a task: labels of a shape, and the tensor that they become."""

    name: str
    shape: tuple[int, ...]
    depth: int
    dtype: str
    index_dtype: str = "int64"
    axis: int = -1

    @property
    def title(self) -> str:
        """The task in one line."""
        shape = " x ".join(f"{size:,}" for size in self.shape)
        return (
            f"{shape} {self.index_dtype} indices, {self.depth:,} classes, "
            f"{self.dtype}, axis {self.axis}"
        )

    def draw(self, scale: float = 1.0) -> Array:
        """Draw the same indices each time; `scale` multiplies their number."""
        factor = scale ** (1 / len(self.shape))
        shape = tuple(max(1, round(size * factor)) for size in self.shape)
        return np.random.default_rng(0).integers(0, self.depth, shape, self.index_dtype)

    def make(self, scale: float = 1.0) -> Work:
        """Return the task with its indices."""
        return Work(self.name, self.draw(scale), self.depth, self.axis, np.dtype(self.dtype))


# The new axis is the last one of a vector's result, or between the two axes of a batch.
LAYOUTS = {"rows": (1, -1), "planes": (8, 1)}


def of_size(name: str, layout: str, dtype: str, depth: int, n_bytes: int) -> LabelWorkload:
    """Return a workload whose output has this layout and this many bytes."""
    n_outer, axis = LAYOUTS[layout]
    n_indices = n_bytes // (depth * np.dtype(dtype).itemsize) // n_outer
    shape = (n_indices,) if layout == "rows" else (n_outer, n_indices)
    return LabelWorkload(name, shape, depth, dtype, axis=axis)


def check(result: Array, work: Work) -> None:
    """Raise AssertionError unless the result is the encoding, bit for bit.

    The element that each index names is 1, and no other element has a bit set: with as many
    non-zero elements as indices, all of which are in range, that is a proof.
    """
    if (result.shape, result.dtype) != (work.shape, work.dtype):
        raise AssertionError(f"{work.name}: {result.dtype}{result.shape} is wrong")
    lit = np.take_along_axis(result, np.expand_dims(work.indices, work.position), work.position)
    n_wrong = np.count_nonzero(lit != work.dtype.type(1))
    # As integers, because -0.0 would equal zero.
    n_set = np.count_nonzero(result.view(f"u{work.dtype.itemsize}"))
    if n_wrong or n_set != work.indices.size:
        raise AssertionError(
            f"{work.name}: {n_wrong} of {work.indices.size} ones are missing, {n_set} are set"
        )

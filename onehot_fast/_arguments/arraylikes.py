"""Read array-likes: containers of other libraries, and their scalars, as NumPy and Python objects.

Labels, categories and columns may be NumPy arrays, tensors (torch, jax, DLPack), objects with the
array or buffer protocol (``memoryview``, ``array.array``), Arrow arrays, Series, ranges, views of
dicts, and other sequences. `items_of` reads all of them. Their elements are Python objects or NumPy
scalars, which have a hash: a tensor or an Arrow scalar would never equal a category.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from onehot_fast._arguments.messages import with_article
from onehot_fast._runtime.registry import ARROW_METHODS, integration, reader_of

# The DLPack device types that the CPU can read: CPU memory and pinned memory of CUDA and ROCm.
_HOST_DEVICES = (1, 3, 11)
_ARRAY_PROTOCOLS = ("__array__", "__array_interface__", "__dlpack__", "__cuda_array_interface__")
# Containers whose items have no order, or are no labels.
_NO_SEQUENCES = (set, frozenset, dict)


def as_array(source: object, name: str = "indices") -> npt.NDArray[Any]:
    """Return `source` as a plain ndarray of any dtype, without a copy if possible."""
    if type(source) is np.ndarray:
        return source
    if isinstance(source, np.ma.MaskedArray):
        raise TypeError(
            f"{name} must not be a masked array: pass array.filled(value), and for indices also"
            " ignore_index=value"
        )
    if hasattr(source, "__dlpack_device__"):
        _check_device(source, name)
    if hasattr(source, "__dlpack__") and not hasattr(source, "__array__"):
        return np.from_dlpack(source)
    source = unwrapped(source)
    try:
        array = np.asarray(source)
    except (TypeError, ValueError) as error:
        raise _not_an_array(source, name, error) from error
    except Exception as error:
        if _is_tensor(source) and isinstance(error, RuntimeError):
            raise _not_an_array(source, name, error) from error
        # Libraries raise errors of their own for types that NumPy lacks, such as 128-bit integers.
        # An error of any other object, and a lack of memory, reaches the caller unchanged.
        if reader_of(source) is None or isinstance(error, MemoryError):
            raise
        if len(getattr(source, "shape", ())) == 2:
            columns = cast(Iterable[object], source)  # a frame iterates over its columns
            return np.stack([as_array(column, name) for column in columns], axis=1)
        return np.asarray(items_of(source, name))
    if array.size == 0 and isinstance(source, list | tuple | range):
        # NumPy converts an empty sequence to float64.
        return array.astype(np.int64) if array.dtype == np.float64 else array
    return array


def _is_tensor(source: object) -> bool:
    """Tell whether an object is a tensor of torch, without importing torch."""
    return hasattr(type(source), "is_nested") and hasattr(type(source), "requires_grad")


def _not_an_array(source: Any, name: str, error: Exception) -> Exception:
    """Return the error for an object that `numpy.asarray` rejects."""
    if isinstance(error, ValueError):  # nested sequences of different lengths
        return ValueError(
            f"{name} cannot be converted to an array: {error} (multi_hot accepts rows of any"
            " length)"
        )
    kind = f" of dtype {source.dtype}" if hasattr(source, "dtype") else ""  # bfloat16 of torch
    if _is_tensor(source) and source.is_nested:
        return TypeError(
            f"{name} must not be a nested tensor: pass the list tensor.unbind(), or"
            " torch.nested.to_padded_tensor(tensor, -1)"
        )
    return TypeError(f"{name}{kind} cannot become a NumPy array: {error}; {_remedy(source)}")


def _remedy(source: Any) -> str:
    """Return what to do with an object, often a tensor, that `numpy.asarray` rejects."""
    if _is_tensor(source):
        if str(source.layout) != "torch.strided":
            return "pass tensor.to_dense()"
        if source.requires_grad:
            return "pass tensor.detach()"
        if source.is_neg() or source.is_conj():
            return "pass tensor.resolve_neg().resolve_conj()"
    return "convert it to a dtype that NumPy has, e.g. tensor.float()"


def _check_device(source: Any, name: str) -> None:
    """Raise an error for an array that is not in CPU memory."""
    try:
        kind, number = source.__dlpack_device__()
    except TypeError:
        # pyarrow 18 names no device for types that DLPack lacks, which `__array__` converts.
        if hasattr(source, "__array__"):
            return
        raise
    except ValueError:  # a device of torch that DLPack lacks, such as "meta"
        kind, number = 0, 0
    if kind not in _HOST_DEVICES:
        device = getattr(source, "device", f"DLPack device {int(kind), int(number)}")
        raise ValueError(
            f"{name} must be in the memory of the CPU, got {with_article(source)} on {device}: copy"
            " it with tensor.cpu(), cupy.asnumpy(array) or jax.device_get(array), or use"
            " onehot_fast.integrations.torch, which encodes tensors on their device"
        )


def shape_of(source: Any) -> tuple[Any, ...]:
    """Return the shape of an array-like, or () for an object that has none."""
    try:
        return tuple(getattr(source, "shape", ()))
    except RuntimeError:  # of a nested tensor of torch, which cannot become an array
        return ()


def is_array_like(source: object) -> bool:
    """Tell whether an object has the array, DLPack or buffer protocol; bytes are no array."""
    if isinstance(source, np.ndarray):
        return True
    if isinstance(source, str | bytes | np.generic):
        return False
    kind: Any = type(source)
    return _has_protocol(kind) or _has_buffer(source)


@lru_cache(maxsize=256)
def _has_protocol(kind: type) -> bool:
    return any(hasattr(kind, protocol) for protocol in _ARRAY_PROTOCOLS)


def _has_buffer(source: object) -> bool:
    try:
        memoryview(source)  # type: ignore[arg-type]
    except (TypeError, BufferError):
        return False
    return True


@lru_cache(maxsize=1024)
def is_foreign_scalar(kind: type) -> bool:
    """Tell whether objects of a type are, or may be, scalars of Arrow or of an array library.

    An ndarray and a tensor without dimensions are scalars, too. Scalars of NumPy are not foreign:
    they have a hash, and equal the Python objects with their value.
    """
    if issubclass(kind, np.generic):
        return False
    return hasattr(kind, "as_py") or (
        hasattr(kind, "item") and any(hasattr(kind, protocol) for protocol in _ARRAY_PROTOCOLS)
    )


def as_scalar(value: Any, where: str = "a value") -> Any:
    """Return a scalar of Arrow or of an array library as a Python object or NumPy scalar.

    A masked scalar is the missing value None. Raise TypeError for an array with dimensions: its
    hash, if any, is that of the object. Return all other values unchanged.
    """
    kind: Any = type(value)
    if not is_foreign_scalar(kind):
        return value
    if hasattr(value, "as_py"):
        return value.as_py()
    shape = tuple(value.shape) if hasattr(value, "shape") else (len(value),)
    if shape:
        raise TypeError(
            f"{where} must be a scalar, got {with_article(value)} of shape {shape}: pass the items"
            " of the array, or multi_hot for several labels in a row"
        )
    if np.ma.is_masked(value):
        return None
    return value[()] if isinstance(value, np.ndarray) else value.item()


def as_scalars(items: list[Any], where: str = "a value") -> list[Any]:
    """Return a list after `as_scalar` of each item; the list itself if no item needs it."""
    if any(map(is_foreign_scalar, set(map(type, items)))):
        return [as_scalar(item, where) for item in items]
    return items


def items_of(source: Any, name: str) -> list[Any]:
    """Return the items of a one-dimensional array-like or another ordered container.

    A missing value of a library, and a masked one, becomes None. Raise TypeError for text, sets and
    mappings.
    """
    source = unwrapped(source)
    if isinstance(source, list | tuple):
        return as_scalars(list(source), name)
    if isinstance(source, (str, bytes, *_NO_SEQUENCES)) or not is_container(source):
        raise TypeError(f"{name} must be a sequence, got {with_article(source)}: {source!r}")
    shape = shape_of(source)
    if len(shape) > 1:
        raise ValueError(f"{name} must have one dimension, got shape {shape}")
    library = reader_of(source)
    if library is not None:
        values: list[Any] = integration(library).read_column(source).encode().tolist()
        return values
    if is_array_like(source):
        array = source if isinstance(source, np.ma.MaskedArray) else as_array(source, name)
        if array.ndim != 1:
            raise ValueError(f"{name} must have one dimension, got shape {array.shape}")
        # `tolist` of other dtypes would lose the type, or the nanoseconds, of NumPy scalars.
        return as_scalars(array.tolist() if array.dtype.kind == "O" else list(array), name)
    return as_scalars(list(source), name)


def unwrapped(source: Any) -> Any:
    """Return the list in a list scalar of Arrow, and any other object unchanged."""
    return source.as_py() if hasattr(source, "as_py") else source


def integer_array(source: Any, name: str) -> npt.NDArray[Any]:
    """Return an array-like as an array that has a dtype of integers if all items are integers."""
    source = unwrapped(source)
    if isinstance(source, str | bytes) or not is_container(source):
        return as_array(source, name)  # the caller rejects its dtype or its shape
    if reader_of(source) is None and is_array_like(source):
        array = as_array(source, name)
        if array.dtype.kind != "O":
            return array
    return as_array(items_of(source, name), name)


def is_container(source: object) -> bool:
    """Tell whether an object has items: it is iterable, an array, or has Arrow data."""
    if getattr(source, "ndim", 1) == 0:
        return False
    source = unwrapped(source)
    return (
        isinstance(source, Iterable)
        or is_array_like(source)
        or any(hasattr(source, method) for method in ARROW_METHODS)
    )

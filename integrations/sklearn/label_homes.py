"""Where an array lives: labels on another array library are encoded in NumPy and sent home.

scikit-learn accepts them under ``array_api_dispatch``, and also has SciPy make their results.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.utils._array_api import (
    _convert_to_numpy,
    _is_numpy_namespace,
    get_namespace_and_device,
)


class Home(NamedTuple):
    """A namespace of the array API that is not NumPy's, and a device."""

    xp: Any
    device: Any

    @property
    def name(self) -> str:
        """Return the name of the namespace, for messages."""
        return str(self.xp.__name__)

    def numpy(self, array: Any) -> npt.NDArray[Any]:
        """Return one of its arrays in the memory of NumPy."""
        copied: npt.NDArray[Any] = _convert_to_numpy(array, self.xp)
        return copied

    def receive(self, array: Any) -> Any:
        """Return any array on its device."""
        return self.xp.asarray(array, device=self.device)


def home_of(array: Any) -> Home | None:
    """Return the home of an array, None for NumPy and wherever nothing is dispatched."""
    # Before scikit-learn 1.9 sequences are no arrays to it, and an error.
    if not get_config()["array_api_dispatch"] or isinstance(array, list | tuple):
        return None
    xp, is_array_api, device = get_namespace_and_device(array)
    return Home(xp, device) if is_array_api and not _is_numpy_namespace(xp) else None


def as_numpy(array: Any) -> npt.NDArray[Any]:
    """Return an array of any library, or a sequence, as NumPy's."""
    home = None if isinstance(array, np.ndarray) else home_of(array)
    return np.asarray(array) if home is None else home.numpy(array)

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

def number_labels(
    rows: list[Iterable[Hashable]], numbers: dict[Hashable, int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]: ...
def number_integers(
    values: npt.NDArray[np.integer[Any]], most_span: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint64]] | None: ...

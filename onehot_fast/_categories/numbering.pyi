from collections.abc import Hashable, Iterable

import numpy as np
import numpy.typing as npt

def number_labels(
    rows: list[Iterable[Hashable]], numbers: dict[Hashable, int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]: ...

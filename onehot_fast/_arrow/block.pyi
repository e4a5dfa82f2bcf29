"""Export of the columns of one block of memory as an Arrow struct array."""

from collections.abc import Iterable
from typing import Any, final

import numpy.typing as npt

@final
class ArrowBlock:
    """Contiguous columns of one block of memory: an Arrow struct array without nulls."""

    @property
    def block(self) -> npt.NDArray[Any]: ...
    def __new__(
        cls, names: Iterable[str], block: npt.NDArray[Any], n_rows: int, format: str, n_bits: int
    ) -> ArrowBlock: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...

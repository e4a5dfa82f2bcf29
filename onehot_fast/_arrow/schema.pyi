from typing import Any, final

import numpy as np

# An object that only `read` creates, and that cannot be pickled.
class Imported: ...

# The type of one field that was read; it can be exported again.
@final
class ArrowField(Imported):
    # The format string, such as "i" or "tsu:UTC"; for a dictionary, the format of its indices.
    @property
    def format(self) -> str: ...
    # "null", "boolean", "integer", "float", "decimal", "string", "binary", "temporal", "list",
    # "struct", "map", "union", "run_end"; "dictionary" for any field that is dictionary-encoded.
    @property
    def kind(self) -> str: ...
    # The dtype of the values (or the indices) in memory, or None if NumPy has no such dtype.
    @property
    def dtype(self) -> np.dtype[Any] | None: ...
    # "" by default.
    @property
    def name(self) -> str: ...
    @property
    def packed_metadata(self) -> bytes | None: ...
    @property
    def children(self) -> tuple[ArrowField, ...]: ...
    # The type of the dictionary's values, or None.
    @property
    def dictionary(self) -> ArrowField | None: ...
    def __arrow_c_schema__(self) -> object: ...

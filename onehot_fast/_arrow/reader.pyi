from typing import final

from onehot_fast._arrow.array import Array as Array
from onehot_fast._arrow.schema import ArrowField as ArrowField

__all__ = ["Array", "ArrowField", "Stream", "read"]

# An iterator over the chunks of one source, once; all are of one type.
# OSError: the producer reports an error. ValueError: a chunk is malformed.
@final
class Stream:
    @property
    def schema(self) -> ArrowField: ...
    def __iter__(self) -> Stream: ...
    def __next__(self) -> Array: ...

# An object with __arrow_c_array__ (asked first) or __arrow_c_stream__, or capsules: of a stream, or
# the pair (arrow_schema, arrow_array). TypeError, ValueError (consumed, malformed), OSError.
def read(source: object) -> Stream: ...

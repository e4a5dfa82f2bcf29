from collections.abc import Iterable

from onehot_fast._arrow.array import Array
from onehot_fast._kernels.table_rows import Segments

# The items are exactly of type str or bytes. None: a str has letters beyond the Latin-1 range.
def segments_of_texts(items: Iterable[str | bytes]) -> Segments | None: ...

# The rows that are null are read as the producer stored them. TypeError: other values than
# strings or bytes. ValueError: malformed offsets or views.
def segments_of_arrow(chunks: list[Array]) -> Segments: ...

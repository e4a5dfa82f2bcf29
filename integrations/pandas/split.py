"""Arrow's strings split at a separator: what each row holds, in codes."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from onehot_fast._categories import lists
from onehot_fast._runtime import parallel
from onehot_fast.integrations.pandas.read import coded

__all__ = ["Integers", "Tagged", "distinct", "is_arrow_backed", "split_arrow", "spread"]

Strings: TypeAlias = "pd.Series[Any] | pd.Index[Any]"
Integers: TypeAlias = npt.NDArray[np.integer]

SAMPLE = 1000  # rows that tell whether strings repeat
# Rows that are split at a time: their pieces are gone when the next are split, and the result alone
# takes memory. Each part's tags must be put together with the others'.
BLOCK_ROWS = 1 << 14
SPLITTING_BYTES = 1024  # Arrow splits and hashes a string while memory takes so many


class Tagged(NamedTuple):
    """Rows of tags: row i has the tags ``codes[offsets[i]:offsets[i + 1]]``, by position."""

    offsets: npt.NDArray[np.int64]
    codes: Integers
    tags: list[Any]


def is_arrow_backed(dtype: Any) -> bool:
    """Tell whether texts of this dtype lie in Arrow's memory."""
    return isinstance(dtype, pd.ArrowDtype) or (
        isinstance(dtype, pd.StringDtype) and dtype.storage != "python"
    )


def split_arrow(series: "pd.Series[Any]", sep: str) -> Tagged:
    """Return the tags of each row of Arrow strings, sorted, the empty one included.

    Strings that repeat are split once.
    """
    if _rarely_repeats(series):
        return _split(_arrow_strings(series), sep)
    positions, levels = distinct(series)
    return spread(_split(_arrow_strings(levels), sep), positions)


def _rarely_repeats(series: "pd.Series[Any]") -> bool:
    """Tell whether finding the distinct strings would cost more than it saves, by a sample.

    Hashing 200,000 strings takes as long as splitting them. A dictionary is hashed already.
    """
    if isinstance(series.dtype, pd.ArrowDtype) and "dictionary" in str(series.dtype):
        return False
    sample = series.iloc[:: max(1, len(series) // SAMPLE)]
    return sample.nunique() > len(sample) // 2


def distinct(series: "pd.Series[Any]") -> tuple[Integers, "pd.Index[Any]"]:
    """Return the position of each row's string, -1 for missing, and the strings that occur."""
    codes = coded(series)
    positions, levels = codes.positions(), codes.levels
    occurs = np.zeros(len(levels) + 1, bool)  # the last is for -1
    occurs[positions] = True
    if not occurs[:-1].all():
        order = np.append(np.cumsum(occurs[:-1]) - 1, -1)
        positions, levels = order[positions], levels[occurs[:-1]]
    return positions, levels


def spread(rows: Tagged, positions: Integers) -> Tagged:
    """Return the tags of all rows, given those of the distinct ones and which each row is."""
    offsets, places = lists.spread(rows.offsets, positions)
    return Tagged(offsets, rows.codes.take(places), rows.tags)


def _arrow_strings(texts: Strings) -> Any:
    """Return Arrow-backed strings as one Arrow array."""
    import pyarrow as pa

    array = pa.array(texts.array)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _split(texts: Any, sep: str) -> Tagged:
    """Return the tags of Arrow strings, the empty one included."""
    import pyarrow as pa
    import pyarrow.compute as pc

    pieces = parallel.each(
        lambda part: _pieces(part, sep), _blocks(texts), len(texts) * SPLITTING_BYTES
    )
    # One dictionary for all: the parts have met the same tags in different orders.
    encoded = pa.chunked_array([each for each, _ in pieces]).unify_dictionaries()
    found = encoded.chunk(0).dictionary
    order = pc.array_sort_indices(found)
    rank = np.empty(len(order), np.int32)
    rank[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.concatenate([lengths for _, lengths in pieces]), out=offsets[1:])
    codes = np.concatenate([rank.take(chunk.indices.to_numpy()) for chunk in encoded.chunks])
    return Tagged(offsets, codes, found.take(order).to_pylist())


def _blocks(texts: Any) -> list[Any]:
    """Return Arrow strings in parts, at least one."""
    return [texts.slice(at, BLOCK_ROWS) for at in range(0, max(1, len(texts)), BLOCK_ROWS)]


def _pieces(texts: Any, sep: str) -> tuple[Any, npt.NDArray[np.int32]]:
    """Return the pieces of Arrow strings as a dictionary array, and how many each has."""
    import pyarrow.compute as pc

    split = pc.split_pattern(texts, sep)
    lengths = pc.list_value_length(split).fill_null(0)  # a missing string has no tags
    return split.flatten().dictionary_encode(), lengths.to_numpy()

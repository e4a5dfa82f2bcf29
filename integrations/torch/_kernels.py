"""Triton kernels. `_launch` imports this module when the first CUDA tensor arrives.

Elements are integers of the width of the dtype. Labels are read as they are stored, as signed
integers of their width: `label_mask` clears the upper bits of unsigned ones. Five numbers state the
rules for labels (`_launch.rules`). A kernel stores 0 in `flag` if the rules reject a label or a
row. Numbers have fixed types and are never compiled into a kernel, so that few variants exist.
"""

import triton
import triton.language as tl

NUMBERS = [
    "n_rows", "n_classes", "inner", "n_tiles", "rows_of_tile", "reciprocal", "words", "on", "off",
    "label_bytes", "label_mask", "shift", "dropped", "low", "span", "ignored", "can_reject",
    "can_change", "default", "is_strict", "magnitude", "largest",
]  # fmt: skip
# ceil(2**18 / n_classes) * offset >> 18 equals offset // n_classes, because the product of
# n_classes and the largest offset in a tile is at most 2**18 (`_launch.EXPANDED_BYTES`).
RECIPROCAL_BITS = tl.constexpr(18)
NO_CLASS = tl.constexpr(2**31 - 1)


@triton.jit
def _read_labels(labels, index, mask, label_mask):
    return tl.load(labels + index, mask=mask, other=0).to(tl.int64) & label_mask


@triton.jit
def _read_bytes(labels, index, mask, label_bytes, label_mask):
    """Read labels of `label_bytes` bytes, which one variant of a kernel reads in all widths.

    `labels` points to bytes. The branches hide the layout of the labels from the compiler, so
    kernels that repeat a vector of labels for each class would rearrange it in each round.
    """
    if label_bytes == 8:
        label = _read_labels(labels.to(tl.pointer_type(tl.int64)), index, mask, label_mask)
    elif label_bytes == 4:
        label = _read_labels(labels.to(tl.pointer_type(tl.int32)), index, mask, label_mask)
    elif label_bytes == 2:
        label = _read_labels(labels.to(tl.pointer_type(tl.int16)), index, mask, label_mask)
    else:
        label = _read_labels(labels, index, mask, label_mask)
    return label


@triton.jit
def _check(label, mask, flag, low, span, ignored):
    """Reject labels outside the accepted range; the subtraction wraps around."""
    is_bad = (label - low > span) & (label != ignored) & mask
    tl.store(flag + tl.zeros_like(label), tl.zeros_like(label).to(tl.int32), mask=is_bad)


@triton.jit
def _class_of(label, shift, dropped):
    """Return the class of a label; it is outside [0, n_classes) for a row of zeros."""
    return tl.where(label == dropped, -1, tl.where(label < 0, label + shift, label))


@triton.jit(do_not_specialize=NUMBERS)
def expand(
    labels, out, flag, n_rows: tl.int64, n_classes: tl.int32, rows_of_tile: tl.int32,
    reciprocal: tl.int32, on: tl.int64, off: tl.int64, label_mask: tl.int64, shift: tl.int64,
    dropped: tl.int64, low: tl.int64, span: tl.int64, ignored: tl.int64, can_reject: tl.int32,
    can_change: tl.int32, ROWS: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Write narrow rows of adjacent elements, each element by a comparison with its label.

    A tile has a multiple of 16 rows, so the compiler knows the alignment of a whole tile, and uses
    wide stores.
    """
    n_rows_of_tile = rows_of_tile * 16
    row = tl.program_id(0).to(tl.int64) * n_rows_of_tile
    offset = tl.arange(0, TILE)
    n_elements = tl.minimum(n_rows - row, n_rows_of_tile).to(tl.int32) * n_classes
    mask = offset < n_elements
    row_of_element = (offset * reciprocal) >> RECIPROCAL_BITS
    column = offset - row_of_element * n_classes
    label = _read_labels(labels, row + row_of_element, mask, label_mask)
    if can_change != 0:
        label = _class_of(label, shift, dropped)
    if can_reject != 0:  # once for each row instead of for each element
        for first in range(0, n_rows_of_tile, ROWS):
            index = first + tl.arange(0, ROWS)
            is_row = (index < n_rows_of_tile) & (row + index < n_rows)
            checked = _read_labels(labels, row + index, is_row, label_mask)
            _check(checked, is_row, flag, low, span, ignored)
    ons = tl.full((TILE,), on, out.dtype.element_ty)
    offs = tl.full((TILE,), off, out.dtype.element_ty)
    elements = tl.where(label == column, ons, offs)
    start = out + row * n_classes
    if n_rows - row >= n_rows_of_tile:
        tl.store(start + offset, elements, mask=offset < n_rows_of_tile * n_classes)
    else:
        tl.store(start + offset, elements, mask=mask)


@triton.jit
def _fill(start, n_elements, off, TILE: tl.constexpr):
    """Fill adjacent elements, with wide stores if the compiler knows the alignment of both ends."""
    offs = tl.full((TILE,), off, start.dtype.element_ty)
    for first in range(0, n_elements, TILE):
        offset = first + tl.arange(0, TILE)
        tl.store(start + offset, offs, mask=offset < n_elements)


@triton.jit(do_not_specialize=NUMBERS)
def fill_and_scatter(
    labels, out, flag, n_rows: tl.int64, n_classes: tl.int64, on: tl.int64, off: tl.int64,
    label_bytes: tl.int32, label_mask: tl.int64, shift: tl.int64, dropped: tl.int64, low: tl.int64,
    span: tl.int64, ignored: tl.int64, ROWS: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Fill rows of adjacent elements, wait for the block of threads, and store the hot elements."""
    row = tl.program_id(0).to(tl.int64) * ROWS
    rows = tl.arange(0, ROWS)
    mask = row + rows < n_rows
    # The labels arrive while the rows are filled.
    label = _read_bytes(labels, row + rows, mask, label_bytes, label_mask)
    start = out + row * n_classes
    if n_rows - row >= ROWS:
        _fill(start, n_classes * ROWS, off, TILE)
    else:
        _fill(start, (n_rows - row) * n_classes, off, TILE)
    _check(label, mask, flag, low, span, ignored)
    label = _class_of(label, shift, dropped)
    is_hot = (label >= 0) & (label < n_classes) & mask
    tl.debug_barrier()
    ons = tl.full((ROWS,), on, out.dtype.element_ty)
    tl.store(start + rows * n_classes + label, ons, mask=is_hot)


@triton.jit(do_not_specialize=NUMBERS)
def scatter(
    labels, out, flag, n_rows: tl.int64, n_classes: tl.int64, inner: tl.int64, words: tl.int64,
    on: tl.int64, label_bytes: tl.int32, label_mask: tl.int64, shift: tl.int64, dropped: tl.int64,
    low: tl.int64, span: tl.int64, ignored: tl.int64, TILE: tl.constexpr,
):  # fmt: skip
    """Store the hot elements into a filled output; an element has `words` words."""
    row = tl.program_id(0).to(tl.int64) * TILE + tl.arange(0, TILE)
    mask = row < n_rows
    label = _read_bytes(labels, row, mask, label_bytes, label_mask)
    _check(label, mask, flag, low, span, ignored)
    label = _class_of(label, shift, dropped)
    is_hot = (label >= 0) & (label < n_classes) & mask
    outer = row // inner
    position = (outer * n_classes + label) * inner + (row - outer * inner)
    ons = tl.full((TILE,), on, out.dtype.element_ty)
    tl.store(out + position * words, ons, mask=is_hot)


@triton.jit
def _tile_of_plane(inner, n_tiles, IS_ALIGNED: tl.constexpr, TILE: tl.constexpr):
    """Return the length of a plane, the outer index of the program's tile, and its offsets."""
    if IS_ALIGNED:  # the compiler must see it to use wide loads and stores
        inner = inner // 16 * 16
    program = tl.program_id(0).to(tl.int64)
    outer = program // n_tiles
    return inner, outer, (program - outer * n_tiles) * TILE + tl.arange(0, TILE)


@triton.jit(do_not_specialize=NUMBERS)
def planes(
    labels, out, flag, n_classes: tl.int32, inner: tl.int64, n_tiles: tl.int64, on: tl.int64,
    off: tl.int64, label_bytes: tl.int32, label_mask: tl.int64, shift: tl.int64, dropped: tl.int64,
    low: tl.int64, span: tl.int64, ignored: tl.int64, IS_ALIGNED: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Write one run of adjacent elements for each class, from labels that are read once."""
    inner, outer, offset = _tile_of_plane(inner, n_tiles, IS_ALIGNED, TILE)
    mask = offset < inner
    index = outer * inner + offset
    if IS_ALIGNED:
        label = _read_labels(labels, index, mask, label_mask)
    else:
        label = _read_bytes(labels, index, mask, label_bytes, label_mask)
    _check(label, mask, flag, low, span, ignored)
    label = _class_of(label, shift, dropped)
    # Negative labels are the largest unsigned ones. All labels without a class become `n_classes`.
    label = tl.minimum(label.to(tl.uint64), n_classes.to(tl.uint64)).to(tl.int32)
    ons = tl.full((TILE,), on, out.dtype.element_ty)
    offs = tl.full((TILE,), off, out.dtype.element_ty)
    start = outer * n_classes * inner
    for column in range(0, n_classes):
        tl.store(out + start + offset, tl.where(label == column, ons, offs), mask=mask)
        start += inner


@triton.jit
def _is_hot(encoded, position, mask, on, WORDS: tl.constexpr):
    """Compare elements bit by bit; the imaginary part of a hot complex element is 0."""
    element = tl.load(encoded + position * WORDS, mask=mask, other=0)
    is_hot = (element == tl.cast(on, encoded.dtype.element_ty)) & mask
    if WORDS == 2:
        is_hot &= tl.load(encoded + position * 2 + 1, mask=mask, other=1) == 0
    return is_hot


@triton.jit
def _canonical(words, magnitude, largest):
    """Return equal words for equal values: 0.0 equals -0.0, and NaN equals NaN."""
    words = words.to(tl.int64)
    bits = words & magnitude
    return tl.where(bits > largest, largest + 1, tl.where(bits == 0, 0, words))


@triton.jit
def _differs(encoded, position, reference, mask, magnitude, largest, WORDS: tl.constexpr):
    """Compare the values of elements with those of the first element of their row."""
    word = tl.load(encoded + position * WORDS, mask=mask, other=0)
    other = tl.load(encoded + reference * WORDS, mask=mask, other=0)
    differs = _canonical(word, magnitude, largest) != _canonical(other, magnitude, largest)
    if WORDS == 2:
        word = tl.load(encoded + position * 2 + 1, mask=mask, other=0)
        other = tl.load(encoded + reference * 2 + 1, mask=mask, other=0)
        differs |= _canonical(word, magnitude, largest) != _canonical(other, magnitude, largest)
    return differs & mask


@triton.jit(do_not_specialize=NUMBERS)
def decode_rows(
    encoded, out, several, nothing, n_rows: tl.int64, n_classes: tl.int32, on: tl.int64,
    default: tl.int64, is_strict: tl.int32, magnitude: tl.int64, largest: tl.int64,
    IS_ALIGNED: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, WORDS: tl.constexpr,
):  # fmt: skip
    """Find the first hot element of rows of adjacent elements.

    `several` becomes 0 if a row has several. `nothing` becomes 0 if a row without one is strict or
    has different elements; such rows are seldom, so they are read a second time.
    """
    if IS_ALIGNED:  # the compiler must see it to use wide loads
        n_classes = n_classes // 16 * 16
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    is_row = row < n_rows
    start = row[:, None] * n_classes
    first = tl.full((ROWS,), NO_CLASS, tl.int32)
    n_hot = tl.zeros((ROWS,), tl.int32)
    for begin in range(0, n_classes, COLUMNS):
        column = begin + tl.arange(0, COLUMNS)[None, :]
        mask = is_row[:, None] & (column < n_classes)
        is_hot = _is_hot(encoded, start + column, mask, on, WORDS)
        first = tl.minimum(first, tl.min(tl.where(is_hot, column, NO_CLASS), 1))
        n_hot += tl.sum(is_hot.to(tl.int32), 1)
    none = tl.zeros((ROWS,), tl.int32)
    tl.store(several + none, none, mask=n_hot > 1)
    is_cold = is_row & (n_hot == 0)
    if tl.max(is_cold.to(tl.int32), 0) > 0:
        is_invalid = is_cold & (none + is_strict != 0)
        for begin in range(0, n_classes, COLUMNS):
            column = begin + tl.arange(0, COLUMNS)[None, :]
            mask = is_cold[:, None] & (column < n_classes)
            differs = _differs(encoded, start + column, start, mask, magnitude, largest, WORDS)
            is_invalid |= tl.max(differs.to(tl.int32), 1) > 0
        tl.store(nothing + none, none, mask=is_invalid)
    tl.store(out + row, tl.where(n_hot > 0, first.to(tl.int64), default), mask=is_row)


@triton.jit(do_not_specialize=NUMBERS)
def decode_planes(
    encoded, out, several, nothing, n_classes: tl.int32, inner: tl.int64, n_tiles: tl.int64,
    on: tl.int64, default: tl.int64, is_strict: tl.int32, magnitude: tl.int64, largest: tl.int64,
    IS_ALIGNED: tl.constexpr, TILE: tl.constexpr, WORDS: tl.constexpr,
):  # fmt: skip
    """Find the first hot element of each row, if a class is a run of adjacent elements."""
    inner, outer, offset = _tile_of_plane(inner, n_tiles, IS_ALIGNED, TILE)
    mask = offset < inner
    start = outer * n_classes * inner + offset
    position = start
    first = tl.full((TILE,), NO_CLASS, tl.int32)
    n_hot = tl.zeros((TILE,), tl.int32)
    for column in range(0, n_classes):
        is_hot = _is_hot(encoded, position, mask, on, WORDS)
        first = tl.where(is_hot & (n_hot == 0), column, first)
        n_hot += is_hot.to(tl.int32)
        position += inner
    none = tl.zeros((TILE,), tl.int32)
    tl.store(several + none, none, mask=n_hot > 1)
    is_cold = mask & (n_hot == 0)
    if tl.max(is_cold.to(tl.int32), 0) > 0:
        is_invalid = is_cold & (none + is_strict != 0)
        position = start
        for _column in range(0, n_classes):
            is_invalid |= _differs(encoded, position, start, is_cold, magnitude, largest, WORDS)
            position += inner
        tl.store(nothing + none, none, mask=is_invalid)
    label = tl.where(n_hot > 0, first.to(tl.int64), default)
    tl.store(out + outer * inner + offset, label, mask=mask)

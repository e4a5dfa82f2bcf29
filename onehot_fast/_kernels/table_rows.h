/* Copy rows of a table of up to 256 rows: for each code of one byte, the row with this number.
 *
 * The table has rows of `stride` bytes, of which the first `row_bytes` are written: `stride` is the smallest of 1,
 * 2, 4, 8, 16, 32, 48 and 64 that holds a row, or else a multiple of 16. A row is copied by one or a few moves of
 * constant size, which may write bytes of the next row before the next row itself is written. The last rows are
 * copied exactly, so that nothing is written behind them. */
#ifndef OHF_TABLE_ROWS_H
#define OHF_TABLE_ROWS_H

#include "isa.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline size_t ohf_table_stride(size_t row_bytes)
{
    size_t stride = 1;
    while (stride < row_bytes && stride < 16)
        stride *= 2;
    return row_bytes <= stride ? stride : (row_bytes + 15) / 16 * 16;
}

/* Copy rows by moves of `stride` bytes, a constant. The codes are read eight at a time. */
OHF_INLINE void ohf_copy_rows_of(const uint8_t *codes, size_t n, const unsigned char *table, size_t stride,
                                 size_t row_bytes, unsigned char *out)
{
    size_t i = 0;
#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; i + 8 <= n; i += 8, out += 8 * row_bytes) {
        uint64_t eight;
        memcpy(&eight, codes + i, 8);
        for (int j = 0; j < 8; j++, eight >>= 8)
            memcpy(out + (size_t)j * row_bytes, table + (eight & 255) * stride, stride);
    }
#endif
    for (; i < n; i++, out += row_bytes)
        memcpy(out, table + codes[i] * stride, stride);
}

/* Write the row of the table for each code, one after the other. Memory behind the last row is not written. */
static inline void ohf_copy_rows(const uint8_t *codes, size_t n, const unsigned char *table, size_t stride,
                                 size_t row_bytes, unsigned char *out)
{
    /* Copy this number of rows at the end exactly, because a move of `stride` bytes could write behind the last
     * row. */
    size_t exact = stride == row_bytes ? 0 : stride / row_bytes + 1;
    if (exact > n)
        exact = n;
    n -= exact;
    switch (stride) {
#define OHF_CASE(S)                                                                 \
    case S:                                                                         \
        if (row_bytes == S)                                                         \
            ohf_copy_rows_of(codes, n, table, S, S, out);                           \
        else                                                                        \
            ohf_copy_rows_of(codes, n, table, S, row_bytes, out);                   \
        break;
    OHF_CASE(1) OHF_CASE(2) OHF_CASE(4) OHF_CASE(8) OHF_CASE(16) OHF_CASE(32) OHF_CASE(48) OHF_CASE(64)
#undef OHF_CASE
    default:
        for (size_t i = 0; i < n; i++)
            memcpy(out + i * row_bytes, table + codes[i] * stride, row_bytes);
    }
    for (size_t i = n; i < n + exact; i++)
        memcpy(out + i * row_bytes, table + codes[i] * stride, row_bytes);
}

/* Write one plane of n elements: for each code, an element of its row. `column` is the address of this element in
 * the first row of the table. */
OHF_INLINE void ohf_copy_plane_of(const uint8_t *codes, size_t n, const unsigned char *column, size_t stride,
                                  size_t width, unsigned char *out)
{
    for (size_t i = 0; i < n; i++)
        memcpy(out + i * width, column + codes[i] * stride, width);
}

static inline void ohf_copy_plane(const uint8_t *codes, size_t n, const unsigned char *column, size_t stride,
                                  size_t width, unsigned char *out)
{
    switch (width) {
    case 1: ohf_copy_plane_of(codes, n, column, stride, 1, out); break;
    case 2: ohf_copy_plane_of(codes, n, column, stride, 2, out); break;
    case 4: ohf_copy_plane_of(codes, n, column, stride, 4, out); break;
    case 8: ohf_copy_plane_of(codes, n, column, stride, 8, out); break;
    default: ohf_copy_plane_of(codes, n, column, stride, width, out);
    }
}

#endif

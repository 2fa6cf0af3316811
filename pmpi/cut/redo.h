/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces of vectors whose scale keeps a state: their records, and which of them
 * are to be reduced again. A piece that overflows and is to be reduced again is
 * not decoded, so its input is still there, even in place.
 */
#ifndef APS_PMPI_CUT_REDO_H
#define APS_PMPI_CUT_REDO_H

#include <stdbool.h>
#include <stddef.h>

#include "block/block.h"

/* State of a call with such a vector. In the end it is equal on all ranks. */
struct aps_scale_call {
    bool redo;                      /* reduce again on overflow */
    struct aps_scale_record record; /* initially zeros */
    /* Bitmap with one bit for each APS_REDO_UNIT elements, initially zeros, not
     * owned. A bit is 1 if a piece that is to be reduced again begins there.
     * The length of such a piece is `length` elements, or the rest of the
     * vector. */
    unsigned char *pieces;
    size_t length;
};
#define APS_REDO_UNIT ((size_t)64)

/* Returns the size of `pieces` for n elements, in bytes. */
static inline size_t aps_redo_bytes(size_t n)
{
    return n / APS_REDO_UNIT / 8 + 1;
}

/* Returns the record of a piece's results: n elements, in `parts` slices. */
struct aps_scale_record aps_redo_record(const struct aps_wire *wire, int parts,
                                        const unsigned char *blocks,
                                        size_t stride, size_t n);

/* Merges the record of the results of a piece: elements `begin` to `begin` + n
 * of the call's vector. Returns false if the piece is to be reduced again, and
 * must not be decoded. Returns true if `call` is NULL. */
bool aps_redo_settle(struct aps_scale_call *call, size_t begin, size_t n,
                     const struct aps_scale_record *record);

/* Finds the first piece at or after *begin, of a vector of n elements, that is to be
 * reduced again. Returns false if there is none. */
bool aps_redo_next(const struct aps_scale_call *call, size_t n, size_t *begin,
                   size_t *length);

#endif

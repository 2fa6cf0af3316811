/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces of vectors whose scale keeps a state: their records, and which of them
 * are to be reduced again. A piece that overflows and is to be reduced again is not
 * decoded, so that its input is still there, even in place.
 */
#ifndef APS_PMPI_CUT_REDO_H
#define APS_PMPI_CUT_REDO_H

#include <stdbool.h>
#include <stddef.h>

#include "block/block.h"

/* A call of such a vector. All ranks know the same in the end. */
struct aps_scale_call {
    bool redo;                      /* on overflow */
    struct aps_scale_record record; /* zeros at first */
    /* One bit for each APS_REDO_UNIT elements, zeros at first, not owned: 1
     * where a piece begins that is to be reduced again. Its length is `length`,
     * or the rest of the vector. */
    unsigned char *pieces;
    size_t length;
};
#define APS_REDO_UNIT ((size_t)64)

/* Bytes of `pieces` for n elements. */
static inline size_t aps_redo_bytes(size_t n)
{
    return n / APS_REDO_UNIT / 8 + 1;
}

/* The record of the results of a piece, in slices of n elements. */
struct aps_scale_record aps_redo_record(const struct aps_wire *wire, int parts,
                                        const unsigned char *blocks,
                                        size_t stride, size_t n);

/* Takes in the record of the results of a piece: elements `begin` to `begin` + n of
 * the call's vector. Returns false if the piece is to be reduced again, and must not be
 * decoded. A call of NULL has no such piece. */
bool aps_redo_settle(struct aps_scale_call *call, size_t begin, size_t n,
                     const struct aps_scale_record *record);

/* Finds the first piece at or after *begin, of a vector of n elements, that is to be
 * reduced again. Returns false if there is none. */
bool aps_redo_next(const struct aps_scale_call *call, size_t n, size_t *begin,
                   size_t *length);

#endif

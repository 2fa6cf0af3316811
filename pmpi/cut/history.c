/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pieces of vectors whose scale keeps a state: their records, and which of them
 * are to be reduced again.
 */
#include "config.h"

#include "cut/chunk.h"

struct aps_scale_record aps_results_record(const struct aps_wire *wire,
                                           int parts,
                                           const unsigned char *blocks,
                                           size_t stride, size_t n)
{
    const size_t granule = aps_codec_granule(&wire->codec);
    int count = 0;

    /* Slices without elements come last, and have no block. */
    while (count < parts && aps_slice_of(n, granule, parts, count).length > 0)
        count++;
    return aps_blocks_record(wire, count, blocks, stride);
}

bool aps_piece_settle(const struct aps_piece *piece,
                      const struct aps_scale_record *record)
{
    struct aps_history *history = piece->history;
    const size_t unit = piece->begin / APS_HISTORY_UNIT;

    if (!history)
        return true;
    aps_record_merge(&history->record, record);
    if (!record->over || !history->redo)
        return true;
    history->pieces[unit / 8] |= (unsigned char)(1u << unit % 8);
    /* Only the last piece of a vector may be shorter than the others. */
    if (piece->n > history->length)
        history->length = piece->n;
    return false;
}

bool aps_history_next(const struct aps_history *history, size_t n,
                      size_t *begin, size_t *length)
{
    const size_t units = (n + APS_HISTORY_UNIT - 1) / APS_HISTORY_UNIT;

    if (!history->record.over || !history->redo)
        return false;
    /* Behind a vector's last piece, which may be shorter than a unit. */
    for (size_t unit = (*begin + APS_HISTORY_UNIT - 1) / APS_HISTORY_UNIT;
         unit < units; unit++) {
        if (!(history->pieces[unit / 8] >> unit % 8 & 1))
            continue;
        *begin = unit * APS_HISTORY_UNIT;
        *length = n - *begin < history->length ? n - *begin : history->length;
        return true;
    }
    return false;
}

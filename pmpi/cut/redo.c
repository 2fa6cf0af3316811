/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cut/redo.h"

struct aps_scale_record aps_redo_record(const struct aps_wire *wire, int parts,
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

bool aps_redo_settle(struct aps_scale_call *call, size_t begin, size_t n,
                     const struct aps_scale_record *record)
{
    const size_t unit = begin / APS_REDO_UNIT;

    if (!call)
        return true;
    aps_scale_record_add(&call->record, record);
    if (!record->over || !call->redo)
        return true;
    call->pieces[unit / 8] |= (unsigned char)(1u << unit % 8);
    /* Only the last piece of a vector may be shorter than the others. */
    if (n > call->length)
        call->length = n;
    return false;
}

bool aps_redo_next(const struct aps_scale_call *call, size_t n, size_t *begin,
                   size_t *length)
{
    const size_t units = (n + APS_REDO_UNIT - 1) / APS_REDO_UNIT;

    if (!call->record.over || !call->redo)
        return false;
    /* *begin is rounded up, since the last piece may be shorter than a unit. */
    for (size_t unit = (*begin + APS_REDO_UNIT - 1) / APS_REDO_UNIT;
         unit < units; unit++) {
        if (!(call->pieces[unit / 8] >> unit % 8 & 1))
            continue;
        *begin = unit * APS_REDO_UNIT;
        *length = n - *begin < call->length ? n - *begin : call->length;
        return true;
    }
    return false;
}

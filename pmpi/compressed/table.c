/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compressed/table.h"

const struct aps_compressed_ops *
aps_compressed_ops_of(const struct aps_plan *plan)
{
    static const struct aps_compressed_ops *const ops[APS_COMPRESSOR_KINDS] = {
        [APS_COMPRESSOR_NONE] = &aps_compressed_rounded,
        [APS_COMPRESSOR_POWERSGD] = &aps_compressed_powersgd,
        [APS_COMPRESSOR_MSTOPK_POWERSGD] = &aps_compressed_powersgd,
        [APS_COMPRESSOR_MSTOPK] = &aps_compressed_selected,
        [APS_COMPRESSOR_TOPK] = &aps_compressed_selected,
        [APS_COMPRESSOR_THRESHOLD] = &aps_compressed_selected,
        [APS_COMPRESSOR_TERNARY] = &aps_compressed_ternary,
        [APS_COMPRESSOR_CHUNKS] = &aps_compressed_chunked,
        [APS_COMPRESSOR_VOTE] = &aps_compressed_vote,
    };

    /* Rows by reduction, if each reduction has a file of its own. */
    static const struct aps_compressed_ops *const selected[APS_REDUCE_KINDS] = {
        [APS_REDUCE_GATHER] = &aps_compressed_selected,
        [APS_REDUCE_DIRECT] = &aps_compressed_selected_direct,
        [APS_REDUCE_HIERARCHICAL] = &aps_compressed_selected_hierarchical,
    };
    static const struct aps_compressed_ops *const ternary[APS_REDUCE_KINDS] = {
        [APS_REDUCE_GATHER] = &aps_compressed_ternary,
        [APS_REDUCE_DIRECT] = &aps_compressed_ternary,
        [APS_REDUCE_HIERARCHICAL] = &aps_compressed_ternary_hierarchical,
    };
    const struct aps_compressed_ops *found = ops[plan->compressor.kind];

    if (found == &aps_compressed_ternary)
        return ternary[plan->reduce];
    return found == &aps_compressed_selected ? selected[plan->reduce] : found;
}

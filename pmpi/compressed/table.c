/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compressed/table.h"

#include "compressed/powersgd.h"

const struct aps_compressed_ops *
aps_compressed_ops_of(const struct aps_plan *plan)
{
    static const struct aps_compressed_ops *const ops[APS_COMPRESSOR_KINDS] = {
        [APS_COMPRESSOR_POWERSGD] = &aps_compressed_powersgd,
    };

    return ops[plan->compressor.kind];
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* TernGrad, ternary.h. */
#include "config.h"

#include <stdio.h>

#include "base/print.h"
#include "compress/compressor.h"
#include "compress/ternary.h"
#include "compress/ternary_sums.h"

static void ternary_describe(const struct aps_compressor *compressor,
                             char *buffer, size_t size)
{
    const double clip = compressor->parameters[APS_TERNARY_CLIP];

    if (clip > 0)
        aps_print(buffer, size, "ternary clip %g", clip);
    else
        snprintf(buffer, size, "ternary");
}

const struct aps_compressor_ops aps_compressor_ops_ternary = {
    .seed = APS_TERNARY_SEED,
    .integers = true,
    .nests = true,
    .integer_bytes = aps_ternary_bytes,
    .sum_bytes = aps_ternary_sum_bytes,
    .integer_text = "each value travels as -1, 0 or 1 times a factor of the "
                    "layer, in 1.6 bits",
    .sum_text = "the sum of p ranks in log2(2 p + 1) bits, rounded up",
    .describe = ternary_describe,
};

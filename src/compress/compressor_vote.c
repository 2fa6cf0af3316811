/* SPDX-License-Identifier: BSD-3-Clause */
/* signSGD with majority vote, vote.h. */
#include "config.h"

#include <stdio.h>

#include "base/print.h"
#include "compress/compressor.h"
#include "compress/vote.h"

static void vote_describe(const struct aps_compressor *compressor, char *buffer,
                          size_t size)
{
    const double value = compressor->parameters[APS_VOTE_VALUE];

    if (value > 0)
        aps_print(buffer, size, "vote value %g", value);
    else
        snprintf(buffer, size, "vote");
}

const struct aps_compressor_ops aps_compressor_ops_vote = {
    .integers = true,
    .forgets = true,
    .integer_bytes = aps_vote_bytes,
    .sum_bytes = aps_vote_outcome_bytes,
    .integer_text = "the sign of each value travels, in 1 bit",
    .sum_text =
        "what most of p ranks say, in 1 bit, or 1.6 bits where p is even",
    .describe = vote_describe,
};

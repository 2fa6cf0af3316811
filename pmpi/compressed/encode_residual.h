/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that are encoded, and become what the encoding leaves out. */
#ifndef APS_PMPI_COMPRESSED_ENCODE_RESIDUAL_H
#define APS_PMPI_COMPRESSED_ENCODE_RESIDUAL_H

#include <stddef.h>

#include "block/block.h"
#include "reduce/reduction.h"

/* Encodes `block`, whose values are delta[n], finite and in host memory, n > 0.
 * delta[i] becomes delta[i] - its rounded value. */
void aps_encode_residual(const struct aps_wire *wire, struct aps_block block,
                         float *delta, unsigned char *to,
                         struct aps_cost *cost);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that are encoded, and become what the encoding leaves out. */
#ifndef APS_PMPI_COMPRESSED_ENCODE_RESIDUAL_H
#define APS_PMPI_COMPRESSED_ENCODE_RESIDUAL_H

#include <stddef.h>

#include "block/block.h"
#include "reduce/reduction.h"

/* delta[n], finite and in host memory, n > 0, to a block with that exponent;
 * delta[i] becomes delta[i] - its rounded value. */
void aps_encode_residual(const struct aps_wire *wire,
                         const struct aps_origin *origin, float *delta,
                         size_t n, int exponent, unsigned char *block,
                         struct aps_cost *cost);

#endif

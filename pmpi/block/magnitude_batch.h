/* SPDX-License-Identifier: BSD-3-Clause */
/* Magnitudes of several arrays. Arrays in a GPU's memory share a wait. */
#ifndef APS_PMPI_BLOCK_MAGNITUDE_BATCH_H
#define APS_PMPI_BLOCK_MAGNITUDE_BATCH_H

#include <stddef.h>

#include "codec/memory.h"

struct aps_magnitude_query {
    const struct aps_memory *memory;
    const void *x; /* [n] */
    size_t n;
    struct aps_magnitude magnitude; /* output */
};

/* Waits once for every APS_MAGNITUDES_TOGETHER neighbours in one memory that
 * has the verb `run`, and measures other arrays one by one. */
#define APS_MAGNITUDES_TOGETHER 16
void aps_magnitude_queries_run(struct aps_magnitude_query queries[],
                               size_t count);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the messages of all compressors share. */
#ifndef APS_PMPI_COMPRESSED_WHOLE_H
#define APS_PMPI_COMPRESSED_WHOLE_H

#include "compressed/compressed.h"

/*
 * COLLECTIVE over the reductions' communicator. Reduce those of the layers that
 * are `whole` in full floats, so that an INF or a NaN arrives in its place. An MPI
 * error code.
 */
int aps_compressed_reduce_whole(const struct aps_compressed_site *site,
                                int count, const struct aps_compressed layers[],
                                struct aps_cost *cost);

/* The number of a vector that travels for a layer: `part` tells those of a layer
 * apart. */
uint64_t aps_compressed_number(const struct aps_compressed *layer,
                               unsigned part);

#endif

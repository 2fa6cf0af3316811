/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast: the root encodes its values once, in slices, one for each other rank.
 * Every rank passes its slice on to the others. All, the root too, decode the same
 * bytes. One rounding; no rank sends more than all values once.
 */
#ifndef APS_PMPI_GATHER_BROADCAST_H
#define APS_PMPI_GATHER_BROADCAST_H

#include <stddef.h>

#include "message/vcomm.h"
#include "block/block.h"

struct aps_broadcast; /* opaque: a virtual communicator and scratch */

/* Over `vcomm`, a virtual communicator of two ranks or more that is not owned;
 * `granule` is as in wire/pipeline_sizes.h. Local; NULL when out of memory. */
struct aps_broadcast *aps_broadcast_create(const struct aps_vcomm *vcomm,
                                           size_t granule);
void aps_broadcast_destroy(struct aps_broadcast *broadcast); /* NULL: nothing */

/*
 * COLLECTIVE over vcomm. x[n] of the root to x[n] of all, rounded. `exponent` is
 * that of the stage, on which the ranks have agreed with `outcome`, 0 of a scale
 * that is not agreed: after an error what is sent is empty (messages.h). An MPI
 * error code.
 */
int aps_broadcast_run(struct aps_broadcast *broadcast,
                      const struct aps_wire *wire, int root, int outcome,
                      int exponent, float *x, size_t n, struct aps_cost *cost);

/*
 * COLLECTIVE over vcomm. The same for bytes, which arrive unchanged. After an error
 * in `outcome` they may be NULL, and all ranks fail if it is the root's. An MPI
 * error code.
 */
int aps_broadcast_run_bytes(struct aps_broadcast *broadcast, int root,
                            int outcome, unsigned char *bytes, size_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast: the root encodes its values once, in slices, one for each other
 * rank. Every rank passes its slice on to the others. All ranks, the root too,
 * decode the same bytes. A value is rounded once, and no rank sends more than
 * all values once.
 */
#ifndef APS_PMPI_GATHER_BROADCAST_H
#define APS_PMPI_GATHER_BROADCAST_H

#include <stddef.h>

#include "message/vcomm.h"
#include "block/block.h"

struct aps_broadcast; /* opaque: a virtual communicator and scratch */

/* Local. Creates a broadcast over `vcomm`, which has two ranks or more and is
 * not owned. `granule` is as in wire/pipeline_sizes.h. Returns NULL if out of
 * memory. */
struct aps_broadcast *aps_broadcast_create(const struct aps_vcomm *vcomm,
                                           size_t granule);
void aps_broadcast_destroy(struct aps_broadcast *broadcast); /* NULL is
                                                              * allowed */

/*
 * COLLECTIVE over vcomm. Copies x[n] of the root, rounded, to x[n] of all
 * ranks. `exponent` is the exponent of the stage, on which the ranks have
 * agreed with `outcome`; 0 for a scale that is not agreed. After an error the
 * messages are empty (messages.h). Returns an MPI error code.
 */
int aps_broadcast_run(struct aps_broadcast *broadcast,
                      const struct aps_wire *wire, int root, int outcome,
                      int exponent, void *x, size_t n, struct aps_cost *cost);

/*
 * COLLECTIVE over vcomm. Copies bytes of the root, unchanged, to all ranks.
 * After an error in `outcome` they may be NULL; all ranks fail if it is the
 * root's error. Returns an MPI error code.
 */
int aps_broadcast_run_bytes(struct aps_broadcast *broadcast, int root,
                            int outcome, unsigned char *bytes, size_t size);

#endif

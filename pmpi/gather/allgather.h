/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-gather: every rank encodes its values once and sends them to all ranks.
 * All ranks, the sender too, decode the same bytes. A value is rounded once.
 */
#ifndef APS_PMPI_GATHER_ALLGATHER_H
#define APS_PMPI_GATHER_ALLGATHER_H

#include <stddef.h>

#include "message/vcomm.h"
#include "block/block.h"

struct aps_allgather; /* opaque: a virtual communicator and scratch */

/* Local. Creates an all-gather over `vcomm`, which is not owned. `granule` is
 * as in wire/pipeline_sizes.h. Returns NULL if out of memory. */
struct aps_allgather *aps_allgather_create(const struct aps_vcomm *vcomm,
                                           size_t granule);
void aps_allgather_destroy(struct aps_allgather *gather); /* NULL is allowed */

/*
 * COLLECTIVE over vcomm. Copies in[n] of rank i, rounded, to out[i * n] of all
 * ranks; `in` may be this rank's own part of `out`. `exponent` is the exponent
 * of the stage, on which the ranks have agreed with `outcome`; 0 for a scale
 * that is not agreed. After an error the messages are empty (messages.h).
 * Returns an MPI error code.
 */
int aps_allgather_run(struct aps_allgather *gather, const struct aps_wire *wire,
                      int outcome, int exponent, const void *in, void *out,
                      size_t n, struct aps_cost *cost);

/*
 * COLLECTIVE over vcomm. Copies the bytes in[size] of rank i, unchanged, to out
 * + i * size of all ranks. in[] and out[] do not overlap. After an error in
 * `outcome` they may be NULL, and all ranks fail. Returns an MPI error code.
 */
int aps_allgather_run_bytes(struct aps_allgather *gather, int outcome,
                            const unsigned char *in, unsigned char *out,
                            size_t size);

#endif

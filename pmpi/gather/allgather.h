/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-gather: every rank encodes its values once and sends them to all; all,
 * the sender too, decode the same bytes. One rounding.
 */
#ifndef APS_PMPI_GATHER_ALLGATHER_H
#define APS_PMPI_GATHER_ALLGATHER_H

#include <stddef.h>

#include "message/vcomm.h"
#include "block/block.h"

struct aps_allgather; /* opaque: a virtual communicator and scratch */

/* Over `vcomm`, a virtual communicator that is not owned; `granule` is as in
 * wire/pipeline_sizes.h. Local; NULL when out of memory. */
struct aps_allgather *aps_allgather_create(const struct aps_vcomm *vcomm,
                                           size_t granule);
void aps_allgather_destroy(struct aps_allgather *gather); /* NULL: nothing */

/*
 * COLLECTIVE over vcomm. in[n] of rank i to out[i * n] of all; `in`
 * may be our own place in `out`. `exponent` is that of the stage, on which the
 * ranks have agreed with `outcome`, 0 of a scale that is not agreed: after an error
 * what is sent is empty (messages.h). An MPI error code.
 */
int aps_allgather_run(struct aps_allgather *gather, const struct aps_wire *wire,
                      int outcome, int exponent, const float *in, float *out,
                      size_t n, struct aps_cost *cost);

/*
 * COLLECTIVE over vcomm. The same for bytes, which arrive unchanged: in[size] of
 * rank i to out + i * size of all. in[] and out[] do not overlap. After an error in
 * `outcome` they may be NULL, and all ranks fail. An MPI error code.
 */
int aps_allgather_run_bytes(struct aps_allgather *gather, int outcome,
                            const unsigned char *in, unsigned char *out,
                            size_t size);

#endif

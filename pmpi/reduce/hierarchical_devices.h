/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stages of `hierarchical` for slots in GPUs' memory, for
 * hierarchical_stages.c alone. All blocks of a stage are queued and waited for
 * together, so that the waits of a chunk do not depend on the number of ranks.
 *
 * A chunk in a single group costs a rank 3 waits for its GPU: one to encode, one
 * to add and encode the sums, one to decode; 5 where magnitudes must be known
 * first (scales per block). With several groups the first two are 2, or 3 where
 * the sums are measured. All that up to APS_DEVICE_STEPS owners and ranks; for
 * more, that many times more. Kernels: 3 * owners + 1 with one group.
 */
#ifndef APS_PMPI_REDUCE_HIERARCHICAL_DEVICES_H
#define APS_PMPI_REDUCE_HIERARCHICAL_DEVICES_H

#include <stddef.h>

#include "reduce/hierarchical_run.h"

/* Our values of a piece, in our slot. */
void aps_hierarchical_devices_contribute(struct aps_hierarchical_run *run,
                                         size_t k,
                                         const struct aps_piece *piece);

/* The sums of our slice of a piece. In a single group the result, too, which may
 * be written; else the magnitude, where it is asked for. */
void aps_hierarchical_devices_sum(struct aps_hierarchical_run *run, size_t k,
                                  const struct aps_piece *piece,
                                  struct aps_magnitude *magnitude);

/* The results of a single group. */
void aps_hierarchical_devices_collect(struct aps_hierarchical_run *run,
                                      size_t k, const struct aps_piece *piece);

#endif

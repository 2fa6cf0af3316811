/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stages of `hierarchical` for slots in GPU memory, for
 * hierarchical_stages.c alone. All blocks of a stage are queued and waited for
 * together, so that the waits of a chunk do not depend on the number of ranks.
 *
 * A chunk in a single group costs a rank 3 waits for its GPU: to encode, to add
 * and encode the sums, to decode. It costs 5 if magnitudes must be known first
 * (scales per block). With several groups the first two are 2, or 3 if the sums
 * are measured. These numbers hold up to APS_DEVICE_STEPS owners and ranks, and
 * grow in proportion beyond. Kernels: 3 * owners + 1 with one group.
 */
#ifndef APS_PMPI_REDUCE_HIERARCHICAL_DEVICES_H
#define APS_PMPI_REDUCE_HIERARCHICAL_DEVICES_H

#include <stddef.h>

#include "reduce/hierarchical_run.h"

/* Encodes this rank's values of a piece in its slot. */
void aps_hierarchical_devices_contribute(struct aps_hierarchical_run *run,
                                         size_t k,
                                         const struct aps_piece *piece);

/* Sums this rank's slice of a piece. In a single group it also writes the
 * result, whose area the caller has awaited; otherwise it stores the magnitude
 * if requested. */
void aps_hierarchical_devices_sum(struct aps_hierarchical_run *run, size_t k,
                                  const struct aps_piece *piece,
                                  struct aps_magnitude *magnitude);

/* Decodes the results of a single group. */
void aps_hierarchical_devices_collect(struct aps_hierarchical_run *run,
                                      size_t k, const struct aps_piece *piece);

#endif

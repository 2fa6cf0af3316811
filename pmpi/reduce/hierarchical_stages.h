/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stages of the reduction `hierarchical`, for hierarchical.c alone.
 *
 * A chunk goes through these stages, in a pipeline over the chunks:
 *
 *   contribute   every rank encodes its chunk into its slot, one block an owner
 *   sum          every owner sums its blocks of all slots in rank order; in a
 *                single group it leaves the encoded sum in the result area, and its
 *                own values in the program's vector where these cost nothing more
 *   offer, turn, finish
 *                with several groups: `direct` on the sum, between the owners of
 *                the same slice, leaves it there
 *   collect      every rank decodes what it has not yet of the result area
 *
 * No stage has a barrier: ranks count what they have done (shm_group.h), and a rank
 * waits only for what it needs. Slots and result areas are used by turns.
 *
 * Slots lie in the host's shared memory, and so do results. Where all ranks of
 * the group have their vectors in GPUs' memory, slots, sums and a single
 * group's results lie there, too (gpu_ipc.h): the same bytes.
 */
#ifndef APS_PMPI_REDUCE_HIERARCHICAL_STAGES_H
#define APS_PMPI_REDUCE_HIERARCHICAL_STAGES_H

#include <stddef.h>
#include <stdint.h>

#include "reduce/hierarchical_run.h"

/*
 * The stages of chunk k, for a pipeline; `state` is a struct
 * aps_hierarchical_run. Offer, turn and finish only where there are several
 * groups.
 */
void aps_hierarchical_contribute(void *state, size_t k);
void aps_hierarchical_sum(void *state, size_t k);
void aps_hierarchical_send(void *state, size_t k);
void aps_hierarchical_sum_across(void *state, size_t k);
void aps_hierarchical_receive(void *state, size_t k);
void aps_hierarchical_collect(void *state, size_t k);

/* Elements of the call; and a message where they are not those of another rank of
 * the group. */
uint64_t aps_hierarchical_elements(const struct aps_hierarchical_run *run);
void aps_hierarchical_tell_lengths(const struct aps_hierarchical_run *run,
                                   int other, uint64_t elements);

/* After the last stage of `chunks` chunks: what the program does with its GPU
 * next may take our results, which lie there, from ranks that have not read them
 * yet. */
void aps_hierarchical_leave_results(const struct aps_hierarchical_run *run,
                                    size_t chunks);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stages of the reduction `hierarchical`, for hierarchical.c alone.
 *
 * A chunk goes through these stages, in a pipeline over the chunks. The mark that a
 * stage makes at its end (shm_group.h) is in brackets:
 *
 *   contribute   every rank encodes its chunk into its slot, one block an owner
 *                [CONTRIBUTED]
 *   sum          every owner sums its blocks of all slots in rank order [SUMMED];
 *                in a single group it writes the encoded sum to the result area
 *                [FINISHED], and its own values to the program's vector if these
 *                cost nothing more
 *   send, sum_across, receive
 *                with several groups: `direct` on the sum, between the owners of
 *                the same slice, writes the result there [FINISHED]
 *   collect      every rank decodes the rest of the result area [COLLECTED]
 *
 * No stage has a barrier: a rank waits only for the marks that it needs. Chunks use
 * slots and result areas in rotation.
 *
 * Slots and results lie in the host's shared memory. If all ranks of the group
 * have their vectors in GPU memory, slots, sums and a single group's results
 * lie there, too (gpu_ipc.h), with the same bytes.
 */
#ifndef APS_PMPI_REDUCE_HIERARCHICAL_STAGES_H
#define APS_PMPI_REDUCE_HIERARCHICAL_STAGES_H

#include <stddef.h>
#include <stdint.h>

#include "reduce/hierarchical_run.h"

/*
 * The stages of chunk k, for a pipeline; `state` is a struct
 * aps_hierarchical_run. Send, sum_across and receive run only if there are
 * several groups.
 */
void aps_hierarchical_contribute(void *state, size_t k);
void aps_hierarchical_sum(void *state, size_t k);
void aps_hierarchical_send(void *state, size_t k);
void aps_hierarchical_sum_across(void *state, size_t k);
void aps_hierarchical_receive(void *state, size_t k);
void aps_hierarchical_collect(void *state, size_t k);

/* aps_hierarchical_shape returns a number that the length of the call and the size of
 * its elements determine. aps_hierarchical_tell_shapes prints a message if another
 * rank of the group has another one. */
uint64_t aps_hierarchical_shape(const struct aps_hierarchical_run *run);
void aps_hierarchical_tell_shapes(const struct aps_hierarchical_run *run,
                                  int other, uint64_t shape);

/* Called after the last stage of `chunks` chunks. The program may use its GPU
 * next and overwrite this rank's results there before other ranks have read
 * them; the call waits for those ranks. */
void aps_hierarchical_leave_results(const struct aps_hierarchical_run *run,
                                    size_t chunks);

#endif

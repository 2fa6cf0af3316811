/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Software pipeline over the chunks of a buffer: while one chunk is on the wire,
 * the next is encoded and the one before is decoded.
 *
 * Stage s of chunk k runs in round k + s * APS_PIPELINE_LAG, and in a round the
 * earliest stage runs first, so that new bytes are on their way before the round
 * waits for old ones. Whatever stage s of chunk k waits for, other ranks have
 * done in an earlier round, as long as it comes from stage s - 1 of the same
 * chunk or from any stage of chunk k - aps_pipeline_slots(stages): no deadlock.
 */
#ifndef APS_PMPI_PIPELINE_H
#define APS_PMPI_PIPELINE_H

#include <stddef.h>

#define APS_PIPELINE_LAG 1

/* Rounds between the first stage of a chunk and its last: so many chunks are
 * under way, and need buffers, at a time. */
#define APS_PIPELINE_SLOTS(stages) (((stages)-1) * APS_PIPELINE_LAG + 1)

/* One stage of one chunk. A stage that fails notes that in `state`, and the
 * stages that follow do nothing but what other ranks wait for. */
typedef void (*aps_stage_fn)(void *state, size_t chunk);

void aps_pipeline_run(size_t chunks, size_t stages, const aps_stage_fn stage[],
                      void *state);

/*
 * Elements of a chunk where `ranks` ranks send to one: the receiver's scratch
 * stays at a few chunks whatever their number.
 */
size_t aps_pipeline_chunk(int ranks);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contributions that are encoded beside the search for their scale: what `hierarchical`
 * does in a single group before its stages.
 *
 * `scale: aps` needs the greatest magnitude of a vector on all ranks before any of it
 * is encoded, so that a rank reads it twice: from memory both times, if the vector is
 * longer than the caches. Such a vector is encoded while it is searched, with the
 * exponent that is expected of a vector at this place (guess.h), into slots that have
 * room for all of its blocks. If the ranks then agree on that exponent, the blocks are
 * as they should be; else the stages encode them again, in the same slots.
 *
 * Measured, two ranks on 2 cores, AVX2, e4m3: a right guess takes 0.9 of the time at 4
 * Mi floats, and 0.85 at 8 Mi and 25.6 Mi; but 1.04 at 1 Mi, which stay in the caches;
 * and with room for a part of the vector it takes as long as none. A wrong guess takes
 * 1.2 times as long, unless a value soon shows that it is.
 *
 * The bytes are the same either way, so that ranks may differ in what they encode
 * early, but not in where the slots are.
 */
#ifndef APS_PMPI_REDUCE_HIERARCHICAL_EARLY_H
#define APS_PMPI_REDUCE_HIERARCHICAL_EARLY_H

#include "reduce/hierarchical_state.h"

/* COLLECTIVE over the group: from which length on vectors are encoded early. There are
 * no slots yet. */
void aps_early_init(struct aps_early *early, const struct aps_vcomm *group);
void aps_early_clear(struct aps_early *early); /* local */

/* Local. Takes the slots for this call, whose stage agrees on exponents, if its blocks
 * have room in them: on all ranks or on none. Returns the room that is wanted for such
 * calls; 0: no more than there is. */
int aps_early_begin(struct aps_hierarchical_run *run);

/* Local. Encode the vector of a call that has the slots, if its exponent can be
 * guessed. True: its magnitude is in *scale. */
bool aps_early_encode(struct aps_hierarchical_run *run,
                      struct aps_stage_scale *scale);

/* Local. The ranks have agreed on `greatest`, from which the exponent in *scale
 * follows: are the blocks what the stages would make of the vector? */
void aps_early_settle(struct aps_hierarchical_run *run,
                      const struct aps_stage_scale *scale, int greatest);

/* Local. Count the block of a slice that has been encoded early. */
void aps_early_count(const struct aps_hierarchical_run *run,
                     const struct aps_piece *piece, struct aps_slice slice,
                     int owner);

/* COLLECTIVE over the group, in a call, when all ranks have come to it. Make room for
 * later calls, if `wanted`, the MAX of what aps_early_begin returned, says so, and
 * there is memory for it. */
void aps_early_make_room(struct aps_hierarchical *h, int wanted);

#endif

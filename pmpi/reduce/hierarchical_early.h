/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contributions that are encoded beside the search for their scale: what `hierarchical`
 * does in a single group before its stages.
 *
 * `scale: aps` needs the greatest magnitude of a vector on all ranks before any of it
 * is encoded, so that a rank reads it twice: from memory both times, if the vector is
 * longer than the caches. Such a vector is encoded while it is searched, with the
 * exponent that is expected of a vector at this place (guess.h), into slots that have
 * room for all of its blocks. If all ranks have done so, with the exponent that they
 * then agree on, the blocks are what the stages would make; else these encode the
 * vector, in the slots of every call.
 *
 * Measured, two ranks on 2 cores, AVX2, e4m3: a right guess takes 0.9 of the time at 4
 * Mi floats, and 0.85 at 8 Mi and 25.6 Mi; but 1.04 at 1 Mi, which stay in the caches;
 * and with room for a part of the vector it takes as long as none. A wrong guess takes
 * 1.2 times as long, unless a value soon shows that it is. Encoded without a guess, in
 * slots for a whole vector, it takes 1.05 times as long in e4m3, and 1.2 in e5m10.
 *
 * Ranks may differ in what they guess, and in whether they do. They exchange it beside
 * their exponents, so that all take the blocks or none does.
 */
#ifndef APS_PMPI_REDUCE_HIERARCHICAL_EARLY_H
#define APS_PMPI_REDUCE_HIERARCHICAL_EARLY_H

#include "reduce/hierarchical_state.h"

/* Local. There are no slots yet. */
void aps_early_init(struct aps_early *early);
void aps_early_clear(struct aps_early *early);

/* Ranks exchange so many ints in each call, whose MAX they go by. */
#define APS_EARLY_WORDS 4

/* Local. Encode the vector of a call whose stage agrees on exponents, if its exponent
 * can be guessed and there is room; what is exchanged goes to words[]. True: the
 * magnitude is in *scale. */
bool aps_early_encode(struct aps_hierarchical_run *run,
                      struct aps_stage_scale *scale,
                      int words[APS_EARLY_WORDS]);

/* COLLECTIVE over the group, when the ranks have exchanged words[] and `greatest`, the
 * exponent of their magnitudes: are the blocks the call's contributions? Makes room for
 * later calls, if a rank wants some and there is memory for it. */
void aps_early_settle(struct aps_hierarchical_run *run, int greatest,
                      const int words[APS_EARLY_WORDS]);

/* Local. Count the block of a slice that has been encoded early. */
void aps_early_count(const struct aps_hierarchical_run *run,
                     const struct aps_piece *piece, struct aps_slice slice,
                     int owner);

#endif

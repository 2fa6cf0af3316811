/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What blocks' scales are guessed by. Where a scale follows from the block's own
 * magnitude, its values are read twice, by a search and by the encoder; but once where
 * the scale is guessed right. The guess is that the greatest magnitude leads to the
 * scale that the last one led to of blocks at this place: a layer's blocks have their
 * places in every step. A wrong guess costs twice what a right one saves in the L2
 * cache, and as much in memory, so that a guess is made where scales have recurred in
 * more than two of three steps lately. In the training of tests/apps/digits they recur
 * in 0.27 to 0.52 of the steps.
 *
 * A process has one table, which all threads read and write as they like: at worst a
 * guess is wrong. Who guesses gets the same bytes as who does not, so that ranks may
 * guess differently.
 */
#ifndef APS_PMPI_BLOCK_GUESS_H
#define APS_PMPI_BLOCK_GUESS_H

#include <stdbool.h>

/* Blocks of a rank's values are known by where these lie, and blocks of sums by where
 * their results go; neither is read. NULL is no place: nothing is known of it. */
enum aps_guess_kind { APS_GUESS_VALUES, APS_GUESS_SUMS };

/* The greatest magnitude of the last block, and whether its scale is worth guessing.
 * False: there was none. */
bool aps_guess_recall(enum aps_guess_kind kind, const float *place, float *max,
                      bool *worth);

/* That of the next one; `recurred`: its scale is the last one's. */
void aps_guess_note(enum aps_guess_kind kind, const float *place, float max,
                    bool recurred);

/* The exponent that ranks agree on for a whole vector that lies at a place: the last
 * one, and the next one. False: it is not worth guessing. `vain`: a guess was made, but
 * other ranks had none, as they may have none next time. */
bool aps_guess_recall_exponent(const float *place, int *exponent);
void aps_guess_note_exponent(const float *place, int exponent, bool vain);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Guesses of a block's scale. Where that follows from the block's own magnitude, its
 * values are read twice, by a search and by the encoder; but once where the exponent is
 * guessed right. The guess is the exponent of the last block at this place, if the one
 * before had the same: a layer's blocks have their places in every step. A wrong guess
 * costs nothing where values come from memory, and two thirds of the time of search and
 * encoder where they are in the L2 cache.
 *
 * Local to a thread. Who guesses gets the same bytes as who does not, so that ranks may
 * guess differently.
 */
#ifndef APS_PMPI_REDUCE_GUESS_H
#define APS_PMPI_REDUCE_GUESS_H

#include <stdbool.h>

/* Blocks of a rank's values are known by where these lie, and blocks of sums by where
 * their results go; neither is read. */
enum aps_guess_kind { APS_GUESS_VALUES, APS_GUESS_SUMS };

/* False: there is none. */
bool aps_guess_exponent(enum aps_guess_kind kind, const float *place,
                        int *exponent);

/* What turned out. */
void aps_guess_note(enum aps_guess_kind kind, const float *place, int exponent);

#endif

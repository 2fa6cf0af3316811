/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signSGD with majority vote (Bernstein, Zhao, Azizzadenesheli, Anandkumar:
 * signSGD with Majority Vote is Communication Efficient and Fault Tolerant,
 * ICLR 2019): each rank sends the sign of an element, and the result is the
 * sign of the majority.
 *
 * A ballot is the signs of n elements: bit i % 8 of byte i / 8 is the sign bit
 * of element i, so that 0 votes as 0.0 or -0.0. An outcome is +1 or -1, or 0
 * for a tie of an even number of ranks. Counts are exact: all CPUs make the
 * same bytes.
 */
#ifndef APS_COMPRESS_VOTE_H
#define APS_COMPRESS_VOTE_H

#include <stddef.h>
#include <stdint.h>

/* Returns the bytes of a ballot. */
size_t aps_vote_bytes(size_t n);

/* Makes the ballot of x[n]. */
void aps_vote_cast(const float *x, size_t n, uint8_t *ballot);

/* Returns the bytes of the outcomes of n elements: 1 bit each for an odd number
 * of ranks, five in a byte for an even one. */
size_t aps_vote_outcome_bytes(int ranks, size_t n);

/* Counts the outcomes of the ballots of `ranks` ranks; rank i's ballot is at
 * ballots + i * stride. */
void aps_vote_count(const uint8_t *ballots, size_t stride, int ranks, size_t n,
                    uint8_t *outcome);

/* y[n] = the outcomes times the magnitude. */
void aps_vote_decode(const uint8_t *outcome, int ranks, size_t n,
                     float magnitude, float *y);

#endif

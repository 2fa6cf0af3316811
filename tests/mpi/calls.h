/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list of calls of MPI_Allreduce as one training step: each is a layer and
 * has its own rule. The same list writes the policy and makes the calls.
 */
#ifndef APS_TEST_CALLS_H
#define APS_TEST_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "reference.h"

/* Contributions of the ranks to a call. */
enum fill {
    FILL_GRADIENTS, /* around zero, mostly below 1, smaller further on */
    FILL_WIDE, /* any exponent up to 2^100, subnormals, zeros of any sign */
    FILL_SUBNORMAL,
    FILL_HUGE, /* up to the greatest float: sums overflow */
    FILL_ZERO, /* zeros of any sign, some negative on every rank */
    FILLS
};

extern const char *const fill_names[FILLS];

/* How the program makes a call. */
enum how {
    HOW_PLAIN,
    HOW_IN_PLACE,
    HOW_MIXED,   /* in place on odd ranks only */
    HOW_LARGE,   /* MPI_Allreduce_c */
    HOW_FORTRAN, /* MPI_REAL */
    HOW_REAL4,   /* MPI_REAL4, in place */
    HOWS
};

extern const char *const how_names[HOWS];

struct call {
    struct way way;
    size_t count;
    enum fill fill;
    enum how how;
};

/* The policy for the list; neighbours of one way share a rule. */
void calls_print_policy(FILE *stream, size_t n, const struct call calls[]);

/* Rank `rank`'s x[n] for the call number `seed`. */
void fill(enum fill kind, uint64_t seed, int rank, size_t n, float *x);

/* COLLECTIVE over MPI_COMM_WORLD. Reduces in[] into out[]; `in` is not changed.
 * Returns an MPI error code. */
int call_make(const struct call *call, const float *in, float *out);

/* Computes expected results: reference_exact or reference_reduce. */
typedef void (*reference_fn)(const struct way *way, int ranks, size_t n,
                             float *const in[], float *out);

/*
 * COLLECTIVE over MPI_COMM_WORLD. Makes all calls; each must give the reference's bits
 * on every rank. One test for each sequence of calls of one way.
 */
void calls_run(size_t n, const struct call calls[], reference_fn reference);

#endif

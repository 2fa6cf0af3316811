/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a seed says about a whole job: its policy and where it is seen, threads,
 * pretended nodes, and a rank that is late.
 */
#ifndef RANDOM_SETUP_H
#define RANDOM_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_RANKS 8
#define MAX_THREADS 3
#define COUNTS 6

enum special {
    SPECIAL_NONE,
    SPECIAL_LATE, /* one rank is ten seconds late, once */
    SPECIAL_MANY  /* 1,500 communicators, a nonblocking sum on each */
};

struct setup {
    uint64_t seed;
    int size; /* of MPI_COMM_WORLD */
    enum special special;
    int threads;   /* besides the main one; more than 0: MPI_THREAD_MULTIPLE */
    bool multiple; /* MPI_THREAD_MULTIPLE is asked for, at any rate */
    int events;    /* of each thread */

    /* --- the policy --- */
    char policy[2048];
    bool exact;   /* every format is e8m23 or fp32 */
    bool ordered; /* every FP32 sum of min_count elements is e8m23 by direct, in
                     rank order */
    bool fixed;   /* results are the same in every run: nothing is measured */
    int mantissa; /* bits, the least of all formats */
    int min_count;
    int counts[COUNTS]; /* that calls of this seed have */
    bool pcontrol;      /* the program's MPI_Pcontrol acts */
    unsigned absent;    /* ranks that do not see the file, a bit for each */

    /* --- variables --- */
    int nodes; /* pretended; 0: not */
    bool cyclic;
};

/* Everything follows from the seed and the number of ranks. */
void setup_draw(struct setup *setup, uint64_t seed, int size);

/*
 * Before MPI_Init: writes this rank's policy into the working directory, unless
 * it does not see it, and sets the environment. 0, or -1 with errno.
 */
int setup_environment(const struct setup *setup, int rank);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The settings of a whole job, drawn from a seed: its policy and the ranks that
 * see it, threads, test nodes, and a rank that is late.
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
    int size; /* size of MPI_COMM_WORLD */
    enum special special;
    int threads;   /* more than the main one; > 0: MPI_THREAD_MULTIPLE */
    bool multiple; /* MPI_THREAD_MULTIPLE is requested without threads, too */
    int events;    /* events of each thread */

    /* --- the policy --- */
    char policy[2048];
    bool exact;   /* every format is e8m23 or fp32 */
    bool ordered; /* every FP32 sum of min_count elements is e8m23 by direct, in
                     rank order */
    bool fixed;   /* no result depends on measurements */
    unsigned elements; /* types that the rules are for: 1 << enum base each */
    int mantissa;      /* mantissa bits, the least of all formats */
    int min_count;
    int counts[COUNTS]; /* counts of this seed's calls */
    bool pcontrol;      /* the program's MPI_Pcontrol acts */
    unsigned absent;    /* ranks without the policy's file, a bit each */

    /* --- variables --- */
    int nodes; /* test nodes; 0: none */
    bool cyclic;
};

/* The seed and the number of ranks determine everything. */
void setup_draw(struct setup *setup, uint64_t seed, int size);

/*
 * Call it before MPI_Init: writes this rank's policy into the working directory, unless
 * it does not see it, and sets the environment. Returns 0, or -1 with errno.
 */
int setup_environment(const struct setup *setup, int rank);

#endif

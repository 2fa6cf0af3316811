/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the program digits share: the sizes of the problem, the rank,
 * messages.
 */
#ifndef DIGITS_H
#define DIGITS_H

enum {
    FEATURES = 64,
    CLASSES = 10,
    TEST_IMAGES = 360,
    MAX_HIDDEN = 4096,
    MAX_IMAGES = 1000000,
};

extern int rank, ranks; /* in MPI_COMM_WORLD */

/* Rank 0 speaks for all: the ranks read the same words. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* COLLECTIVE over MPI_COMM_WORLD. If any rank failed, all leave together. */
int anyone_failed(int failed);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code shared by the programs digits and heads: the sizes of the problem, the
 * rank, messages.
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

extern const char *const program_name; /* program's name in messages */

extern int rank, ranks; /* in MPI_COMM_WORLD; main sets them */

/* Rank 0 prints: all ranks read the same words. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* COLLECTIVE over MPI_COMM_WORLD. If any rank failed, all leave together. */
int anyone_failed(int failed);

#endif

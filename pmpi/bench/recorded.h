/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gradients that a program has summed while it trained, for benches: the files
 * of tests/figures/record.c. They change from call to call like gradients.
 */
#ifndef APS_BENCH_RECORDED_H
#define APS_BENCH_RECORDED_H

#include <stddef.h>

struct recorded {
    unsigned char *bytes; /* the file, mapped */
    size_t size;
    size_t *records; /* [count]: offset of each record in the file */
    size_t count;
    size_t calls; /* number of records of one step */
};

/* Maps the file PREFIX.RANK. A step is the shortest sequence of lengths that the file
 * repeats from its beginning to its end. Returns 0; or -1, and why in `error` (size
 * bytes). The caller clears *recorded in both cases. */
int recorded_open(const char *prefix, int rank, struct recorded *recorded,
                  char *error, size_t size);
void recorded_clear(struct recorded *recorded);

/* Sets x[n] to the gradients of one step, again and again if the step is shorter: one
 * of another step would be greater than the step's own. The first step follows the last
 * one. */
void recorded_fill(const struct recorded *recorded, size_t step, float *x,
                   size_t n);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gradients that a program has summed while it trained, for benches: the files
 * of tests/figures/record.c. They change from call to call like gradients.
 */
#ifndef APS_PMPI_BENCH_RECORDED_H
#define APS_PMPI_BENCH_RECORDED_H

#include <stddef.h>

struct aps_recorded {
    unsigned char *bytes; /* the file, mapped */
    size_t size;
    size_t *records; /* [count]: offset of each record in the file */
    size_t count;
    size_t calls; /* number of records of one step */
};

/* Maps the file PREFIX.RANK. A step is the shortest sequence of lengths that the file
 * repeats from its beginning to its end. Returns 0; or -1, and why in `error` (size
 * bytes). The caller clears *recorded in both cases. */
int aps_recorded_open(const char *prefix, int rank,
                      struct aps_recorded *recorded, char *error, size_t size);
void aps_recorded_clear(struct aps_recorded *recorded);

/* Sets x[n] to the gradients of one step, again and again if the step is shorter: one
 * of another step would be greater than the step's own. The first step follows the last
 * one. */
void aps_recorded_fill(const struct aps_recorded *recorded, size_t step,
                       float *x, size_t n);

#endif

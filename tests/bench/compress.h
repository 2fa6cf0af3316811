/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the bench of compressors, and what they share. */
#ifndef APS_TESTS_BENCH_COMPRESS_H
#define APS_TESTS_BENCH_COMPRESS_H

#include <stddef.h>

/* A part prints its table; 0, or an exit status. */
int bench_feedback(void);
int bench_lowrank(void);
int bench_select(void);
int bench_ternary(void);

/* Runs of what a line of a table measures: the fastest one counts. */
#define BENCH_RUNS 7

/* The thread's CPU time in seconds. */
double bench_now(void);

/* n random floats of -1 to 1, to be freed; exits where memory is short. */
float *bench_floats(size_t n);

/* Seconds of the fastest of BENCH_RUNS copies of n floats by memcpy. */
double bench_memcpy(const float *from, size_t n, float *to);

/* What a line of a table measures: a pass over `data`. */
struct bench_row {
    const char *name;
    void (*run)(void *data);
};

/* Print a table of passes over n floats, and memcpy of them from one place to
 * another before it: the fastest of BENCH_RUNS runs in ms, GB/s of the floats, and
 * the time divided by memcpy's. The passes follow each other, as in a call. */
void bench_rows(const char *title, const struct bench_row *rows, size_t count,
                void *data, const float *from, size_t n, float *to);

#endif

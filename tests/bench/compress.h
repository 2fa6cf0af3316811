/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the bench of compressors, and their common functions. */
#ifndef APS_TESTS_BENCH_COMPRESS_H
#define APS_TESTS_BENCH_COMPRESS_H

#include <stddef.h>

/* Each part prints its table. Returns 0, or an exit status. */
int bench_feedback(void);
int bench_lowrank(void);
int bench_select(void);
int bench_ternary(void);

/* Number of runs for a line of a table; the fastest one counts. */
#define BENCH_RUNS 7

/* Returns the thread's CPU time in seconds. */
double bench_now(void);

/* Returns n random floats of -1 to 1, which the caller frees, or exits. */
float *bench_floats(size_t n);

/* Returns the seconds of memcpy of n floats: the fastest of BENCH_RUNS runs. */
double bench_memcpy(const float *from, size_t n, float *to);

/* A line of a table: a pass over `data`. */
struct bench_row {
    const char *name;
    void (*run)(void *data);
};

/* Prints a table of passes over n floats, after memcpy of the floats: the
 * fastest of BENCH_RUNS runs in ms, GB/s of the floats, and the time divided by
 * memcpy's. The passes follow each other, as in a call. */
void bench_rows(const char *title, const struct bench_row *rows, size_t count,
                void *data, const float *from, size_t n, float *to);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worker threads, which share long passes over vectors with the thread that
 * makes them.
 *
 * They start with the first such pass. After a pass they spin for some
 * microseconds, and then sleep. One pass at a time has them: a thread that
 * finds them busy makes its pass alone, as a forked child does. A pass has the
 * same results on any number of threads.
 */
#ifndef APS_CODEC_WORKERS_H
#define APS_CODEC_WORKERS_H

#include <stdbool.h>
#include <stddef.h>

/* Largest number of threads that share a pass. */
#define APS_WORKERS_MAX 64

/* Sets the number of threads that share a pass, 1 to APS_WORKERS_MAX, with the
 * thread that makes it. 1, the default: there are no workers. */
void aps_workers_set(int threads);

/* Returns that number: fewer if the system lacked a thread, and 1 in a forked
 * child. */
int aps_workers_threads(void);

/* Least number of elements of a part, which takes as long as the threads need to
 * meet: some microseconds. */
#define APS_WORKERS_PART_MIN ((size_t)16384)

/* Several passes over fewer elements each are shared as a list. */
#define APS_WORKERS_PASS_MIN ((size_t)65536)

/* True if a pass over n elements may have several parts. */
bool aps_workers_divide(size_t n);

/* True if `count` passes over n elements each should be a list
 * (aps_workers_list), in which each is made by one thread. */
bool aps_workers_prefer_list(size_t count, size_t n);

/* Makes a part of a pass: elements [begin, begin + n). Parts are made at the
 * same time, in the library's floating-point environment (base/fpenv.h). */
typedef void (*aps_pass_fn)(void *state, size_t begin, size_t n);

/* Makes a pass over [0, n) of `arrays` arrays, in parts that begin at multiples of
 * `unit` elements; in a single part if there are few elements. Returns after all
 * parts. */
void aps_workers_pass(size_t n, int arrays, size_t unit, aps_pass_fn pass,
                      void *state);

/* Makes items [0, count) of a list, which have n elements together; `items` gets
 * items in place of elements. Returns after all. */
void aps_workers_list(size_t count, size_t n, aps_pass_fn items, void *state);

/* Ends the workers, after the pass that they are in. The next pass starts them
 * again. */
void aps_workers_stop(void);

#endif

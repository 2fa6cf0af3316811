/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What device.c can be asked to do: calls of one kind on buffers in GPU memory,
 * which give what the same calls on host memory give. Each function is
 * COLLECTIVE over MPI_COMM_WORLD and speaks TAP.
 */
#ifndef APS_TEST_DEVICE_CALLS_H
#define APS_TEST_DEVICE_CALLS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device_buffers.h"
#include "reduction_spec.h"

extern const struct way ways[WAYS];
extern bool passes; /* all calls, to MPI */

/* One all-reduce of n elements. Is it right on this rank? */
bool sum(enum where where, size_t n, uint64_t seed);
void run_sums(void);

/*
 * All-reduces of several of the longest chunks, which tell a hash of the sums.
 * With both, calls on host memory and on a GPU's follow each other, and on a GPU's
 * for even ranks only: what they share is used by all. With one of both, calls
 * have the same numbers, and random bits, in either program. `more`: of several of
 * the longest chunks of GPU memory, too.
 */
void run_long(bool on_host, bool on_gpu, bool more);

/* Buffers that cudaMemcpy is still writing to, into fresh memory each time. */
void run_unsettled(void);

/* Calls while a stream of the program is captured. */
void run_captured(void);

/* On the stand-ins. "": by CUDA IPC; "aware": MPI takes blocks from a GPU's memory;
 * "CHUNK:ENCODED:DECODED:OWN": blocks are in host memory, so many of a chunk of so
 * many elements are encoded, and decoded, and each has a scale of its own (1) or
 * not (0). */
void run_waits(const char *how);

void run_others(void);

void run_nonblocking(bool persistent);

/* Nonblocking call i has a place of its own in the buffers, CALL_ROOM elements
 * behind that of the previous call; the last is long. */
#define CALLS 8
size_t count_of(int i);
struct buffers buffers_of_call(int i);
void lay_out_calls(void);

/* expected[n] of in[n], on host memory: by a blocking call, except where MPI
 * makes the sums, whose order is another for a nonblocking call. */
void expect(size_t n, MPI_Comm comm);

void run_passed(void);

/* Copies that fail on rank 1. `aware`: MPI gets what passes, and has nothing to
 * copy. */
void run_failing(bool shared, bool aware);

#endif

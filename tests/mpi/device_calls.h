/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests that device.c can run: calls of one kind on buffers in GPU memory give
 * the results of the same calls on host memory. Each function is COLLECTIVE
 * over MPI_COMM_WORLD and prints TAP.
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
extern bool passes; /* all calls go to MPI */

/* Makes one all-reduce of n elements. True if the result is right on this rank. */
bool sum(enum where where, size_t n, uint64_t seed);
void run_sums(void);

/*
 * All-reduces several of the longest chunks, and prints a hash of the sums.
 * With both flags, calls on host memory and on GPU memory alternate, and only
 * even ranks have GPU memory, so that the calls share resources. With one flag,
 * the calls have the same numbers and random bits in either program. `more`:
 * also several of the longest chunks of GPU memory.
 */
void run_long(bool on_host, bool on_gpu, bool more);

/* Reduces buffers that cudaMemcpy is still writing to, in fresh memory each time. */
void run_unsettled(void);

/* Makes calls while a stream of the program is captured. */
void run_captured(void);

/* Runs on the stand-ins. `how` is "" (CUDA IPC), "aware" (MPI takes blocks from
 * a GPU's memory), or "CHUNK:ENCODED:DECODED:OWN" (blocks are in host memory; a
 * chunk of CHUNK elements encodes ENCODED and decodes DECODED blocks; OWN is 1
 * if each has its own scale, else 0). */
void run_waits(const char *how);

void run_others(void);

/* All-reduces doubles, and elements of 16 bits if MPI has them. */
void run_types(void);

void run_nonblocking(bool persistent);

/* Nonblocking call i has its own part of the buffers, CALL_ROOM elements after
 * that of the previous call; the last call is long. */
#define CALLS 8
size_t count_of(int i);
struct buffers buffers_of_call(int i);
void lay_out_calls(void);

/* Computes expected[n] of in[n] on host memory, by a blocking call; if MPI
 * makes the sums, by a nonblocking call, which adds in another order. */
void expect(size_t n, MPI_Comm comm);

void run_passed(void);

/* Copies fail on rank 1. `aware`: MPI gets the calls that pass through, and
 * nothing is copied. */
void run_failing(bool shared, bool aware);

#endif

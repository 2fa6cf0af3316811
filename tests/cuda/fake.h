/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device that is none: the functions of driver and runtime that cuda/ calls,
 * on the host, with the liberties that a real one takes.
 *
 * - Device memory cannot be touched by the program (mprotect).
 * - Work on a stream is done late: when it is waited for, or at any other time,
 *   by chance. Streams overtake each other.
 * - The legacy stream, where the program's kernels may wait for what is to be
 *   done here, must not be used.
 * - A context must be current for what belongs to it.
 * - Memory that is opened is the owner's, at another address; a kernel must not
 *   be given memory of another context.
 * - Any call can be made to fail.
 *
 * A program error (a wrong context, a write outside) ends the program with a
 * message.
 */
#ifndef APS_TESTS_CUDA_FAKE_H
#define APS_TESTS_CUDA_FAKE_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda.h>
#include <cuda_runtime_api.h>

/* A context of a device, which becomes the thread's; the primary ones exist. */
CUcontext fake_context_create(int device);
CUcontext fake_context_primary(int device);
void fake_context_set(CUcontext context);
CUcontext fake_context_get(void);

/* Destroyed, and created anew with the same handle: all that it had is lost. */
void fake_context_recreate(CUcontext context);

/* Destroyed: its handle must not be used any more, and at the addresses of its
 * memory is memory of `heir`. */
void fake_context_destroy(CUcontext context, CUcontext heir);

/* Memory of a context, of a device's pool, and managed. */
enum fake_kind { FAKE_DEVICE, FAKE_POOL, FAKE_MANAGED };
void *fake_allocate(enum fake_kind kind, CUcontext context, size_t bytes);
void fake_free(void *memory);

/* What the program does with device memory on its own. */
void fake_write(void *to, const void *from, size_t bytes);
void fake_read(void *to, const void *from, size_t bytes);

/* Let the runtime's call number `n` from now on (1 is the next) fail, alone or
 * with all that follow; 0: none. */
void fake_fail(unsigned long n, cudaError_t error, bool sticky);

/* Has it come to that? */
bool fake_failed(void);

/* Let all allocations of device memory fail. */
void fake_memory_full(bool full);

/* Let the driver know no pointer, as it does at the end of a process. */
void fake_driver_down(bool down);

/* Allocations of device memory tried, and given back. */
unsigned long fake_attempts(void);
unsigned long fake_frees(void);

/* Copies of memory that is not pinned: they are slow, and do not overlap. */
unsigned long fake_pageable(void);

/* How often the host has waited for a stream or an event, started a kernel,
 * and started a copy or a clearing, so far. */
struct fake_counts {
    unsigned long waits, kernels, copies;
};
struct fake_counts fake_counts(void);

/* What is open of other processes, how often, and locked of the program's. */
unsigned fake_shared(void);

/* The calling thread's capture mode. */
CUstreamCaptureMode fake_capture_mode(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fake device: the functions of driver and runtime that cuda/ calls, on the
 * host, with the liberties of a real device.
 *
 * - The program cannot touch device memory (mprotect).
 * - Work on a stream is done late: when the host waits for it, or at random.
 *   Streams overtake each other.
 * - The legacy stream must not be used: the program's kernels there may wait
 *   for the library's work.
 * - A context must be current for operations on its resources.
 * - Memory that is opened is the owner's, at another address; a kernel must not
 *   get memory of another context.
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

/* Makes a context of a device, and makes it current; primary ones exist. */
CUcontext fake_context_create(int device);
CUcontext fake_context_primary(int device);
void fake_context_set(CUcontext context);
CUcontext fake_context_get(void);

/* Creates a context again with the same handle: its resources are lost. */
void fake_context_recreate(CUcontext context);

/* Destroys a context: its handle must not be used any more, and memory of
 * `heir` gets the addresses of its memory. */
void fake_context_destroy(CUcontext context, CUcontext heir);

/* Memory of a context, of a device's pool, and managed memory. */
enum fake_kind { FAKE_DEVICE, FAKE_POOL, FAKE_MANAGED };
void *fake_allocate(enum fake_kind kind, CUcontext context, size_t bytes);
void fake_free(void *memory);

/* The program's own accesses to device memory. */
void fake_write(void *to, const void *from, size_t bytes);
void fake_read(void *to, const void *from, size_t bytes);

/* Makes the runtime's call number `n` from now on (1 is the next) fail, alone
 * or with all later ones; 0: none. */
void fake_fail(unsigned long n, cudaError_t error, bool sticky);

/* True if that call has been made. */
bool fake_failed(void);

/* Makes all allocations of device memory fail. */
void fake_memory_full(bool full);

/* Makes the driver know no pointer, as at the end of a process. */
void fake_driver_down(bool down);

/* Return the numbers of tried and freed allocations of device memory. */
unsigned long fake_attempts(void);
unsigned long fake_frees(void);

/* Returns the number of copies of unpinned memory, which are slow. */
unsigned long fake_pageable(void);

/* Numbers of the host's waits for a stream or an event, of started kernels, and
 * of started copies and clearings, so far. */
struct fake_counts {
    unsigned long waits, kernels, copies;
};
struct fake_counts fake_counts(void);

/* Return the numbers of opened allocations, of openings, and of locked ones. */
unsigned fake_shared(void);

CUstreamCaptureMode fake_capture_mode(void);

#endif

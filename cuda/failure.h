/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What went wrong in the device's verbs: counted, with the last cause, for the
 * ranks to agree on; and what was only slower, in a line on standard error.
 */
#ifndef APS_CUDA_FAILURE_H
#define APS_CUDA_FAILURE_H

#include <stddef.h>

#include <cuda_runtime_api.h>

/* A verb that failed. */
void aps_cuda_failure_note(const char *verb, const char *cause);

/* One that gives something back, if it failed; not where that went by itself,
 * with the program's end or the context's. */
void aps_cuda_failure_check(const char *verb, cudaError_t error);

/* How many, and why the last did. */
unsigned long aps_cuda_failure_count(char *cause, size_t size);

/* A verb that had to go another way, and why: said the first time, and ever
 * less often after ten. */
void aps_cuda_detour_note(const char *verb, const char *cause);

#endif

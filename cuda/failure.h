/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failures of the device's verbs: counts them and keeps the last cause, for the
 * ranks to agree on. Detours, which were only slower, are reported in a line on
 * standard error.
 */
#ifndef APS_CUDA_FAILURE_H
#define APS_CUDA_FAILURE_H

#include <stddef.h>

#include <cuda_runtime_api.h>

#include "cuda/plugin.h"

/* Set by libapsmpi.so (aps_cuda_plugin.tell); NULL: lines are lost. */
extern aps_cuda_tell_fn aps_cuda_tell;

/* Counts a verb that failed. */
void aps_cuda_failure_note(const char *verb, const char *cause);

/* Counts a verb that releases a resource, if it failed; not if the resource
 * ended with the program or the context. */
void aps_cuda_failure_check(const char *verb, cudaError_t error);

/* Returns the number of failures, and the cause of the last. */
unsigned long aps_cuda_failure_count(char *cause, size_t size);

/* Reports a verb that took a detour, and the cause: the first ten times, then
 * ever less often. */
void aps_cuda_detour_note(const char *verb, const char *cause);

#endif

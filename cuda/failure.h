/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What went wrong in the device's verbs: counted, with the last cause, for the
 * ranks to agree on; and what was only slower, in a line on standard error.
 */
#ifndef APS_CUDA_FAILURE_H
#define APS_CUDA_FAILURE_H

#include <stddef.h>

/* A verb that failed. */
void aps_cuda_failure_note(const char *verb, const char *cause);

/* How many, and why the last did. */
unsigned long aps_cuda_failure_count(char *cause, size_t size);

/* A verb that had to go another way, and why: said the first time, and ever
 * less often after ten. */
void aps_cuda_detour_note(const char *verb, const char *cause);

#endif

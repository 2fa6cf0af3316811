/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugin and the memory of a GPU, for the tests on one. */
#ifndef APS_TESTS_CUDA_DEVICE_HELP_H
#define APS_TESTS_CUDA_DEVICE_HELP_H

#include <stddef.h>

#include <cuda_runtime_api.h>

#include "cuda/plugin.h"
#include "verbs.h"

/* The plugin's verbs; load_plugin sets them, or skips all tests without a GPU. */
extern const struct aps_memory *verbs;
void load_plugin(void);

/* Ends the tests if a call of CUDA has failed. */
void must(cudaError_t error, const char *what);

/* Returns the number of failed verbs so far, and prints why. */
unsigned long failures(void);

enum kind { DEVICE, MANAGED, POOL, PINNED, ORDINARY, KINDS };
extern const char *const kinds[KINDS];

/* Returns NULL if the device has no such memory. */
void *memory_of(enum kind kind, size_t bytes);
void memory_free(enum kind kind, void *p);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions shared by the tests of wire bytes in a device's memory. */
#ifndef APS_TESTS_CUDA_BLOCKS_HELP_H
#define APS_TESTS_CUDA_BLOCKS_HELP_H

#include "cuda/plugin.h"
#include "placed.h"

/* The plugin's verbs, on the fake device. */
extern const struct aps_memory *const verbs;

/* Cause of the last verb's failure. */
extern char cause[256];

/* Returns the number of failed verbs so far. */
unsigned long failures(void);

/* True if this context is current, and the caller's other state is as before. */
bool kept(CUcontext context);

/* Allocates memory by the plugin, on the device of `near`. */
unsigned char *get_memory(const void *near, size_t bytes);

/* Returns a number of values whose wire is longer than all slots of a lane. */
size_t long_one(const char *name);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of wire bytes in a device's memory share. */
#ifndef APS_TESTS_CUDA_BLOCKS_HELP_H
#define APS_TESTS_CUDA_BLOCKS_HELP_H

#include "cuda/plugin.h"
#include "placed.h"

/* The plugin's, over a device that is none. */
extern const struct aps_memory *const verbs;

/* Why the last verb that tells it has failed. */
extern char cause[256];

/* Of the verbs, so far. */
unsigned long failures(void);

/* Is the thread's context this one, and the rest the caller's own, as before? */
bool kept(CUcontext context);

/* By the plugin, on the device of `near`. */
unsigned char *get_memory(const void *near, size_t bytes);

/* So many values that the wire is longer than what a lane's slots hold together.
 */
size_t long_one(const char *name);

#endif

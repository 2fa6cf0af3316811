/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libapsmpi-cuda.so offers to libapsmpi.so, which loads it (dlopen) at the
 * first buffer in a GPU's memory. Neither is linked with the other.
 */
#ifndef APS_CUDA_PLUGIN_H
#define APS_CUDA_PLUGIN_H

#include <stddef.h>

#include "codec/memory.h"

/* To be raised with every change of what is below, or of the structures that it
 * uses. */
#define APS_CUDA_INTERFACE 2

#define APS_CUDA_LIBRARY "libapsmpi-cuda.so"
#define APS_CUDA_SYMBOL "aps_cuda_plugin"

struct aps_cuda_plugin {
    unsigned interface;  /* APS_CUDA_INTERFACE, or the rest is not looked at */
    const char *version; /* PACKAGE_VERSION: must be that of libapsmpi.so */

    /* Once, before the verbs: can it work in this process? 0, or -1 with the
     * cause: no driver, a driver that is too old, no device. */
    int (*open)(char *cause, size_t size);

    /* The verbs, for memory of any device and context, and managed memory. */
    struct aps_memory memory;
};

/* Its only symbol (APS_CUDA_SYMBOL). */
APS_API extern const struct aps_cuda_plugin aps_cuda_plugin;

#endif

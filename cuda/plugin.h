/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interface of libapsmpi-cuda.so for libapsmpi.so, which loads it (dlopen) at
 * the first buffer in GPU memory. Neither is linked with the other.
 */
#ifndef APS_CUDA_PLUGIN_H
#define APS_CUDA_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/element.h"
#include "codec/memory.h"
#include "cuda/plugin_identity.h"

#define APS_CUDA_LIBRARY "libapsmpi-cuda.so"
#define APS_CUDA_SYMBOL "aps_cuda_plugin"

/* Sizes of the structs that cross the interface, in the layout of the plugin's
 * compiler. */
struct aps_cuda_sizes {
    uint32_t plugin;
    uint32_t memory;
    uint32_t device_memory;
    uint32_t codec;
    uint32_t format;
    uint32_t scaling;
};
#define APS_CUDA_SIZES                                                         \
    {                                                                          \
        sizeof(struct aps_cuda_plugin), sizeof(struct aps_memory),             \
            sizeof(struct aps_device_memory), sizeof(struct aps_codec),        \
            sizeof(struct aps_format), sizeof(struct aps_scaling)              \
    }

/* Prints a line, like aps_message. */
typedef void (*aps_cuda_tell_fn)(int rank, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Encodes, decodes or measures elements of another type than FP32 in device or managed
 * memory of any context, with the wire in host memory (struct aps_memory); converts
 * them on the device. `stats` may be NULL. Returns 0, or -1 if x is in host memory, the
 * format has no kernel, or the device failed, which a line reports: the caller then
 * does the step itself.
 */
typedef int (*aps_cuda_elements_fn)(enum aps_element element,
                                    struct aps_device_step *step,
                                    struct aps_encode_stats *stats);

struct aps_cuda_plugin {
    uint64_t identity; /* APS_CUDA_IDENTITY: a hash of the headers of the
                          interface (cuda/local.mk); if it differs from
                          libapsmpi.so's, only the version is read besides */
    char version[32];  /* PACKAGE_VERSION: must be that of libapsmpi.so */
    struct aps_cuda_sizes sizes; /* APS_CUDA_SIZES */

    /* Call this once, before the verbs. Finds out whether the plugin can work
     * in this process. Returns 0, or -1 with the cause: no driver, a driver
     * that is too old, no device. */
    int (*open)(char *cause, size_t size);

    /* Variable for aps_message of libapsmpi.so, which alone knows the standard
     * error of the job's start; NULL: the plugin prints nothing. */
    aps_cuda_tell_fn *tell;

    /* The verbs, for memory of any device and context, and managed memory. */
    struct aps_memory memory;
    aps_cuda_elements_fn elements;
};

/* Its only symbol (APS_CUDA_SYMBOL). */
APS_API extern const struct aps_cuda_plugin aps_cuda_plugin;

#endif

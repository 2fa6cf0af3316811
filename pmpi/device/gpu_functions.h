/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the CUDA driver, for the files of pmpi/device that call them. */
#ifndef APS_PMPI_DEVICE_GPU_FUNCTIONS_H
#define APS_PMPI_DEVICE_GPU_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>

typedef unsigned long long aps_gpu_address; /* CUdeviceptr */
typedef void *aps_gpu_context;              /* CUcontext */
typedef void *aps_gpu_stream;               /* CUstream */

/* Functions return a CUresult; 0 is success. */
struct aps_gpu_driver {
    int (*attributes)(unsigned count, const int *which, void **values,
                      aps_gpu_address pointer);
    int (*set_attribute)(const void *value, int which, aps_gpu_address pointer);
    int (*current)(aps_gpu_context *current);
    int (*current_device)(int *device);
    int (*capture_mode)(int *mode); /* exchanges the mode */
    int (*push)(aps_gpu_context pushed);
    int (*pop)(aps_gpu_context *popped);
    int (*retain)(aps_gpu_context *primary, int device);
    int (*context_id)(aps_gpu_context context,
                      unsigned long long *id); /* NULL before CUDA 12 */
    /* NULL before CUDA 12.1, like the next three */
    int (*context_flags)(unsigned *flags);
    int (*set_context_flags)(unsigned flags);
    int (*is_capturing)(aps_gpu_stream stream, int *status);
    int (*query)(aps_gpu_stream stream);
    int (*priorities)(int *least, int *greatest);
    int (*make_stream)(aps_gpu_stream *stream, unsigned flags, int priority);
    int (*destroy_stream)(aps_gpu_stream stream);
    int (*copy_out)(void *host, aps_gpu_address device, size_t bytes,
                    aps_gpu_stream stream);
    int (*copy_in)(aps_gpu_address device, const void *host, size_t bytes,
                   aps_gpu_stream stream);
    int (*wait)(aps_gpu_stream stream);
    int (*error_name)(int result, const char **name);
};

/* Owner of memory. */
struct aps_gpu_owner {
    aps_gpu_context home; /* NULL: memory of a pool, which all contexts share */
    int device;
};

/* Returns the functions, or NULL if the program has not loaded the driver. */
const struct aps_gpu_driver *aps_gpu_driver_get(void);

/* Finds the owner of p. Returns false if p is neither in memory of a device nor
 * in managed memory. */
bool aps_gpu_driver_find_owner(const struct aps_gpu_driver *driver,
                               const void *p, struct aps_gpu_owner *owner);

#endif

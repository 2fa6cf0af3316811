/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cuda/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "libcuda.so.1"

struct aps_cuda_driver aps_cuda_driver;

/* The names with the versions that cuda.h gives them. */
static const struct {
    const char *name;
    void *place;
} functions[] = {
    {"cuInit", &aps_cuda_driver.init},
    {"cuDriverGetVersion", &aps_cuda_driver.version},
    {"cuDeviceGetCount", &aps_cuda_driver.device_count},
    {"cuPointerGetAttributes", &aps_cuda_driver.pointer_attributes},
    {"cuMemGetAddressRange_v2", &aps_cuda_driver.address_range},
    {"cuCtxGetCurrent", &aps_cuda_driver.context_current},
    {"cuCtxPushCurrent_v2", &aps_cuda_driver.context_push},
    {"cuCtxPopCurrent_v2", &aps_cuda_driver.context_pop},
    {"cuCtxGetDevice", &aps_cuda_driver.context_device},
    {"cuCtxGetId", &aps_cuda_driver.context_id},
    {"cuDevicePrimaryCtxRetain", &aps_cuda_driver.primary_retain},
    {"cuMemcpyPeerAsync", &aps_cuda_driver.copy_peer},
    {"cuThreadExchangeStreamCaptureMode", &aps_cuda_driver.capture_mode},
    {"cuGetErrorString", &aps_cuda_driver.error_string},
};

/* Returns the first of the functions that the library lacks, or NULL. */
static const char *driver_find_functions(void *library)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(library, functions[i].name);

        if (!found)
            return functions[i].name;
        /* not an assignment, because C cannot convert from an object's
         * pointer */
        memcpy(functions[i].place, &found, sizeof found);
    }
    return NULL;
}

int aps_cuda_driver_open(char *cause, size_t size)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    const char *missing = NULL;
    int version = 0, devices = 0;
    CUresult result;

    if (!library) {
        snprintf(cause, size, "no CUDA driver: %s", dlerror());
        return -1;
    }
    missing = driver_find_functions(library);
    if (aps_cuda_driver.version &&
        aps_cuda_driver.version(&version) == CUDA_SUCCESS &&
        version / 1000 < CUDA_VERSION / 1000)
        missing = ""; /* the cause is its age, whatever function it lacks */
    if (missing) {
        snprintf(
            cause, size,
            "the CUDA driver is too old: it is for CUDA %d.%d, and %d.0 is "
            "needed%s%s",
            version / 1000, version % 1000 / 10, CUDA_VERSION / 1000,
            *missing ? "; it has no " : "", missing);
        return -1;
    }
    result = aps_cuda_driver.init(0);
    if (result == CUDA_SUCCESS)
        result = aps_cuda_driver.device_count(&devices);
    if (result != CUDA_SUCCESS) {
        snprintf(cause, size, "the CUDA driver does not start: %s",
                 aps_cuda_driver_error(result));
        return -1;
    }
    if (devices == 0) {
        snprintf(cause, size, "there is no CUDA device");
        return -1;
    }
    return 0;
}

const char *aps_cuda_driver_error(CUresult result)
{
    const char *text = NULL;

    aps_cuda_driver.error_string(result, &text);
    return text ? text : "unknown error of the CUDA driver";
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Constants of cuda.h that are repeated where it may not be included equal cuda.h's. */
#include "config.h"

#include <stdint.h>

#include <cuda.h>

#include "device/gpu_constants.h"
#include "tap/tap.h"

int main(void)
{
    static const struct {
        const char *name;
        long ours;
        long theirs;
    } constants[] = {
        {"CONTEXT", APS_GPU_CONTEXT, CU_POINTER_ATTRIBUTE_CONTEXT},
        {"MEMORY_TYPE", APS_GPU_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE},
        {"SYNC_MEMOPS", APS_GPU_SYNC_MEMOPS, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS},
        {"IS_MANAGED", APS_GPU_IS_MANAGED, CU_POINTER_ATTRIBUTE_IS_MANAGED},
        {"DEVICE_ORDINAL", APS_GPU_DEVICE_ORDINAL,
         CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL},
        {"a device's memory", APS_GPU_TYPE_DEVICE, CU_MEMORYTYPE_DEVICE},
#if CUDA_VERSION >= 12010
        {"the context's flag", APS_GPU_CONTEXT_SYNC_MEMOPS, CU_CTX_SYNC_MEMOPS},
#endif
        {"non-blocking streams", APS_GPU_STREAM_NON_BLOCKING,
         CU_STREAM_NON_BLOCKING},
        {"the relaxed mode", APS_GPU_CAPTURE_RELAXED,
         CU_STREAM_CAPTURE_MODE_RELAXED},
        {"no capture", APS_GPU_CAPTURES_NOTHING, CU_STREAM_CAPTURE_STATUS_NONE},
        {"not ready", APS_GPU_NOT_READY, CUDA_ERROR_NOT_READY},
        {"the legacy stream", APS_GPU_LEGACY_STREAM,
         (long)(intptr_t)CU_STREAM_LEGACY},
    };

    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        ok(constants[i].ours == constants[i].theirs, "%s: %ld, in cuda.h %ld",
           constants[i].name, constants[i].ours, constants[i].theirs);
    return done_testing();
}

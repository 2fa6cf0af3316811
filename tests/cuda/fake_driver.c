/* SPDX-License-Identifier: BSD-3-Clause */
/* CUDA's driver, for the fake device. */
#include "config.h"

#include "cuda/driver.h"

#include "fake_state.h"

static CUresult pointer_attributes(unsigned count, CUpointer_attribute *which,
                                   void **values, CUdeviceptr pointer)
{
    struct fake_memory *m;

    if (fake_device.down)
        return CUDA_ERROR_DEINITIALIZED;
    pthread_mutex_lock(&fake_device.mutex);
    m = fake_find_memory((const void *)(uintptr_t)pointer);
    for (unsigned i = 0; i < count && m; i++) {
        switch (which[i]) {
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            *(unsigned *)values[i] =
                m->pinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
            break;
        case CU_POINTER_ATTRIBUTE_CONTEXT:
            *(CUcontext *)values[i] = m->kind == FAKE_POOL ? NULL : m->context;
            break;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            *(int *)values[i] = m->device;
            break;
        case CU_POINTER_ATTRIBUTE_BUFFER_ID:
            *(unsigned long long *)values[i] = m->buffer;
            break;
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
            *(unsigned *)values[i] = m->kind == FAKE_MANAGED;
            break;
        default:
            fake_wrong("an attribute that is not known here");
        }
    }
    pthread_mutex_unlock(&fake_device.mutex);
    return CUDA_SUCCESS;
}

static CUresult address_range(CUdeviceptr *base, size_t *size,
                              CUdeviceptr pointer)
{
    struct fake_memory *m;

    pthread_mutex_lock(&fake_device.mutex);
    m = fake_find_memory((const void *)(uintptr_t)pointer);
    if (m) {
        *base = (CUdeviceptr)(uintptr_t)m->base;
        *size = m->size;
    }
    pthread_mutex_unlock(&fake_device.mutex);
    return m ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

static CUresult context_current(CUcontext *context)
{
    *context = fake_stack[fake_depth];
    return CUDA_SUCCESS;
}

static CUresult context_push(CUcontext context)
{
    if (fake_depth == 15)
        fake_wrong("contexts are pushed and not popped");
    if (context->dead)
        fake_wrong("a context is used that was destroyed");
    fake_stack[++fake_depth] = context;
    return CUDA_SUCCESS;
}

static CUresult context_pop(CUcontext *context)
{
    if (fake_depth == 0)
        fake_wrong("a context is popped that was not pushed");
    *context = fake_stack[fake_depth--];
    return CUDA_SUCCESS;
}

static CUresult context_device(CUdevice *device)
{
    *device = fake_stack[fake_depth]->device;
    return CUDA_SUCCESS;
}

static CUresult context_id(CUcontext context, unsigned long long *id)
{
    *id = context->id;
    return CUDA_SUCCESS;
}

static CUresult primary_retain(CUcontext *context, CUdevice device)
{
    *context = &fake_device.primary[device];
    return CUDA_SUCCESS;
}

/* The memory must belong to this context, or to none in particular. */
static void need_home(CUdeviceptr pointer, CUcontext context)
{
    const struct fake_memory *m =
        fake_find_memory((const void *)(uintptr_t)pointer);

    if (!m || (m->context != context && m->kind == FAKE_DEVICE))
        fake_wrong("a copy between contexts that are others");
}

static CUresult copy_peer(CUdeviceptr to, CUcontext to_context,
                          CUdeviceptr from, CUcontext from_context,
                          size_t bytes, CUstream stream)
{
    cudaError_t error = fake_enter();

    fake_need_stream(stream);
    need_home(to, to_context);
    need_home(from, from_context);
    if (error == cudaSuccess)
        error = fake_enqueue(stream,
                             (struct fake_work){.kind = COPY,
                                                .to = (void *)(uintptr_t)to,
                                                .from = (void *)(uintptr_t)from,
                                                .n = bytes});
    return (CUresult)fake_leave(error);
}

static CUresult capture_mode(CUstreamCaptureMode *mode)
{
    CUstreamCaptureMode before = fake_capture;

    fake_capture = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

struct aps_cuda_driver aps_cuda_driver = {
    .pointer_attributes = pointer_attributes,
    .address_range = address_range,
    .context_current = context_current,
    .context_push = context_push,
    .context_pop = context_pop,
    .context_device = context_device,
    .context_id = context_id,
    .primary_retain = primary_retain,
    .copy_peer = copy_peer,
    .capture_mode = capture_mode,
};

int aps_cuda_driver_open(char *cause, size_t size)
{
    (void)cause;
    (void)size;
    return 0;
}

const char *aps_cuda_driver_error(CUresult result)
{
    return result == CUDA_ERROR_DEINITIALIZED ? "driver shutting down"
                                              : "an error of the driver";
}

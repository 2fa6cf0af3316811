/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cuda/context.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Most lanes of a context. More threads wait for each other. */
#define LANES_MAX 8

/* Verbs between a failed attempt to make a lane and the next attempt. */
#define PATIENCE 64

#define DEVICES_MAX 64

struct aps_cuda_context {
    CUcontext handle;
    unsigned long long id; /* handles are reused, ids are not */
    struct aps_cuda_stream *idle;
    unsigned lanes;      /* idle or in use */
    unsigned patience;   /* verbs until the next attempt */
    cudaError_t refused; /* error of the last attempt */
    struct aps_cuda_context *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t returned = PTHREAD_COND_INITIALIZER;
static struct aps_cuda_context *contexts;

/* --- where a pointer points ---------------------------------------------- */

struct place {
    CUmemorytype type;
    CUcontext context; /* NULL for memory that belongs to none, such as that of
                          a pool */
    int device;
    int managed;
};

static CUresult context_place_of(const void *pointer, struct place *place)
{
    CUpointer_attribute which[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CU_POINTER_ATTRIBUTE_CONTEXT,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CU_POINTER_ATTRIBUTE_IS_MANAGED,
    };
    unsigned type = 0, managed = 0; /* some drivers write only a part */
    CUcontext context = NULL;
    int device = 0;
    void *values[] = {&type, &context, &device, &managed};
    CUresult result = aps_cuda_driver.pointer_attributes(
        sizeof which / sizeof *which, which, values,
        (CUdeviceptr)(uintptr_t)pointer);

    *place = (struct place){
        .type = (CUmemorytype)type,
        .context = context,
        .device = device,
        .managed = managed != 0,
    };
    /* memory that belongs to no context */
    if (result == CUDA_ERROR_INVALID_VALUE)
        return CUDA_SUCCESS;
    return result;
}

unsigned long long aps_cuda_buffer_of(const void *pointer)
{
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_BUFFER_ID};
    unsigned long long buffer = 0;
    void *values[] = {&buffer};

    return aps_cuda_driver.pointer_attributes(
               1, which, values, (CUdeviceptr)(uintptr_t)pointer) ==
                   CUDA_SUCCESS
               ? buffer
               : 0;
}

CUcontext aps_cuda_home_of(const void *pointer)
{
    struct place place;

    return context_place_of(pointer, &place) == CUDA_SUCCESS ? place.context
                                                             : NULL;
}

/* Gets a device's primary context, which is kept from then on. */
static CUresult context_primary_of(int device, CUcontext *context)
{
    static CUcontext kept[DEVICES_MAX];
    CUresult result = CUDA_SUCCESS;

    if (device < 0 || device >= DEVICES_MAX)
        return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&mutex);
    if (!kept[device])
        result = aps_cuda_driver.primary_retain(&kept[device], device);
    *context = kept[device];
    pthread_mutex_unlock(&mutex);
    return result;
}

/* Gets the context to work in. Memory of a pool belongs to its whole device, so
 * this is the current context if it is of that device, and otherwise the
 * primary one. */
static CUresult context_of(struct place *place)
{
    CUcontext current = NULL;
    CUdevice device;

    if (place->context)
        return CUDA_SUCCESS;
    if (aps_cuda_driver.context_current(&current) == CUDA_SUCCESS && current &&
        aps_cuda_driver.context_device(&device) == CUDA_SUCCESS &&
        device == place->device) {
        place->context = current;
        return CUDA_SUCCESS;
    }
    return context_primary_of(place->device, &place->context);
}

/* --- what is known of it ------------------------------------------------- */

/* Returns NULL if memory is short. */
static struct aps_cuda_context *context_find_context(CUcontext handle,
                                                     unsigned long long id)
{
    struct aps_cuda_context *context;

    pthread_mutex_lock(&mutex);
    for (context = contexts; context; context = context->next) {
        if (context->handle == handle && context->id == id)
            goto unlock;
    }
    context = calloc(1, sizeof *context);
    if (context) {
        context->handle = handle;
        context->id = id;
        context->next = contexts;
        contexts = context;
    }
unlock:
    pthread_mutex_unlock(&mutex);
    return context;
}

/* Makes a context current. */
static enum aps_cuda_where context_visit_context(CUcontext handle,
                                                 struct aps_cuda_visit *visit)
{
    unsigned long long id = 0;
    CUcontext popped;
    CUresult result = aps_cuda_driver.context_push(handle);

    if (result != CUDA_SUCCESS)
        goto fail;
    result = aps_cuda_driver.context_id(handle, &id);
    if (result != CUDA_SUCCESS)
        goto pop;
    visit->context = context_find_context(handle, id);
    result = CUDA_ERROR_OUT_OF_MEMORY;
    if (!visit->context)
        goto pop;
    visit->mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    result = aps_cuda_driver.capture_mode(&visit->mode);
    if (result != CUDA_SUCCESS)
        goto pop;
    return APS_CUDA_DEVICE;

pop:
    aps_cuda_driver.context_pop(&popped);
fail:
    visit->failed = result;
    return APS_CUDA_NOWHERE;
}

enum aps_cuda_where aps_cuda_enter(const void *pointer,
                                   struct aps_cuda_visit *visit)
{
    struct place place;
    CUresult result = context_place_of(pointer, &place);

    if (result == CUDA_SUCCESS) {
        if (!place.managed && place.type != CU_MEMORYTYPE_DEVICE)
            return APS_CUDA_HOST;
        result = context_of(&place);
    }
    if (result == CUDA_SUCCESS)
        return context_visit_context(place.context, visit);
    visit->failed = result;
    return APS_CUDA_NOWHERE;
}

bool aps_cuda_enter_device(const void *pointer, struct aps_cuda_visit *visit,
                           char *cause, size_t size)
{
    switch (aps_cuda_enter(pointer, visit)) {
    case APS_CUDA_DEVICE:
        return true;
    case APS_CUDA_NOWHERE:
        snprintf(cause, size, "%s", aps_cuda_driver_error(visit->failed));
        break;
    case APS_CUDA_HOST:
        snprintf(cause, size, "the memory is not a device's");
        break;
    }
    return false;
}

enum aps_cuda_where aps_cuda_enter_again(struct aps_cuda_context *context,
                                         const void *pointer,
                                         unsigned long long buffer,
                                         struct aps_cuda_visit *visit)
{
    enum aps_cuda_where where;
    struct place place;

    visit->failed = context_place_of(pointer, &place);
    if (visit->failed != CUDA_SUCCESS)
        return APS_CUDA_NOWHERE;
    /* The memory ended with its context, whose handle is invalid: to visit it
     * would crash, or create a device's primary context again. */
    if (place.type == 0 || aps_cuda_buffer_of(pointer) != buffer)
        return APS_CUDA_HOST;
    where = context_visit_context(context->handle, visit);
    if (where == APS_CUDA_DEVICE && visit->context != context) {
        aps_cuda_leave(visit);
        return APS_CUDA_HOST;
    }
    return where;
}

CUcontext aps_cuda_visited(const struct aps_cuda_visit *visit)
{
    return visit->context->handle;
}

bool aps_cuda_is_home(const struct aps_cuda_visit *visit, const void *pointer)
{
    struct place place;

    return context_place_of(pointer, &place) == CUDA_SUCCESS &&
           place.context == visit->context->handle;
}

bool aps_cuda_is_reached(const struct aps_cuda_visit *visit,
                         const void *pointer)
{
    struct place place;
    CUdevice device;

    if (context_place_of(pointer, &place) != CUDA_SUCCESS)
        return false;
    if (place.managed || place.context)
        return place.managed || place.context == visit->context->handle;
    return place.type == CU_MEMORYTYPE_DEVICE &&
           aps_cuda_driver.context_device(&device) == CUDA_SUCCESS &&
           device == place.device;
}

void aps_cuda_leave(const struct aps_cuda_visit *visit)
{
    CUstreamCaptureMode mode = visit->mode;
    CUcontext popped;

    cudaGetLastError(); /* so that no later call of the program finds this
                           library's error */
    aps_cuda_driver.capture_mode(&mode);
    aps_cuda_driver.context_pop(&popped);
}

/* --- lanes --------------------------------------------------------------- */

/* With the mutex held: takes an idle lane, or the right to make one. Returns
 * false if neither will be available. */
static bool context_find_lane(struct aps_cuda_context *context,
                              struct aps_cuda_stream **lane)
{
    if (context->patience > 0)
        context->patience--;
    for (;;) {
        *lane = context->idle;
        if (*lane) {
            context->idle = (*lane)->next;
            return true;
        }
        if (context->patience == 0 && context->lanes < LANES_MAX) {
            context->lanes++;
            return true;
        }
        if (context->lanes == 0)
            return false;
        pthread_cond_wait(&returned, &mutex);
    }
}

struct aps_cuda_stream *aps_cuda_lane_take(const struct aps_cuda_visit *visit,
                                           cudaError_t *error)
{
    struct aps_cuda_context *context = visit->context;
    struct aps_cuda_stream *lane;
    bool found;

    do {
        pthread_mutex_lock(&mutex);
        found = context_find_lane(context, &lane);
        *error = context->refused;
        pthread_mutex_unlock(&mutex);
        if (lane || !found)
            return lane;

        lane = aps_cuda_stream_create(error);
        if (lane)
            return lane;
        pthread_mutex_lock(&mutex);
        context->lanes--;
        context->refused = *error;
        context->patience = PATIENCE;
        found = context->lanes > 0; /* then wait for those */
        pthread_cond_broadcast(&returned);
        pthread_mutex_unlock(&mutex);
    } while (found);
    return NULL;
}

void aps_cuda_lane_give(const struct aps_cuda_visit *visit,
                        struct aps_cuda_stream *lane, bool clean)
{
    struct aps_cuda_context *context = visit->context;
    bool usable = clean || aps_cuda_stream_reset(lane);

    pthread_mutex_lock(&mutex);
    if (usable) {
        lane->next = context->idle;
        context->idle = lane;
    } else {
        /* The lane's context is beyond repair, and its memory may be in use, so
         * it is not freed. */
        context->lanes--;
        free(lane);
    }
    pthread_cond_broadcast(&returned);
    pthread_mutex_unlock(&mutex);
}

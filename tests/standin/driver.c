/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stand-in for CUDA's driver (libcuda.so.1), with the functions that programs
 * without kernels need. Memory of its "device", and managed memory, are pages
 * without any access: code that touches them directly crashes. Its copies use
 * another mapping of the same pages.
 */
#define _GNU_SOURCE
#include "driver.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver_state.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct allocation *driver_allocations;
static struct context primary = {.alive = true, .id = 1};
static atomic_ullong contexts = 2; /* the next one's id */
static atomic_bool initialized;

#define DEPTH 16
static _Thread_local struct context *stack[DEPTH];
static _Thread_local int depth;

struct context *driver_current(void)
{
    return depth > 0 ? stack[depth - 1] : NULL;
}

/* The caller holds the lock. Returns the allocation that has all n bytes, or NULL. */
static struct allocation *driver_find(uintptr_t at, size_t n)
{
    for (struct allocation *a = driver_allocations; a; a = a->next)
        if (at >= a->base && n <= a->bytes && at - a->base <= a->bytes - n)
            return a;
    return NULL;
}

struct allocation *driver_find_locked(uintptr_t at, size_t n)
{
    struct allocation *found;

    pthread_mutex_lock(&lock);
    found = driver_find(at, n);
    pthread_mutex_unlock(&lock);
    return found;
}

/* --- contexts ----------------------------------------------------------- */

int cuInit(unsigned flags)
{
    (void)flags;
    atomic_store(&initialized, true);
    return SUCCESS;
}

int cuDriverGetVersion(int *version)
{
    *version = 12000;
    return SUCCESS;
}

int cuDeviceGetCount(int *count)
{
    *count = 1;
    return atomic_load(&initialized) ? SUCCESS : NOT_INITIALIZED;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return ordinal == 0 ? SUCCESS : INVALID_VALUE;
}

int cuDevicePrimaryCtxRetain(CUcontext *context, int device)
{
    *context = &primary;
    return device == 0 ? SUCCESS : INVALID_VALUE;
}

int cuCtxPushCurrent_v2(CUcontext context)
{
    if (!context->alive)
        return CONTEXT_IS_DESTROYED;
    if (depth == DEPTH)
        return UNKNOWN;
    stack[depth++] = context;
    return SUCCESS;
}

int cuCtxPopCurrent_v2(CUcontext *context)
{
    if (depth == 0)
        return INVALID_CONTEXT;
    *context = stack[--depth];
    return SUCCESS;
}

int cuCtxGetCurrent(CUcontext *context)
{
    *context = driver_current();
    return atomic_load(&initialized) ? SUCCESS : NOT_INITIALIZED;
}

int cuCtxGetDevice(int *device)
{
    *device = 0;
    return driver_current() ? SUCCESS : INVALID_CONTEXT;
}

int cuCtxSetCurrent(CUcontext context)
{
    depth = 0;
    return context ? cuCtxPushCurrent_v2(context) : SUCCESS;
}

/* Makes the context current, as CUDA's function does. It is never freed,
 * because others may point to it. */
int cuCtxCreate_v2(CUcontext *context, unsigned flags, int device)
{
    struct context *new = calloc(1, sizeof *new);

    (void)flags;
    (void)device;
    if (!new)
        return OUT_OF_MEMORY;
    new->alive = true;
    new->id = atomic_fetch_add(&contexts, 1);
    *context = new;
    return cuCtxPushCurrent_v2(new);
}

int cuCtxGetId(CUcontext context, unsigned long long *id)
{
    *id = context->id;
    return SUCCESS;
}

int cuCtxDestroy_v2(CUcontext context)
{
    context->alive = false;
    if (driver_current() == context)
        depth--;
    return SUCCESS;
}

int cuGetErrorName(int result, const char **name)
{
    static const struct {
        int result;
        const char *name;
    } names[] = {
        {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
        {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
        {NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"},
        {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
        {CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
        {CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
        {CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
        {CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
        {UNKNOWN, "CUDA_ERROR_UNKNOWN"},
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].result == result) {
            *name = names[i].name;
            return SUCCESS;
        }
    }
    return INVALID_VALUE;
}

/* --- memory ------------------------------------------------------------- */

static size_t whole_pages(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return (bytes + page - 1) / page * page;
}

/* Length with struct shared. */
static size_t length_of(size_t bytes)
{
    return whole_pages(bytes) + whole_pages(sizeof(struct shared));
}

struct allocation *driver_enlist(int fd, size_t bytes, struct context *context)
{
    struct allocation *new = calloc(1, sizeof *new);
    const size_t length = length_of(bytes);
    void *base = mmap(NULL, length, PROT_NONE, MAP_SHARED, fd, 0);
    void *alias = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (!new || base == MAP_FAILED || alias == MAP_FAILED) {
        if (base != MAP_FAILED)
            munmap(base, length);
        if (alias != MAP_FAILED)
            munmap(alias, length);
        free(new);
        return NULL;
    }
    *new = (struct allocation){
        .base = (uintptr_t)base,
        .bytes = bytes,
        .alias = alias,
        .context = context,
        .fd = -1,
        .shared = (void *)((char *)alias + whole_pages(bytes)),
    };
    pthread_mutex_lock(&lock);
    new->next = driver_allocations;
    driver_allocations = new;
    pthread_mutex_unlock(&lock);
    return new;
}

struct allocation *driver_create(size_t bytes, struct context *context, int *fd)
{
    struct allocation *new = NULL;

    *fd = memfd_create("standin", MFD_CLOEXEC);
    if (*fd >= 0 && ftruncate(*fd, (off_t)length_of(bytes)) == 0)
        new = driver_enlist(*fd, bytes, context);
    if (*fd >= 0 && !new)
        close(*fd);
    return new;
}

static int allocate(CUdeviceptr *pointer, size_t bytes, bool managed)
{
    int result = driver_be_unsafe();
    struct allocation *new;
    int fd;

    if (result != SUCCESS)
        return result;
    if (!driver_current())
        return INVALID_CONTEXT;
    new = driver_create(bytes, driver_current(), &fd);
    if (!new)
        return OUT_OF_MEMORY;
    close(fd);
    new->managed = managed;
    *pointer = (CUdeviceptr) new->base;
    return SUCCESS;
}

int cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes)
{
    return allocate(pointer, bytes, false);
}

int cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned flags)
{
    (void)flags;
    return allocate(pointer, bytes, true);
}

struct allocation *driver_delist(uintptr_t at, bool plugins, bool opened)
{
    struct allocation **link = &driver_allocations, *found;

    pthread_mutex_lock(&lock);
    while (*link &&
           ((opened ? (*link)->opened : (*link)->base) != at ||
            ((*link)->fd >= 0) != plugins || ((*link)->opener != 0) != opened))
        link = &(*link)->next;
    found = *link;
    if (found)
        *link = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

void driver_destroy(struct allocation *gone)
{
    const size_t length = length_of(gone->bytes);

    munmap((void *)gone->base, length);
    munmap(gone->alias, length);
    if (gone->fd >= 0)
        close(gone->fd);
    free(gone);
}

int cuMemFree_v2(CUdeviceptr pointer)
{
    struct allocation *found = driver_delist((uintptr_t)pointer, false, false);

    if (!found)
        return INVALID_VALUE;
    driver_destroy(found);
    return SUCCESS;
}

/* Value of CUpointer_attribute. */
enum { SYNC_MEMOPS = 6 };

/* Returns one attribute; `found` may be NULL. */
static int tell(int which, const struct allocation *found, void *value)
{
    switch (which) {
    case 1: /* CONTEXT */
        *(struct context **)value = found ? found->context : NULL;
        return SUCCESS;
    case 2: /* MEMORY_TYPE: 2 is a device's */
        *(unsigned *)value = found ? 2 : 0;
        return SUCCESS;
    case SYNC_MEMOPS:
        *(bool *)value = found && found->settled;
        return SUCCESS;
    case 8: /* IS_MANAGED: a byte */
        *(bool *)value = found && found->managed;
        return SUCCESS;
    case 9: /* DEVICE_ORDINAL */
        *(int *)value = found ? 0 : -2;
        return SUCCESS;
    default:
        return INVALID_VALUE;
    }
}

int cuPointerGetAttributes(unsigned count, const int *which, void **values,
                           CUdeviceptr pointer)
{
    const struct allocation *found = driver_find_locked((uintptr_t)pointer, 1);
    int result = SUCCESS;

    if (!atomic_load(&initialized))
        return NOT_INITIALIZED;
    for (unsigned i = 0; i < count && result == SUCCESS; i++)
        result = tell(which[i], found, values[i]);
    return result;
}

int cuPointerGetAttribute(void *value, int which, CUdeviceptr pointer)
{
    const struct allocation *found = driver_find_locked((uintptr_t)pointer, 1);

    return found ? tell(which, found, value) : INVALID_VALUE;
}

int cuPointerSetAttribute(const void *value, int which, CUdeviceptr pointer)
{
    struct allocation *found = driver_find_locked((uintptr_t)pointer, 1);

    if (!found || which != SYNC_MEMOPS)
        return INVALID_VALUE;
    driver_end_copies();
    found->settled = *(const unsigned *)value;
    return SUCCESS;
}

/* Like CUDA: in the context of the memory, or another one that exists. */
int driver_prepare(CUdeviceptr pointer, size_t bytes, void **alias)
{
    const struct allocation *found =
        driver_find_locked((uintptr_t)pointer, bytes);

    if (!driver_current())
        return INVALID_CONTEXT;
    if (!driver_current()->alive)
        return CONTEXT_IS_DESTROYED;
    if (!found)
        return INVALID_VALUE;
    if (!found->context->alive)
        return CONTEXT_IS_DESTROYED;
    if (!standin_may_copy())
        return UNKNOWN;
    *alias = found->alias + ((uintptr_t)pointer - found->base);
    return SUCCESS;
}

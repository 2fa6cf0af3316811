/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "device/gpu_driver.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LIBRARY "libcuda.so.1"

/* Of CUpointer_attribute and CUmemorytype. */
enum { CONTEXT = 1, MEMORY_TYPE = 2, IS_MANAGED = 8, DEVICE_ORDINAL = 9 };
#define TYPE_DEVICE 2u

/* Of CUstreamCaptureMode. */
#define CAPTURE_MODE_RELAXED 2

#define DEVICES_MOST 64

typedef unsigned long long address; /* CUdeviceptr */
typedef void *context;              /* CUcontext */

/* Its functions that we call; a result is 0, or a CUresult. */
struct aps_gpu_driver {
    int (*attributes)(unsigned count, const int *which, void **values,
                      address pointer);
    int (*current)(context *current);
    int (*current_device)(int *device);
    int (*capture_mode)(int *mode); /* exchanged */
    int (*push)(context pushed);
    int (*pop)(context *popped);
    int (*retain)(context *primary, int device);
    int (*copy_out)(void *host, address device, size_t bytes);
    int (*copy_in)(address device, const void *host, size_t bytes);
    int (*wait)(void *stream);
    int (*error_name)(int result, const char **name);
};

/* Whose memory it is. */
struct owner {
    context home; /* NULL: of a pool, which all contexts share */
    int device;
};

atomic_uintptr_t aps_gpu_driver_image_begin;
atomic_uintptr_t aps_gpu_driver_heap_end;
const struct aps_gpu_driver *_Atomic aps_gpu_driver_loaded;
_Atomic uint64_t aps_gpu_driver_missed;
_Thread_local struct aps_gpu_driver_stack aps_gpu_driver_stack;

static struct aps_gpu_driver functions;
static _Atomic unsigned long long looked; /* libraries loaded by then */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- is there a driver? ------------------------------------------------- */

/* The libraries that were ever loaded: every object tells. */
static int gpu_driver_count_objects(struct dl_phdr_info *object, size_t size,
                                    void *data)
{
    unsigned long long *count = data;

    (void)size;
    *count = object->dlpi_adds;
    return 1;
}

static unsigned long long gpu_driver_libraries(void)
{
    unsigned long long count = 0;

    dl_iterate_phdr(gpu_driver_count_objects, &count);
    return count;
}

/* Pointers to functions and to data do not mix in C: copy. */
static bool gpu_driver_find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);

    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* The lock is held. A driver that lacks any of these is older than CUDA
 * 10.1. */
static const struct aps_gpu_driver *gpu_driver_load(void)
{
    void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD);

    if (!library)
        return NULL;
    if (!gpu_driver_find(library, "cuPointerGetAttributes",
                         &functions.attributes) ||
        !gpu_driver_find(library, "cuCtxGetCurrent", &functions.current) ||
        !gpu_driver_find(library, "cuCtxGetDevice",
                         &functions.current_device) ||
        !gpu_driver_find(library, "cuThreadExchangeStreamCaptureMode",
                         &functions.capture_mode) ||
        !gpu_driver_find(library, "cuCtxPushCurrent_v2", &functions.push) ||
        !gpu_driver_find(library, "cuCtxPopCurrent_v2", &functions.pop) ||
        !gpu_driver_find(library, "cuDevicePrimaryCtxRetain",
                         &functions.retain) ||
        !gpu_driver_find(library, "cuMemcpyDtoH_v2", &functions.copy_out) ||
        !gpu_driver_find(library, "cuMemcpyHtoD_v2", &functions.copy_in) ||
        !gpu_driver_find(library, "cuStreamSynchronize", &functions.wait) ||
        !gpu_driver_find(library, "cuGetErrorName", &functions.error_name)) {
        dlclose(library);
        return NULL;
    }
    return &functions;
}

/* --- what cannot be a driver's ------------------------------------------ */

/* The first object is the program. */
static int gpu_driver_find_image(struct dl_phdr_info *object, size_t size,
                                 void *data)
{
    uintptr_t *begin = data;

    (void)size;
    *begin = UINTPTR_MAX;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        const uintptr_t at = object->dlpi_addr + header->p_vaddr;

        if (header->p_type == PT_LOAD && at < *begin)
            *begin = at;
    }
    return 1;
}

/*
 * Where the heap ends, from the kernel. sbrk(0) must not be asked: UCX, beneath
 * MPICH, replaces it by one that reads the end and then sets it to what it
 * read, and takes away what malloc has got in another thread in between.
 */
static uintptr_t gpu_driver_heap_end(void)
{
    return (uintptr_t)syscall(SYS_brk, 0);
}

/* The kernel puts the heap behind the image, and nothing between; a program
 * that was started by naming its loader lies elsewhere, above the heap. */
static void gpu_driver_measure_heap(void)
{
    uintptr_t begin = atomic_load(&aps_gpu_driver_image_begin);
    const uintptr_t end = gpu_driver_heap_end();

    if (begin == 0)
        dl_iterate_phdr(gpu_driver_find_image, &begin);
    /* The end is read first, and says that the beginning is there. */
    atomic_store(&aps_gpu_driver_image_begin, begin);
    if (end > begin && end != UINTPTR_MAX)
        atomic_store(&aps_gpu_driver_heap_end, end);
    else
        atomic_store(&aps_gpu_driver_heap_end, begin);
}

/* A main thread's stack may be said to be longer than what the kernel keeps
 * free for it. */
#define STACK_MOST ((uintptr_t)8 << 20)

static void gpu_driver_measure_stack(void)
{
    struct aps_gpu_driver_stack *stack = &aps_gpu_driver_stack;
    pthread_attr_t attributes;
    void *lowest;
    size_t bytes;

    stack->begin = stack->end = 1; /* not again, whatever comes of it */
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &lowest, &bytes) == 0) {
        const uintptr_t end = (uintptr_t)lowest + bytes;

        stack->begin =
            bytes < STACK_MOST ? (uintptr_t)lowest : end - STACK_MOST;
        stack->end = end;
    }
    pthread_attr_destroy(&attributes);
}

/* --- is it there by now? ------------------------------------------------- */

/*
 * To look for a library takes long where it is not there: only when others have
 * come since. To ask for that takes a walk over all of them: only once in a
 * moment.
 */
static const struct aps_gpu_driver *gpu_driver_look(void)
{
    const unsigned long long now = gpu_driver_libraries();
    const struct aps_gpu_driver *found;

    gpu_driver_measure_heap();
    if (now == atomic_load(&looked))
        return atomic_load(&aps_gpu_driver_loaded);
    pthread_mutex_lock(&lock);
    found = atomic_load(&aps_gpu_driver_loaded);
    if (!found)
        found = gpu_driver_load();
    atomic_store(&aps_gpu_driver_loaded, found);
    atomic_store(&looked, now);
    pthread_mutex_unlock(&lock);
    return found;
}

static const struct aps_gpu_driver *gpu_driver_get(void)
{
    const struct aps_gpu_driver *found =
        atomic_load_explicit(&aps_gpu_driver_loaded, memory_order_acquire);
    uint64_t now;

    if (found)
        return found;
    if (aps_gpu_driver_was_missing())
        return NULL;
    /* Before the look: who loads it meanwhile gives out memory that much
     * later. */
    now = aps_gpu_driver_ticks();
    found = gpu_driver_look();
    if (!found)
        atomic_store_explicit(&aps_gpu_driver_missed, now,
                              memory_order_relaxed);
    return found;
}

/* --- whose memory is it? ------------------------------------------------ */

static bool gpu_driver_find_owner(const struct aps_gpu_driver *driver,
                                  const void *p, struct owner *owner)
{
    static const int which[] = {MEMORY_TYPE, IS_MANAGED, CONTEXT,
                                DEVICE_ORDINAL};
    /* Room for whatever integer the driver makes of them. */
    unsigned long long type = 0, managed = 0;
    long long device = 0;
    context home = NULL;
    void *values[] = {&type, &managed, &home, &device};

    /* Of memory that it does not know everything is 0; so is all before it was
     * initialised, an error. */
    if (driver->attributes(4, which, values, (address)(uintptr_t)p) != 0 ||
        ((unsigned)type != TYPE_DEVICE && (managed & 0xff) == 0))
        return false;
    *owner = (struct owner){.home = home, .device = (int)device};
    return true;
}

bool aps_gpu_driver_asks(const void *p)
{
    const struct aps_gpu_driver *found;
    struct owner owner;

    if (aps_gpu_driver_stack.end == 0)
        gpu_driver_measure_stack();
    found = gpu_driver_get();
    if (!found)
        return false;
    gpu_driver_measure_heap();
    return !aps_gpu_driver_cannot_own(p) &&
           gpu_driver_find_owner(found, p, &owner);
}

int aps_gpu_driver_device(const void *p)
{
    const struct aps_gpu_driver *found = gpu_driver_get();
    struct owner owner;

    if (!found || aps_gpu_driver_cannot_own(p) ||
        !gpu_driver_find_owner(found, p, &owner))
        return -1;
    return owner.device;
}

bool aps_gpu_driver_is_current(int device)
{
    const struct aps_gpu_driver *found = gpu_driver_get();
    context now = NULL;
    int number;

    return found && found->current(&now) == 0 && now &&
           found->current_device(&number) == 0 && number == device;
}

bool aps_gpu_driver_is_there(void)
{
    const struct aps_gpu_driver *found = gpu_driver_get();
    context now;

    return found && found->current(&now) == 0;
}

/* --- copies ------------------------------------------------------------- */

static int gpu_driver_fail(const struct aps_gpu_driver *driver, int result,
                           const char *function, char *cause, size_t size)
{
    const char *name = NULL;

    (void)driver->error_name(result, &name);
    snprintf(cause, size, "%s: %s (%d)", function,
             name ? name : "unknown error", result);
    return -1;
}

/* A device's primary context. Never released: the program is using that
 * device. */
static int gpu_driver_primary_of(const struct aps_gpu_driver *driver,
                                 int device, context *primary)
{
    static context retained[DEVICES_MOST];
    int result = 0;

    if (device < 0 || device >= DEVICES_MOST)
        return driver->retain(primary, device);
    pthread_mutex_lock(&lock);
    if (!retained[device])
        result = driver->retain(&retained[device], device);
    *primary = retained[device];
    pthread_mutex_unlock(&lock);
    return result;
}

/*
 * Make a context current in which the owner's memory can be copied: memory of a
 * pool belongs to its whole device. Until gpu_driver_leave() the thread's calls
 * do not break a capture of a stream that the program has under way; *mode is
 * the caller's.
 */
static int gpu_driver_enter(const struct aps_gpu_driver *driver,
                            const struct owner *owner, int *mode, char *cause,
                            size_t size)
{
    context use = owner->home;
    int device, result;

    *mode = CAPTURE_MODE_RELAXED;
    if (!use && driver->current(&use) == 0 && use &&
        (driver->current_device(&device) != 0 || device != owner->device))
        use = NULL;
    if (!use) {
        result = gpu_driver_primary_of(driver, owner->device, &use);
        if (result != 0)
            return gpu_driver_fail(driver, result, "cuDevicePrimaryCtxRetain",
                                   cause, size);
    }
    result = driver->push(use);
    if (result != 0)
        return gpu_driver_fail(driver, result, "cuCtxPushCurrent", cause, size);
    (void)driver->capture_mode(mode);
    return 0;
}

static void gpu_driver_leave(const struct aps_gpu_driver *driver, int mode)
{
    context popped;

    (void)driver->capture_mode(&mode);
    (void)driver->pop(&popped);
}

/* In one of both directions. */
static int gpu_driver_copy(bool out, void *host, const void *device,
                           size_t bytes, char *cause, size_t size)
{
    const struct aps_gpu_driver *found = gpu_driver_get();
    const address at = (address)(uintptr_t)device;
    struct owner owner;
    int mode; /* of capture, the caller's */
    int result;

    if (!found || !gpu_driver_find_owner(found, device, &owner)) {
        snprintf(cause, size, "the driver does not know the memory at %p",
                 device);
        return -1;
    }
    if (gpu_driver_enter(found, &owner, &mode, cause, size) < 0)
        return -1;
    result = out ? found->copy_out(host, at, bytes)
                 : found->copy_in(at, host, bytes);
    /* From ordinary memory it may have come no farther than the driver's own:
     * other streams of the program would miss the rest. */
    if (!out && result == 0)
        result = found->wait(NULL);
    gpu_driver_leave(found, mode);
    if (result != 0)
        return gpu_driver_fail(
            found, result, out ? "cuMemcpyDtoH" : "cuMemcpyHtoD", cause, size);
    return 0;
}

int aps_gpu_driver_copy_out(void *host, const void *device, size_t bytes,
                            char *cause, size_t size)
{
    return gpu_driver_copy(true, host, device, bytes, cause, size);
}

int aps_gpu_driver_copy_in(void *device, const void *host, size_t bytes,
                           char *cause, size_t size)
{
    union {
        const void *from;
        void *to;
    } plain = {.from = host}; /* only read */

    return gpu_driver_copy(false, plain.to, device, bytes, cause, size);
}

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

/* Values of CUpointer_attribute and CUmemorytype. */
enum { CONTEXT = 1, MEMORY_TYPE = 2, IS_MANAGED = 8, DEVICE_ORDINAL = 9 };
#define TYPE_DEVICE 2u

/* A value of CUstreamCaptureMode. */
#define CAPTURE_MODE_RELAXED 2

#define DEVICES_MOST 64

typedef unsigned long long address; /* CUdeviceptr */
typedef void *context;              /* CUcontext */

/* The functions of the driver that are called here. They return a CUresult; 0
 * is success. */
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

/* The owner of memory. */
struct owner {
    context home; /* NULL: memory of a pool, which all contexts share */
    int device;
};

atomic_uintptr_t aps_gpu_driver_image_begin;
atomic_uintptr_t aps_gpu_driver_heap_end;
const struct aps_gpu_driver *_Atomic aps_gpu_driver_loaded;
_Atomic uint64_t aps_gpu_driver_missed;
_Thread_local struct aps_gpu_driver_stack aps_gpu_driver_stack;

static struct aps_gpu_driver functions;
static _Atomic unsigned long long looked; /* gpu_driver_libraries() then */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- loading ------------------------------------------------------------- */

/* The number of libraries that were ever loaded. Every object has it. */
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

/* C cannot convert a pointer to data to a pointer to a function: copy it. */
static bool gpu_driver_find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);

    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* The caller holds the lock. NULL if the driver is not loaded, or is older than
 * CUDA 10.1 and lacks one of the functions. */
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

/* --- addresses that the driver cannot own -------------------------------- */

/* The lowest address of the program, which is the first object. */
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
 * The end of the heap, from the kernel. sbrk(0) must not be called: UCX, which
 * MPICH uses, replaces it by a function that reads the end of the heap and then
 * sets the end to the value read. It thereby takes away memory that malloc has
 * got in another thread in between.
 */
static uintptr_t gpu_driver_heap_end(void)
{
    return (uintptr_t)syscall(SYS_brk, 0);
}

/* The kernel puts the heap behind the program's image, and nothing in between.
 * A program that was started through its loader lies above the heap instead. */
static void gpu_driver_measure_heap(void)
{
    uintptr_t begin = atomic_load(&aps_gpu_driver_image_begin);
    const uintptr_t end = gpu_driver_heap_end();

    if (begin == 0)
        dl_iterate_phdr(gpu_driver_find_image, &begin);
    /* Readers read the end first: once it is set, the beginning is set. */
    atomic_store(&aps_gpu_driver_image_begin, begin);
    if (end > begin && end != UINTPTR_MAX)
        atomic_store(&aps_gpu_driver_heap_end, end);
    else
        atomic_store(&aps_gpu_driver_heap_end, begin);
}

/* The size that is given for a main thread's stack may be more than what the
 * kernel keeps free for it. */
#define STACK_MOST ((uintptr_t)8 << 20)

static void gpu_driver_measure_stack(void)
{
    struct aps_gpu_driver_stack *stack = &aps_gpu_driver_stack;
    pthread_attr_t attributes;
    void *lowest;
    size_t bytes;

    stack->begin = stack->end = 1; /* measure only once, even if it fails */
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

/* --- whether the driver is loaded by now --------------------------------- */

/*
 * Looking for a library that is not loaded takes long: done only if libraries
 * were loaded since the last look. Counting the libraries takes a walk over all
 * of them: done only once in a moment (aps_gpu_driver_was_missing).
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
    /* Take the time before the look: a driver that is loaded meanwhile
     * allocates memory a moment later at the earliest. */
    now = aps_gpu_driver_ticks();
    found = gpu_driver_look();
    if (!found)
        atomic_store_explicit(&aps_gpu_driver_missed, now,
                              memory_order_relaxed);
    return found;
}

/* --- the owner of memory ------------------------------------------------- */

static bool gpu_driver_find_owner(const struct aps_gpu_driver *driver,
                                  const void *p, struct owner *owner)
{
    static const int which[] = {MEMORY_TYPE, IS_MANAGED, CONTEXT,
                                DEVICE_ORDINAL};
    /* Large enough for any integer that the driver writes. */
    unsigned long long type = 0, managed = 0;
    long long device = 0;
    context home = NULL;
    void *values[] = {&type, &managed, &home, &device};

    /* All values are 0 for memory that the driver does not know. Before the
     * driver is initialised the call fails. */
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

/* The primary context of a device. It is never released, because the program
 * uses the device. */
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
 * Make a context current in which the owner's memory can be copied. For memory
 * of a pool any context of its device will do. Until gpu_driver_leave(), calls
 * of this thread do not break a stream capture of the program. *mode becomes
 * the capture mode to restore.
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

/* Copy out of, or into, memory of the device. */
static int gpu_driver_copy(bool out, void *host, const void *device,
                           size_t bytes, char *cause, size_t size)
{
    const struct aps_gpu_driver *found = gpu_driver_get();
    const address at = (address)(uintptr_t)device;
    struct owner owner;
    int mode; /* the capture mode to restore */
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
    /* A copy from pageable memory may return when the bytes are in the driver's
     * own buffer: wait, or other streams of the program may not see them. */
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
    } plain = {.from = host}; /* the copy only reads it */

    return gpu_driver_copy(false, plain.to, device, bytes, cause, size);
}

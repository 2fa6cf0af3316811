/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "device/gpu_driver.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/hot.h"
#include "device/gpu_constants.h"
#include "device/gpu_functions.h"
#include "device/gpu_settle.h"

#define LIBRARY "libcuda.so.1"

APS_HOT atomic_uintptr_t aps_gpu_driver_image_begin;
APS_HOT atomic_uintptr_t aps_gpu_driver_heap_end;
APS_HOT const struct aps_gpu_driver *_Atomic aps_gpu_driver_loaded;
APS_HOT _Atomic uint64_t aps_gpu_driver_missed;
_Thread_local struct aps_gpu_driver_stack aps_gpu_driver_stack;

static struct aps_gpu_driver functions;
/* gpu_driver_libraries() at the last look */
static _Atomic unsigned long long looked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- loading ------------------------------------------------------------- */

/* Reads the number of libraries that were ever loaded, which every object has. */
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

/* Copies the pointer, because C cannot convert a pointer to data to a pointer
 * to a function. */
static bool gpu_driver_find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);

    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* Loads the functions; the caller holds the lock. Returns NULL if the driver is
 * not loaded, or is older than CUDA 10.1 and lacks one of the functions. */
static const struct aps_gpu_driver *gpu_driver_load(void)
{
    static const struct {
        const char *name;
        void *function;
    } names[] = {
        {"cuPointerGetAttributes", &functions.attributes},
        {"cuPointerSetAttribute", &functions.set_attribute},
        {"cuCtxGetCurrent", &functions.current},
        {"cuCtxGetDevice", &functions.current_device},
        {"cuThreadExchangeStreamCaptureMode", &functions.capture_mode},
        {"cuCtxPushCurrent_v2", &functions.push},
        {"cuCtxPopCurrent_v2", &functions.pop},
        {"cuDevicePrimaryCtxRetain", &functions.retain},
        {"cuCtxGetStreamPriorityRange", &functions.priorities},
        {"cuStreamCreateWithPriority", &functions.make_stream},
        {"cuStreamDestroy_v2", &functions.destroy_stream},
        {"cuMemcpyDtoHAsync_v2", &functions.copy_out},
        {"cuMemcpyHtoDAsync_v2", &functions.copy_in},
        {"cuStreamSynchronize", &functions.wait},
        {"cuGetErrorName", &functions.error_name},
    };
    void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD);

    if (!library)
        return NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!gpu_driver_find(library, names[i].name, names[i].function)) {
            dlclose(library);
            return NULL;
        }
    }
    (void)gpu_driver_find(library, "cuCtxGetId", &functions.context_id);
    (void)gpu_driver_find(library, "cuCtxGetFlags", &functions.context_flags);
    (void)gpu_driver_find(library, "cuCtxSetFlags",
                          &functions.set_context_flags);
    (void)gpu_driver_find(library, "cuStreamIsCapturing",
                          &functions.is_capturing);
    (void)gpu_driver_find(library, "cuStreamQuery", &functions.query);
    return &functions;
}

/* --- addresses that the driver cannot own -------------------------------- */

/* Finds the lowest address of the program, which is the first object. */
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
 * Returns the end of the heap, from the kernel. sbrk(0) must not be called:
 * UCX, which MPICH uses, replaces it by a function that reads the end of the
 * heap and then sets the end to the value read. If malloc has extended the heap
 * in another thread in between, that function takes the memory away.
 */
static uintptr_t gpu_driver_heap_end(void)
{
    return (uintptr_t)syscall(SYS_brk, 0);
}

/* The kernel places the heap directly after the program's image. A program that
 * was started through its loader lies above the heap instead. */
static void gpu_driver_measure_heap(void)
{
    uintptr_t begin = atomic_load(&aps_gpu_driver_image_begin);
    const uintptr_t end = gpu_driver_heap_end();

    if (begin == 0)
        dl_iterate_phdr(gpu_driver_find_image, &begin);
    /* Readers read the end first: once the end is set, the beginning is set. */
    atomic_store(&aps_gpu_driver_image_begin, begin);
    if (end > begin && end != UINTPTR_MAX)
        atomic_store(&aps_gpu_driver_heap_end, end);
    else
        atomic_store(&aps_gpu_driver_heap_end, begin);
}

/* The reported size of a main thread's stack may exceed the room that the
 * kernel reserves for it. */
#define STACK_MAX ((uintptr_t)8 << 20)

static void gpu_driver_measure_stack(void)
{
    struct aps_gpu_driver_stack *stack = &aps_gpu_driver_stack;
    pthread_attr_t attributes;
    void *lowest;
    size_t bytes;

    /* prevents further measurements, even after an error */
    stack->begin = stack->end = 1;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &lowest, &bytes) == 0) {
        const uintptr_t end = (uintptr_t)lowest + bytes;

        stack->begin = bytes < STACK_MAX ? (uintptr_t)lowest : end - STACK_MAX;
        stack->end = end;
    }
    pthread_attr_destroy(&attributes);
}

/* --- whether the driver is loaded by now --------------------------------- */

/*
 * Looks for the driver. A search for a library that is not loaded takes long,
 * so it is done only if libraries were loaded since the last look. Counting the
 * libraries takes a walk over all of them, so it is done only once in a moment
 * (aps_gpu_driver_was_missing).
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

const struct aps_gpu_driver *aps_gpu_driver_get(void)
{
    const struct aps_gpu_driver *found =
        atomic_load_explicit(&aps_gpu_driver_loaded, memory_order_acquire);
    uint64_t now;

    if (found)
        return found;
    if (aps_gpu_driver_was_missing())
        return NULL;
    /* The time is taken before the look: a driver that is loaded meanwhile
     * allocates memory a moment later at the earliest. */
    now = aps_gpu_driver_ticks();
    found = gpu_driver_look();
    if (!found)
        atomic_store_explicit(&aps_gpu_driver_missed, now,
                              memory_order_relaxed);
    return found;
}

/* --- the owner of memory ------------------------------------------------- */

bool aps_gpu_driver_find_owner(const struct aps_gpu_driver *driver,
                               const void *p, struct aps_gpu_owner *owner)
{
    static const int which[] = {APS_GPU_MEMORY_TYPE, APS_GPU_IS_MANAGED,
                                APS_GPU_CONTEXT, APS_GPU_DEVICE_ORDINAL,
                                APS_GPU_SYNC_MEMOPS};
    /* Large enough for any integer that the driver writes. */
    unsigned long long type = 0, managed = 0, settled = 0;
    long long device = 0;
    aps_gpu_context home = NULL;
    void *values[] = {&type, &managed, &home, &device, &settled};

    /* For memory that the driver does not know all values are 0. Before the
     * driver is initialised the call fails. */
    if (driver->attributes(5, which, values, (aps_gpu_address)(uintptr_t)p) !=
            0 ||
        ((unsigned)type != APS_GPU_TYPE_DEVICE && (managed & 0xff) == 0))
        return false;
    *owner = (struct aps_gpu_owner){.home = home, .device = (int)device};
    if ((settled & 0xff) == 0)
        aps_gpu_settle(driver, p, owner);
    return true;
}

bool aps_gpu_driver_asks(const void *p)
{
    const struct aps_gpu_driver *found;
    struct aps_gpu_owner owner;

    if (aps_gpu_driver_stack.end == 0)
        gpu_driver_measure_stack();
    found = aps_gpu_driver_get();
    if (!found)
        return false;
    gpu_driver_measure_heap();
    return !aps_gpu_driver_cannot_own(p) &&
           aps_gpu_driver_find_owner(found, p, &owner);
}

int aps_gpu_driver_device(const void *p)
{
    const struct aps_gpu_driver *found = aps_gpu_driver_get();
    struct aps_gpu_owner owner;

    if (!found || aps_gpu_driver_cannot_own(p) ||
        !aps_gpu_driver_find_owner(found, p, &owner))
        return -1;
    return owner.device;
}

bool aps_gpu_driver_is_current(int device)
{
    const struct aps_gpu_driver *found = aps_gpu_driver_get();
    aps_gpu_context now = NULL;
    int number;

    return found && found->current(&now) == 0 && now &&
           found->current_device(&number) == 0 && number == device;
}

bool aps_gpu_driver_is_there(void)
{
    const struct aps_gpu_driver *found = aps_gpu_driver_get();
    aps_gpu_context now;

    return found && found->current(&now) == 0;
}

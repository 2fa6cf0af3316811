/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CUDA driver, if the program has loaded it: finds the device to which a
 * pointer belongs. Neither building nor loading this code needs the headers or
 * libraries of CUDA.
 */
#ifndef APS_PMPI_DEVICE_GPU_DRIVER_H
#define APS_PMPI_DEVICE_GPU_DRIVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

/*
 * Address ranges in which the driver cannot have memory: from the program's
 * image to the end of its heap (brk), and the stack of this thread. Most
 * pointers to host memory are in these ranges, and need no call of the driver.
 */
extern atomic_uintptr_t aps_gpu_driver_image_begin;
extern atomic_uintptr_t aps_gpu_driver_heap_end;
struct aps_gpu_driver_stack {
    uintptr_t begin;
    uintptr_t end;
};
extern _Thread_local struct aps_gpu_driver_stack aps_gpu_driver_stack
    __attribute__((tls_model("initial-exec")));

static inline bool aps_gpu_driver_cannot_own(const void *p)
{
    const uintptr_t at = (uintptr_t)p;
    const uintptr_t end =
        atomic_load_explicit(&aps_gpu_driver_heap_end, memory_order_acquire);
    const uintptr_t begin =
        atomic_load_explicit(&aps_gpu_driver_image_begin, memory_order_relaxed);

    return (at >= begin && at < end) ||
           at - aps_gpu_driver_stack.begin <
               aps_gpu_driver_stack.end - aps_gpu_driver_stack.begin ||
           at + 4096 < 8192; /* NULL, and MPI_IN_PLACE: 1 or -1 */
}

/*
 * True if the driver was missing a moment ago. The driver takes some 10 ms from
 * being loaded to its first allocation. A moment is shorter at any frequency of
 * the counter, so the driver cannot have allocated memory meanwhile.
 */
#if defined(__x86_64__)
#define APS_GPU_DRIVER_MOMENT (UINT64_C(1) << 23)
static inline uint64_t aps_gpu_driver_ticks(void)
{
    return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
#define APS_GPU_DRIVER_MOMENT (UINT64_C(1) << 16)
static inline uint64_t aps_gpu_driver_ticks(void)
{
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#else
#define APS_GPU_DRIVER_MOMENT UINT64_C(4000000)
static inline uint64_t aps_gpu_driver_ticks(void)
{
    return (uint64_t)aps_clock_ns(CLOCK_MONOTONIC_COARSE);
}
#endif
struct aps_gpu_driver; /* its functions */
/* Functions of the driver; NULL: not loaded yet. */
extern const struct aps_gpu_driver *_Atomic aps_gpu_driver_loaded;
/* Last time at which the driver was missing, in ticks; 0: never. */
extern _Atomic uint64_t aps_gpu_driver_missed;

static inline bool aps_gpu_driver_was_missing(void)
{
    return !atomic_load_explicit(&aps_gpu_driver_loaded,
                                 memory_order_acquire) &&
           aps_gpu_driver_ticks() - atomic_load_explicit(&aps_gpu_driver_missed,
                                                         memory_order_relaxed) <
               APS_GPU_DRIVER_MOMENT;
}

/* Asks the driver whether p is in memory of a device or in managed memory.
 * Returns false without a driver. Thread-safe. p may have any value. */
bool aps_gpu_driver_asks(const void *p);

static inline bool aps_gpu_driver_owns(const void *p)
{
    return !aps_gpu_driver_cannot_own(p) && !aps_gpu_driver_was_missing() &&
           aps_gpu_driver_asks(p);
}

/* Returns the number of the device that p belongs to, or -1 if the driver does
 * not own p. */
int aps_gpu_driver_device(const void *p);

/* True if a context of that device is current in this thread. */
bool aps_gpu_driver_is_current(int device);

/* True if the program has loaded and initialised the driver. */
bool aps_gpu_driver_is_there(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUDA's driver, where a program has loaded it: whose memory a pointer is in,
 * and copies. Neither CUDA's headers nor its libraries are needed to build or
 * to load this.
 */
#ifndef APS_PMPI_DEVICE_GPU_DRIVER_H
#define APS_PMPI_DEVICE_GPU_DRIVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

/*
 * Where no driver's memory can be, so that most pointers are known to be the
 * host's without a question to anybody: what the program's image and its heap
 * (brk) span, and this thread's stack.
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
 * Was there no driver a moment ago? From being loaded to giving out memory it
 * needs some 10 ms; a moment is less, whatever the frequency of the counter.
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
extern const struct aps_gpu_driver
    *_Atomic aps_gpu_driver_loaded; /* NULL: not yet */
extern _Atomic uint64_t
    aps_gpu_driver_missed; /* when there was none; 0: never */

static inline bool aps_gpu_driver_was_missing(void)
{
    return !atomic_load_explicit(&aps_gpu_driver_loaded,
                                 memory_order_acquire) &&
           aps_gpu_driver_ticks() - atomic_load_explicit(&aps_gpu_driver_missed,
                                                         memory_order_relaxed) <
               APS_GPU_DRIVER_MOMENT;
}

/* Is p in memory of a device, or managed? False also where there is no driver.
 * Thread-safe; p may be any value. */
bool aps_gpu_driver_asks(const void *p);

static inline bool aps_gpu_driver_owns(const void *p)
{
    return !aps_gpu_driver_cannot_own(p) && !aps_gpu_driver_was_missing() &&
           aps_gpu_driver_asks(p);
}

/* The number of the device that memory is of, which aps_gpu_driver_owns;
 * else -1. */
int aps_gpu_driver_device(const void *p);

/* Is a context of that device current in this thread? */
bool aps_gpu_driver_is_current(int device);

/* Has a program loaded it, and is it initialised? */
bool aps_gpu_driver_is_there(void);

/*
 * Copy between host memory and memory that aps_gpu_driver_owns, of whatever
 * device and context; done when they return. 0, or -1 with the cause. Thread-
 * safe.
 */
int aps_gpu_driver_copy_out(void *host, const void *device, size_t bytes,
                            char *cause, size_t size);
int aps_gpu_driver_copy_in(void *device, const void *host, size_t bytes,
                           char *cause, size_t size);

#endif

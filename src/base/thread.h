/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that the library itself starts, in addition to those of the program.
 */
#ifndef APS_BASE_THREAD_H
#define APS_BASE_THREAD_H

#include <pthread.h>

/* Starts a thread that blocks all signals, which are for the program's threads,
 * except those of its own faults. The caller joins or detaches the thread.
 * Returns 0 or -1. */
int aps_thread_start(pthread_t *thread, void *(*run)(void *argument),
                     void *argument);

/* Tells the core that this thread waits in a loop. */
static inline void aps_thread_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif

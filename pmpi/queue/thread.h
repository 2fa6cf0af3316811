/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of the library's own, beside those of the program.
 */
#ifndef APS_PMPI_QUEUE_THREAD_H
#define APS_PMPI_QUEUE_THREAD_H

#include <pthread.h>

/* No signal is delivered to the thread: signals are the program's affair. The
 * caller joins or detaches the thread. 0 or -1. */
int aps_thread_start(pthread_t *thread, void *(*run)(void *argument),
                     void *argument);

#endif

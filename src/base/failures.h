/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the failures of a memory backend and keeps the cause of the last.
 * Thread-safe.
 */
#ifndef APS_BASE_FAILURES_H
#define APS_BASE_FAILURES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct aps_failures {
    pthread_mutex_t mutex;
    atomic_ulong count;
    char cause[256]; /* under the mutex */
};

#define APS_FAILURES_NONE                                                      \
    {                                                                          \
        .mutex = PTHREAD_MUTEX_INITIALIZER                                     \
    }

void aps_failures_note(struct aps_failures *failures, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns the number of failures; if it is not 0, cause[size] gets the cause of
 * the last one. */
unsigned long aps_failures_count(struct aps_failures *failures, char *cause,
                                 size_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cuda/failure.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/message.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_ulong failures;
static char last[256];
static atomic_ullong detours;

void aps_cuda_failure_note(const char *verb, const char *cause)
{
    pthread_mutex_lock(&mutex);
    snprintf(last, sizeof last, "%s: %s", verb, cause);
    atomic_fetch_add(&failures, 1);
    pthread_mutex_unlock(&mutex);
}

unsigned long aps_cuda_failure_count(char *cause, size_t size)
{
    unsigned long count = atomic_load(&failures);

    if (count == 0)
        return 0;
    pthread_mutex_lock(&mutex);
    snprintf(cause, size, "%s", last);
    pthread_mutex_unlock(&mutex);
    return count;
}

void aps_cuda_detour_note(const char *verb, const char *cause)
{
    unsigned long long times = atomic_fetch_add(&detours, 1) + 1;

    if (aps_message_is_due(times))
        aps_message(-1,
                    "cuda: %s on the device: %s: it goes through the host, "
                    "slowly (%llu so far)",
                    verb, cause, times);
}

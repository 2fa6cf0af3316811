/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/failures.h"

#include <stdarg.h>
#include <stdio.h>

void aps_failures_note(struct aps_failures *failures, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    pthread_mutex_lock(&failures->mutex);
    vsnprintf(failures->cause, sizeof failures->cause, format, arguments);
    atomic_fetch_add(&failures->count, 1);
    pthread_mutex_unlock(&failures->mutex);
    va_end(arguments);
}

unsigned long aps_failures_count(struct aps_failures *failures, char *cause,
                                 size_t size)
{
    unsigned long count = atomic_load(&failures->count);

    if (count == 0 || size == 0)
        return count;
    pthread_mutex_lock(&failures->mutex);
    snprintf(cause, size, "%s", failures->cause);
    pthread_mutex_unlock(&failures->mutex);
    return count;
}

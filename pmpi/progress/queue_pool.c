/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "progress/queue_pool.h"

#include <pthread.h>
#include <stddef.h>

/* As many as a program is likely to make and free in turn. */
#define SPARE_MOST 8

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct aps_queue *spare[SPARE_MOST];
static int spares;

static struct aps_queue *queue_pool_find_locked(bool thread)
{
    for (int i = spares - 1; i >= 0; i--) {
        struct aps_queue *found = spare[i];

        if (aps_queue_has_thread(found) != thread)
            continue;
        spare[i] = spare[--spares];
        return found;
    }
    return NULL;
}

struct aps_queue *aps_queue_pool_take(bool thread, const char *label)
{
    struct aps_queue *queue;

    pthread_mutex_lock(&lock);
    queue = queue_pool_find_locked(thread);
    pthread_mutex_unlock(&lock);
    if (!queue)
        return aps_queue_create(thread, label);
    aps_queue_set_label(queue, label);
    return queue;
}

void aps_queue_pool_give(struct aps_queue *queue)
{
    bool kept = false;

    /* One that is not empty ends with its last operation, which may be about to
     * return. */
    if (queue && aps_queue_is_empty(queue)) {
        pthread_mutex_lock(&lock);
        kept = spares < SPARE_MOST;
        if (kept)
            spare[spares++] = queue;
        pthread_mutex_unlock(&lock);
    }
    if (!kept)
        aps_queue_close(queue);
}

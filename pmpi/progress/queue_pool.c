/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "progress/queue_pool.h"

#include <pthread.h>
#include <stddef.h>

#include "progress/progress_thread.h"

/* As many as a program is likely to make and free in turn. */
#define SPARE_MOST 8

/* Queues with a thread of their own at a time. More of them than cores carry on
 * nothing sooner, and a process may have few threads. */
#define THREADS_MOST 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int threads; /* queues with a thread, spare ones included */
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

/* A queue with a thread, or NULL: there are enough threads, or none can be made. */
static struct aps_queue *queue_pool_create_thread(const char *label)
{
    struct aps_queue *queue = NULL;
    bool allowed;

    pthread_mutex_lock(&lock);
    allowed = threads < THREADS_MOST;
    threads += allowed;
    pthread_mutex_unlock(&lock);
    if (allowed)
        queue = aps_queue_create(true, label);
    if (allowed && !queue) {
        pthread_mutex_lock(&lock);
        threads--;
        pthread_mutex_unlock(&lock);
    }
    return queue;
}

struct aps_queue *aps_queue_pool_take(bool thread, const char *label)
{
    struct aps_queue *queue;

    pthread_mutex_lock(&lock);
    queue = queue_pool_find_locked(thread);
    pthread_mutex_unlock(&lock);
    if (queue) {
        aps_queue_set_label(queue, label);
        return queue;
    }
    if (thread) {
        queue = queue_pool_create_thread(label);
        if (queue)
            return queue;
        /* The progress thread drives its fiber while the program computes. */
        aps_progress_thread_expect_threads();
    }
    return aps_queue_create(false, label);
}

void aps_queue_pool_give(struct aps_queue *queue)
{
    bool kept = false;

    if (!queue)
        return;
    pthread_mutex_lock(&lock);
    /* One that is not empty ends with its last operation, which may be about to
     * return. */
    kept = aps_queue_is_empty(queue) && spares < SPARE_MOST;
    if (kept)
        spare[spares++] = queue;
    else
        threads -= aps_queue_has_thread(queue);
    pthread_mutex_unlock(&lock);
    if (!kept)
        aps_queue_close(queue);
}

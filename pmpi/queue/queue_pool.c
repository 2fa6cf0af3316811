/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "queue/queue_pool.h"

#include <pthread.h>
#include <stddef.h>

#include "queue/progress_thread.h"

/* Largest number of spare queues of one kind: as many as a program is likely to
 * create and free in turn. */
#define SPARE_MAX 8

/* Largest number of queues with a thread at a time. More of them than cores
 * speed nothing up, and a process may be limited in its threads. */
#define THREADS_MAX 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int threads; /* queues with a thread, spare ones included */
static struct {
    struct aps_queue *list[SPARE_MAX];
    int count;
} spare[2]; /* queues with fibers, and with threads */

/* Returns a spare queue of that kind, or NULL. */
static struct aps_queue *queue_pool_find(bool thread, const char *label)
{
    struct aps_queue *found = NULL;

    pthread_mutex_lock(&lock);
    if (spare[thread].count > 0)
        found = spare[thread].list[--spare[thread].count];
    pthread_mutex_unlock(&lock);
    if (found)
        aps_queue_set_label(found, label);
    return found;
}

/* Returns a queue with a thread, or NULL if there are enough threads, or no
 * thread can be started. */
static struct aps_queue *queue_pool_create_thread(const char *label)
{
    struct aps_queue *queue = NULL;
    bool allowed;

    pthread_mutex_lock(&lock);
    allowed = threads < THREADS_MAX;
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
    struct aps_queue *queue = NULL;

    if (thread) {
        queue = queue_pool_find(true, label);
        if (!queue)
            queue = queue_pool_create_thread(label);
        if (queue)
            return queue;
        /* The progress thread drives its fiber while the program computes. */
        aps_progress_thread_expect_threads();
    }
    queue = queue_pool_find(false, label);
    return queue ? queue : aps_queue_create(false, label);
}

void aps_queue_pool_give(struct aps_queue *queue)
{
    bool thread, kept;

    if (!queue)
        return;
    thread = aps_queue_has_thread(queue);
    pthread_mutex_lock(&lock);
    /* A queue that is not empty is destroyed after its last operation, which
     * may be about to return. */
    kept = aps_queue_is_empty(queue) && spare[thread].count < SPARE_MAX;
    if (kept)
        spare[thread].list[spare[thread].count++] = queue;
    else
        threads -= thread;
    pthread_mutex_unlock(&lock);
    if (!kept)
        aps_queue_close(queue);
}

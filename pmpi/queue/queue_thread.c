/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "queue/queue_thread.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "queue/queue_hold.h"
#include "queue/queue_state.h"
#include "base/thread.h"
#include "message/wait.h"

/* Time that abandoned threads have to reach their next look at the queue. */
#define STOP_NS 1000000000L

/* Time for which a thread that has slept leaves an operation to a thread of the
 * program that waits for it (aps_queue_help). Handing the operation to this
 * thread and its result back would cost two switches. */
#define LEAVE_NS 10000L

static atomic_int parked; /* number of threads that have ended in a wait */

/* True if a thread of the program waits in a call that the library sees; false
 * if all of them compute. */
static bool queue_is_awaited(void)
{
    return atomic_load(&aps_queue_resting) > 0;
}

void aps_queue_park_abandoned(void)
{
    if (!atomic_load_explicit(&aps_queue_abandoned, memory_order_relaxed))
        return;
    atomic_fetch_add(&parked, 1);
    for (;;)
        pause();
}

/* The caller holds aps_queue_lock; other threads may take it meanwhile. */
static void queue_leave_locked(const struct aps_queue *queue)
{
    const long begin = aps_clock_ns(CLOCK_MONOTONIC);

    while (queue->first && !queue->served &&
           aps_clock_ns(CLOCK_MONOTONIC) - begin < LEAVE_NS) {
        pthread_mutex_unlock(&aps_queue_lock);
        sched_yield();
        pthread_mutex_lock(&aps_queue_lock);
    }
}

/* Returns the next operation, or NULL if the thread is to end; it is then
 * joined or detached. *closed: the thread destroys the queue. */
static struct aps_operation *queue_await(struct aps_queue *queue, bool *closed)
{
    struct aps_operation *operation;

    pthread_mutex_lock(&aps_queue_lock);
    while (queue->served || (!queue->first && !queue->closed && !queue->stop)) {
        pthread_cond_wait(&queue->arrived, &aps_queue_lock);
        queue_leave_locked(queue);
    }
    operation = aps_queue_pop_locked(queue);
    queue->served = operation != NULL;
    if (!operation) {
        *closed = queue->closed;
        queue->running = false;
        if (!queue->joined)
            pthread_detach(pthread_self());
    }
    pthread_mutex_unlock(&aps_queue_lock);
    return operation;
}

static void queue_end_turn(struct aps_queue *queue)
{
    pthread_mutex_lock(&aps_queue_lock);
    queue->served = false;
    pthread_mutex_unlock(&aps_queue_lock);
}

static void *queue_serve_on_thread(void *argument)
{
    struct aps_queue *queue = argument;
    struct aps_operation *operation;
    bool closed = false;

    aps_wait_set_background(queue_is_awaited);
    aps_wait_set_turn(aps_queue_park_abandoned);
    while ((operation = queue_await(queue, &closed))) {
        aps_queue_carry_out(queue, operation);
        queue_end_turn(queue);
    }
    if (closed)
        aps_queue_destroy(queue);
    return NULL;
}

int aps_queue_start_thread_locked(struct aps_queue *queue)
{
    queue->stop = false;
    queue->joined = false;
    queue->running =
        aps_thread_start(&queue->thread, queue_serve_on_thread, queue) == 0;
    return queue->running ? 0 : -1;
}

/* Returns a queue whose thread is about to end, and which the caller must join,
 * or NULL. A queue that has received operations since may have a new thread,
 * which continues. */
static struct aps_queue *queue_find_stoppable_locked(void)
{
    struct aps_queue *queue = aps_queue_all;

    while (queue && (!queue->running || !queue->stop || queue->joined ||
                     (atomic_load(&aps_queue_abandoned) &&
                      !aps_queue_has_done_all(queue))))
        queue = queue->other;
    if (queue)
        queue->joined = true;
    return queue;
}

static int queue_count_ending(void)
{
    int count = 0;

    pthread_mutex_lock(&aps_queue_lock);
    for (struct aps_queue *queue = aps_queue_all; queue; queue = queue->other)
        count += queue->running && queue->stop;
    pthread_mutex_unlock(&aps_queue_lock);
    return count;
}

int aps_queue_stop_threads(void)
{
    const long begin = aps_clock_ns(CLOCK_MONOTONIC);
    struct aps_queue *queue;
    long rested = 0;
    int left;

    pthread_mutex_lock(&aps_queue_lock);
    for (queue = aps_queue_all; queue; queue = queue->other) {
        queue->stop = true;
        pthread_cond_signal(&queue->arrived);
    }
    while ((queue = queue_find_stoppable_locked())) {
        const pthread_t thread = queue->thread;

        /* The queue may be freed before its thread ends. */
        pthread_mutex_unlock(&aps_queue_lock);
        pthread_join(thread, NULL);
        pthread_mutex_lock(&aps_queue_lock);
    }
    pthread_mutex_unlock(&aps_queue_lock);
    while ((left = queue_count_ending() - atomic_load(&parked)) > 0 &&
           aps_clock_ns(CLOCK_MONOTONIC) - begin < STOP_NS)
        aps_wait_back_off(&rested);
    return left;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "queue/queue.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/hot.h"
#include "message/fiber.h"
#include "queue/queue_hold.h"
#include "queue/queue_state.h"
#include "queue/queue_thread.h"
#include "message/wait.h"

APS_HOT atomic_int aps_queue_busy;
static atomic_int blocked; /* number of program threads that block */
/* queues with fibers and unfinished operations */
static struct aps_queue *busy;

/* Held by the thread that drives the fibers. */
static pthread_mutex_t driving = PTHREAD_MUTEX_INITIALIZER;

static void queue_serve_on_fiber(void *argument)
{
    struct aps_queue *queue = argument;

    for (;;) {
        struct aps_operation *operation;

        pthread_mutex_lock(&aps_queue_lock);
        operation = aps_queue_pop_locked(queue);
        pthread_mutex_unlock(&aps_queue_lock);
        if (operation)
            aps_queue_carry_out(queue, operation);
        else
            aps_fiber_yield();
    }
}

struct aps_queue *aps_queue_create(bool thread, const char *label)
{
    struct aps_queue *queue = calloc(1, sizeof *queue);

    if (!queue)
        return NULL;
    aps_wait_set_idle(aps_queue_drive_blocked); /* waits drive the fibers */
    queue->last = &queue->first;
    queue->holders = 1;
    pthread_cond_init(&queue->arrived, NULL);
    if (!thread)
        queue->fiber = aps_fiber_create(queue_serve_on_fiber, queue);
    snprintf(queue->label, sizeof queue->label, "%s", label);
    if (thread ? aps_queue_start_thread_locked(queue) < 0
               : queue->fiber == NULL) {
        aps_queue_destroy(queue);
        return NULL;
    }
    aps_queue_enrol(queue);
    return queue;
}

void aps_queue_set_label(struct aps_queue *queue, const char *label)
{
    pthread_mutex_lock(&aps_queue_lock);
    snprintf(queue->label, sizeof queue->label, "%s", label);
    pthread_mutex_unlock(&aps_queue_lock);
}

bool aps_queue_has_thread(const struct aps_queue *queue)
{
    return queue->fiber == NULL;
}

static void queue_list_locked(struct aps_queue *queue)
{
    if (queue->listed)
        return;
    queue->listed = true;
    queue->next = busy;
    busy = queue;
    atomic_fetch_add(&aps_queue_busy, 1);
}

static void queue_unlist_locked(struct aps_queue *queue)
{
    struct aps_queue **link = &busy;

    while (*link != queue)
        link = &(*link)->next;
    *link = queue->next;
    queue->listed = false;
    atomic_fetch_sub(&aps_queue_busy, 1);
}

void aps_queue_push(struct aps_queue *queue, struct aps_operation *operation)
{
    operation->next = NULL;
    atomic_store(&queue->last_push, aps_clock_ns(CLOCK_MONOTONIC));
    pthread_mutex_lock(&aps_queue_lock);
    *queue->last = operation;
    queue->last = &operation->next;
    atomic_fetch_add(&queue->pushed, 1);
    atomic_fetch_add(&aps_queue_operations, 1);
    if (queue->fiber)
        queue_list_locked(queue);
    else if (queue->running)
        pthread_cond_signal(&queue->arrived);
    else /* in a callback of MPI_Finalize, which has ended the thread */
        (void)aps_queue_start_thread_locked(queue);
    pthread_mutex_unlock(&aps_queue_lock);
}

size_t aps_queue_peek(const struct aps_queue *queue,
                      struct aps_operation *list[], size_t most)
{
    size_t count = 0;

    pthread_mutex_lock(&aps_queue_lock);
    for (struct aps_operation *operation = queue->first;
         operation && count < most; operation = operation->next)
        list[count++] = operation;
    pthread_mutex_unlock(&aps_queue_lock);
    return count;
}

void aps_queue_take(struct aps_queue *queue, size_t count)
{
    pthread_mutex_lock(&aps_queue_lock);
    for (size_t i = 0; i < count; i++)
        (void)aps_queue_pop_locked(queue);
    pthread_mutex_unlock(&aps_queue_lock);
    atomic_fetch_add(&queue->done, count);
    atomic_fetch_sub(&aps_queue_operations, (int)count);
}

void aps_queue_pause(const struct aps_queue *queue)
{
    const struct timespec nap = {.tv_nsec = 50000};

    if (queue->fiber) {
        aps_fiber_yield();
    } else {
        aps_queue_park_abandoned();
        nanosleep(&nap, NULL);
    }
}

long aps_queue_age(const struct aps_queue *queue)
{
    return aps_clock_ns(CLOCK_MONOTONIC) - atomic_load(&queue->last_push);
}

bool aps_queue_is_empty(const struct aps_queue *queue)
{
    return aps_queue_has_done_all(queue);
}

/* Returns the next operation for a helper, or NULL. */
static struct aps_operation *queue_pop_to_help(struct aps_queue *queue)
{
    struct aps_operation *operation = NULL;

    pthread_mutex_lock(&aps_queue_lock);
    if (!queue->served)
        operation = aps_queue_pop_locked(queue);
    queue->served |= operation != NULL;
    pthread_mutex_unlock(&aps_queue_lock);
    return operation;
}

static void queue_end_help(struct aps_queue *queue)
{
    pthread_mutex_lock(&aps_queue_lock);
    queue->served = false;
    if (queue->first || queue->closed || queue->stop)
        pthread_cond_signal(&queue->arrived);
    pthread_mutex_unlock(&aps_queue_lock);
}

bool aps_queue_help(struct aps_queue *queue, const _Atomic uint32_t *complete)
{
    struct aps_operation *operation;
    bool helped = false;

    if (queue->fiber || aps_fiber_inside() || atomic_load(&aps_queue_abandoned))
        return false;
    aps_queue_hold(queue);
    atomic_fetch_add(&blocked, 1);
    while (!atomic_load(complete) && (operation = queue_pop_to_help(queue))) {
        aps_queue_carry_out(queue, operation);
        queue_end_help(queue);
        helped = true;
    }
    atomic_fetch_sub(&blocked, 1);
    aps_queue_release(queue);
    return helped;
}

void aps_queue_drain(struct aps_queue *queue, MPI_Comm comm)
{
    static const _Atomic uint32_t never;
    long begin = 0;

    (void)aps_queue_help(queue, &never);
    atomic_fetch_add(&blocked, 1);
    while (!aps_queue_is_empty(queue) && !atomic_load(&aps_queue_abandoned)) {
        if (!queue->fiber)
            aps_wait_poll(comm);
        aps_queue_wait(&begin);
    }
    atomic_fetch_sub(&blocked, 1);
}

/* Returns the busy queue after `queue`, or the first one if `queue` is NULL. */
static struct aps_queue *queue_following(struct aps_queue *queue)
{
    struct aps_queue *next;

    pthread_mutex_lock(&aps_queue_lock);
    next = queue ? queue->next : busy;
    pthread_mutex_unlock(&aps_queue_lock);
    return next;
}

/* Call this after the queue's fiber has yielded. Removes the queue from the
 * busy ones if it has no more operations. */
static void queue_settle(struct aps_queue *queue)
{
    bool gone = false;

    pthread_mutex_lock(&aps_queue_lock);
    if (aps_queue_is_empty(queue)) {
        queue_unlist_locked(queue);
        gone = queue->closed;
    }
    pthread_mutex_unlock(&aps_queue_lock);
    if (gone)
        aps_queue_destroy(queue);
}

void aps_queue_drive(void)
{
    if (!aps_queue_pending() || aps_fiber_inside() ||
        atomic_load(&aps_queue_abandoned) ||
        pthread_mutex_trylock(&driving) != 0)
        return;
    /* Only this thread removes queues from the list; other threads add them in
     * front. */
    for (struct aps_queue *queue = queue_following(NULL), *next; queue;
         queue = next) {
        next = queue_following(queue);
        aps_fiber_resume(queue->fiber);
        queue_settle(queue);
    }
    pthread_mutex_unlock(&driving);
}

void aps_queue_poll(void)
{
    static _Thread_local int before; /* operations at the last test */
    const int now = atomic_load(&aps_queue_operations);

    aps_queue_drive();
    if (now > 0 && now == before && !aps_fiber_inside())
        sched_yield();
    before = now;
}

void aps_queue_drive_blocked(void)
{
    atomic_fetch_add(&blocked, 1);
    aps_queue_drive();
    atomic_fetch_sub(&blocked, 1);
}

void aps_queue_wait(long *begin)
{
    const int before = atomic_load(&aps_queue_operations);

    aps_queue_drive_blocked();
    if (atomic_load(&aps_queue_operations) < before)
        return;
    atomic_fetch_add(&aps_queue_resting, 1);
    aps_wait_back_off(begin);
    atomic_fetch_sub(&aps_queue_resting, 1);
}

void aps_queue_rest_with(void (*rest)(void))
{
    aps_queue_drive_blocked();
    atomic_fetch_add(&aps_queue_resting, 1);
    rest();
    atomic_fetch_sub(&aps_queue_resting, 1);
}

bool aps_queue_is_blocked(void)
{
    return atomic_load(&blocked) > 0;
}

void aps_queue_close(struct aps_queue *queue)
{
    bool gone;

    if (!queue)
        return;
    pthread_mutex_lock(&aps_queue_lock);
    queue->closed = true;
    gone = queue->fiber ? !queue->listed : !queue->running;
    if (!queue->fiber)
        pthread_cond_signal(&queue->arrived);
    pthread_mutex_unlock(&aps_queue_lock);
    if (gone)
        aps_queue_destroy(queue);
}

unsigned long aps_queue_list_unfinished(char *text, size_t size)
{
    unsigned long count = 0;
    size_t used = 0;

    text[0] = '\0';
    pthread_mutex_lock(&aps_queue_lock);
    for (struct aps_queue *queue = aps_queue_all; queue; queue = queue->other) {
        const unsigned long left =
            atomic_load(&queue->pushed) - atomic_load(&queue->done);

        if (left > 0 && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%lu of %s",
                                     used > 0 ? ", " : "", left, queue->label);
        count += left;
    }
    pthread_mutex_unlock(&aps_queue_lock);
    return count;
}

bool aps_queue_has_busy_thread(void)
{
    bool busy_thread = false;

    pthread_mutex_lock(&aps_queue_lock);
    for (struct aps_queue *queue = aps_queue_all; queue; queue = queue->other)
        busy_thread |= queue->running && !aps_queue_is_empty(queue);
    pthread_mutex_unlock(&aps_queue_lock);
    return busy_thread;
}

void aps_queue_abandon(void)
{
    atomic_store(&aps_queue_abandoned, true);
    /* Waits until no other thread drives the queues. */
    pthread_mutex_lock(&driving);
    pthread_mutex_unlock(&driving);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "progress/queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "progress/fiber.h"
#include "progress/thread.h"
#include "progress/wait.h"

#define FINISH_NS 1000000000L

struct aps_queue {
    struct aps_operation *first;
    struct aps_operation **last;
    _Atomic unsigned long pushed;
    _Atomic unsigned long done; /* operations carried out */
    _Atomic long last_push;     /* nanoseconds */
    bool closed;
    struct aps_fiber *fiber; /* NULL: a thread */
    bool listed;             /* among the busy ones */
    struct aps_queue *next;  /* in that list */
    pthread_cond_t arrived;  /* for the thread */
};

atomic_int aps_queue_busy;
atomic_int aps_queue_operations;
static atomic_int blocked; /* threads of the program */
static atomic_int resting; /* of them, between two looks */

/* All lists of all queues; held for a few instructions. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct aps_queue *busy; /* those with fibers */

/* Held by who drives the fibers. */
static pthread_mutex_t driving = PTHREAD_MUTEX_INITIALIZER;

static void queue_destroy(struct aps_queue *queue)
{
    aps_fiber_destroy(queue->fiber);
    pthread_cond_destroy(&queue->arrived);
    free(queue);
}

/* The lock is held. */
static struct aps_operation *queue_pop(struct aps_queue *queue)
{
    struct aps_operation *first = queue->first;

    if (!first)
        return NULL;
    queue->first = first->next;
    if (!queue->first)
        queue->last = &queue->first;
    return first;
}

static void queue_run(struct aps_queue *queue, struct aps_operation *operation)
{
    operation->run(operation);
    atomic_fetch_add(&queue->done, 1);
    atomic_fetch_sub(&aps_queue_operations, 1);
}

static void queue_serve_on_fiber(void *argument)
{
    struct aps_queue *queue = argument;

    for (;;) {
        struct aps_operation *operation;

        pthread_mutex_lock(&lock);
        operation = queue_pop(queue);
        pthread_mutex_unlock(&lock);
        if (operation)
            queue_run(queue, operation);
        else
            aps_fiber_yield();
    }
}

/* Does a thread of the program block, as far as we see, or do all compute? */
static bool queue_is_awaited(void)
{
    return atomic_load(&resting) > 0;
}

static void *queue_serve_on_thread(void *argument)
{
    struct aps_queue *queue = argument;

    aps_wait_set_beside(queue_is_awaited);
    for (;;) {
        struct aps_operation *operation;

        pthread_mutex_lock(&lock);
        while (!queue->first && !queue->closed)
            pthread_cond_wait(&queue->arrived, &lock);
        operation = queue_pop(queue);
        pthread_mutex_unlock(&lock);
        if (!operation)
            break;
        queue_run(queue, operation);
    }
    queue_destroy(queue);
    return NULL;
}

struct aps_queue *aps_queue_create(bool thread)
{
    struct aps_queue *queue = calloc(1, sizeof *queue);

    if (!queue)
        return NULL;
    aps_wait_set_idle(aps_queue_drive_blocked);
    queue->last = &queue->first;
    pthread_cond_init(&queue->arrived, NULL);
    if (!thread)
        queue->fiber = aps_fiber_create(queue_serve_on_fiber, queue);
    if (thread ? aps_thread_start(queue_serve_on_thread, queue) < 0
               : queue->fiber == NULL) {
        queue_destroy(queue);
        return NULL;
    }
    return queue;
}

bool aps_queue_has_thread(const struct aps_queue *queue)
{
    return queue->fiber == NULL;
}

/* The lock is held. */
static void queue_list(struct aps_queue *queue)
{
    if (queue->listed)
        return;
    queue->listed = true;
    queue->next = busy;
    busy = queue;
    atomic_fetch_add(&aps_queue_busy, 1);
}

/* The lock is held. */
static void queue_unlist(struct aps_queue *queue)
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
    pthread_mutex_lock(&lock);
    *queue->last = operation;
    queue->last = &operation->next;
    atomic_fetch_add(&queue->pushed, 1);
    atomic_fetch_add(&aps_queue_operations, 1);
    if (queue->fiber)
        queue_list(queue);
    else
        pthread_cond_signal(&queue->arrived);
    pthread_mutex_unlock(&lock);
}

size_t aps_queue_peek(const struct aps_queue *queue,
                      struct aps_operation *list[], size_t most)
{
    size_t count = 0;

    pthread_mutex_lock(&lock);
    for (struct aps_operation *operation = queue->first;
         operation && count < most; operation = operation->next)
        list[count++] = operation;
    pthread_mutex_unlock(&lock);
    return count;
}

void aps_queue_take(struct aps_queue *queue, size_t count)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        (void)queue_pop(queue);
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&queue->done, count);
    atomic_fetch_sub(&aps_queue_operations, (int)count);
}

void aps_queue_pause(const struct aps_queue *queue)
{
    const struct timespec nap = {.tv_nsec = 50000};

    if (queue->fiber)
        aps_fiber_yield();
    else
        nanosleep(&nap, NULL);
}

long aps_queue_age(const struct aps_queue *queue)
{
    return aps_clock_ns(CLOCK_MONOTONIC) - atomic_load(&queue->last_push);
}

bool aps_queue_is_empty(const struct aps_queue *queue)
{
    return atomic_load(&queue->done) == atomic_load(&queue->pushed);
}

void aps_queue_drain(struct aps_queue *queue)
{
    long begin = 0;

    atomic_fetch_add(&blocked, 1);
    while (!aps_queue_is_empty(queue))
        aps_queue_wait(&begin);
    atomic_fetch_sub(&blocked, 1);
}

void aps_queue_finish_all(void)
{
    const long begin = aps_clock_ns(CLOCK_MONOTONIC);
    long rested = 0;

    /* The program has completed its requests; what is left is ours, and
     * short. */
    while (aps_queue_unfinished() &&
           aps_clock_ns(CLOCK_MONOTONIC) - begin < FINISH_NS) {
        aps_queue_drive_blocked();
        aps_wait_rest(&rested);
    }
    /* Nobody is still about it in another thread. */
    pthread_mutex_lock(&driving);
    pthread_mutex_unlock(&driving);
}

/* The next of the busy queues after `queue`, or the first. */
static struct aps_queue *queue_following(struct aps_queue *queue)
{
    struct aps_queue *next;

    pthread_mutex_lock(&lock);
    next = queue ? queue->next : busy;
    pthread_mutex_unlock(&lock);
    return next;
}

/* After its fiber has given way: is there more to come? */
static void queue_settle(struct aps_queue *queue)
{
    bool gone = false;

    pthread_mutex_lock(&lock);
    if (aps_queue_is_empty(queue)) {
        queue_unlist(queue);
        gone = queue->closed;
    }
    pthread_mutex_unlock(&lock);
    if (gone)
        queue_destroy(queue);
}

void aps_queue_drive(void)
{
    if (!aps_queue_pending() || aps_fiber_inside() ||
        pthread_mutex_trylock(&driving) != 0)
        return;
    /* Only this thread takes queues off the list; others come in front. */
    for (struct aps_queue *queue = queue_following(NULL), *next; queue;
         queue = next) {
        next = queue_following(queue);
        aps_fiber_resume(queue->fiber);
        queue_settle(queue);
    }
    pthread_mutex_unlock(&driving);
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
    atomic_fetch_add(&resting, 1);
    aps_wait_rest(begin);
    atomic_fetch_sub(&resting, 1);
}

void aps_queue_rest_with(void (*rest)(void))
{
    aps_queue_drive_blocked();
    atomic_fetch_add(&resting, 1);
    rest();
    atomic_fetch_sub(&resting, 1);
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
    pthread_mutex_lock(&lock);
    queue->closed = true;
    gone = queue->fiber && !queue->listed;
    if (!queue->fiber)
        pthread_cond_signal(&queue->arrived);
    pthread_mutex_unlock(&lock);
    if (gone)
        queue_destroy(queue);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "progress/queue.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "progress/fiber.h"
#include "progress/thread.h"
#include "progress/wait.h"

/* How long abandoned threads have to come to their next look at the queue. */
#define STOP_NS 1000000000L

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
    struct aps_queue *other; /* in the list of all */
    char label[64];

    /* Of a queue with a thread. */
    pthread_t thread;
    pthread_cond_t arrived;
    bool running; /* until the thread's last look at the queue */
    bool stop;    /* the thread is to end when the queue is empty */
    bool joined;  /* someone joins it; else it detaches itself */
};

atomic_int aps_queue_busy;
atomic_int aps_queue_operations;
static atomic_int blocked; /* threads of the program */
static atomic_int resting; /* of them, between two looks */

/* All lists of all queues; held for a few instructions. (pmpi/LOCKS.md has the
 * order of all locks.) */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct aps_queue *queues; /* all of them */
static struct aps_queue *busy;   /* those with fibers */

static atomic_bool abandoned;
static atomic_int parked; /* threads that have ended in a wait */

/* Held by the thread that drives the fibers. */
static pthread_mutex_t driving = PTHREAD_MUTEX_INITIALIZER;

static void queue_enrol(struct aps_queue *queue)
{
    pthread_mutex_lock(&lock);
    queue->other = queues;
    queues = queue;
    pthread_mutex_unlock(&lock);
}

static void queue_destroy(struct aps_queue *queue)
{
    struct aps_queue **link = &queues;

    pthread_mutex_lock(&lock);
    while (*link && *link != queue)
        link = &(*link)->other;
    if (*link)
        *link = queue->other;
    pthread_mutex_unlock(&lock);
    aps_fiber_destroy(queue->fiber);
    pthread_cond_destroy(&queue->arrived);
    free(queue);
}

static struct aps_operation *queue_pop_locked(struct aps_queue *queue)
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
        operation = queue_pop_locked(queue);
        pthread_mutex_unlock(&lock);
        if (operation)
            queue_run(queue, operation);
        else
            aps_fiber_yield();
    }
}

/* Does a thread of the program wait in a call that the library sees? Else all of
 * them compute. */
static bool queue_is_awaited(void)
{
    return atomic_load(&resting) > 0;
}

/* In a wait of such a thread: its operation will never be complete. The thread
 * calls MPI no more; it goes with the process. */
static void queue_park_abandoned(void)
{
    if (!atomic_load_explicit(&abandoned, memory_order_relaxed))
        return;
    atomic_fetch_add(&parked, 1);
    for (;;)
        pause();
}

/* The next operation, or NULL: the thread ends, and joined or detached it is
 * then; `*closed`: the queue goes with it. */
static struct aps_operation *queue_await(struct aps_queue *queue, bool *closed)
{
    struct aps_operation *operation;

    pthread_mutex_lock(&lock);
    while (!queue->first && !queue->closed && !queue->stop)
        pthread_cond_wait(&queue->arrived, &lock);
    operation = queue_pop_locked(queue);
    if (!operation) {
        *closed = queue->closed;
        queue->running = false;
        if (!queue->joined)
            pthread_detach(pthread_self());
    }
    pthread_mutex_unlock(&lock);
    return operation;
}

static void *queue_serve_on_thread(void *argument)
{
    struct aps_queue *queue = argument;
    struct aps_operation *operation;
    bool closed = false;

    aps_wait_set_beside(queue_is_awaited);
    aps_wait_set_turn(queue_park_abandoned);
    while ((operation = queue_await(queue, &closed)))
        queue_run(queue, operation);
    if (closed)
        queue_destroy(queue);
    return NULL;
}

/* Or before anybody else knows the queue. */
static int queue_start_thread_locked(struct aps_queue *queue)
{
    queue->stop = false;
    queue->joined = false;
    queue->running =
        aps_thread_start(&queue->thread, queue_serve_on_thread, queue) == 0;
    return queue->running ? 0 : -1;
}

struct aps_queue *aps_queue_create(bool thread, const char *label)
{
    struct aps_queue *queue = calloc(1, sizeof *queue);

    if (!queue)
        return NULL;
    aps_wait_set_idle(aps_queue_drive_blocked);
    queue->last = &queue->first;
    pthread_cond_init(&queue->arrived, NULL);
    if (!thread)
        queue->fiber = aps_fiber_create(queue_serve_on_fiber, queue);
    snprintf(queue->label, sizeof queue->label, "%s", label);
    if (thread ? queue_start_thread_locked(queue) < 0 : queue->fiber == NULL) {
        queue_destroy(queue);
        return NULL;
    }
    queue_enrol(queue);
    return queue;
}

void aps_queue_set_label(struct aps_queue *queue, const char *label)
{
    pthread_mutex_lock(&lock);
    snprintf(queue->label, sizeof queue->label, "%s", label);
    pthread_mutex_unlock(&lock);
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
    pthread_mutex_lock(&lock);
    *queue->last = operation;
    queue->last = &operation->next;
    atomic_fetch_add(&queue->pushed, 1);
    atomic_fetch_add(&aps_queue_operations, 1);
    if (queue->fiber)
        queue_list_locked(queue);
    else if (queue->running)
        pthread_cond_signal(&queue->arrived);
    else /* MPI_Finalize has ended it, and calls back a program that goes on */
        (void)queue_start_thread_locked(queue);
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
        (void)queue_pop_locked(queue);
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&queue->done, count);
    atomic_fetch_sub(&aps_queue_operations, (int)count);
}

void aps_queue_pause(const struct aps_queue *queue)
{
    const struct timespec nap = {.tv_nsec = 50000};

    if (queue->fiber) {
        aps_fiber_yield();
    } else {
        queue_park_abandoned();
        nanosleep(&nap, NULL);
    }
}

long aps_queue_age(const struct aps_queue *queue)
{
    return aps_clock_ns(CLOCK_MONOTONIC) - atomic_load(&queue->last_push);
}

bool aps_queue_is_empty(const struct aps_queue *queue)
{
    return atomic_load(&queue->done) == atomic_load(&queue->pushed);
}

void aps_queue_drain(struct aps_queue *queue, aps_handle comm)
{
    long begin = 0;

    atomic_fetch_add(&blocked, 1);
    while (!aps_queue_is_empty(queue) && !atomic_load(&abandoned)) {
        if (!queue->fiber)
            aps_wait_look((MPI_Comm)comm);
        aps_queue_wait(&begin);
    }
    atomic_fetch_sub(&blocked, 1);
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
        queue_unlist_locked(queue);
        gone = queue->closed;
    }
    pthread_mutex_unlock(&lock);
    if (gone)
        queue_destroy(queue);
}

void aps_queue_drive(void)
{
    if (!aps_queue_pending() || aps_fiber_inside() || atomic_load(&abandoned) ||
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
    gone = queue->fiber ? !queue->listed : !queue->running;
    if (!queue->fiber)
        pthread_cond_signal(&queue->arrived);
    pthread_mutex_unlock(&lock);
    if (gone)
        queue_destroy(queue);
}

unsigned long aps_queue_list_unfinished(char *text, size_t size)
{
    unsigned long count = 0;
    size_t used = 0;

    text[0] = '\0';
    pthread_mutex_lock(&lock);
    for (struct aps_queue *queue = queues; queue; queue = queue->other) {
        const unsigned long left =
            atomic_load(&queue->pushed) - atomic_load(&queue->done);

        if (left > 0 && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%lu of %s",
                                     used > 0 ? ", " : "", left, queue->label);
        count += left;
    }
    pthread_mutex_unlock(&lock);
    return count;
}

bool aps_queue_has_busy_thread(void)
{
    bool busy_thread = false;

    pthread_mutex_lock(&lock);
    for (struct aps_queue *queue = queues; queue; queue = queue->other)
        busy_thread |= queue->running && !aps_queue_is_empty(queue);
    pthread_mutex_unlock(&lock);
    return busy_thread;
}

void aps_queue_abandon(void)
{
    atomic_store(&abandoned, true);
    /* Nobody is still about it in another thread. */
    pthread_mutex_lock(&driving);
    pthread_mutex_unlock(&driving);
}

/* One whose thread runs and can be joined, from now on by the caller. */
static struct aps_queue *queue_find_stoppable_locked(void)
{
    struct aps_queue *queue = queues;

    while (queue && (!queue->running || queue->joined ||
                     (atomic_load(&abandoned) && !aps_queue_is_empty(queue))))
        queue = queue->other;
    if (queue)
        queue->joined = true;
    return queue;
}

static int queue_count_running(void)
{
    int count = 0;

    pthread_mutex_lock(&lock);
    for (struct aps_queue *queue = queues; queue; queue = queue->other)
        count += queue->running;
    pthread_mutex_unlock(&lock);
    return count;
}

int aps_queue_stop_threads(void)
{
    const long begin = aps_clock_ns(CLOCK_MONOTONIC);
    struct aps_queue *queue;
    long rested = 0;
    int left;

    pthread_mutex_lock(&lock);
    for (queue = queues; queue; queue = queue->other) {
        queue->stop = true;
        pthread_cond_signal(&queue->arrived);
    }
    while ((queue = queue_find_stoppable_locked())) {
        const pthread_t thread = queue->thread;

        /* The queue may go before the thread does. */
        pthread_mutex_unlock(&lock);
        pthread_join(thread, NULL);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    while ((left = queue_count_running() - atomic_load(&parked)) > 0 &&
           aps_clock_ns(CLOCK_MONOTONIC) - begin < STOP_NS)
        aps_wait_rest(&rested);
    return left;
}

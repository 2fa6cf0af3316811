/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of a queue, for queue.c, queue_hold.c and queue_thread.c alone: its
 * list of operations, and the list of all queues.
 */
#ifndef APS_PMPI_QUEUE_QUEUE_STATE_H
#define APS_PMPI_QUEUE_QUEUE_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "message/fiber.h"
#include "queue/operation.h"

struct aps_queue {
    struct aps_operation *first;
    struct aps_operation **last;
    _Atomic unsigned long pushed;
    _Atomic unsigned long done; /* operations carried out */
    _Atomic long last_push;     /* nanoseconds */
    bool closed;
    bool served; /* its thread, or a helper, carries out an operation */
    int holders; /* who created it, and requests (aps_queue_hold) */
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

/* All lists of all queues; held for a few instructions. (pmpi/LOCKS.md has the
 * order of all locks.) */
extern pthread_mutex_t aps_queue_lock;
extern struct aps_queue *aps_queue_all;

/* Threads of the program that wait in a call that the library sees, and are
 * between two looks. */
extern atomic_int aps_queue_resting;

extern atomic_bool aps_queue_abandoned; /* nothing is carried out any more */

/* Into the list of all queues. */
void aps_queue_enrol(struct aps_queue *queue);

/* The first operation, which leaves the list; or NULL. */
struct aps_operation *aps_queue_pop_locked(struct aps_queue *queue);

/* COLLECTIVE over the queue's communicator. */
void aps_queue_carry_out(struct aps_queue *queue,
                         struct aps_operation *operation);

/* Has everything that was pushed been carried out? */
static inline bool aps_queue_has_done_all(const struct aps_queue *queue)
{
    return atomic_load(&queue->done) == atomic_load(&queue->pushed);
}

#endif

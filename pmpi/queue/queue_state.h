/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private part of a queue, for queue.c, queue_hold.c and queue_thread.c only:
 * its list of operations, and the list of all queues.
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
    _Atomic unsigned long done; /* number of operations carried out */
    _Atomic long last_push;     /* time, in nanoseconds */
    bool closed;
    bool served; /* its thread, or a helper, carries out an operation */
    int holders; /* creator, requests and helpers (aps_queue_hold) */
    struct aps_fiber *fiber; /* NULL: the queue has a thread */
    bool listed;             /* true if in the list of busy queues */
    struct aps_queue *next;  /* link in the list of busy queues */
    struct aps_queue *other; /* link in the list of all queues */
    char label[64];

    /* Used by a queue with a thread only. */
    pthread_t thread;
    pthread_cond_t arrived;
    bool running; /* until the thread's last look at the queue */
    bool stop;    /* the thread is to end once the queue is empty */
    bool joined;  /* another thread joins it; false: it detaches itself */
};

/* Protects the lists of all queues; held for a few instructions. (pmpi/LOCKS.md
 * has the order of all locks.) */
extern pthread_mutex_t aps_queue_lock;
extern struct aps_queue *aps_queue_all;

/* Number of program threads that wait in a call that the library sees, and are
 * between two looks. */
extern atomic_int aps_queue_resting;

/* true: no operation is carried out any more */
extern atomic_bool aps_queue_abandoned;

/* Adds the queue to the list of all queues. */
void aps_queue_enrol(struct aps_queue *queue);

/* Removes and returns the first operation, or returns NULL. */
struct aps_operation *aps_queue_pop_locked(struct aps_queue *queue);

/* COLLECTIVE over the queue's communicator. Runs the operation and counts it as
 * done. */
void aps_queue_carry_out(struct aps_queue *queue,
                         struct aps_operation *operation);

/* True if every pushed operation has been carried out. */
static inline bool aps_queue_has_done_all(const struct aps_queue *queue)
{
    return atomic_load(&queue->done) == atomic_load(&queue->pushed);
}

#endif

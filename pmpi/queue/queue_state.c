/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "queue/queue_state.h"

#include "base/hot.h"

APS_HOT atomic_int aps_queue_operations;
atomic_int aps_queue_resting;
atomic_bool aps_queue_abandoned;
pthread_mutex_t aps_queue_lock = PTHREAD_MUTEX_INITIALIZER;
struct aps_queue *aps_queue_all;

void aps_queue_enrol(struct aps_queue *queue)
{
    pthread_mutex_lock(&aps_queue_lock);
    queue->other = aps_queue_all;
    aps_queue_all = queue;
    pthread_mutex_unlock(&aps_queue_lock);
}

struct aps_operation *aps_queue_pop_locked(struct aps_queue *queue)
{
    struct aps_operation *first = queue->first;

    if (!first)
        return NULL;
    queue->first = first->next;
    if (!queue->first)
        queue->last = &queue->first;
    return first;
}

void aps_queue_carry_out(struct aps_queue *queue,
                         struct aps_operation *operation)
{
    operation->run(operation);
    atomic_fetch_add(&queue->done, 1);
    atomic_fetch_sub(&aps_queue_operations, 1);
}

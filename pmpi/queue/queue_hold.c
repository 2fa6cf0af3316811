/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "queue/queue_hold.h"

#include <stdlib.h>

#include "queue/queue_state.h"

void aps_queue_destroy(struct aps_queue *queue)
{
    struct aps_queue **link = &aps_queue_all;

    pthread_mutex_lock(&aps_queue_lock);
    while (*link && *link != queue)
        link = &(*link)->other;
    if (*link)
        *link = queue->other;
    pthread_mutex_unlock(&aps_queue_lock);
    aps_queue_release(queue);
}

void aps_queue_hold(struct aps_queue *queue)
{
    pthread_mutex_lock(&aps_queue_lock);
    queue->holders++;
    pthread_mutex_unlock(&aps_queue_lock);
}

void aps_queue_release(struct aps_queue *queue)
{
    bool last;

    pthread_mutex_lock(&aps_queue_lock);
    last = --queue->holders == 0;
    pthread_mutex_unlock(&aps_queue_lock);
    if (!last)
        return;
    aps_fiber_destroy(queue->fiber);
    pthread_cond_destroy(&queue->arrived);
    free(queue);
}

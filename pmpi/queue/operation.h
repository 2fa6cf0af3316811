/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations, which queues carry out (queue.h).
 */
#ifndef APS_PMPI_QUEUE_OPERATION_H
#define APS_PMPI_QUEUE_OPERATION_H

#include <stdatomic.h>
#include <stdbool.h>

/* One call in a queue; the owner embeds this struct. */
struct aps_operation {
    struct aps_operation *next; /* set by the queue */
    void *owner;
    /* COLLECTIVE over the queue's communicator. Carries out the operation. The
     * queue does not access the operation afterwards. */
    void (*run)(struct aps_operation *operation);
};

/* Number of unfinished operations of all queues. */
extern atomic_int aps_queue_operations;
static inline bool aps_queue_unfinished(void)
{
    return atomic_load_explicit(&aps_queue_operations, memory_order_relaxed) >
           0;
}

#endif

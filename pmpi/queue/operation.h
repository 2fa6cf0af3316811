/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations: what queues carry out (queue.h).
 */
#ifndef APS_PMPI_QUEUE_OPERATION_H
#define APS_PMPI_QUEUE_OPERATION_H

#include <stdatomic.h>
#include <stdbool.h>

/* One call in a queue; the owner embeds it. */
struct aps_operation {
    struct aps_operation *next; /* the queue's */
    void *owner;
    /* COLLECTIVE over the queue's communicator. Carry it out; afterwards the
     * queue does not touch it again. */
    void (*run)(struct aps_operation *operation);
};

/* Is any operation of any queue not done? */
extern atomic_int aps_queue_operations;
static inline bool aps_queue_unfinished(void)
{
    return atomic_load_explicit(&aps_queue_operations, memory_order_relaxed) >
           0;
}

#endif

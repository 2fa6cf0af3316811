/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lifetime of a queue: until its creator has destroyed it, and every request
 * and helper that holds it has released it.
 */
#ifndef APS_PMPI_QUEUE_QUEUE_HOLD_H
#define APS_PMPI_QUEUE_QUEUE_HOLD_H

struct aps_queue;

/* A request that the queue's thread will complete holds the queue. The queue
 * stays in memory until the request releases it. */
void aps_queue_hold(struct aps_queue *queue);
void aps_queue_release(struct aps_queue *queue);

/* For queue.c and queue_thread.c only: removes the queue from the list of all
 * queues, if it is in it, and releases the creator's hold. */
void aps_queue_destroy(struct aps_queue *queue);

#endif

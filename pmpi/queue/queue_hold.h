/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a queue lives: until its creator has destroyed it and every request
 * that holds it has released it.
 */
#ifndef APS_PMPI_QUEUE_QUEUE_HOLD_H
#define APS_PMPI_QUEUE_QUEUE_HOLD_H

struct aps_queue;

/* A request that the queue's thread will complete holds the queue: the queue
 * stays in memory until it is released. */
void aps_queue_hold(struct aps_queue *queue);
void aps_queue_release(struct aps_queue *queue);

/* For queue.c and queue_thread.c alone: the creator takes the queue out of the
 * list of all queues, if it is in it, and releases it. */
void aps_queue_destroy(struct aps_queue *queue);

#endif

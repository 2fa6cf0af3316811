/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads of queues (queue.h). Each carries out the operations of one queue
 * as they arrive.
 */
#ifndef APS_PMPI_QUEUE_QUEUE_THREAD_H
#define APS_PMPI_QUEUE_QUEUE_THREAD_H

struct aps_queue;

/* Starts a thread for the queue. Returns 0, or -1 if no thread could be
 * started. The caller holds the lock of all queues, or no other thread knows
 * the queue yet. */
int aps_queue_start_thread_locked(struct aps_queue *queue);

/* Call this in a wait of such a thread. After aps_queue_abandon its operation
 * will never complete, and this function does not return: the thread makes no
 * further call of MPI, and ends with the process. */
void aps_queue_park_abandoned(void);

/* Ends the threads of all queues, each after it has done the pushed operations.
 * A thread whose operations were abandoned ends inside a wait, or not at all.
 * Returns the number of threads that have not ended. Must not be called from a
 * queue's thread. */
int aps_queue_stop_threads(void);

#endif

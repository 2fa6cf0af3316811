/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads of queues (queue.h): each carries out the operations of one queue,
 * as they come.
 */
#ifndef APS_PMPI_QUEUE_QUEUE_THREAD_H
#define APS_PMPI_QUEUE_QUEUE_THREAD_H

struct aps_queue; /* opaque */

/* Give the queue a thread. 0, or -1: no thread could be made. Under the lock of
 * all queues, or before anybody else knows the queue. */
int aps_queue_start_thread_locked(struct aps_queue *queue);

/* In a wait of such a thread, after aps_queue_abandon: its operation will never
 * be complete, and this does not return. The thread calls MPI no more; it goes
 * with the process. */
void aps_queue_park_abandoned(void);

/* End the threads of all queues, each when it has done what was pushed. A thread
 * whose operations are abandoned ends within a wait, or not at all; so many have
 * not ended. Not from such a thread. */
int aps_queue_stop_threads(void);

#endif

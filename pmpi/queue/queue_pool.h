/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues that no communicator uses at the moment: to start a thread or to map a
 * fiber's stack takes longer than a short-lived communicator lives.
 */
#ifndef APS_PMPI_QUEUE_QUEUE_POOL_H
#define APS_PMPI_QUEUE_QUEUE_POOL_H

#include <stdbool.h>

#include "queue/queue.h"

/*
 * As aps_queue_create, and as aps_queue_close. At most sixteen queues have a thread
 * at a time: a queue beyond them, or for which no thread can be made, has a
 * fiber, which the program's calls and the progress thread drive. Fibers give way
 * where they wait, so no queue keeps another from going on. Thread-safe.
 */
struct aps_queue *aps_queue_pool_take(bool thread, const char *label);
void aps_queue_pool_give(struct aps_queue *queue);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues that no communicator uses at the moment. They are kept because
 * starting a thread or mapping a fiber's stack takes longer than a short-lived
 * communicator lives.
 */
#ifndef APS_PMPI_QUEUE_QUEUE_POOL_H
#define APS_PMPI_QUEUE_QUEUE_POOL_H

#include <stdbool.h>

#include "queue/queue.h"

/*
 * aps_queue_pool_take returns a queue like aps_queue_create;
 * aps_queue_pool_give closes it like aps_queue_close, or keeps it. At most
 * sixteen queues have a thread at a time. A further queue, or one for which no
 * thread can be started, has a fiber, which the program's calls and the
 * progress thread drive. Fibers yield when they wait, so no queue blocks
 * another. Thread-safe.
 */
struct aps_queue *aps_queue_pool_take(bool thread, const char *label);
void aps_queue_pool_give(struct aps_queue *queue);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues that no communicator uses at the moment: to start a thread or to map a
 * fiber's stack takes longer than a short-lived communicator lives.
 */
#ifndef APS_PMPI_PROGRESS_QUEUE_POOL_H
#define APS_PMPI_PROGRESS_QUEUE_POOL_H

#include <stdbool.h>

#include "progress/queue.h"

/* As aps_queue_create, and as aps_queue_close. Thread-safe. */
struct aps_queue *aps_queue_pool_take(bool thread, const char *label);
void aps_queue_pool_give(struct aps_queue *queue);

#endif

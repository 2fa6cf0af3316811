/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI's completion calls, with the same arguments and results. They complete the
 * nonblocking call behind a persistent request in that request's place. While
 * they wait, they drive the queues, and give the core away.
 */
#ifndef APS_PMPI_CALL_COMPLETION_H
#define APS_PMPI_CALL_COMPLETION_H

#include <stdbool.h>

#include "native/next_mpi.h"
#include "call/persistent.h"
#include "queue/queue.h"

/* Do these requests need the completion calls below, and not MPI's own? */
static inline bool aps_completion_is_ours(int count, const void *requests)
{
    return aps_queue_unfinished() ||
           (aps_persistent_any() && aps_persistent_holds(count, requests));
}

int aps_completion_wait(void *request, void *status);
int aps_completion_waitall(int count, void *requests, void *statuses);
int aps_completion_waitany(int count, void *requests, int *index, void *status);
int aps_completion_waitsome(int count, void *requests, int *done, int *indices,
                            void *statuses);
int aps_completion_test(void *request, int *done, void *status);
int aps_completion_testall(int count, void *requests, int *done,
                           void *statuses);
int aps_completion_testany(int count, void *requests, int *index, int *done,
                           void *status);
int aps_completion_testsome(int count, void *requests, int *done, int *indices,
                            void *statuses);
int aps_completion_get_status(aps_handle request, int *done, void *status);

#endif

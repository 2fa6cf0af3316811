/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A batch of nonblocking messages on a virtual communicator, completed
 * together.
 */
#ifndef APS_PMPI_PROGRESS_MESSAGES_H
#define APS_PMPI_PROGRESS_MESSAGES_H

#include <mpi.h>
#include <stddef.h>

#include "progress/vcomm.h"

struct aps_messages {
    const struct aps_vcomm *vcomm; /* not owned */
    MPI_Request *requests;         /* [capacity], owned */
    int capacity;
    int count; /* under way */
    int rc;    /* the first error of the batch; later posts do nothing */
};

/* Room for `capacity` messages at a time on vcomm, which outlives them. 0,
 * or -1: out of memory. */
int aps_messages_init(struct aps_messages *messages,
                      const struct aps_vcomm *vcomm, int capacity);
void aps_messages_clear(struct aps_messages *messages);

/* Start one; of 0 bytes: none. The buffer stays untouched until the wait. */
void aps_messages_send(struct aps_messages *messages, const void *bytes,
                       size_t size, int to, enum aps_tag tag);
void aps_messages_receive(struct aps_messages *messages, void *bytes,
                          size_t size, int from, enum aps_tag tag);

/*
 * Complete the batch, which is empty then. An MPI error code: after an error
 * nothing is left behind that would write to a buffer later, or catch the
 * messages of the next call.
 */
int aps_messages_wait(struct aps_messages *messages);

/* Give up what is under way, after an error elsewhere. */
void aps_messages_cancel(struct aps_messages *messages);

#endif

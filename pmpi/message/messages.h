/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A batch of nonblocking messages on a virtual communicator, completed together.
 *
 * An MPI error on one rank must not leave the others waiting. So the batches of
 * a call share its outcome, and after an error the call goes on: what it sends
 * then is empty, which tells the receivers that it has failed, so that theirs
 * fails, too. All messages that are waited for are sent and received, and the
 * next call finds none of them.
 */
#ifndef APS_PMPI_MESSAGE_MESSAGES_H
#define APS_PMPI_MESSAGE_MESSAGES_H

#include <mpi.h>
#include <stddef.h>

#include "message/vcomm.h"

struct aps_messages {
    const struct aps_vcomm *vcomm; /* not owned */
    MPI_Request *requests;         /* [capacity], owned, as are: */
    MPI_Status *statuses;          /* [capacity] */
    int *
        sizes; /* [capacity]: bytes that are to come, 0: some; -1: it is sent */
    int capacity;
    int count; /* under way */
    /* MPI_SUCCESS, or the first error of the call; not owned. */
    int *outcome;
};

/* Room for `capacity` messages at a time on vcomm, which outlives them. 0, or
 * -1: out of memory. */
int aps_messages_init(struct aps_messages *messages,
                      const struct aps_vcomm *vcomm, int capacity,
                      int *outcome);

/* Zeros, or one that has been cleared: nothing. */
void aps_messages_clear(struct aps_messages *messages);

/* Start one; of 0 bytes: none. The buffer stays untouched until the wait. */
void aps_messages_send(struct aps_messages *messages, const void *bytes,
                       size_t size, int to, enum aps_tag tag);
void aps_messages_receive(struct aps_messages *messages, void *bytes,
                          size_t size, int from, enum aps_tag tag);

/* The same of a message whose length its sender alone knows: from 1 to `most`
 * bytes. */
void aps_messages_receive_some(struct aps_messages *messages, void *bytes,
                               size_t most, int from, enum aps_tag tag);

/*
 * Complete the batch, which is empty then. *outcome: after an error of this
 * rank or of one that sent to it the buffers are undefined, but nothing is left
 * behind that would write to them later, or catch the messages of the next
 * call.
 */
int aps_messages_wait(struct aps_messages *messages);

/* --- one message ---------------------------------------------------------- */

/*
 * PMPI_Isend and PMPI_Irecv on vcomm. After an error, which a line names with
 * this rank, the call and the cause, they are tried again, for ten seconds and
 * with rests in between: without its message a partner waits for ever, or this
 * rank takes a later message for the one that it did not receive. An MPI error
 * code; then *request is MPI_REQUEST_NULL, and the message is lost. The error ends
 * a program that takes errors as fatal; in another the partner may wait for ever.
 */
int aps_message_send(const struct aps_vcomm *vcomm, const void *bytes,
                     size_t size, int to, enum aps_tag tag,
                     MPI_Request *request);
int aps_message_receive(const struct aps_vcomm *vcomm, void *bytes, size_t size,
                        int from, enum aps_tag tag, MPI_Request *request);

/*
 * MPI_SUCCESS, or the error for which this process has lost a message. From
 * then on all batches of this process fail, and so do those of the ranks that
 * they send to: no rank takes a message for another one.
 */
int aps_messages_lost(void);

#endif

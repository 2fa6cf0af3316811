/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "message/messages.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/message.h"
#include "native/error_text.h"
#include "message/wait.h"

/* A message that MPI refuses is tried again: the first few times at once, later
 * ones for PATIENCE_NS nanoseconds. */
#define TRIES_AT_ONCE 3
#define PATIENCE_NS 10000000000L

static atomic_int lost = MPI_SUCCESS;

int aps_messages_init(struct aps_messages *messages,
                      const struct aps_vcomm *vcomm, int capacity, int *outcome)
{
    const size_t n = (size_t)capacity;

    *messages = (struct aps_messages){
        .vcomm = vcomm,
        .requests = malloc(n * sizeof *messages->requests),
        .statuses = malloc(n * sizeof *messages->statuses),
        .sizes = malloc(n * sizeof *messages->sizes),
        .capacity = capacity,
        .outcome = outcome,
    };
    if (messages->requests && messages->statuses && messages->sizes)
        return 0;
    aps_messages_clear(messages);
    return -1;
}

void aps_messages_clear(struct aps_messages *messages)
{
    free(messages->requests);
    free(messages->statuses);
    free(messages->sizes);
    *messages = (struct aps_messages){0};
}

/* Prints which call of this rank has failed, and why. */
static void messages_tell(const struct aps_vcomm *vcomm, const char *call,
                          int peer, int rc)
{
    const int rank = aps_vcomm_rank(vcomm, vcomm->rank);
    static atomic_ullong times;
    char text[MPI_MAX_ERROR_STRING];

    if (!aps_message_is_due(atomic_fetch_add(&times, 1) + 1))
        return;
    (void)aps_error_text(rc, text);
    if (peer < 0)
        aps_message(rank, "%s failed inside a rewritten call: %s", call, text);
    else
        aps_message(rank, "%s rank %d failed inside a rewritten call: %s", call,
                    aps_vcomm_rank(vcomm, peer), text);
}

static int message_send(const struct aps_vcomm *vcomm, const void *bytes,
                        size_t size, int to, enum aps_tag tag,
                        MPI_Request *request)
{
    int rc = PMPI_Isend(bytes, (int)size, MPI_BYTE, aps_vcomm_rank(vcomm, to),
                        aps_vcomm_tag(vcomm, tag), vcomm->comm, request);

    if (rc != MPI_SUCCESS)
        messages_tell(vcomm, "MPI_Isend to", to, rc);
    return rc;
}

static int message_receive(const struct aps_vcomm *vcomm, void *bytes,
                           size_t size, int from, enum aps_tag tag,
                           MPI_Request *request)
{
    int rc = PMPI_Irecv(bytes, (int)size, MPI_BYTE, aps_vcomm_rank(vcomm, from),
                        aps_vcomm_tag(vcomm, tag), vcomm->comm, request);

    if (rc != MPI_SUCCESS)
        messages_tell(vcomm, "MPI_Irecv from", from, rc);
    return rc;
}

/* Attempts to start one message. */
struct tries {
    int count;
    long since; /* time of the first failure, in nanoseconds */
    long rested;
};

/* True if the message may be tried again after a failure. The pause between two
 * attempts lets other messages complete, which frees resources of MPI. */
static bool message_may_retry(const struct aps_vcomm *vcomm,
                              struct tries *tries)
{
    const long now = aps_clock_ns(CLOCK_MONOTONIC);

    if (++tries->count == 1)
        tries->since = now;
    if (tries->count < TRIES_AT_ONCE)
        return true;
    if (now - tries->since > PATIENCE_NS || aps_messages_lost() != MPI_SUCCESS)
        return false;
    aps_wait_poll_or_yield(vcomm->comm, &tries->rested);
    return true;
}

static int message_give_up(int rc, MPI_Request *request)
{
    atomic_store(&lost, rc);
    *request = MPI_REQUEST_NULL;
    return rc;
}

int aps_messages_lost(void)
{
    return atomic_load_explicit(&lost, memory_order_relaxed);
}

int aps_message_send(const struct aps_vcomm *vcomm, const void *bytes,
                     size_t size, int to, enum aps_tag tag,
                     MPI_Request *request)
{
    struct tries tries = {0};

    for (;;) {
        const int rc = message_send(vcomm, bytes, size, to, tag, request);

        if (rc == MPI_SUCCESS)
            return rc;
        if (!message_may_retry(vcomm, &tries))
            return message_give_up(rc, request);
    }
}

int aps_message_receive(const struct aps_vcomm *vcomm, void *bytes, size_t size,
                        int from, enum aps_tag tag, MPI_Request *request)
{
    struct tries tries = {0};

    for (;;) {
        const int rc = message_receive(vcomm, bytes, size, from, tag, request);

        if (rc == MPI_SUCCESS)
            return rc;
        if (!message_may_retry(vcomm, &tries))
            return message_give_up(rc, request);
    }
}

/* --- a batch -------------------------------------------------------------- */

/* Records the first error; MPI_SUCCESS is ignored. */
static void messages_fail(struct aps_messages *messages, int rc)
{
    if (*messages->outcome == MPI_SUCCESS)
        *messages->outcome = rc;
}

/* Records a posted message. */
static void messages_keep(struct aps_messages *messages, int size)
{
    messages->sizes[messages->count++] = size;
}

void aps_messages_send(struct aps_messages *messages, const void *bytes,
                       size_t size, int to, enum aps_tag tag)
{
    MPI_Request *request = &messages->requests[messages->count];

    if (size == 0)
        return;
    messages_fail(messages, aps_messages_lost());
    /* After an error the message itself is not sent again: if MPI has sent it
     * after all, the receiver would get it twice, and take the second for a
     * later message. */
    if (*messages->outcome == MPI_SUCCESS) {
        const int rc =
            message_send(messages->vcomm, bytes, size, to, tag, request);

        if (rc == MPI_SUCCESS) {
            messages_keep(messages, -1);
            return;
        }
        messages_fail(messages, rc);
    }
    if (aps_message_send(messages->vcomm, bytes, 0, to, tag, request) ==
        MPI_SUCCESS)
        messages_keep(messages, -1);
}

/* Receives into `room` bytes and expects `size` bytes; 0: any number. */
static void messages_receive(struct aps_messages *messages, void *bytes,
                             size_t room, int size, int from, enum aps_tag tag)
{
    const int rc = aps_message_receive(messages->vcomm, bytes, room, from, tag,
                                       &messages->requests[messages->count]);

    if (rc == MPI_SUCCESS)
        messages_keep(messages, size);
    messages_fail(messages, rc == MPI_SUCCESS ? aps_messages_lost() : rc);
}

void aps_messages_receive(struct aps_messages *messages, void *bytes,
                          size_t size, int from, enum aps_tag tag)
{
    if (size > 0)
        messages_receive(messages, bytes, size, (int)size, from, tag);
}

void aps_messages_receive_some(struct aps_messages *messages, void *bytes,
                               size_t most, int from, enum aps_tag tag)
{
    messages_receive(messages, bytes, most, 0, from, tag);
}

/* Compares the received lengths with the expected ones. If they differ the
 * sender has failed. */
static void messages_check(struct aps_messages *messages)
{
    for (int i = 0; i < messages->count; i++) {
        int size;

        if (messages->sizes[i] < 0)
            continue;
        if (PMPI_Get_count(&messages->statuses[i], MPI_BYTE, &size) !=
                MPI_SUCCESS ||
            (messages->sizes[i] > 0 ? size != messages->sizes[i] : size == 0))
            messages_fail(messages, MPI_ERR_OTHER);
        else
            messages->sizes[i] = size;
    }
}

static void messages_cancel(struct aps_messages *messages)
{
    for (int i = 0; i < messages->count; i++) {
        if (messages->requests[i] == MPI_REQUEST_NULL)
            continue;
        PMPI_Cancel(&messages->requests[i]);
        PMPI_Request_free(&messages->requests[i]);
    }
}

int aps_messages_wait(struct aps_messages *messages)
{
    const int rc = aps_wait_statuses(messages->count, messages->requests,
                                     messages->statuses);

    if (rc == MPI_SUCCESS) {
        messages_check(messages);
    } else {
        messages_tell(messages->vcomm, "MPI_Testall", -1, rc);
        messages_fail(messages, rc);
        messages_cancel(messages); /* requests that MPI has not completed */
    }
    messages->count = 0;
    return *messages->outcome;
}

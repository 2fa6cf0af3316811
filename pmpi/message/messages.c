/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "message/messages.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/message.h"
#include "native/error_text.h"
#include "message/wait.h"

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

/* Say which call of this rank has failed, and why. */
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

int aps_message_send(const struct aps_vcomm *vcomm, const void *bytes,
                     size_t size, int to, enum aps_tag tag,
                     MPI_Request *request)
{
    int rc = PMPI_Isend(bytes, (int)size, MPI_BYTE, aps_vcomm_rank(vcomm, to),
                        aps_vcomm_tag(vcomm, tag), vcomm->comm, request);

    if (rc != MPI_SUCCESS) {
        *request = MPI_REQUEST_NULL;
        messages_tell(vcomm, "MPI_Isend to", to, rc);
    }
    return rc;
}

int aps_message_receive(const struct aps_vcomm *vcomm, void *bytes, size_t size,
                        int from, enum aps_tag tag, MPI_Request *request)
{
    int rc = PMPI_Irecv(bytes, (int)size, MPI_BYTE, aps_vcomm_rank(vcomm, from),
                        aps_vcomm_tag(vcomm, tag), vcomm->comm, request);

    if (rc != MPI_SUCCESS) {
        *request = MPI_REQUEST_NULL;
        messages_tell(vcomm, "MPI_Irecv from", from, rc);
    }
    return rc;
}

/* --- a batch -------------------------------------------------------------- */

/* MPI_SUCCESS: nothing. */
static void messages_fail(struct aps_messages *messages, int rc)
{
    if (*messages->outcome == MPI_SUCCESS)
        *messages->outcome = rc;
}

/* Takes up a message that has been posted, or the error with which it was not. */
static void messages_posted(struct aps_messages *messages, int size, int rc)
{
    if (rc == MPI_SUCCESS)
        messages->sizes[messages->count++] = size;
    else
        messages_fail(messages, rc);
}

void aps_messages_send(struct aps_messages *messages, const void *bytes,
                       size_t size, int to, enum aps_tag tag)
{
    const size_t good = *messages->outcome == MPI_SUCCESS ? size : 0;

    if (size > 0)
        messages_posted(messages, -1,
                        aps_message_send(messages->vcomm, bytes, good, to, tag,
                                         &messages->requests[messages->count]));
}

/* Into room for `room` bytes, of which `size` are to come. */
static void messages_receive(struct aps_messages *messages, void *bytes,
                             size_t room, int size, int from, enum aps_tag tag)
{
    messages_posted(messages, size,
                    aps_message_receive(messages->vcomm, bytes, room, from, tag,
                                        &messages->requests[messages->count]));
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

/* Has what came the length that was to come? If not its sender has failed. */
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
        messages_cancel(messages); /* what MPI still has */
    }
    messages->count = 0;
    return *messages->outcome;
}

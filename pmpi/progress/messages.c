/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "progress/messages.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/message.h"
#include "progress/wait.h"

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

int aps_messages_tell(const struct aps_vcomm *vcomm, const char *call, int peer,
                      int rc)
{
    const int rank = aps_vcomm_rank(vcomm, vcomm->rank);
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    static atomic_ullong times;
    int length;

    if (!aps_message_is_due(atomic_fetch_add(&times, 1) + 1))
        return rc;
    (void)PMPI_Error_string(rc, text, &length);
    if (peer < 0)
        aps_message(rank, "%s failed inside a rewritten call: %s", call, text);
    else
        aps_message(rank, "%s rank %d failed inside a rewritten call: %s", call,
                    aps_vcomm_rank(vcomm, peer), text);
    return rc;
}

static void messages_fail(struct aps_messages *messages, int rc)
{
    if (*messages->outcome == MPI_SUCCESS)
        *messages->outcome = rc;
}

static int messages_isend(struct aps_messages *messages, const void *bytes,
                          size_t size, int to, enum aps_tag tag)
{
    const struct aps_vcomm *vcomm = messages->vcomm;
    int rc = PMPI_Isend(bytes, (int)size, MPI_BYTE, aps_vcomm_rank(vcomm, to),
                        aps_vcomm_tag(vcomm, tag), vcomm->comm,
                        &messages->requests[messages->count]);

    if (rc == MPI_SUCCESS)
        messages->sizes[messages->count++] = -1;
    return rc;
}

void aps_messages_send(struct aps_messages *messages, const void *bytes,
                       size_t size, int to, enum aps_tag tag)
{
    int rc = MPI_SUCCESS;

    if (size == 0)
        return;
    if (*messages->outcome == MPI_SUCCESS) {
        rc = messages_isend(messages, bytes, size, to, tag);
        if (rc == MPI_SUCCESS)
            return;
        messages_fail(messages, aps_messages_tell(messages->vcomm,
                                                  "MPI_Isend to", to, rc));
    }
    (void)messages_isend(messages, bytes, 0, to, tag);
}

void aps_messages_receive(struct aps_messages *messages, void *bytes,
                          size_t size, int from, enum aps_tag tag)
{
    const struct aps_vcomm *vcomm = messages->vcomm;

    /* Once again after an error: what comes must be received, or the next call
     * would take it for its own. */
    for (int turn = 0; turn < 2 && size > 0; turn++) {
        const int rc =
            PMPI_Irecv(bytes, (int)size, MPI_BYTE, aps_vcomm_rank(vcomm, from),
                       aps_vcomm_tag(vcomm, tag), vcomm->comm,
                       &messages->requests[messages->count]);

        if (rc == MPI_SUCCESS) {
            messages->sizes[messages->count++] = (int)size;
            return;
        }
        messages_fail(messages,
                      aps_messages_tell(vcomm, "MPI_Irecv from", from, rc));
    }
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
            size != messages->sizes[i])
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
    int rc = MPI_SUCCESS;

    if (messages->count > 0)
        rc = aps_wait_statuses(messages->count, messages->requests,
                               messages->statuses);
    if (rc == MPI_SUCCESS) {
        messages_check(messages);
    } else {
        messages_fail(messages, aps_messages_tell(messages->vcomm,
                                                  "MPI_Testall", -1, rc));
        messages_cancel(messages);
    }
    messages->count = 0;
    return *messages->outcome;
}

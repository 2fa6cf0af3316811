/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "progress/messages.h"

#include <stdlib.h>

#include "progress/wait.h"

int aps_messages_init(struct aps_messages *messages,
                      const struct aps_vcomm *vcomm, int capacity)
{
    *messages = (struct aps_messages){.vcomm = vcomm, .capacity = capacity};
    messages->requests = malloc((size_t)capacity * sizeof *messages->requests);
    return messages->requests ? 0 : -1;
}

void aps_messages_clear(struct aps_messages *messages)
{
    free(messages->requests);
    messages->requests = NULL;
}

/* Count what was posted, or keep the error. */
static void messages_posted(struct aps_messages *messages, int rc)
{
    if (rc == MPI_SUCCESS)
        messages->count++;
    else
        messages->rc = rc;
}

void aps_messages_send(struct aps_messages *messages, const void *bytes,
                       size_t size, int to, enum aps_tag tag)
{
    const struct aps_vcomm *vcomm = messages->vcomm;

    if (size > 0 && messages->rc == MPI_SUCCESS)
        messages_posted(messages,
                        PMPI_Isend(bytes, (int)size, MPI_BYTE,
                                   aps_vcomm_rank(vcomm, to),
                                   aps_vcomm_tag(vcomm, tag), vcomm->comm,
                                   &messages->requests[messages->count]));
}

void aps_messages_receive(struct aps_messages *messages, void *bytes,
                          size_t size, int from, enum aps_tag tag)
{
    const struct aps_vcomm *vcomm = messages->vcomm;

    if (size > 0 && messages->rc == MPI_SUCCESS)
        messages_posted(messages,
                        PMPI_Irecv(bytes, (int)size, MPI_BYTE,
                                   aps_vcomm_rank(vcomm, from),
                                   aps_vcomm_tag(vcomm, tag), vcomm->comm,
                                   &messages->requests[messages->count]));
}

int aps_messages_wait(struct aps_messages *messages)
{
    int rc = messages->rc;

    if (rc == MPI_SUCCESS && messages->count > 0)
        rc = aps_wait_requests(messages->count, messages->requests);
    if (rc != MPI_SUCCESS)
        aps_messages_cancel(messages);
    messages->count = 0;
    messages->rc = MPI_SUCCESS;
    return rc;
}

void aps_messages_cancel(struct aps_messages *messages)
{
    for (int i = 0; i < messages->count; i++) {
        if (messages->requests[i] == MPI_REQUEST_NULL)
            continue;
        PMPI_Cancel(&messages->requests[i]);
        PMPI_Request_free(&messages->requests[i]);
    }
    messages->count = 0;
    messages->rc = MPI_SUCCESS;
}

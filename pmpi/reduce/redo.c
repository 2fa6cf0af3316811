/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/redo.h"

#include <stdbool.h>

#include "progress/messages.h"
#include "progress/wait.h"

/* What a rank says. */
struct word {
    uint32_t call;
    uint32_t failed;
};

static int redo_send(const struct aps_vcomm *vcomm, int to,
                     const struct word *word)
{
    MPI_Request request;
    const int rc =
        aps_message_send(vcomm, word, sizeof *word, to, APS_TAG_REDO, &request);

    return rc == MPI_SUCCESS ? aps_wait_requests(1, &request) : rc;
}

/* What a rank says of the call. What it said of earlier calls, without being
 * heard, comes first. */
static int redo_receive(const struct aps_vcomm *vcomm, int from, uint32_t call,
                        struct word *word)
{
    do {
        MPI_Request request;
        int rc = aps_message_receive(vcomm, word, sizeof *word, from,
                                     APS_TAG_REDO, &request);

        if (rc == MPI_SUCCESS)
            rc = aps_wait_requests(1, &request);
        if (rc != MPI_SUCCESS)
            return rc;
    } while (word->call != call);
    return MPI_SUCCESS;
}

int aps_redo_begin(const struct aps_vcomm *vcomm, uint32_t call)
{
    const struct word mine = {.call = call, .failed = 0};
    int rc = MPI_SUCCESS;

    for (int i = 1; i < vcomm->size; i++) {
        const int to = (vcomm->rank + i) % vcomm->size;
        const int now = redo_send(vcomm, to, &mine);

        rc = rc == MPI_SUCCESS ? now : rc;
    }
    for (int i = 1; i < vcomm->size; i++) {
        const int from = (vcomm->rank + vcomm->size - i) % vcomm->size;
        struct word theirs = {0};
        const int now = redo_receive(vcomm, from, call, &theirs);

        rc = rc == MPI_SUCCESS ? now : rc;
        if (now == MPI_SUCCESS && theirs.failed && rc == MPI_SUCCESS)
            rc = MPI_ERR_OTHER;
    }
    return rc;
}

void aps_redo_decline(const struct aps_vcomm *vcomm, uint32_t call)
{
    const struct word mine = {.call = call, .failed = 1};

    for (int i = 1; i < vcomm->size; i++)
        (void)redo_send(vcomm, (vcomm->rank + i) % vcomm->size, &mine);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "progress/request.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "progress/queue.h"
#include "progress/wait.h"

struct aps_request {
    atomic_int holders; /* MPI, and who completes it */
    atomic_bool complete;
    int rc;
    MPI_Request handle;
    atomic_bool waited;
};

static _Thread_local bool driven;

void aps_request_set_driven(bool now)
{
    driven = now;
}

static void request_release(struct aps_request *request)
{
    if (atomic_fetch_sub(&request->holders, 1) == 1)
        free(request);
}

/* What a request of an all-reduce has to say: nothing was received. */
static int request_query(void *state, MPI_Status *status)
{
    const struct aps_request *request = state;

    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return request->rc;
}

static int request_forget(void *state)
{
    request_release(state);
    return MPI_SUCCESS;
}

/* A collective cannot be cancelled; it will complete. */
static int request_cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

#ifdef HAVE_PMPIX_GREQUEST_START
static int request_poll(void *state, MPI_Status *status)
{
    struct aps_request *request = state;

    (void)status;
    atomic_store(&request->waited, true);
    if (!driven)
        aps_queue_drive();
    return MPI_SUCCESS;
}

static int request_wait(int count, void *states[], double timeout,
                        MPI_Status *status)
{
    (void)timeout;
    for (int i = 0; i < count; i++) {
        struct aps_request *request = states[i];
        long begin = 0;

        while (!atomic_load(&request->complete)) {
            (void)request_poll(request, status);
            if (!atomic_load(&request->complete))
                aps_queue_wait(&begin);
        }
    }
    return MPI_SUCCESS;
}
#endif

int aps_request_start(struct aps_request **request, MPI_Request *handle)
{
    struct aps_request *new = calloc(1, sizeof *new);
    int rc;

    if (!new)
        return MPI_ERR_NO_MEM;
    atomic_init(&new->holders, 2);
#ifdef HAVE_PMPIX_GREQUEST_START
    rc = PMPIX_Grequest_start(request_query, request_forget, request_cancel,
                              request_poll, request_wait, new, &new->handle);
#else
    rc = PMPI_Grequest_start(request_query, request_forget, request_cancel, new,
                             &new->handle);
#endif
    if (rc != MPI_SUCCESS) {
        free(new);
        return rc;
    }
    *handle = new->handle;
    *request = new;
    return MPI_SUCCESS;
}

bool aps_request_is_waited(const struct aps_request *request)
{
    return atomic_load(&request->waited);
}

void aps_request_complete(struct aps_request *request, int rc)
{
    request->rc = rc;
    PMPI_Grequest_complete(request->handle);
    atomic_store(&request->complete, true);
    request_release(request);
}

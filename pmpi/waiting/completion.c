/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "waiting/completion.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/message.h"
#include "job/job.h"
#include "message/agree.h"
#include "queue/request.h"
#include "message/wait.h"

/* MPICH declares the statuses as an array, and its MPI_STATUSES_IGNORE is the
 * address 1, which GCC 12 reports as an overflow. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

#define FEW 16

/* The requests that MPI completes, in place of the program's. */
struct substitutes {
    MPI_Request *given;   /* [count]: requests of the program */
    MPI_Request *used;    /* [count]: requests for MPI */
    MPI_Request **places; /* [count]: their places, in `given` or in records */
    int count;
    MPI_Request few[FEW];
    MPI_Request *few_places[FEW];
};

/* Returns 0, or -1 if memory is missing. */
static int completion_substitute(struct substitutes *this, int count,
                                 MPI_Request *requests)
{
    this->given = this->used = requests;
    this->count = count;
    if (!aps_persistent_any() || count < 1 || !requests)
        return 0;
    this->used = this->few;
    this->places = this->few_places;
    if (count > FEW) {
        this->places =
            malloc((size_t)count * (sizeof *this->places + sizeof *this->used));
        if (!this->places)
            return -1;
        this->used = (MPI_Request *)(this->places + count);
    }
    for (int i = 0; i < count; i++) {
        MPI_Request *inner = aps_persistent_inner(this->given[i]);

        this->places[i] = inner ? inner : &this->given[i];
        this->used[i] = *this->places[i];
    }
    return 0;
}

/* Stores the requests after MPI has tested them. The program keeps its persistent
 * requests. The handle of a request that has completed is not looked up again: another
 * thread may already have a new request with it. */
static void completion_take_back(struct substitutes *this)
{
    if (this->used == this->given)
        return;
    for (int i = 0; i < this->count; i++)
        *this->places[i] = this->used[i];
    if (this->used != this->few)
        free(this->places);
}

/* Fields of all four kinds of completion. */
struct completion {
    int (*test)(const struct completion *this, MPI_Request requests[],
                int *done);
    int count;
    int *index;         /* or indices */
    int *some;          /* number of requests that are complete */
    MPI_Status *status; /* or statuses */
};

static int completion_test_one(const struct completion *this,
                               MPI_Request requests[], int *done)
{
    return PMPI_Test(requests, done, this->status);
}

static int completion_test_all(const struct completion *this,
                               MPI_Request requests[], int *done)
{
    return PMPI_Testall(this->count, requests, done, this->status);
}

static int completion_test_any(const struct completion *this,
                               MPI_Request requests[], int *done)
{
    return PMPI_Testany(this->count, requests, this->index, done, this->status);
}

static int completion_test_some(const struct completion *this,
                                MPI_Request requests[], int *done)
{
    int rc = PMPI_Testsome(this->count, requests, this->some, this->index,
                           this->status);

    /* MPI_UNDEFINED: no request is active. */
    *done = rc != MPI_SUCCESS || *this->some != 0;
    return rc;
}

static int completion_no_memory(void)
{
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
}

/* Reports once in each process, on some ranks of a large job, which calls are
 * not complete after ten seconds. `since`: begin of the wait, in ns. */
static void completion_tell_late(int64_t since)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    const int rank = aps_job_rank();
    char unfinished[256];

    if (aps_clock_ns(CLOCK_MONOTONIC) - since < aps_wait_patience_ns() ||
        aps_queue_list_unfinished(unfinished, sizeof unfinished) == 0 ||
        !aps_agree_rank_reports(rank) || atomic_flag_test_and_set(&told))
        return;
    aps_message(rank,
                "has waited for ten seconds for requests; nonblocking calls "
                "that are rewritten are not complete: %s; other ranks have "
                "not made these calls yet, or have failed in them",
                unfinished);
}

static int completion_complete(const struct completion *this,
                               MPI_Request *requests, int *done, bool blocking)
{
    const int64_t since = blocking ? aps_clock_ns(CLOCK_MONOTONIC) : 0;
    struct substitutes substitutes;
    long begin = 0;
    int rc;

    if (completion_substitute(&substitutes, this->count, requests) < 0)
        return completion_no_memory();
    for (;;) {
        aps_request_set_driven(true);
        rc = this->test(this, substitutes.used, done);
        aps_request_set_driven(false);
        if (rc != MPI_SUCCESS || *done || !blocking)
            break;
        completion_tell_late(since);
        if (this->count == 1 && aps_request_help())
            continue;
        if (this->count == 1 && aps_request_may_rest())
            aps_queue_rest_with(aps_request_rest);
        else
            aps_queue_wait(&begin);
    }
    completion_take_back(&substitutes);
    return rc;
}

int aps_completion_wait(MPI_Request *request, MPI_Status *status)
{
    const struct completion this = {
        .test = completion_test_one, .count = 1, .status = status};
    int done;

    return completion_complete(&this, request, &done, true);
}

/* Completes one request after the other, because MPICH's Testall (4.0.2) fails
 * with some requests of its own collectives, and its Test does not. */
int aps_completion_waitall(int count, MPI_Request *requests,
                           MPI_Status statuses[])
{
    const bool ignored = statuses == MPI_STATUSES_IGNORE;
    int rc = MPI_SUCCESS;

    if (count < 0 || (count > 0 && (!requests || (!statuses && !ignored))))
        return PMPI_Waitall(count, requests, statuses);
    for (int i = 0; i < count; i++) {
        int one = aps_completion_wait(&requests[i], ignored ? MPI_STATUS_IGNORE
                                                            : &statuses[i]);

        if (!ignored)
            statuses[i].MPI_ERROR = one;
        if (one != MPI_SUCCESS)
            rc = MPI_ERR_IN_STATUS;
    }
    return rc;
}

int aps_completion_waitany(int count, MPI_Request *requests, int *index,
                           MPI_Status *status)
{
    const struct completion this = {.test = completion_test_any,
                                    .count = count,
                                    .index = index,
                                    .status = status};
    int done;

    return completion_complete(&this, requests, &done, true);
}

int aps_completion_waitsome(int count, MPI_Request *requests, int *done,
                            int *indices, MPI_Status statuses[])
{
    const struct completion this = {.test = completion_test_some,
                                    .count = count,
                                    .some = done,
                                    .index = indices,
                                    .status = statuses};
    int any;

    return completion_complete(&this, requests, &any, true);
}

int aps_completion_test(MPI_Request *request, int *done, MPI_Status *status)
{
    const struct completion this = {
        .test = completion_test_one, .count = 1, .status = status};

    return completion_complete(&this, request, done, false);
}

int aps_completion_testall(int count, MPI_Request *requests, int *done,
                           MPI_Status statuses[])
{
    const struct completion this = {
        .test = completion_test_all, .count = count, .status = statuses};

    return completion_complete(&this, requests, done, false);
}

int aps_completion_testany(int count, MPI_Request *requests, int *index,
                           int *done, MPI_Status *status)
{
    const struct completion this = {.test = completion_test_any,
                                    .count = count,
                                    .index = index,
                                    .status = status};

    return completion_complete(&this, requests, done, false);
}

int aps_completion_testsome(int count, MPI_Request *requests, int *done,
                            int *indices, MPI_Status statuses[])
{
    const struct completion this = {.test = completion_test_some,
                                    .count = count,
                                    .some = done,
                                    .index = indices,
                                    .status = statuses};
    int any;

    return completion_complete(&this, requests, &any, false);
}

int aps_completion_get_status(MPI_Request request, int *done,
                              MPI_Status *status)
{
    const MPI_Request *inner = aps_persistent_inner(request);

    return PMPI_Request_get_status(inner ? *inner : request, done, status);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmpi/wait.h for SimGrid, in the place of pmpi/wait.c.
 *
 * The ranks are coroutines of one process: one that spins or sleeps would delay all of
 * them. They yield to the simulator instead, which progresses messages by itself.
 */
#include "config.h"

#include "message/wait.h"

#include <math.h>
#include <simgrid/cond.h>
#include <simgrid/host.h>
#include <simgrid/mutex.h>
#include <stdlib.h>

#include "model.h"
#include "ports.h"

int aps_wait_statuses(int count, MPI_Request requests[], MPI_Status statuses[])
{
    double latest = 0;

    if (!ports_used())
        model_settle();
    /* One by one: SimGrid's Waitall checks all requests each time one ends, which takes
     * minutes for a rank with hundreds. The last one ends at the same time. */
    for (int i = 0; i < count; i++) {
        MPI_Status status = {0};
        int rc = MPI_SUCCESS;

        if (ports_used())
            latest = fmax(latest, ports_wait(&requests[i], &status));
        else
            rc = PMPI_Wait(&requests[i], &status);
        if (rc != MPI_SUCCESS)
            return rc;
        if (statuses)
            statuses[i] = status;
    }
    model_wait_until(latest);
    return MPI_SUCCESS;
}

int aps_wait_requests(int count, MPI_Request requests[])
{
    return aps_wait_statuses(count, requests, NULL);
}

int aps_wait_requests_telling(int count, MPI_Request requests[],
                              void (*tell)(void))
{
    (void)tell; /* all ranks come; the wait takes no time */
    return aps_wait_requests(count, requests);
}

void aps_wait_poll_or_yield(MPI_Comm comm, long *begin)
{
    (void)comm;
    (void)begin;
}

/*
 * Meeting point of the ranks of a host. Each rank has mapped the counts at its
 * own address, so the counts cannot name a meeting point; the host can. It is
 * woken for every count, and a rank that waits for another count waits again.
 */
struct meeting {
    sg_mutex_t mutex;
    sg_cond_t changed;
};

static struct meeting *meeting_here(void)
{
    struct meeting *meeting = sg_host_get_data(sg_host_self());

    /* Only one rank runs at a time, and none yields in here. */
    if (!meeting) {
        meeting = malloc(sizeof *meeting);
        if (!meeting)
            abort();
        meeting->mutex = sg_mutex_init();
        meeting->changed = sg_cond_init();
        sg_host_set_data(sg_host_self(), meeting);
    }
    return meeting;
}

static bool reached(const struct aps_wait_count *count, uint32_t target)
{
    return (int32_t)(atomic_load(&count->count) - target) >= 0;
}

void aps_wait_advance(struct aps_wait_count *count)
{
    struct meeting *meeting = meeting_here();

    model_settle();
    sg_mutex_lock(meeting->mutex);
    atomic_fetch_add(&count->count, 1);
    sg_cond_notify_all(meeting->changed);
    sg_mutex_unlock(meeting->mutex);
}

void aps_wait_reach(struct aps_wait_count *count, uint32_t target,
                    MPI_Comm comm, bool messages)
{
    struct meeting *meeting = meeting_here();

    (void)comm;
    (void)messages;
    model_settle();
    if (reached(count, target))
        return;
    sg_mutex_lock(meeting->mutex);
    while (!reached(count, target))
        sg_cond_wait(meeting->changed, meeting->mutex);
    sg_mutex_unlock(meeting->mutex);
}

void aps_wait_set_ranks(int ranks, int cores)
{
    (void)ranks;
    (void)cores;
}

/* No thread runs in addition to the program's. */
void aps_wait_begin_round(long *begin, size_t round, size_t under_way)
{
    (void)begin;
    (void)round;
    (void)under_way;
}

void aps_wait_end_rounds(void)
{
}

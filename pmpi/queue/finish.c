/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "queue/finish.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "base/clock.h"
#include "base/message.h"
#include "codec/workers.h"
#include "queue/progress_thread.h"
#include "queue/queue.h"
#include "queue/queue_thread.h"
#include "message/wait.h"

static bool given_up;

struct finish {
    const char *call;
    int rank;
    long begin;
    bool told;
    MPI_Request barrier; /* MPI_REQUEST_NULL: complete, or no barrier */
    bool all;            /* true if all processes have come here */
    long moved;          /* time of the last arrival, in nanoseconds */
    int operations;      /* number of unfinished operations at the last look */
    unsigned long ends;  /* aps_wait_ends at the last look */
};

static void finish_start_barrier(struct finish *finish, MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL ||
        PMPI_Ibarrier(comm, &finish->barrier) != MPI_SUCCESS)
        finish->barrier = MPI_REQUEST_NULL;
}

static void finish_look(struct finish *finish)
{
    const int operations = atomic_load(&aps_queue_operations);
    const unsigned long ends = aps_wait_ends();
    const long now = aps_clock_ns(CLOCK_MONOTONIC);
    int done = 0;

    if (finish->barrier != MPI_REQUEST_NULL) {
        if (PMPI_Test(&finish->barrier, &done, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS)
            finish->barrier = MPI_REQUEST_NULL;
        finish->all = done;
    }
    if (!finish->all || operations != finish->operations ||
        ends != finish->ends)
        finish->moved = now;
    finish->operations = operations;
    finish->ends = ends;
}

static bool finish_is_complete(const struct finish *finish)
{
    return !aps_queue_unfinished() && finish->barrier == MPI_REQUEST_NULL;
}

static bool finish_cannot_end(const struct finish *finish)
{
    const long still = aps_clock_ns(CLOCK_MONOTONIC) - finish->moved;

    return finish->all && still > aps_wait_patience_ns();
}

static void finish_tell(struct finish *finish)
{
    char text[512];

    if (finish->told || !aps_queue_unfinished() ||
        aps_clock_ns(CLOCK_MONOTONIC) - finish->begin < aps_wait_patience_ns())
        return;
    finish->told = true;
    if (aps_queue_list_unfinished(text, sizeof text) > 0)
        aps_message(finish->rank,
                    "%s waits for nonblocking calls that are not complete: %s",
                    finish->call, text);
}

static void finish_give_up(const struct finish *finish)
{
    char text[512];
    const unsigned long count = aps_queue_list_unfinished(text, sizeof text);

    if (count == 0)
        return;
    given_up = true;
    aps_queue_abandon();
    aps_message(finish->rank,
                "%s gives up nonblocking calls, and their results are lost: "
                "%s: all ranks have come to %s, and some never made these "
                "calls",
                finish->call, text, finish->call);
}

/* Waits until the threads of queues have ended; this thread does not call MPI
 * meanwhile. */
static void finish_wait_for_threads(struct finish *finish)
{
    long rested = 0;

    aps_progress_thread_stop();
    while (aps_queue_has_busy_thread()) {
        finish_tell(finish);
        aps_wait_back_off(&rested);
    }
    (void)aps_queue_stop_threads();
}

void aps_finish(const char *call, int rank, MPI_Comm comm, bool inside)
{
    struct finish finish = {
        .call = call, .rank = rank, .begin = aps_clock_ns(CLOCK_MONOTONIC)};
    long rested = 0;
    int left;

    if (given_up)
        return;
    if (inside)
        finish_wait_for_threads(&finish);
    finish_start_barrier(&finish, comm);
    for (finish_look(&finish); !finish_is_complete(&finish);
         finish_look(&finish)) {
        if (finish_cannot_end(&finish)) {
            finish_give_up(&finish);
            break;
        }
        finish_tell(&finish);
        aps_queue_wait(&rested);
    }
    left = aps_queue_stop_threads();
    aps_progress_thread_stop();
    aps_workers_stop();
    if (left > 0)
        aps_message(rank,
                    "%d progress threads of the library are still inside MPI: "
                    "the job may crash",
                    left);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "world/lifecycle.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "world/preload_order.h"
#include "job/run.h"
#include "native/errhandler.h"
#include "queue/progress_thread.h"
#include "base/message.h"
#include "job/job.h"
#include "world/pcontrol.h"
#include "summary/final_policy.h"
#include "summary/summary.h"
#include "world/hidden_comm.h"
#include "queue/finish.h"

/* The exit status of a job whose policy is bad. */
#define EXIT_BAD_POLICY 2

/* COLLECTIVE over MPI_COMM_WORLD if the job has a world; otherwise local.
 * Returns the rank in MPI_COMM_WORLD. `inside`: MPI_Finalize is running. */
static int lifecycle_finish(bool inside)
{
    static bool together; /* the ranks of the job have met in an earlier call */
    const struct aps_hidden_comm *world = aps_hidden_comm_of_job();
    const bool meet = world && !together;
    int rank = -1;

    together |= meet;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    aps_finish("MPI_Finalize", rank, meet ? world->comm : MPI_COMM_NULL,
               inside);
    return rank;
}

bool aps_lifecycle_has_world(void)
{
    int initialized = 0, finalized = 1;

    return PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized &&
           PMPI_Finalized(&finalized) == MPI_SUCCESS && !finalized;
}

void aps_lifecycle_finish(void)
{
    if (aps_lifecycle_has_world() && !aps_job()->foreign)
        (void)lifecycle_finish(false);
}

/* COLLECTIVE over MPI_COMM_WORLD if the job has a world; otherwise local.
 * Returns the rank that prints the summary of its calls: the lowest one that
 * leads a communicator with rewritten calls, or else the lowest one with calls,
 * or else rank 0. Rank 0 may be a master that sums nothing. */
static int lifecycle_reporter(const struct aps_hidden_comm *world, int rank)
{
    bool calls = false;
    int size, mine, greatest;

    if (!world)
        return 0;
    size = world->vcomm.size;
    for (int i = 0; i < APS_COUNTED_FUNCTIONS; i++)
        calls |= aps_counters_calls(aps_counters_of((enum aps_counted)i)) > 0;
    mine = atomic_load(&aps_job_leads) ? 2 * size - rank
           : calls                     ? size - rank
                                       : 0;
    if (PMPI_Allreduce(&mine, &greatest, 1, MPI_INT, MPI_MAX, world->comm) !=
            MPI_SUCCESS ||
        greatest == 0)
        return 0;
    return greatest > size ? 2 * size - greatest : size - greatest;
}

static int lifecycle_end_callback(MPI_Comm comm, int key, void *value,
                                  void *extra)
{
    int rank, reporter;

    (void)comm;
    (void)key;
    (void)value;
    (void)extra;
    rank = lifecycle_finish(true);
    aps_run_write_end(aps_job());
    reporter = lifecycle_reporter(aps_hidden_comm_of_job(), rank);
    if (rank == reporter) {
        aps_summary_print(aps_job(), rank);
        aps_final_policy_write(aps_job());
    }
    /* The context of MPI_COMM_WORLD also holds the world, and is freed
     * later. */
    if (aps_hidden_comm_of_job())
        aps_hidden_comm_of_job()->kept = true;
    aps_hidden_comm_release(aps_hidden_comm_of_job());
    aps_hidden_comm_set_job(NULL);
    return MPI_SUCCESS;
}

void aps_lifecycle_watch_end(void)
{
    static atomic_bool watched;
    int key;

    if (atomic_load(&watched) || !aps_lifecycle_has_world() ||
        atomic_exchange(&watched, true))
        return;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, lifecycle_end_callback,
                                &key, NULL) == MPI_SUCCESS) {
        if (PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL) == MPI_SUCCESS)
            return;
        PMPI_Comm_free_keyval(&key);
    }
    /* The context of the next communicator tries again. */
    atomic_store(&watched, false);
}

void aps_lifecycle_stop(void)
{
    /* Launchers forward standard error only while the ranks live; wait until
     * they have forwarded the last lines. */
    const struct timespec patience = {.tv_nsec = 500L * 1000 * 1000};
    int initialized = 0;

    nanosleep(&patience, NULL);
    /* The sessions model has no MPI_COMM_WORLD. */
    if (PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized)
        PMPI_Abort(MPI_COMM_WORLD, EXIT_BAD_POLICY);
    exit(EXIT_BAD_POLICY);
}

void aps_lifecycle_take_world(struct aps_hidden_comm *world)
{
    if (world->vcomm.rank == 0 && world->agreed.cause[0] != '\0')
        aps_message(-1, "%s: every call passes through", world->agreed.cause);
    aps_hidden_comm_set_job(world);
}

/* COLLECTIVE over MPI_COMM_WORLD. Makes the hidden communicator of the job, on
 * which the ranks agree on the policy. */
static void lifecycle_make_world(int rank)
{
    struct aps_hidden_comm *world = NULL;
    /* The program continues if the library gets no communicator. */
    MPI_Errhandler theirs = aps_errhandler_push(MPI_COMM_WORLD);
    const int rc = aps_hidden_comm_create(MPI_COMM_WORLD, true, &world);

    aps_errhandler_pop(MPI_COMM_WORLD, theirs);
    if (rc > 0)
        PMPI_Comm_call_errhandler(MPI_COMM_WORLD, rc);
    else if (rc < 0 && rank == 0)
        aps_message(-1,
                    "MPI cannot make the hidden communicator of the job: each "
                    "communicator makes one of its own; a usual cause is a "
                    "rank that does not preload the library");
    if (rc != MPI_SUCCESS)
        return;
    if (world->agreed.stop)
        aps_lifecycle_stop();
    aps_lifecycle_take_world(world);
}

void aps_lifecycle_begin(int required)
{
    struct aps_job *job = aps_job();
    bool stops;
    int rank;

    if (job->foreign || !aps_lifecycle_has_world())
        return;
    if (required == MPI_THREAD_MULTIPLE)
        aps_progress_thread_expect_threads();
    if (job->begun) /* a tool below the library calls another MPI_Init */
        return;
    job->begun = true;
    aps_lifecycle_watch_end();
    if (PMPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS)
        return;
    if (job->options.world)
        lifecycle_make_world(rank);
    if (rank != 0)
        return;
    stops = !job->options.world && aps_job_must_stop(job);
    /* Without a world the ranks find out at the first call which rank holds a
     * policy. */
    if (job->options.world || !aps_job_is_absent(job))
        aps_job_report(job, rank, stops);
    aps_preload_order_check();
    if (stops)
        aps_lifecycle_stop();
}

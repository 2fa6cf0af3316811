/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "world/sessions.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "job/job.h"
#include "summary/final_policy.h"
#include "summary/summary.h"
#include "queue/finish.h"

static atomic_int sessions;          /* number of sessions that are not
                                        finalised */
static atomic_ullong calls_reported; /* number of calls in the last summary */

/* True if the process has, or had, an MPI_COMM_WORLD. MPI_Finalize then ends
 * the job. */
static bool sessions_have_world(void)
{
    int initialized = 0, finalized = 0;

    return (PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized) ||
           (PMPI_Finalized(&finalized) == MPI_SUCCESS && finalized);
}

static unsigned long long sessions_calls(void)
{
    unsigned long long calls = 0;

    for (int i = 0; i < APS_COUNTED_FUNCTIONS; i++)
        calls += aps_counters_calls(aps_counters_of((enum aps_counted)i));
    return calls;
}

/* Prints the summary, unless no call was made since the last one. */
static void sessions_tell_summary(void)
{
    const unsigned long long calls = sessions_calls();

    if (atomic_exchange(&calls_reported, calls) == calls ||
        !aps_job_is_first_rank())
        return;
    aps_summary_print(aps_job(), 0);
    aps_final_policy_write(aps_job());
}

void aps_sessions_begin(void)
{
    atomic_fetch_add(&sessions, 1);
}

void aps_sessions_end(void)
{
    int open = atomic_load(&sessions);

    while (open > 0 &&
           !atomic_compare_exchange_weak(&sessions, &open, open - 1))
        ;
    if (open != 1 || aps_job()->foreign || sessions_have_world())
        return;
    aps_finish("MPI_Session_finalize", -1, MPI_COMM_NULL, false);
    sessions_tell_summary();
}

/* Prints the summary when the process exits. MPI_Initialized and MPI_Finalized
 * may be called at any time. A child that the program forked has not made the
 * calls that it counts. */
__attribute__((destructor)) static void sessions_exit(void)
{
    const struct aps_job *job =
        atomic_load_explicit(&aps_job_made, memory_order_acquire);

    if (job && !job->foreign && job->pid == getpid() && sessions_calls() > 0 &&
        !sessions_have_world())
        sessions_tell_summary();
}

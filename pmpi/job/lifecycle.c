/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "job/lifecycle.h"

#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "job/preload_order.h"
#include "progress/progress_thread.h"
#include "job/job.h"
#include "job/pcontrol.h"
#include "progress/queue.h"

/* What a job ends with when its policy is bad. */
#define EXIT_BAD_POLICY 2

static int lifecycle_end_callback(MPI_Comm comm, int key, void *value,
                                  void *extra)
{
    int rank = -1;

    (void)comm;
    (void)key;
    (void)value;
    (void)extra;
    aps_queue_finish_all();
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    aps_pcontrol_end();
    aps_job_end(aps_job(), rank);
    return MPI_SUCCESS;
}

static void lifecycle_watch_end(void)
{
    int initialized = 0;
    int key;

    /* Under the sessions model there is no MPI_COMM_SELF. */
    if (PMPI_Initialized(&initialized) != MPI_SUCCESS || !initialized)
        return;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, lifecycle_end_callback,
                                &key, NULL) == MPI_SUCCESS)
        PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

void aps_lifecycle_watch_end(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, lifecycle_watch_end);
}

void aps_lifecycle_stop(void)
{
    /* Launchers forward standard error while the ranks live; what was said just
     * now must get through. */
    const struct timespec patience = {.tv_nsec = 500L * 1000 * 1000};

    nanosleep(&patience, NULL);
    PMPI_Abort(MPI_COMM_WORLD, EXIT_BAD_POLICY);
    exit(EXIT_BAD_POLICY);
}

int aps_lifecycle_thread_level(int required)
{
    if (aps_job_asks_for_threads())
        return MPI_THREAD_MULTIPLE;
    return required;
}

void aps_lifecycle_begin(int required)
{
    struct aps_job *job = aps_job();
    int rank;

    if (required == MPI_THREAD_MULTIPLE)
        aps_progress_thread_expect_threads();
    job->begun = true;
    aps_lifecycle_watch_end();
    if (PMPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS || rank != 0)
        return;
    aps_job_report(job);
    aps_preload_order_check();
    if (aps_job_must_stop(job))
        aps_lifecycle_stop();
}

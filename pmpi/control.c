/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "control.h"

#include <pthread.h>
#include <stdlib.h>

#include "context.h"
#include "export.h"
#include "job.h"
#include "library.h"

/* What a job ends with when its policy is bad. */
#define EXIT_BAD_POLICY 2

static int end_callback(MPI_Comm comm, int key, void *value, void *extra)
{
    int rank = -1;

    (void)comm;
    (void)key;
    (void)value;
    (void)extra;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    aps_job_end(aps_job(), rank);
    return MPI_SUCCESS;
}

static void watch_end(void)
{
    int initialized = 0;
    int key;

    /* Under the sessions model there is no MPI_COMM_SELF. */
    if (PMPI_Initialized(&initialized) != MPI_SUCCESS || !initialized)
        return;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_callback, &key,
                                NULL) == MPI_SUCCESS)
        PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

void aps_control_watch_end(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, watch_end);
}

void aps_control_stop(void)
{
    PMPI_Abort(MPI_COMM_WORLD, EXIT_BAD_POLICY);
    exit(EXIT_BAD_POLICY);
}

void aps_control_begin(void)
{
    bool stop;

    if (aps_job()->foreign)
        return;
    aps_control_watch_end();
    (void)aps_context_of(MPI_COMM_WORLD, &stop);
    if (stop) {
        /* Nothing has happened yet: every rank can leave in good order. */
        PMPI_Finalize();
        exit(EXIT_BAD_POLICY);
    }
}

APS_EXPORT int MPI_Init(int *argc, char ***argv)
{
    int rc = aps_library()->init(argc, argv);

    if (rc == MPI_SUCCESS)
        aps_control_begin();
    return rc;
}

APS_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required,
                               int *provided)
{
    int rc = aps_library()->init_thread(argc, argv, required, provided);

    if (rc == MPI_SUCCESS)
        aps_control_begin();
    return rc;
}

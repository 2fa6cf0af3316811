/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums while MPI makes no communicator for the library, or its calls come late:
 * run it with inject.so preloaded first.
 *
 *     faulty world|session blocking|nonblocking [fatal]
 *
 * `session`: no MPI_Init, a communicator of a session. `fatal`: an error ends the job.
 */
#include "config.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define COUNT 5000
#define CALLS 6

static bool nonblocking, fatal;

/* COLLECTIVE over comm. True if one call gives the sum. */
static bool sum(MPI_Comm comm)
{
    static float x[COUNT];
    MPI_Request request = MPI_REQUEST_NULL;
    bool right = true;
    int rc;

    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(i % 5);
    if (nonblocking) {
        rc = MPI_Iallreduce(MPI_IN_PLACE, x, COUNT, MPI_FLOAT, MPI_SUM, comm,
                            &request);
        if (rc == MPI_SUCCESS)
            rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        rc = MPI_Allreduce(MPI_IN_PLACE, x, COUNT, MPI_FLOAT, MPI_SUM, comm);
    }
    for (int i = 0; i < COUNT; i++)
        right &= x[i] == (float)(i % 5 * mpitap_size());
    return right && rc == MPI_SUCCESS;
}

static void test(MPI_Comm comm)
{
    bool right = true;
    MPI_Comm other;

    if (!fatal)
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    PMPI_Comm_dup(comm, &other);
    for (int i = 0; i < CALLS; i++)
        right &= sum(comm);
    ok_all(right, "%d sums are right", CALLS);
    ok_all(sum(other), "another communicator's sum is right");
    PMPI_Comm_free(&other);
}

#if MPI_VERSION >= 4
static int test_session(void)
{
    MPI_Session session;
    MPI_Comm comm, own;
    MPI_Group group;
    int status;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "tests", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                               &own);
    MPI_Comm_create_from_group(group, "sums", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                               &comm);
    MPI_Group_free(&group);
    mpitap_begin_on(own);
    test(comm);
    status = mpitap_end();
    MPI_Comm_free(&comm);
    MPI_Comm_free(&own);
    MPI_Session_finalize(&session);
    return status;
}
#else
static int test_session(void)
{
    plan_skip_all("MPI has no sessions");
}
#endif

int main(int argc, char **argv)
{
    int level, status;

    nonblocking = argc > 2 && strcmp(argv[2], "nonblocking") == 0;
    fatal = argc > 3;
    if (argc > 1 && strcmp(argv[1], "session") == 0)
        return test_session();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    test(MPI_COMM_WORLD);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

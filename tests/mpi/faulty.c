/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums while a call of MPI fails, or comes late, inside the library: to be run
 * with inject.so in front. Errors return to the program.
 *
 *     faulty world|session blocking|nonblocking [late]
 *
 * `session`: no MPI_Init, a communicator of a session. `late`: nothing fails.
 */
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define COUNT 5000
#define CALLS 6

static bool nonblocking;

/* COLLECTIVE over comm. One sum: an MPI error code; *right: did the call fail,
 * or give the sum? */
static int sum(MPI_Comm comm, bool *right)
{
    static float x[COUNT];
    MPI_Request request = MPI_REQUEST_NULL;
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
    for (int i = 0; i < COUNT && rc == MPI_SUCCESS; i++)
        *right &= x[i] == (float)(i % 5 * mpitap_size());
    return rc;
}

static void test(MPI_Comm comm, bool late)
{
    long (*failures)(void) = NULL;
    bool right = true;
    int failed = 0;
    MPI_Comm other;

    *(void **)&failures = dlsym(RTLD_DEFAULT, "inject_failures");
    if (!failures)
        bail_out("inject.so is not preloaded");
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    PMPI_Comm_dup(comm, &other);
    for (int i = 0; i < CALLS; i++)
        failed += sum(comm, &right) != MPI_SUCCESS;
    ok_all(true, "every rank comes back from %d sums", CALLS);
    ok_all(right, "where a sum succeeds, it is right");
    if (late)
        ok_all(failed == 0, "all succeed");
    else if (good_on_all(failures() == 0))
        skip_all("errors", "the library has not made that call");
    else
        ok_all(good_on_all(failed == 0) || failed > 0,
               "every rank gets an error, or none does");
    right = true;
    failed = sum(other, &right) != MPI_SUCCESS;
    ok_all(right && !failed, "another communicator's sum is right");
    PMPI_Comm_free(&other);
}

#if MPI_VERSION >= 4
static int test_session(bool late)
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
    test(comm, late);
    status = mpitap_end();
    MPI_Comm_free(&comm);
    MPI_Comm_free(&own);
    MPI_Session_finalize(&session);
    return status;
}
#else
static int test_session(bool late)
{
    (void)late;
    plan_skip_all("MPI has no sessions");
}
#endif

int main(int argc, char **argv)
{
    const bool late = argc > 3 && strcmp(argv[3], "late") == 0;
    int level, status;

    nonblocking = argc > 2 && strcmp(argv[2], "nonblocking") == 0;
    if (argc > 1 && strcmp(argv[1], "session") == 0)
        return test_session(late);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    test(MPI_COMM_WORLD, late);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums on communicators that are freed; t-freed.sh checks the library's messages about
 * them. The argument is `world`, `session` (without MPI_Init), or `both`: a session
 * that begins before MPI_Init and ends before MPI_Finalize.
 */
#include "config.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpitap.h"

#define COUNT 2000
#define COMMS 3
#define SUMS 40

static void test(MPI_Comm comm)
{
    static float x[COUNT], y[COUNT];
    bool good = true;

    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(i % 5);
    for (int c = 0; c < COMMS; c++) {
        MPI_Comm copy;

        MPI_Comm_dup(comm, &copy);
        /* Alternates between a step that repeats and one that does not. */
        for (int s = 0; s < SUMS; s++)
            good &= MPI_Allreduce(x, y, c == 1 ? 2000 - s : 2000 - s % 2,
                                  MPI_FLOAT, MPI_SUM, copy) == MPI_SUCCESS;
        MPI_Comm_free(&copy);
    }
    ok_all(good, "sums on %d communicators", COMMS);
}

#if MPI_VERSION >= 4
/* Forks a child that does not use MPI, and waits for its end. */
static void have_a_child(void)
{
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0)
        exit(0);
    waitpid(child, NULL, 0);
}

static void begin_session(MPI_Session *session, MPI_Comm *own, MPI_Comm *comm)
{
    MPI_Group group;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session);
    MPI_Group_from_session_pset(*session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "tests", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                               own);
    MPI_Comm_create_from_group(group, "sums", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                               comm);
    MPI_Group_free(&group);
}

static int test_both(void)
{
    static float x[COUNT], y[COUNT];
    MPI_Session session;
    MPI_Comm comm, own;
    int status;

    begin_session(&session, &own, &comm);
    MPI_Allreduce(x, y, COUNT, MPI_FLOAT, MPI_SUM, comm);
    MPI_Init(NULL, NULL);
    mpitap_begin();
    test(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&own);
    MPI_Session_finalize(&session);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

static int test_session(void)
{
    MPI_Session session;
    MPI_Comm comm, own;
    int status;

    begin_session(&session, &own, &comm);
    mpitap_begin_on(own);
    test(comm);
    have_a_child();
    status = mpitap_end();
    MPI_Comm_free(&comm);
    MPI_Comm_free(&own);
    MPI_Session_finalize(&session);
    return status;
}
#endif

int main(int argc, char **argv)
{
    int status;

#if MPI_VERSION >= 4
    if (argc > 1 && strcmp(argv[1], "session") == 0)
        return test_session();
    if (argc > 1 && strcmp(argv[1], "both") == 0)
        return test_both();
#endif
    MPI_Init(&argc, &argv);
    mpitap_begin();
    test(MPI_COMM_WORLD);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

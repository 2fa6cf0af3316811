/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 lacks what a call of the library needs, and tries again (inject.c, to be
 * preloaded in front): what is queued on another communicator goes on meanwhile.
 * Rank 0 gets what it lacks when rank 1 has got the sum that is queued.
 *
 *     patience FUNCTION     allocation, or a call of MPI that makes messages
 */
#include "config.h"

#include <dlfcn.h>
#include <limits.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mpitap.h"

#define COUNT 5000

static void (*arm)(const char *function, long call, long how_often);
static long (*disarm)(void);
static float queued[COUNT], x[COUNT];

static void end_shortage(int number)
{
    (void)number;
    (void)disarm();
}

static void fill(float values[])
{
    for (int i = 0; i < COUNT; i++)
        values[i] = (float)(i % 5);
}

static bool is_right(const float values[])
{
    for (int i = 0; i < COUNT; i++)
        if (values[i] != (float)(i % 5 * mpitap_size()))
            return false;
    return true;
}

static int begin(float values[], MPI_Comm comm, MPI_Request *request)
{
    fill(values);
    return MPI_Iallreduce(MPI_IN_PLACE, values, COUNT, MPI_FLOAT, MPI_SUM, comm,
                          request);
}

static int sum(MPI_Comm comm, bool nonblocking)
{
    MPI_Request request;
    int rc;

    if (!nonblocking) {
        fill(x);
        return MPI_Allreduce(MPI_IN_PLACE, x, COUNT, MPI_FLOAT, MPI_SUM, comm);
    }
    rc = begin(x, comm, &request);
    return rc == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
}

static void test(MPI_Comm comm, const char *function, int first)
{
    const struct timespec late = {.tv_nsec = 300L * 1000 * 1000};
    const bool nonblocking = strcmp(function, "allocation") == 0;
    MPI_Request request;
    int rc;

    meet();
    if (mpitap_rank() == 1)
        nanosleep(&late, NULL);
    begin(queued, MPI_COMM_WORLD, &request);
    if (mpitap_rank() == 0) {
        arm(function, 1, LONG_MAX);
    } else {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        kill(first, SIGUSR1);
    }
    rc = sum(comm, nonblocking);
    (void)disarm();
    if (rc != MPI_SUCCESS) { /* the other rank waits for ever */
        diag("rank %d: %s is still missing: the call fails", mpitap_rank(),
             function);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    ok_all(is_right(x), "a call that lacked %s for a while is right", function);
    ok_all(is_right(queued), "what was queued went on meanwhile");
}

int main(int argc, char **argv)
{
    const char *function = argc > 1 ? argv[1] : "allocation";
    int status, first = (int)getpid();
    MPI_Comm comm;

    *(void **)&arm = dlsym(RTLD_DEFAULT, "inject_arm");
    *(void **)&disarm = dlsym(RTLD_DEFAULT, "inject_disarm");
    MPI_Init(&argc, &argv);
    mpitap_begin();
    if (!arm || !disarm || mpitap_size() != 2)
        bail_out("inject.so is not preloaded, or not on two ranks");
    signal(SIGUSR1, end_shortage);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) /* what first calls need is there */
        ok_all(sum(MPI_COMM_WORLD, i) == MPI_SUCCESS &&
                   sum(comm, i) == MPI_SUCCESS,
               "both communicators: %s", i ? "nonblocking" : "blocking");
    test(comm, function, first);
    MPI_Comm_free(&comm);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

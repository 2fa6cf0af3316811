/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that tests a request in a loop gives its core away while no call of the
 * library ends: the last rank makes the call late. Without such calls under way a
 * test gives nothing away.
 */
#define _GNU_SOURCE
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mpitap.h"

#define COUNT 1500

static long yields; /* calls from the library, in this thread's loop of tests */
static _Thread_local bool watched;

/* MPI, too, may yield. */
__attribute__((visibility("default"))) int sched_yield(void)
{
    Dl_info caller;

    if (watched && dladdr(__builtin_return_address(0), &caller) &&
        strstr(strrchr(caller.dli_fname, '/'), "libapsmpi"))
        yields++;
    return (int)syscall(SYS_sched_yield);
}

static long test_until_done(MPI_Request *request)
{
    long tests = 0;

    yields = 0;
    watched = true;
    for (int done = 0; !done; tests++)
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
    watched = false;
    return tests;
}

int main(int argc, char **argv)
{
    static float in[COUNT], out[COUNT];
    bool late, enough;
    MPI_Request request;
    int level, status;
    long tests;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    late = mpitap_rank() == mpitap_size() - 1;
    for (int i = 0; i < COUNT; i++)
        in[i] = 1;
    MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (late)
        usleep(50000);
    MPI_Iallreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                   &request);
    tests = test_until_done(&request);
    enough = late || yields >= tests / 2;
    ok_all(enough, "tests of a late call give the core away");
    ok_all(out[0] == (float)mpitap_size() && out[COUNT - 1] == out[0],
           "... and the call completes");
    /* A blocking call ends after the library has ended the nonblocking one. */
    MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    usleep(late ? 50000 : 20000);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    (void)test_until_done(&request);
    ok_all(yields == 0, "tests of MPI's own calls do not");
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent all-reduces. The argument names the test:
 *
 *     swapped  odd ranks start two requests in the other order
 *     mixed    odd ranks start a request after an MPI_Iallreduce, not before
 *     held     one request; only one rank has the policy, which rounds to e3m0
 *     reused   while a wait completes a request, a persistent request gets its handle,
 *              as if another thread made it; the policy has e8m23
 */
#define _GNU_SOURCE
#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <string.h>

#include "mpitap.h"

#define COUNT 100000
#define TURNS 3

static float a[COUNT], b[COUNT];

#ifdef HAVE_PMPI_ALLREDUCE_INIT

static void fill(void)
{
    for (int i = 0; i < COUNT; i++) {
        a[i] = 1.25f;
        b[i] = 2;
    }
}

static bool is_all(const float *values, float expected)
{
    for (int i = 0; i < COUNT; i++)
        if (values[i] != expected)
            return false;
    return true;
}

static bool are_sums(void)
{
    const float ranks = (float)mpitap_size();

    return is_all(a, 1.25f * ranks) && is_all(b, 2 * ranks);
}

static void make(float *values, MPI_Info info, MPI_Request *request)
{
    MPI_Allreduce_init(MPI_IN_PLACE, values, COUNT, MPI_FLOAT, MPI_SUM,
                       MPI_COMM_WORLD, info, request);
}

static void test_swapped(void)
{
    const int odd = mpitap_rank() % 2;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    bool good = true;

    make(a, MPI_INFO_NULL, &requests[0]);
    make(b, MPI_INFO_NULL, &requests[1]);
    for (int turn = 0; turn < TURNS; turn++) {
        fill();
        MPI_Start(&requests[odd]);
        MPI_Start(&requests[!odd]);
        MPI_Waitall(2, requests, statuses);
        good &= are_sums();
    }
    ok_all(good, "two requests, started in different orders: their own sums");
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void test_mixed(void)
{
    const int odd = mpitap_rank() % 2;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    bool good = true;

    make(a, MPI_INFO_NULL, &requests[0]);
    for (int turn = 0; turn < TURNS; turn++) {
        fill();
        if (!odd)
            MPI_Start(&requests[0]);
        MPI_Iallreduce(MPI_IN_PLACE, b, COUNT, MPI_FLOAT, MPI_SUM,
                       MPI_COMM_WORLD, &requests[1]);
        if (odd)
            MPI_Start(&requests[0]);
        MPI_Waitall(2, requests, statuses);
        good &= are_sums();
    }
    ok_all(good, "one request and one MPI_Iallreduce: their own sums");
    MPI_Request_free(&requests[0]);
}

static void test_held(void)
{
    MPI_Info info = mpitap_strict_order();
    MPI_Request request;
    bool good = true;

    make(a, info, &request);
    for (int turn = 0; turn < TURNS; turn++) {
        fill();
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        good &= is_all(a, (float)mpitap_size()); /* e3m0 rounds 1.25 to 1. */
    }
    ok_all(good, "the ranks agreed on a policy: rounded");
    MPI_Request_free(&request);
    MPI_Info_free(&info);
}

/* --- a handle that is used again ------------------------------------------- */

static MPI_Info strict;
static MPI_Request completing, reused = MPI_REQUEST_NULL;

/* The library's tests of requests come here. */
__attribute__((visibility("default"))) int
PMPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    int (*next)(MPI_Request *, int *, MPI_Status *);
    const bool watched = completing == *request && completing != 0;
    int rc;

    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Test");
    rc = next(request, done, status);
    if (watched && *request == MPI_REQUEST_NULL) {
        make(b, strict, &reused);
        MPI_Start(&reused);
    }
    return rc;
}

static void test_reused(void)
{
    MPI_Request first, request;
    bool good;

    strict = mpitap_strict_order();
    fill();
    make(a, strict, &first); /* or the library would look up no handle */
    MPI_Iallreduce(MPI_IN_PLACE, a, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                   &request);
    completing = request;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    good = request == MPI_REQUEST_NULL;
    if (reused != completing)
        diag("the new request has another handle");
    completing = 0;
    MPI_Wait(&reused, MPI_STATUS_IGNORE);
    good &= reused != MPI_REQUEST_NULL;
    ok_all(good && are_sums(), "a persistent request keeps its own state");
    MPI_Request_free(&reused);
    MPI_Request_free(&first);
    MPI_Info_free(&strict);
}

#endif

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int status, level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
#ifdef HAVE_PMPI_ALLREDUCE_INIT
    if (strcmp(what, "swapped") == 0)
        test_swapped();
    else if (strcmp(what, "mixed") == 0)
        test_mixed();
    else if (strcmp(what, "reused") == 0)
        test_reused();
    else
        test_held();
#else
    (void)a;
    (void)b;
    ok_all(true, "%s # SKIP no MPI_Allreduce_init", what);
#endif
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

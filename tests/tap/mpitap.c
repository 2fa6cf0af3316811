/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpitap.h"

#include <mpi.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static MPI_Comm own = MPI_COMM_NULL;
static int rank, size;
static int failed;

void mpitap_begin(void)
{
    mpitap_begin_on(MPI_COMM_WORLD);
}

void mpitap_begin_on(MPI_Comm comm)
{
    /* Whole lines, so that those of several ranks do not mix. */
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_split(comm, 0, rank, &own);
}

int mpitap_rank(void)
{
    return rank;
}

int mpitap_size(void)
{
    return size;
}

int mpitap_handled;

void mpitap_handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    mpitap_handled++;
}

int mpitap_class(int code)
{
    int class = -1;

    MPI_Error_class(code, &class);
    return class;
}

MPI_Info mpitap_strict_order(void)
{
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_strict_persistent_collective_ordering",
                 "true");
    return info;
}

/* A rank that yields still gets its share of the core: ranks that wait for one
 * that computes must sleep, or that one would get only its own share. */
static void wait_for(MPI_Request *request)
{
    const struct timespec pause = {.tv_nsec = 200000};
    int done = 0;

    for (int turn = 0;
         PMPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done;
         turn++) {
        if (turn < 200)
            sched_yield();
        else
            nanosleep(&pause, NULL);
    }
}

/* Replaces values[i] by its maximum over the ranks. */
static void agree_max(int count, uint64_t values[])
{
    MPI_Request request;

    PMPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_UINT64_T, MPI_MAX, own,
                    &request);
    wait_for(&request);
}

bool good_on_all(bool good)
{
    uint64_t bad = !good;

    agree_max(1, &bad);
    return bad == 0;
}

void meet(void)
{
    (void)good_on_all(true);
}

bool same_on_all(const void *bytes, size_t count)
{
    const unsigned char *next = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    uint64_t both[2];

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ next[i]) * UINT64_C(0x100000001b3);
    /* The MAX of the complement is the complement of the MIN. */
    both[0] = hash;
    both[1] = ~hash;
    agree_max(2, both);
    return both[0] == ~both[1];
}

bool ok_all(bool pass, const char *format, ...)
{
    bool all = good_on_all(pass);
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!pass)
        diag("rank %d: not ok: %s", rank, text);
    if (rank == 0)
        ok(all, "%s", text);
    failed += !all;
    return all;
}

bool mpitap_trusts_types(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int major = 0, length;

    MPI_Get_library_version(version, &length);
    return sscanf(version, "MPICH Version: %d", &major) == 1 && major >= 5;
}

void skip_all(const char *name, const char *reason)
{
    if (rank == 0)
        ok(true, "%s # SKIP %s", name, reason);
}

void expect_rewritten(unsigned long calls)
{
    if (rank == 0) {
        printf("# expect %lu rewritten\n", calls);
        fflush(stdout);
    }
}

int mpitap_end(void)
{
    PMPI_Comm_free(&own);
    return rank == 0 ? done_testing() : failed > 0;
}

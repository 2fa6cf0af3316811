/* SPDX-License-Identifier: BSD-3-Clause */
#include "device_calls.h"

#include "config.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "device_buffers.h"
#include "mpitap.h"

/* Uses every second float, so that there are gaps. */
static void test_gaps(void)
{
    const struct buffers buffers = buffers_of(DEVICE, 1);
    MPI_Datatype pairs;
    bool good = true;

    MPI_Type_vector(500, 1, 2, MPI_FLOAT, &pairs);
    MPI_Type_commit(&pairs);
    fill(FILL_GRADIENTS, 3, rank, 2000, in);
    lay_out(&buffers, 2000, 2000);
    get(expected, buffers.receive, 2000 * sizeof *expected);
    for (size_t i = 0; i < 1000; i++)
        if (i % 2 == 0)
            expected[i] = 3;
    if (rank == 0) {
        for (size_t i = 0; i < 1000; i += 2)
            put(buffers.receive + i, &expected[i], sizeof *expected);
    }
    MPI_Bcast(buffers.receive, 1, pairs, 0, MPI_COMM_WORLD);
    good = check(&buffers, 2000, 2000);
    MPI_Type_free(&pairs);
    ok_all(good, "a type with gaps");
}

static void test_bcast(int root)
{
    for (int where = 0; where < WHERES; where++) {
        const struct buffers buffers = buffers_of((enum where)where, 2);
        const size_t n = 5001;
        int rc;

        fill(FILL_WIDE, 5, root, n, expected);
        memset(got, 0x5a, (n + 2) * sizeof *got);
        put(buffers.receive - 1, got, (n + 2) * sizeof *got);
        if (rank == root)
            put(buffers.receive, expected, n * sizeof *expected);
        rc =
            MPI_Bcast(buffers.receive, (int)n, MPI_FLOAT, root, MPI_COMM_WORLD);
        get(got, buffers.receive, n * sizeof *got);
        ok_all(rc == MPI_SUCCESS && first_difference(n, expected, got) == n,
               "MPI_Bcast from %d: %s", root, where_names[where]);
    }
}

/* Tests other types and operations. */
static void test_others(void)
{
    const struct buffers buffers = buffers_of(SOME_IN_PLACE, 2);
    const size_t n = 3000; /* doubles */
    double *values = (double *)(void *)in, *wanted = (double *)(void *)expected;

    for (size_t i = 0; i < n; i++)
        values[i] = (double)((i * 7 + (size_t)rank * 13) % 101);
    MPI_Allreduce(values, wanted, (int)n, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    lay_out(&buffers, 2 * n, 2 * n);
    MPI_Allreduce(send_of(&buffers), buffers.receive, (int)n, MPI_DOUBLE,
                  MPI_MAX, MPI_COMM_WORLD);
    ok_all(check(&buffers, 2 * n, 2 * n), "the greatest doubles");
#ifdef HAVE_PMPI_ALLREDUCE_C
    lay_out(&buffers, 2 * n, 2 * n);
    MPI_Allreduce_c(send_of(&buffers), buffers.receive, (MPI_Count)n,
                    MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    ok_all(check(&buffers, 2 * n, 2 * n), "the greatest doubles, by _c");
#endif
}

/* Completes calls in another order than the order of the calls, on
 * communicators that order the ranks differently. */
static void test_two_communicators(void)
{
    const struct buffers a = buffers_of_call(0), b = buffers_of_call(4);
    MPI_Request requests[2];
    MPI_Comm other;
    int token = 0;

    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    lay_out_calls();
    if (rank == 0) /* rank 1 joins its first call after the message */
        MPI_Iallreduce(send_of(&a), a.receive, (int)count_of(0), MPI_FLOAT,
                       MPI_SUM, other, &requests[0]);
    MPI_Iallreduce(send_of(&b), b.receive, (int)count_of(4), MPI_FLOAT, MPI_SUM,
                   MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    if (rank == 0)
        for (int i = 1; i < ranks; i++)
            MPI_Send(&token, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0)
        MPI_Iallreduce(send_of(&a), a.receive, (int)count_of(0), MPI_FLOAT,
                       MPI_SUM, other, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    fill(FILL_GRADIENTS, 0, rank, count_of(0), in);
    expect(count_of(0), other);
    ok_all(check(&a, count_of(0), count_of(0)),
           "two nonblocking calls, the second complete first");
    MPI_Comm_free(&other);
}

void run_passed(void)
{
    bool good[WHERES];

    passes = true;
    for (int where = 0; where < WHERES; where++) {
        good[where] = sum((enum where)where, 1, 5);
        good[where] &= sum((enum where)where, 4097, 2);
        ok_all(good[where], "MPI_Allreduce: %s", where_names[where]);
    }
    run_others();
    for (int root = 0; root < ranks; root += ranks - 1)
        test_bcast(root);
    test_gaps();
    test_others();
    /* Without a policy MPI handles persistent calls entirely. */
    run_nonblocking(getenv("APSMPI_POLICY") != NULL);
    test_two_communicators();
}

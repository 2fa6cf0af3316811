/* SPDX-License-Identifier: BSD-3-Clause */
#include "device_calls.h"

#include <math.h>
#include <mpi.h>

#include "calls.h"
#include "device_buffers.h"
#include "gpu.h"
#include "mpitap.h"

/* COLLECTIVE. True if no value exceeds the sum of the ranks' magnitudes. */
static bool is_bounded(size_t n, const float *x, const float *sum)
{
    float most = 0;
    bool bounded = true;

    for (size_t i = 0; i < n; i++)
        most = fmaxf(most, fabsf(x[i]));
    PMPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
    for (size_t i = 0; i < n; i++)
        bounded &= fabsf(sum[i]) <= 2 * most * (float)ranks;
    return bounded;
}

static void try_failing(const char *name, size_t n, long after, bool waits)
{
    const struct buffers buffers = buffers_of(DEVICE, 1);
    MPI_Request request;
    int rc;

    fill(FILL_GRADIENTS, 1, rank, n, in);
    lay_out(&buffers, n, n);
    if (rank == 1)
        gpu_fail_after(after);
    if (waits) {
        rc = MPI_Iallreduce(buffers.send, buffers.receive, (int)n, MPI_FLOAT,
                            MPI_SUM, MPI_COMM_WORLD, &request);
        if (rc == MPI_SUCCESS)
            rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        rc = MPI_Allreduce(buffers.send, buffers.receive, (int)n, MPI_FLOAT,
                           MPI_SUM, MPI_COMM_WORLD);
    }
    gpu_fail_after(-1);
    if (rc != MPI_SUCCESS)
        MPI_Error_class(rc, &rc);
    ok_all(rc == (rank == 1 ? MPI_ERR_OTHER : MPI_SUCCESS),
           "%s, copies fail after %ld: an error on that rank alone", name,
           after);
    get(got, buffers.receive, n * sizeof *got);
    ok_all(is_bounded(n, in, got) || rank == 1,
           "%s: what is missing are zeros for the others", name);
    ok_all(sum(DEVICE, n, 8), "%s: the next call is good", name);
}

/* Data that one rank loses in shared memory is lost for the whole node. The
 * communicator is new: its first call allocates the shared memory. */
static void try_failing_shared(long after)
{
    const size_t n = 5 * STEP + 777;
    MPI_Comm comm;
    int rc[3];

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 3; i++) {
        if (rank == 1 && i == 1)
            gpu_fail_after(after);
        rc[i] = MPI_Allreduce(device_in, device_out, (int)n, MPI_FLOAT, MPI_SUM,
                              comm);
        gpu_fail_after(-1);
        if (rc[i] != MPI_SUCCESS)
            MPI_Error_class(rc[i], &rc[i]);
    }
    ok_all(rc[0] == MPI_SUCCESS, "shared: a call before");
    ok_all(rc[1] == MPI_ERR_OTHER, "shared, fails after %ld: on all ranks",
           after);
    ok_all(rc[2] == MPI_SUCCESS, "shared: a call behind");
    MPI_Comm_free(&comm);
}

void run_failing(bool shared, bool aware)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (long after = 1; shared && after < 8; after++)
        try_failing_shared(after);
    for (long after = 0; after < 2; after++) {
        try_failing("direct", 777, after, false);
        try_failing("hierarchical", 5 * STEP + 777, after, false);
        try_failing("ring", 9 * STEP + 777, after, false);
        try_failing("master", 11 * STEP + 777, after, false);
        try_failing("gather", 13 * STEP + 777, after, false);
        try_failing("nonblocking", 777, after, true);
        if (aware)
            continue;
        try_failing("passed", 200000, after, false);
        try_failing("nonblocking, passed", 200000, after, true);
    }
}

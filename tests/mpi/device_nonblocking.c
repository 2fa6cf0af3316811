/* SPDX-License-Identifier: BSD-3-Clause */
#include "device_calls.h"

#include "config.h"

#include <mpi.h>

#include "calls.h"
#include "device_buffers.h"
#include "mpitap.h"

/* MPICH declares the statuses as an array, and MPI_STATUSES_IGNORE is 1. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

#define CALL_ROOM 20000
size_t count_of(int i)
{
    if (i == CALLS - 1)
        return 150001;
    return i == 3 ? 19999 : 3000 + 501 * (size_t)i;
}

struct buffers buffers_of_call(int i)
{
    struct buffers buffers = buffers_of((enum where)(i % WHERES), 1);

    if (buffers.send)
        buffers.send += (size_t)i * CALL_ROOM;
    buffers.receive += (size_t)i * CALL_ROOM;
    return buffers;
}

void expect(size_t n, MPI_Comm comm)
{
    MPI_Request request;

    if (passes)
        MPI_Iallreduce(in, expected, (int)n, MPI_FLOAT, MPI_SUM, comm,
                       &request);
    else
        MPI_Allreduce(in, expected, (int)n, MPI_FLOAT, MPI_SUM, comm);
    if (passes)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* True if all results are those of calls on host memory. */
static bool are_right(void)
{
    bool good = true;

    for (int i = 0; i < CALLS; i++) {
        const struct buffers buffers = buffers_of_call(i);

        fill(FILL_GRADIENTS, (uint64_t)i, rank, count_of(i), in);
        expect(count_of(i), MPI_COMM_WORLD);
        good &= check(&buffers, count_of(i), count_of(i));
    }
    return good;
}

void lay_out_calls(void)
{
    for (int i = 0; i < CALLS; i++) {
        const struct buffers buffers = buffers_of_call(i);

        fill(FILL_GRADIENTS, (uint64_t)i, rank, count_of(i), in);
        lay_out(&buffers, count_of(i), count_of(i));
    }
}

void run_nonblocking(bool persistent)
{
    MPI_Request requests[CALLS];

    for (int turn = 0; turn < 3; turn++) {
        lay_out_calls();
        for (int i = 0; i < CALLS; i++) {
            const struct buffers buffers = buffers_of_call(i);

            MPI_Iallreduce(send_of(&buffers), buffers.receive, (int)count_of(i),
                           MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
        }
        for (int i = 0; i < CALLS && turn == 0; i++)
            MPI_Wait(&requests[(5 * i + rank) % CALLS], MPI_STATUS_IGNORE);
        if (turn == 1)
            MPI_Barrier(MPI_COMM_WORLD);
        for (int done = 0; turn == 2 && !done;)
            MPI_Testall(CALLS, requests, &done, MPI_STATUSES_IGNORE);
        MPI_Waitall(CALLS, requests, MPI_STATUSES_IGNORE);
        ok_all(are_right(), "nonblocking, turn %d", turn);
    }
#ifdef HAVE_PMPI_ALLREDUCE_INIT
    MPI_Info info = mpitap_strict_order();

    for (int i = 0; i < CALLS && persistent; i++) {
        const struct buffers buffers = buffers_of_call(i);

        MPI_Allreduce_init(send_of(&buffers), buffers.receive, (int)count_of(i),
                           MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, info,
                           &requests[i]);
    }
    MPI_Info_free(&info);
    for (int turn = 0; turn < 2 && persistent; turn++) {
        lay_out_calls();
        MPI_Startall(CALLS, requests);
        MPI_Waitall(CALLS, requests, MPI_STATUSES_IGNORE);
        ok_all(are_right(), "persistent, turn %d", turn);
    }
    for (int i = 0; i < CALLS && persistent; i++)
        MPI_Request_free(&requests[i]);
#else
    (void)persistent;
#endif
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that pass through by a shorter way on some ranks, because they are like
 * the thread's last such call, on any communicator. The choice of the rewritten
 * calls that are sampled, by all ranks, must not depend on that.
 *
 *     skipped reported    two counts that share an entry of the cache of
 *                         counts, a third that shares a number with one
 *     skipped drawn SEED  many counts and detours, drawn
 */
#include "config.h"

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define ROUNDS 2000
#define LARGE 4096 /* the rule's min_count */
#define MOST 8192

static float in[MOST], out[MOST];

static uint64_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *state >> 33;
}

/* Makes calls on this rank alone. */
static void detour(void)
{
    double one = 1, sum;

    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

/* All ranks have the same small integers, whose sums every format holds. */
static bool reduce(MPI_Comm comm, int count, bool nonblocking)
{
    bool right = true;

    if (nonblocking) {
        MPI_Request request;

        MPI_Iallreduce(in, out, count, MPI_FLOAT, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, comm);
    }
    for (int i = 0; i < count; i += 31)
        right &= out[i] == in[i] * (float)mpitap_size();
    return right;
}

static void run_reported(void)
{
    static const int counts[] = {1024, 1024, 1113, 0, 1024, 4362};
    bool right = true;

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (counts[i] > 0)
            right &= reduce(MPI_COMM_WORLD, counts[i], false);
        else if (mpitap_rank() == 0)
            detour();
    }
    ok_all(right, "one rank makes a call of its own between two that pass");
    expect_rewritten(1);
}

/* All ranks draw the same calls, and each rank other detours. */
static void run_drawn(uint64_t seed)
{
    static const int counts[] = {1024, 1113, 1500, 2000, 4095, 4096, 4362,
                                 5000, 8192, 100,  1024, 1024, 1113, 1113};
    uint64_t calls = seed, detours = seed + 1 + (uint64_t)mpitap_rank();
    unsigned long rewritten = 0;
    bool right = true;
    MPI_Comm comms[2] = {MPI_COMM_WORLD};

    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    for (int i = 0; i < ROUNDS; i++) {
        const int count = counts[draw(&calls) % 14];
        const MPI_Comm comm = comms[draw(&calls) % 8 == 0];
        const bool nonblocking = draw(&calls) % 8 == 0;

        rewritten += count >= LARGE;
        if (draw(&detours) % 3 == 0)
            detour();
        right &= reduce(comm, count, nonblocking);
    }
    ok_all(right, "%d calls drawn, seed %d", ROUNDS, (int)seed);
    expect_rewritten(rewritten);
    MPI_Comm_free(&comms[1]);
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    for (int i = 0; i < MOST; i++)
        in[i] = (float)(i % 2);
    if (argc > 2 && strcmp(argv[1], "drawn") == 0)
        run_drawn(strtoull(argv[2], NULL, 10));
    else
        run_reported();
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

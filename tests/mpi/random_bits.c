/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The random bits of roundings: each communicator draws its own bits, also one that
 * takes over the tags of a freed one; layers whose rules round differently do not share
 * bits, whether their calls are reduced together or not. `random_bits blocking` or
 * `nonblocking` prints a hash of all results, so that the script can compare runs.
 */
#include "config.h"

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

/* MPICH declares the statuses as an array, and MPI_STATUSES_IGNORE is 1. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

/* Rules, by counts: 1000 and 2000 with random bits of two seeds, 3000 rounds to
 * nearest, 4000 with correlated bits. */
#define LAYERS 8
#define STEPS 3
#define LONGEST 4000

static const int counts[LAYERS] = {1000, 2000, 3000, 4000,
                                   900,  1900, 2900, 3900};

struct results {
    float x[STEPS][LAYERS][LONGEST];
};

static float in[LONGEST];
static struct results *results[2];
static bool nonblocking;

static void reduce(MPI_Comm comm, struct results *out)
{
    MPI_Request requests[STEPS * LAYERS];
    int k = 0;

    memset(out, 0, sizeof *out);
    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < LAYERS; i++, k++) {
            requests[k] = MPI_REQUEST_NULL;
            if (nonblocking)
                MPI_Iallreduce(in, out->x[step][i], counts[i], MPI_FLOAT,
                               MPI_SUM, comm, &requests[k]);
            else
                MPI_Allreduce(in, out->x[step][i], counts[i], MPI_FLOAT,
                              MPI_SUM, comm);
        }
    MPI_Waitall(k, requests, MPI_STATUSES_IGNORE);
}

static void print_number(void)
{
    uint64_t number = 0;

    for (int r = 0; r < 2; r++)
        for (size_t i = 0; i < sizeof *results[r]; i++)
            number = (number ^ ((const unsigned char *)results[r])[i]) *
                     UINT64_C(0x100000001b3);
    if (mpitap_rank() == 0)
        diag("results %016llx", (unsigned long long)number);
}

/* Results differ if bits are drawn, and are the same otherwise. */
static void compare(const char *name)
{
    bool differ = true, same = true;

    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < LAYERS; i++) {
            const size_t size = (size_t)counts[i] * sizeof(float);
            const bool is_same = memcmp(results[0]->x[step][i],
                                        results[1]->x[step][i], size) == 0;

            if (i % 4 == 2)
                same &= is_same;
            else
                differ &= !is_same;
        }
    ok_all(differ, "%s: bits of their own", name);
    ok_all(same, "%s: the same where no bits are drawn", name);
    ok_all(same_on_all(results[0], sizeof *results[0]) &&
               same_on_all(results[1], sizeof *results[1]),
           "%s: the same on all ranks", name);
    print_number();
}

/* Uses two communicators at a time, and one after the other. */
static void test_communicators(bool together)
{
    MPI_Comm comms[2];

    for (int c = 0; c < 2; c++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
    for (int c = 0; c < 2; c++) {
        if (c == 1 && !together) {
            MPI_Comm_free(&comms[0]);
            MPI_Comm_free(&comms[1]);
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
        }
        reduce(comms[c], results[c]);
    }
    if (together)
        MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
    compare(together ? "two communicators of the same ranks"
                     : "a communicator in the place of a freed one");
}

/* Seeds belong to a rule: two layers of a step with equal values do not have
 * the same bits. */
static void test_seeds(void)
{
    const struct results *one = results[0];

    ok_all(memcmp(one->x[0][0], one->x[0][1], 1000 * sizeof(float)) != 0,
           "two rules with seeds of their own");
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    nonblocking = argc > 1 && strcmp(argv[1], "nonblocking") == 0;
    for (int r = 0; r < 2; r++)
        results[r] = malloc(sizeof *results[r]);
    if (!results[0] || !results[1])
        bail_out("out of memory");
    for (int i = 0; i < LONGEST; i++)
        in[i] = 1 + (float)(i * 619 % LONGEST) / LONGEST;
    test_communicators(true);
    test_communicators(false);
    test_seeds();
    expect_rewritten(4 * STEPS * LAYERS);
    for (int r = 0; r < 2; r++)
        free(results[r]);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layers that are reduced together (`fuse`) get the bits that each gets alone,
 * at whatever pace the program makes its calls. The time decides which layers
 * are sent together; it must not change the sums.
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpitap.h"

/* MPICH declares the statuses as an array, and MPI_STATUSES_IGNORE is 1. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

#define LAYERS 12
#define LONGEST 12000

static const int counts[LAYERS] = {1100, 5000, 37,  2000, 9000,  64,
                                   3333, 1500, 700, 4096, 12000, 2500};

static int rank;
static float in[LAYERS][LONGEST], out[LAYERS][LONGEST], alone[LAYERS][LONGEST];
static MPI_Request requests[LAYERS];

/* Values of many magnitudes, so that the order of addition shows, in layers of
 * different scales; one layer has an INF and one a NaN. */
static void fill(void)
{
    unsigned seed = 7 + (unsigned)rank;

    for (int i = 0; i < LAYERS; i++)
        for (int k = 0; k < LONGEST; k++) {
            seed = seed * 1664525u + 1013904223u;
            in[i][k] = ldexpf((float)(int)(seed >> 8) - 8388608.0f,
                              -30 + 3 * (i % 5) - (int)(seed % 7));
        }
    in[3][1999] = rank == 0 ? INFINITY : 1;
    in[6][5] = rank == 0 ? 1 : NAN;
}

static void rest(long microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000 * microseconds}, NULL);
}

static void without_pause(int i)
{
    (void)i;
}

static void with_pauses(int i)
{
    if (i % 2)
        rest(2500);
}

/* Makes every rank pause differently. */
static void with_uneven_pauses(int i)
{
    rest((i * 7 + rank * 3) % 5 * 700);
}

static void with_waits(int i)
{
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    void (*pace)(int i);
} paces[] = {
    {"without a pause", without_pause},
    {"with pauses", with_pauses},
    {"with pauses of each rank's own", with_uneven_pauses},
    {"with a wait after every call", with_waits},
};
#define PACES (int)(sizeof paces / sizeof *paces)

static void reduce_together(int pace)
{
    memset(out, 0, sizeof out);
    for (int i = 0; i < LAYERS; i++) {
        MPI_Iallreduce(in[i], out[i], counts[i], MPI_FLOAT, MPI_SUM,
                       MPI_COMM_WORLD, &requests[i]);
        paces[pace].pace(i);
    }
    MPI_Waitall(LAYERS, requests, MPI_STATUSES_IGNORE);
}

static bool is_as_alone(void)
{
    bool same = true;

    for (int i = 0; i < LAYERS; i++)
        if (memcmp(out[i], alone[i], (size_t)counts[i] * sizeof(float)) != 0) {
            diag("layer %d of %d values differs", i, counts[i]);
            same = false;
        }
    return same;
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    rank = mpitap_rank();
    fill();
    memset(alone, 0, sizeof alone);
    for (int i = 0; i < LAYERS; i++)
        MPI_Allreduce(in[i], alone[i], counts[i], MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
    for (int pace = 0; pace < PACES; pace++) {
        reduce_together(pace);
        ok_all(is_as_alone(),
               "calls %s: every layer gets the bits it gets "
               "alone",
               paces[pace].name);
        ok_all(same_on_all(out, sizeof out),
               "calls %s: the same bits on all ranks", paces[pace].name);
    }
    expect_rewritten(LAYERS * (PACES + 1));
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

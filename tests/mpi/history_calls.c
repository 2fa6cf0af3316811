/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layers whose scale keeps a state get the same bits for blocking calls, nonblocking
 * calls at any pace and persistent calls, also with a desync among the calls. Each way
 * has its own communicator, and so its own states. Finite values arrive finite.
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

#define LAYERS 8
#define STEPS 12
#define LONGEST 9000
#define ODD 77 /* elements of a call that is in no step */
#define ODD_STEP 5

/* Some adjacent counts are equal. */
static const int counts[LAYERS] = {100, 100, 37, 5000, 100, 1000, 64, LONGEST};

/* Results of all calls of a way, and of one call. */
struct values {
    float x[STEPS][LAYERS][LONGEST];
};
struct way {
    const char *name;
    bool (*layer)(int step, int i); /* returns whether it waits */
    bool desync;
};

static MPI_Comm comm;
static struct values *in, *out, *alone;
static MPI_Request requests[STEPS * LAYERS + STEPS];
static int pending;
static float odd_in[ODD], odd_out[STEPS][ODD];

static unsigned draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Most steps are equal; in some steps a layer is 2^12 times as large. */
static void fill(void)
{
    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < LAYERS; i++) {
            unsigned seed = (unsigned)(step * LAYERS + i);
            const int up = draw(&seed) % 4 == 0 ? 12 : 0;

            seed += 1000000u * (unsigned)mpitap_rank();
            for (int k = 0; k < counts[i]; k++) {
                const float value = (float)(int)draw(&seed) - 8388608.0f;

                in->x[step][i][k] =
                    ldexpf(value, up - 23 - (int)(draw(&seed) % 20));
            }
        }
}

static void rest(long microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000 * microseconds}, NULL);
}

static void begin(int step, int i)
{
    MPI_Iallreduce(in->x[step][i], out->x[step][i], counts[i], MPI_FLOAT,
                   MPI_SUM, comm, &requests[pending++]);
}

static bool blocking(int step, int i)
{
    MPI_Allreduce(in->x[step][i], out->x[step][i], counts[i], MPI_FLOAT,
                  MPI_SUM, comm);
    return true;
}

static bool nonblocking(int step, int i)
{
    begin(step, i);
    return i == LAYERS - 1;
}

static bool at_own_pace(int step, int i)
{
    begin(step, i);
    rest((i * 7 + mpitap_rank() * 3) % 5 * 700);
    return i == LAYERS - 1 && step % 3 == 2;
}

/* All calls are under way at the same time. */
static bool at_once(int step, int i)
{
    begin(step, i);
    return false;
}

#ifdef HAVE_PMPI_ALLREDUCE_INIT
static bool persistent(int step, int i)
{
    MPI_Info info = mpitap_strict_order();

    MPI_Allreduce_init(in->x[step][i], out->x[step][i], counts[i], MPI_FLOAT,
                       MPI_SUM, comm, info, &requests[pending]);
    MPI_Info_free(&info);
    MPI_Start(&requests[pending]);
    MPI_Wait(&requests[pending], MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[pending]);
    return true;
}
#endif

static const struct way ways[] = {
    {"blocking", blocking, false},
    {"nonblocking", nonblocking, false},
    {"nonblocking, at each rank's own pace", at_own_pace, false},
    {"nonblocking, all at once", at_once, false},
#ifdef HAVE_PMPI_ALLREDUCE_INIT
    {"persistent", persistent, false},
#endif
    {"blocking, with a desync", blocking, true},
    {"nonblocking, with a desync", nonblocking, true},
    {"nonblocking, all at once, with a desync", at_once, true},
};
#define WAYS (int)(sizeof ways / sizeof *ways)

static void complete(void)
{
    MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
    pending = 0;
}

static void run(const struct way *way)
{
    memset(out, 0, sizeof *out);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int step = 0; step < STEPS; step++) {
        if (way->desync && step == ODD_STEP && way->layer == blocking)
            MPI_Allreduce(odd_in, odd_out[step], ODD, MPI_FLOAT, MPI_SUM, comm);
        else if (way->desync && step == ODD_STEP)
            MPI_Iallreduce(odd_in, odd_out[step], ODD, MPI_FLOAT, MPI_SUM, comm,
                           &requests[pending++]);
        for (int i = 0; i < LAYERS; i++)
            if (way->layer(step, i))
                complete();
    }
    complete();
    MPI_Comm_free(&comm);
}

static bool is_finite(void)
{
    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < LAYERS; i++)
            for (int k = 0; k < counts[i]; k++)
                if (!isfinite(out->x[step][i][k]))
                    return false;
    return true;
}

static bool is_near(const float *x, const float *y, int n)
{
    float greatest = 0, apart = 0;

    for (int i = 0; i < n; i++) {
        greatest = fmaxf(greatest, fabsf(x[i]));
        apart = fmaxf(apart, fabsf(x[i] - y[i]));
    }
    return apart <= 1e-6f * greatest;
}

/* True if the results are those of the blocking calls, which come first. MPI gets the
 * calls after a desync; Open MPI adds in another order in nonblocking calls. */
static bool is_as_blocking(const struct way *way)
{
    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < LAYERS; i++)
            if (memcmp(out->x[step][i], alone->x[step][i],
                       (size_t)counts[i] * sizeof(float)) != 0 &&
                !(way->desync && step == ODD_STEP &&
                  is_near(out->x[step][i], alone->x[step][i], counts[i]))) {
                diag("step %d: layer %d of %d values differs", step, i,
                     counts[i]);
                return false;
            }
    return true;
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    in = calloc(1, sizeof *in);
    out = calloc(1, sizeof *out);
    alone = calloc(1, sizeof *alone);
    if (!in || !out || !alone)
        bail_out("out of memory");
    fill();
    for (int w = 0; w < WAYS; w++) {
        run(&ways[w]);
        ok_all(is_finite(), "%s: what is finite arrives finite", ways[w].name);
        ok_all(same_on_all(out, sizeof *out), "%s: the same bits on all ranks",
               ways[w].name);
        if (ways[w].layer == blocking)
            memcpy(alone, out, sizeof *out);
        else
            ok_all(is_as_blocking(&ways[w]), "%s: as in blocking calls",
                   ways[w].name);
    }
    free(in);
    free(out);
    free(alone);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

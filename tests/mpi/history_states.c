/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls whose scale keeps a state, in the order of a script of letters; the log
 * shows the states. `history_states CALL...`, where a call is
 *
 *     a ... h  a layer of 100, 200 ... 800 elements
 *     A ... H  a layer with a value that overflows at any scale of 2^0 or more
 *
 * and a character before the letter changes it: `0` all values are 0, `i` rank
 * 1 has an INF, `n` a NaN, `+` the call is nonblocking. All calls under way
 * complete before the next call that is not nonblocking. Other arguments:
 *
 *     %   a new communicator, a copy of MPI_COMM_WORLD, replaces the current
 *         one, which stays
 *     %2  the second communicator, and so on; %1 is MPI_COMM_WORLD
 *     /2  frees the second communicator
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

/* MPICH declares the statuses as an array, and MPI_STATUSES_IGNORE is 1. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

#define COMMS 8
#define LONGEST 800
#define PENDING 64

static MPI_Comm comms[COMMS];
static int comm_count, current;

static float in[PENDING][LONGEST], out[PENDING][LONGEST];
static MPI_Request requests[PENDING];
static int pending;
static bool good = true;

/* Fills with values whose sums are exact in e5m2, so that a wrong one shows. */
static void fill(const char *call, float *x, int n)
{
    const char layer = call[strlen(call) - 1];

    for (int i = 0; i < n; i++)
        x[i] = strchr(call, '0') ? 0 : i % 2 ? 1 : -0.25f;
    if (layer >= 'A' && layer <= 'H')
        x[n / 2] = 0x1p17f;
    if (strchr(call, 'i') && mpitap_rank() == 1)
        x[0] = INFINITY;
    if (strchr(call, 'n') && mpitap_rank() == 1)
        x[0] = NAN;
}

/* True if all results are finite, except where the program sent INF or NaN. */
static bool is_sane(const char *call, const float *x, int n)
{
    const bool spoilt = strchr(call, 'i') || strchr(call, 'n');
    const bool overflows =
        getenv("APSMPI_TEST_INF") && strchr("ABCDEFGH", call[strlen(call) - 1]);

    if (overflows)
        return isinf(x[n / 2]) != 0;

    for (int i = 0; i < n; i++)
        if (!isfinite(x[i]) != (spoilt && i == 0))
            return false;
    return true;
}

static const char *calls[PENDING];
static int counts[PENDING];

static void complete(void)
{
    MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < pending; i++)
        if (!is_sane(calls[i], out[i], counts[i]) ||
            !same_on_all(out[i], (size_t)counts[i] * sizeof(float))) {
            diag("rank %d: call %s", mpitap_rank(), calls[i]);
            good = false;
        }
    pending = 0;
}

static void reduce(const char *call)
{
    const char letter = call[strlen(call) - 1];
    const int n = 100 * (1 + (letter >= 'a' ? letter - 'a' : letter - 'A'));

    if (!strchr(call, '+'))
        complete();
    calls[pending] = call;
    counts[pending] = n;
    fill(call, in[pending], n);
    requests[pending] = MPI_REQUEST_NULL;
    if (strchr(call, '+'))
        MPI_Iallreduce(in[pending], out[pending], n, MPI_FLOAT, MPI_SUM,
                       comms[current], &requests[pending]);
    else
        MPI_Allreduce(in[pending], out[pending], n, MPI_FLOAT, MPI_SUM,
                      comms[current]);
    if (++pending == PENDING || !strchr(call, '+'))
        complete();
}

static void change_comm(const char *argument)
{
    complete();
    if (argument[1]) {
        current = atoi(argument + 1) - 1;
        return;
    }
    current = comm_count;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[comm_count++]);
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    comms[comm_count++] = MPI_COMM_WORLD;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '%')
            change_comm(argv[i]);
        else if (argv[i][0] == '/')
            MPI_Comm_free(&comms[atoi(argv[i] + 1) - 1]);
        else
            reduce(argv[i]);
    }
    complete();
    ok_all(good, "what is finite arrives finite, the same on all ranks");
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

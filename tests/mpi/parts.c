/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking calls in which some layers pass through and others are rewritten. There
 * are four layers of LENGTH elements, in calls of one, two or four layers. The policy
 * leaves the second and the third layer to MPI and rounds the others to e3m0.
 *
 *     parts [KINDS]   the layers of a blocking call, a letter each: n(ative) or
 *                     r(ounded); `any`: either
 */
#include "config.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

/* MPICH declares the statuses as an array, and MPI_STATUSES_IGNORE is 1. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

#define LENGTH 50000
#define LAYERS 4
#define VALUE 1.25f /* in e3m0: 1 */
#define STEPS 5

static float in[LAYERS * LENGTH], out[STEPS][LAYERS * LENGTH];
static const char *blocking = "rnnr";

static bool is_right(const float *x, const char *kinds)
{
    const float size = (float)mpitap_size();
    bool right = true;

    for (int i = 0; i < LAYERS * LENGTH; i++)
        right &= x[i] == (kinds[i / LENGTH] == 'n' ? VALUE * size : size);
    return right;
}

/* Makes one call of `layers` layers from `first` on. */
static void begin(float *x, int first, int layers, bool in_place,
                  MPI_Request *request)
{
    float *to = x + (size_t)first * LENGTH;
    const float *from = in + (size_t)first * LENGTH;
    const int count = layers * LENGTH;

    if (in_place)
        memcpy(to, from, (size_t)count * sizeof *to);
    MPI_Iallreduce(in_place ? MPI_IN_PLACE : from, to, count, MPI_FLOAT,
                   MPI_SUM, MPI_COMM_WORLD, request);
}

/* Makes the calls of all steps before the first wait; rank 1 waits in another order. */
static void test_steps(int together, bool in_place)
{
    MPI_Request requests[STEPS * LAYERS];
    const int calls = STEPS * LAYERS / together;
    bool right = true;
    int k = 0;

    for (int i = 0; i < STEPS; i++)
        for (int first = 0; first < LAYERS; first += together)
            begin(out[i], first, together, in_place, &requests[k++]);
    if (mpitap_rank() == 1)
        for (k = calls - 1; k >= 0; k--)
            MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
    MPI_Waitall(calls, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < STEPS; i++)
        right &= is_right(out[i], "rnnr");
    ok_all(right, "calls of %d layers%s", together,
           in_place ? ", in place" : "");
}

/* A blocking call comes after all of them. */
static void test_order(void)
{
    MPI_Request request;
    bool right;

    begin(out[0], 0, LAYERS, false, &request);
    MPI_Allreduce(in, out[1], LAYERS * LENGTH, MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
    right = strcmp(blocking, "any") == 0 || is_right(out[1], blocking);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    ok_all(right && is_right(out[0], "rnnr"), "a blocking call behind one");
}

int main(int argc, char **argv)
{
    int level, status;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    if (argc > 1)
        blocking = argv[1];
    for (int i = 0; i < LAYERS * LENGTH; i++)
        in[i] = VALUE;
    test_steps(4, false);
    test_steps(4, true);
    test_steps(2, false);
    test_steps(1, true);
    test_order();
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

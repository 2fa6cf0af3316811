/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Of a call that fails on all ranks nothing is remembered: the next one gives what
 * it gives where the call was never made. Two layers go together; one of them has a
 * NaN on the last rank, and what has come to rank 0 is lost (inject.c), whichever
 * message it is.
 */
#include "config.h"

#include <dlfcn.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define COUNT 1000
#define LAYERS 2
#define CALLS_MOST 40

typedef float layers[LAYERS][COUNT];

static void (*arm)(const char *function, long call, long how_often);
static long (*disarm)(void);
static int rank, ranks;
static layers in, tested, other;

static float draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(int)(*seed >> 8) / 8388608.0f - 1;
}

/* COLLECTIVE over comm. Step number `number`: how many of its calls fail. */
static int step(MPI_Comm comm, int number, bool bad, layers out)
{
    MPI_Request requests[LAYERS];
    int failures = 0;

    for (int i = 0; i < LAYERS; i++) {
        unsigned seed = (unsigned)(31 * number + 7 * i + 104729 * rank);

        for (int k = 0; k < COUNT; k++)
            in[i][k] = draw(&seed);
    }
    if (bad && rank == ranks - 1)
        in[1][77] = NAN;
    for (int i = 0; i < LAYERS; i++)
        MPI_Iallreduce(in[i], out[i], COUNT, MPI_FLOAT, MPI_SUM, comm,
                       &requests[i]);
    for (int i = 0; i < LAYERS; i++)
        failures += MPI_Wait(&requests[i], MPI_STATUS_IGNORE) != MPI_SUCCESS;
    return failures;
}

static MPI_Comm communicator(void)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

/* COLLECTIVE. Receipt number `call` is lost: was there one? *failed grows where
 * that was an error on all ranks. */
static bool lose(long call, int *failed, bool *good)
{
    MPI_Comm with = communicator(), without = communicator();
    bool error;
    int lost = 0;

    *good &= step(with, 1, false, tested) == 0 &&
             step(without, 1, false, other) == 0;
    if (rank == 0)
        arm("receipt", call, 1);
    error = step(with, 2, true, tested) == LAYERS;
    if (rank == 0)
        lost = disarm() > 0;
    PMPI_Bcast(&lost, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (good_on_all(error)) {
        *good &= step(with, 3, false, tested) == 0 &&
                 step(without, 3, false, other) == 0;
        if (memcmp(tested, other, sizeof tested) != 0) {
            diag("rank %d: something is left of receipt %ld", rank, call);
            *good = false;
        }
        ++*failed;
    }
    MPI_Comm_free(&with);
    MPI_Comm_free(&without);
    return lost;
}

int main(int argc, char **argv)
{
    bool good = true;
    int failed = 0, level, status;

    *(void **)&arm = dlsym(RTLD_DEFAULT, "inject_arm");
    *(void **)&disarm = dlsym(RTLD_DEFAULT, "inject_disarm");
    if (!arm || !disarm)
        return 99;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    rank = mpitap_rank();
    ranks = mpitap_size();
    /* Of MPI_Wait, which knows no communicator. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (long call = 1; call <= CALLS_MOST; call++)
        if (!lose(call, &failed, &good))
            break;
    ok_all(failed > 0, "%d receipts are lost that all ranks hear of", failed);
    ok_all(good, "nothing is remembered of such a call");
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of some steps whose inputs do not depend on its sums:
 *
 *     shadowed HOW [STEPS [MICROSECONDS]]
 *
 * HOW is blocking, in-place, nonblocking, persistent or together (all layers in
 * one call). So many microseconds of work stand between two steps. Rank 0 prints a
 * hash of all sums, which all ranks must have alike.
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define STEPS 8
#define LAYERS 3
#define ALL (4096 + 1500 + 2048)

static const int counts[LAYERS] = {4096, 1500, 2048};
static float in[ALL], out[ALL];
static MPI_Status statuses[LAYERS];
static uint64_t hash = UINT64_C(0xcbf29ce484222325);

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Gradients of many magnitudes, greater from step to step, with zeros. */
static void fill(int step, int rank)
{
    uint32_t state = (uint32_t)(1 + step * 1009 + rank * 9176);

    for (int i = 0; i < ALL; i++) {
        const float value = (float)next_random(&state) / (1 << 24) - 0.5f;
        const int power = (int)(next_random(&state) % 24) - 22 + step;

        in[i] = next_random(&state) % 16 == 0 ? 0 : ldexpf(value, power);
    }
}

static void add_to_hash(void)
{
    const unsigned char *bytes = (const unsigned char *)out;

    for (size_t i = 0; i < sizeof out; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
}

static void work(double microseconds)
{
    const double begin = MPI_Wtime();

    while (MPI_Wtime() - begin < 1e-6 * microseconds)
        ;
}

static void sum_layers(const char *how, MPI_Request requests[LAYERS])
{
    for (int i = 0, offset = 0; i < LAYERS; offset += counts[i++]) {
        float *to = out + offset;

        if (strcmp(how, "nonblocking") == 0) {
            MPI_Iallreduce(in + offset, to, counts[i], MPI_FLOAT, MPI_SUM,
                           MPI_COMM_WORLD, &requests[i]);
        } else if (strcmp(how, "in-place") == 0) {
            memcpy(to, in + offset, (size_t)counts[i] * sizeof *to);
            MPI_Allreduce(MPI_IN_PLACE, to, counts[i], MPI_FLOAT, MPI_SUM,
                          MPI_COMM_WORLD);
        } else {
            MPI_Allreduce(in + offset, to, counts[i], MPI_FLOAT, MPI_SUM,
                          MPI_COMM_WORLD);
        }
    }
    if (strcmp(how, "nonblocking") == 0)
        MPI_Waitall(LAYERS, requests, statuses);
}

static void make_persistent(MPI_Request requests[LAYERS])
{
#ifdef HAVE_PMPI_ALLREDUCE_INIT
    MPI_Info info = mpitap_strict_order();

    for (int i = 0, offset = 0; i < LAYERS; offset += counts[i++])
        MPI_Allreduce_init(in + offset, out + offset, counts[i], MPI_FLOAT,
                           MPI_SUM, MPI_COMM_WORLD, info, &requests[i]);
    MPI_Info_free(&info);
#else
    (void)requests;
    fprintf(stderr, "shadowed: this MPI has no persistent all-reduces\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
#endif
}

static void run(const char *how, int steps, double microseconds, int rank)
{
    const bool persistent = strcmp(how, "persistent") == 0;
    MPI_Request requests[LAYERS] = {MPI_REQUEST_NULL};

    if (persistent)
        make_persistent(requests);
    for (int step = 0; step < steps; step++) {
        fill(step % STEPS, rank);
        work(microseconds);
        if (persistent) {
            MPI_Startall(LAYERS, requests);
            MPI_Waitall(LAYERS, requests, statuses);
        } else if (strcmp(how, "together") == 0) {
            MPI_Allreduce(in, out, ALL, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        } else {
            sum_layers(how, requests);
        }
        add_to_hash();
    }
    for (int i = 0; persistent && i < LAYERS; i++)
        MPI_Request_free(&requests[i]);
}

int main(int argc, char **argv)
{
    uint64_t least, most;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    run(argc > 1 ? argv[1] : "blocking", argc > 2 ? atoi(argv[2]) : STEPS,
        argc > 3 ? atof(argv[3]) : 0, rank);
    MPI_Reduce(&hash, &least, 1, MPI_UINT64_T, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&hash, &most, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s %016llx\n", least == most ? "sums" : "ranks differ",
               (unsigned long long)most);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of some steps, whose inputs do not depend on its sums, for formats that are
 * chosen while it runs:
 *
 *     autoformat HOW STEPS [SHIFT FROM TO [EVERY]]
 *
 * HOW is blocking, in-place, nonblocking, persistent, together (all layers in one
 * call), halves (by a communicator of every other rank), zeros (the first two steps
 * are), or infinite (the first two steps have an infinite value). In the steps FROM
 * to TO - 1, of each EVERY steps where that is given, the gradients are 2^SHIFT times
 * as great. Rank 0 prints a hash of the sums
 * of each layer in each step, which all ranks must have alike. If AUTOFORMAT_WRITES
 * names a file, rank 0 writes it anew after the first step, as another job would.
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define LAYERS 3
#define ALL (4096 + 1500 + 2048)
#define ODD_STEPS 2 /* of zeros and infinite */

static const int counts[LAYERS] = {4096, 1500, 2048};
static float in[ALL], out[ALL];
static MPI_Status statuses[LAYERS];
static MPI_Comm comm;

struct plan {
    const char *how;
    int steps, shift, from, to, every;
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Between 1/2 and 1, of both signs, times a power of two: one in the first layer, some
 * in the second one, many in the third one. */
static void fill(const struct plan *plan, int step, int rank)
{
    static const uint32_t powers[LAYERS] = {1, 8, 40};
    const int place = plan->every > 0 ? step % plan->every : step;
    const int shift = place >= plan->from && place < plan->to ? plan->shift : 0;
    uint32_t state = (uint32_t)(1 + step * 1009 + rank * 9176);
    float *value = in;

    for (int layer = 0; layer < LAYERS; layer++) {
        for (int i = 0; i < counts[layer]; i++) {
            const float random = (float)next_random(&state) / (1 << 25);
            const int power =
                shift - (int)(next_random(&state) % powers[layer]);
            const float size = ldexpf(0.5f + random, power);

            *value++ = next_random(&state) % 4 == 0 ? -size : size;
        }
    }
    if (step >= ODD_STEPS)
        return;
    if (strcmp(plan->how, "zeros") == 0)
        memset(in, 0, sizeof in);
    if (strcmp(plan->how, "infinite") == 0 && rank == 1)
        in[7] = in[4096 + 7] = in[ALL - 1] = INFINITY;
}

static void sum_layers(const char *how, MPI_Request requests[LAYERS])
{
    for (int i = 0, offset = 0; i < LAYERS; offset += counts[i++]) {
        float *to = out + offset;

        if (strcmp(how, "nonblocking") == 0) {
            MPI_Iallreduce(in + offset, to, counts[i], MPI_FLOAT, MPI_SUM, comm,
                           &requests[i]);
        } else if (strcmp(how, "in-place") == 0) {
            memcpy(to, in + offset, (size_t)counts[i] * sizeof *to);
            MPI_Allreduce(MPI_IN_PLACE, to, counts[i], MPI_FLOAT, MPI_SUM,
                          comm);
        } else {
            MPI_Allreduce(in + offset, to, counts[i], MPI_FLOAT, MPI_SUM, comm);
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
                           MPI_SUM, comm, info, &requests[i]);
    MPI_Info_free(&info);
#else
    (void)requests;
    fprintf(stderr, "autoformat: this MPI has no persistent all-reduces\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
#endif
}

static uint64_t hash_of(const float *values, int count)
{
    const unsigned char *bytes = (const unsigned char *)values;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < (size_t)count * sizeof *values; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static void tell(int step, int rank)
{
    for (int i = 0, offset = 0; i < LAYERS; offset += counts[i++]) {
        const uint64_t hash = hash_of(out + offset, counts[i]);
        uint64_t least, most;

        MPI_Reduce(&hash, &least, 1, MPI_UINT64_T, MPI_MIN, 0, comm);
        MPI_Reduce(&hash, &most, 1, MPI_UINT64_T, MPI_MAX, 0, comm);
        if (rank == 0)
            printf("%s %d %d %016llx\n", least == most ? "sums" : "differ",
                   step, i, (unsigned long long)most);
    }
}

/* A new file in the place of the one of that name. */
static void write_other(void)
{
    const char *path = getenv("AUTOFORMAT_WRITES");
    FILE *file;

    if (!path)
        return;
    (void)remove(path);
    file = fopen(path, "w");
    if (file) {
        fputs("# another job's\n", file);
        fclose(file);
    }
}

static void run(const struct plan *plan, int rank)
{
    const bool persistent = strcmp(plan->how, "persistent") == 0;
    MPI_Request requests[LAYERS] = {MPI_REQUEST_NULL};

    if (persistent)
        make_persistent(requests);
    for (int step = 0; step < plan->steps; step++) {
        fill(plan, step, rank);
        if (persistent) {
            MPI_Startall(LAYERS, requests);
            MPI_Waitall(LAYERS, requests, statuses);
        } else if (strcmp(plan->how, "together") == 0) {
            MPI_Allreduce(in, out, ALL, MPI_FLOAT, MPI_SUM, comm);
        } else {
            sum_layers(plan->how, requests);
        }
        tell(step, rank);
        if (step == 0 && rank == 0)
            write_other();
    }
    for (int i = 0; persistent && i < LAYERS; i++)
        MPI_Request_free(&requests[i]);
}

int main(int argc, char **argv)
{
    const struct plan plan = {
        .how = argc > 1 ? argv[1] : "blocking",
        .steps = argc > 2 ? atoi(argv[2]) : 8,
        .shift = argc > 3 ? atoi(argv[3]) : 0,
        .from = argc > 4 ? atoi(argv[4]) : 0,
        .to = argc > 5 ? atoi(argv[5]) : 0,
        .every = argc > 6 ? atoi(argv[6]) : 0,
    };
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    comm = MPI_COMM_WORLD;
    if (strcmp(plan.how, "halves") == 0) {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
        MPI_Comm_set_name(comm, "half");
    }
    if (comm == MPI_COMM_WORLD || rank % 2 == 0)
        run(&plan, rank);
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}

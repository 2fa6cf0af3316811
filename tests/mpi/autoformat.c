/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of some steps for formats that are chosen while it runs:
 *
 *     autoformat HOW STEPS [SHIFT FROM TO [EVERY]]
 *
 * HOW is one of layered.h, halves (blocking, by a communicator of every other
 * rank), zeros (blocking; the first two steps are), or infinite (blocking; the
 * first two steps have an infinite value). In the steps FROM to TO - 1, of each
 * EVERY steps where that is given, the gradients are 2^SHIFT times as great.
 * Rank 0 prints a hash of the sums of each layer in each step, which must be
 * the same on all ranks. If AUTOFORMAT_WRITES names a file, rank 0 replaces
 * that file after the first step, as another job would. AUTOFORMAT_CONTROL is a
 * list LEVEL@STEP,...: MPI_Pcontrol of that level is called before that step.
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layered.h"

#define ODD_STEPS 2 /* period of zeros and infinite values */

static struct layered layered;

struct plan {
    const char *how;
    int steps, shift, from, to, every;
};

/* Between 1/2 and 1, of both signs, times a power of two: one in the first layer, some
 * in the second one, many in the third one. */
static void fill(const struct plan *plan, int step, int rank)
{
    static const uint32_t powers[LAYERED_LAYERS] = {1, 8, 40};
    const int place = plan->every > 0 ? step % plan->every : step;
    const int shift = place >= plan->from && place < plan->to ? plan->shift : 0;
    uint32_t state = (uint32_t)(1 + step * 1009 + rank * 9176);
    float *value = layered.in;

    for (int layer = 0; layer < LAYERED_LAYERS; layer++) {
        for (int i = 0; i < layered_counts[layer]; i++) {
            const float random = (float)layered_random(&state) / (1 << 25);
            const int power =
                shift - (int)(layered_random(&state) % powers[layer]);
            const float size = ldexpf(0.5f + random, power);

            *value++ = layered_random(&state) % 4 == 0 ? -size : size;
        }
    }
    if (step >= ODD_STEPS)
        return;
    if (strcmp(plan->how, "zeros") == 0)
        memset(layered.in, 0, (size_t)layered_all * sizeof *layered.in);
    if (strcmp(plan->how, "infinite") == 0 && rank == 1)
        layered.in[7] = layered.in[layered_counts[0] + 7] =
            layered.in[layered_all - 1] = INFINITY;
}

static void tell(int step)
{
    for (int i = 0, offset = 0; i < LAYERED_LAYERS;
         offset += layered_counts[i++]) {
        char what[48];

        snprintf(what, sizeof what, "%d %d ", step, i);
        layered_tell(layered.comm, what,
                     layered_hash(LAYERED_HASH, layered.out + offset,
                                  layered_counts[i]));
    }
}

/* Replaces the file of that name by a new one. */
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

static void control(int step)
{
    const char *rest = getenv("AUTOFORMAT_CONTROL");
    int level, when, length;

    for (; rest && sscanf(rest, "%d@%d%n", &level, &when, &length) == 2;
         rest = *rest == ',' ? rest + 1 : NULL) {
        rest += length;
        if (when == step)
            MPI_Pcontrol(level);
    }
}

static void run(const struct plan *plan, MPI_Comm comm, int rank)
{
    layered_begin(&layered, plan->how, comm);
    for (int step = 0; step < plan->steps; step++) {
        control(step);
        fill(plan, step, rank);
        layered_sum(&layered);
        tell(step);
        if (step == 0 && rank == 0)
            write_other();
    }
    layered_end(&layered);
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
    MPI_Comm comm = MPI_COMM_WORLD;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(plan.how, "halves") == 0) {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
        MPI_Comm_set_name(comm, "half");
    }
    if (comm == MPI_COMM_WORLD || rank % 2 == 0)
        run(&plan, comm, rank);
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}

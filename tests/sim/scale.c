/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulated time over size:
 *
 *     scale GRADIENTS GBIT [--model] [--tight] [--threads N] COUNT...
 *
 * Each rank has N (1) threads. A row for each count: a native ring in FP32, and each
 * reduction in 8 bits, on the network of ports.h. Prints a table as comments, and as
 * TAP that all ranks hold the same bits. With --model nothing is computed, and arrays
 * share memory: then only the times are meaningful. The scale is aps, or with --tight
 * that of each block.
 */
#include "config.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/workers.h"
#include "model.h"
#include "mpitap.h"
#include "plans.h"
#include "ports.h"

enum { DIRECT, HIERARCHICAL, RING, KINDS };

static float *in, *out; /* [count] */
static enum aps_scale_kind scale = APS_SCALE_APS;

/* COLLECTIVE. Returns the seconds from the start of the last rank to the end of
 * the last rank; without a plan of a native ring. */
static double time_once(struct aps_reductions *reductions,
                        const struct aps_plan *plan, size_t count)
{
    double seconds, longest;

    PMPI_Barrier(MPI_COMM_WORLD);
    seconds = -MPI_Wtime();
    if (plan)
        plan_reduce(reductions, plan, in, out, count);
    else
        ports_ring(in, out, count);
    seconds += MPI_Wtime();
    PMPI_Allreduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

/* COLLECTIVE. */
static void measure(struct aps_reductions *reductions, size_t count)
{
    struct aps_plan plans[KINDS] = {[DIRECT] = plan_direct(),
                                    [HIERARCHICAL] = plan_hierarchical(),
                                    [RING] = plan_ring(APS_ACCUMULATE_FORMAT)};
    const double native = time_once(reductions, NULL, count);
    double seconds[KINDS];

    for (int i = 0; i < KINDS; i++) {
        char name[64];

        plans[i].scale.kind = scale;
        plan_prepare(reductions, &plans[i]);
        seconds[i] = time_once(reductions, &plans[i], count);
        ok_all(!model_computes || same_on_all(out, count * sizeof *out),
               "%zu by %s: the same bits on all ranks", count,
               plan_name(&plans[i], name, sizeof name));
    }
    if (mpitap_rank() != 0)
        return;
    printf("# %10zu %10.3f", count, native * 1e3);
    for (int i = 0; i < KINDS; i++)
        printf(" %10.3f (%5.2f)", seconds[i] * 1e3, native / seconds[i]);
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct aps_reductions *reductions;
    size_t most = 0;
    int status, first = 3;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    for (; argc > first && argv[first][0] == '-'; first++)
        if (strcmp(argv[first], "--model") == 0)
            model_computes = false;
        else if (strcmp(argv[first], "--tight") == 0)
            scale = APS_SCALE_APS_TIGHT;
        else if (strcmp(argv[first], "--threads") == 0 && argc > ++first)
            aps_workers_set(atoi(argv[first]));
        else
            PMPI_Abort(MPI_COMM_WORLD, 2);
    if (argc <= first)
        PMPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = first; i < argc; i++) {
        const size_t count = (size_t)atoll(argv[i]);

        most = count > most ? count : most;
    }
    in = malloc(most * sizeof *in);
    out = malloc(most * sizeof *out);
    if (!in || !out)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    if (model_computes)
        gradients_read(argv[1], mpitap_rank(), in, most);
    ports_begin(atof(argv[2]));
    reductions = plan_begin();
    if (mpitap_rank() == 0)
        printf("# %10s %10s %18s %18s %18s\n", "floats", "FP32 ring", "direct",
               "hierarchical", "ring");
    for (int i = first; i < argc; i++)
        measure(reductions, (size_t)atoll(argv[i]));
    free(in);
    free(out);
    plan_end(reductions);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

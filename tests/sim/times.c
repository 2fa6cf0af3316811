/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the simulated time of a reduction: times GRADIENTS [--ports GBIT]
 * COUNT GROUP...
 *
 * Prints a table as comments, and as TAP that all ranks hold the same bits.
 * With --ports messages use the network of ports.h; native MPI's use SimGrid's.
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"
#include "plans.h"
#include "ports.h"

static const char *path;
static float *x; /* [count], in and out */
static int count;
static double native; /* seconds */

/* Returns the seconds from the start of the last rank to the end of the last rank. */
static double time_once(struct aps_reductions *reductions,
                        const struct aps_plan *plan)
{
    double seconds, longest;

    gradients_read(path, mpitap_rank(), x, (size_t)count);
    PMPI_Barrier(MPI_COMM_WORLD);
    seconds = -MPI_Wtime();
    if (plan)
        plan_reduce(reductions, plan, x, x, (size_t)count);
    else
        PMPI_Allreduce(MPI_IN_PLACE, x, count, MPI_FLOAT, MPI_SUM,
                       MPI_COMM_WORLD);
    seconds += MPI_Wtime();
    PMPI_Allreduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

static void show(const char *name, double seconds)
{
    if (mpitap_rank() != 0)
        return;
    printf("# %-14s %10.3f ms  %6.2f\n", name, seconds * 1e3, native / seconds);
    fflush(stdout);
}

static void measure(struct aps_reductions *reductions,
                    const struct aps_plan *plan)
{
    char name[64];
    double seconds;

    plan_name(plan, name, sizeof name);
    plan_prepare(reductions, plan);
    seconds = time_once(reductions, plan);
    ok_all(same_on_all(x, (size_t)count * sizeof *x),
           "%s: the same bits on all ranks", name);
    show(name, seconds);
}

int main(int argc, char **argv)
{
    struct aps_reductions *reductions;
    struct aps_plan plan;
    int status, first = 2;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    if (argc > 3 && strcmp(argv[2], "--ports") == 0) {
        ports_begin(atof(argv[3]));
        first = 4;
    }
    if (argc <= first)
        PMPI_Abort(MPI_COMM_WORLD, 2);
    reductions = plan_begin();
    path = argv[1];
    count = atoi(argv[first]);
    x = malloc((size_t)count * sizeof *x);
    if (!x)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    native = time_once(reductions, NULL);
    if (mpitap_rank() == 0)
        printf("# %d values, e5m2, scale: aps; native over ours\n", count);
    show("native FP32", native);
    plan = plan_direct();
    measure(reductions, &plan);
    plan = plan_hierarchical();
    measure(reductions, &plan);
    plan = plan_ring(APS_ACCUMULATE_FP32);
    measure(reductions, &plan);
    plan = plan_ring(APS_ACCUMULATE_FORMAT);
    measure(reductions, &plan);
    for (int i = first + 1; i < argc; i++) {
        plan = plan_master(atoi(argv[i]));
        measure(reductions, &plan);
    }
    free(x);
    plan_end(reductions);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

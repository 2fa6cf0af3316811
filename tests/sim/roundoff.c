/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures round-off by group size, the APS paper's Table 9: roundoff GRADIENTS
 * GROUP...
 *
 * Prints the table as comments, and its properties as TAP: the same bits on all ranks,
 * and a smaller error for `direct` than for all sums in the format. With several group
 * sizes, the error falls from the ring of all ranks to a minimum and rises again.
 */
#include "config.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpitap.h"
#include "plans.h"
#include "roundoff/measure.h"

static float in[GRADIENTS_VALUES], out[GRADIENTS_VALUES];
static double exact[GRADIENTS_VALUES]; /* on rank 0 */

/* Returns the error on all ranks, and prints a line of the table. */
static double measure(struct aps_reductions *reductions,
                      const struct aps_plan *plan, int groups)
{
    struct aps_measure measure = {0};
    char name[64];
    double error = 0;

    plan_name(plan, name, sizeof name);
    plan_prepare(reductions, plan);
    plan_reduce(reductions, plan, in, out, GRADIENTS_VALUES);
    ok_all(same_on_all(out, sizeof out), "%s: the same bits on all ranks",
           name);
    if (mpitap_rank() == 0) {
        aps_measure_add(&measure, exact, out, GRADIENTS_VALUES);
        error = aps_measure_mean(&measure);
        printf("# %-12s %6d  %8.4f  %8.4f\n", name, groups, error,
               aps_measure_l2(&measure));
        fflush(stdout);
    }
    PMPI_Bcast(&error, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return error;
}

/* Computes the exact sum, on rank 0. */
static void add_up(void)
{
    double mine[GRADIENTS_VALUES];

    for (size_t i = 0; i < GRADIENTS_VALUES; i++)
        mine[i] = (double)in[i];
    PMPI_Reduce(mine, exact, GRADIENTS_VALUES, MPI_DOUBLE, MPI_SUM, 0,
                MPI_COMM_WORLD);
}

/* Ranks are coroutines of one process, but have their own globals. */
static void check_globals(void)
{
    static int own;

    own = mpitap_rank();
    meet();
    ok_all(own == mpitap_rank(), "each rank has its own globals");
}

static void check_shape(double ring, int count, char **groups,
                        const double errors[])
{
    int least = 0;

    for (int i = 1; i < count; i++)
        if (errors[i] < errors[least])
            least = i;
    if (mpitap_rank() == 0)
        printf("# least at groups of %s\n", groups[least]);
    ok_all(errors[0] < ring, "groups of %s: less than the ring of all",
           groups[0]);
    ok_all(least > 0 && least < count - 1,
           "the least error is neither at the smallest nor at the largest "
           "groups");
    for (int i = 1; i < count; i++)
        ok_all((errors[i] < errors[i - 1]) == (i <= least),
               "groups of %s: %s than of %s", groups[i],
               i <= least ? "less" : "more", groups[i - 1]);
}

int main(int argc, char **argv)
{
    struct aps_reductions *reductions;
    struct aps_plan plan;
    double direct, ring, *errors;
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    if (argc < 3)
        PMPI_Abort(MPI_COMM_WORLD, 2);
    reductions = plan_begin();
    errors = calloc((size_t)argc, sizeof *errors);
    if (!errors)
        PMPI_Abort(MPI_COMM_WORLD, 1);
    check_globals();
    gradients_read(argv[1], mpitap_rank(), in, GRADIENTS_VALUES);
    add_up();
    if (mpitap_rank() == 0)
        printf("# e5m2, scale: aps, %d ranks; error: Eq. 5 of the paper\n"
               "# %-12s %6s  %8s  %8s\n",
               mpitap_size(), "reduction", "groups", "error", "L2");
    plan = plan_direct();
    direct = measure(reductions, &plan, 1);
    plan = plan_ring(APS_ACCUMULATE_FORMAT);
    ring = measure(reductions, &plan, 1);
    ok_all(direct < ring, "direct: less than the ring");
    for (int i = 2; i < argc; i++) {
        const int size = atoi(argv[i]);

        plan = plan_master(size);
        errors[i - 2] =
            measure(reductions, &plan, (mpitap_size() + size - 1) / size);
        ok_all(direct < errors[i - 2], "direct: less than master %s", argv[i]);
    }
    if (argc > 4)
        check_shape(ring, argc - 2, argv + 2, errors);
    free(errors);
    plan_end(reductions);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

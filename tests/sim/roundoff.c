/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures round-off by group size, the APS paper's Table 9: roundoff GRADIENTS
 * GROUP...
 *
 * Prints the table as comments, and its properties as TAP: the same bits on all ranks,
 * and a smaller error in the Euclidean norm for `direct` than for all sums in the
 * format. Eq. 5, the mean relative error, has that order for these gradients; in
 * others a few sums near 0 may reverse it. With several group sizes, both errors fall
 * from the ring of all ranks to a minimum and rise again.
 *
 * An addition rounds in proportion to its partial sum. If all terms are equal, the i-th
 * partial sum is proportional to i, and the squares of p / k groups' errors and of the
 * ring's add up to p k^2 / 3 + p^3 / 3 k, least at k^3 = p^2 / 2: groups of 32 of 256
 * ranks. If terms are independent, partial sums grow as the root of i, and p k / 2 +
 * p^2 / 2 k is least at k^2 = p: groups of 16, as in the paper. These gradients have a
 * common part, and show 32.
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

struct errors {
    double mean; /* Eq. 5 */
    double norm;
};

/* Returns the errors on all ranks, and prints a line of the table. */
static struct errors measure(struct aps_reductions *reductions,
                             const struct aps_plan *plan, int groups)
{
    struct aps_measure measure = {0};
    char name[64];
    struct errors errors = {0};

    plan_name(plan, name, sizeof name);
    plan_prepare(reductions, plan);
    plan_reduce(reductions, plan, in, out, GRADIENTS_VALUES);
    ok_all(same_on_all(out, sizeof out), "%s: the same bits on all ranks",
           name);
    if (mpitap_rank() == 0) {
        aps_measure_add(&measure, exact, out, GRADIENTS_VALUES);
        errors.mean = aps_measure_mean(&measure);
        errors.norm = aps_measure_l2(&measure);
        printf("# %-12s %6d  %8.4f  %8.4f\n", name, groups, errors.mean,
               errors.norm);
        fflush(stdout);
    }
    PMPI_Bcast(&errors, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return errors;
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

static void check_shape(const char *name, double ring, int count, char **groups,
                        const double errors[])
{
    int least = 0;

    for (int i = 1; i < count; i++)
        if (errors[i] < errors[least])
            least = i;
    if (mpitap_rank() == 0)
        printf("# %s: least at groups of %s\n", name, groups[least]);
    ok_all(errors[0] < ring, "%s, groups of %s: less than the ring of all",
           name, groups[0]);
    ok_all(atoi(groups[least]) == 32, "... least at groups of 32");
    for (int i = 1; i < count; i++)
        ok_all((errors[i] < errors[i - 1]) == (i <= least),
               "... groups of %s: %s than of %s", groups[i],
               i <= least ? "less" : "more", groups[i - 1]);
}

int main(int argc, char **argv)
{
    struct aps_reductions *reductions;
    struct aps_plan plan;
    struct errors direct, ring, error;
    double *means, *norms;
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    if (argc < 3)
        PMPI_Abort(MPI_COMM_WORLD, 2);
    reductions = plan_begin();
    means = calloc((size_t)argc, sizeof *means);
    norms = calloc((size_t)argc, sizeof *norms);
    if (!means || !norms)
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
    ok_all(direct.norm < ring.norm, "direct: less than the ring");
    for (int i = 2; i < argc; i++) {
        const int size = atoi(argv[i]);

        plan = plan_master(size);
        error = measure(reductions, &plan, (mpitap_size() + size - 1) / size);
        means[i - 2] = error.mean;
        norms[i - 2] = error.norm;
        ok_all(direct.norm < error.norm, "direct: less than master %s",
               argv[i]);
    }
    if (argc > 4) {
        check_shape("Eq. 5", ring.mean, argc - 2, argv + 2, means);
        check_shape("norm", ring.norm, argc - 2, argv + 2, norms);
    }
    free(norms);
    free(means);
    plan_end(reductions);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

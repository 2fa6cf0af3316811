/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trains with a loss scaler of the program's own, like mixed precision
 * training. The gradients of three layers are multiplied by a loss scale and
 * summed over the ranks. A step whose sums hold an INF or a NaN is skipped and
 * halves the loss scale; 40 steps without one double it.
 *
 * grad_scaler skips|never [TOLERANCE]
 *
 * With `skips` the reduction must overflow at the beginning and must report
 * that; with `never` it must not. In both cases the weights reach the target
 * within TOLERANCE, with the same bits on all ranks.
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

#define LAYERS 3
#define LONGEST 4096
#define STEPS 200
#define GROWTH 40

static const int counts[LAYERS] = {4096, 2000, 1500};
static float weights[LAYERS][LONGEST], gradients[LAYERS][LONGEST];
static double loss_scale = 0x1p16;

/* Returns the value to which a weight is trained. */
static float target(int layer, int i)
{
    return (float)((i * 37 + layer * 11) % 64) / 64 - 0.5f;
}

/* Computes gradients of a quadratic loss, which is flatter for some weights
 * than for others; each rank has other data. */
static void differentiate(void)
{
    const float share = 1 + 0.125f * (float)(mpitap_rank() % 2);

    for (int layer = 0; layer < LAYERS; layer++)
        for (int i = 0; i < counts[layer]; i++)
            gradients[layer][i] =
                (float)(loss_scale * (double)share *
                        (double)(weights[layer][i] - target(layer, i)) *
                        (i % 3 ? 1 : 0.5));
}

/* Sums the gradients over the ranks. True if all sums are finite. */
static bool reduce(void)
{
    bool finite = true;

    for (int layer = LAYERS - 1; layer >= 0; layer--) {
        MPI_Allreduce(MPI_IN_PLACE, gradients[layer], counts[layer], MPI_FLOAT,
                      MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < counts[layer]; i++)
            finite &= isfinite(gradients[layer][i]) != 0;
    }
    return finite;
}

static void descend(void)
{
    const double rate = 0.5 / (loss_scale * mpitap_size());

    for (int layer = 0; layer < LAYERS; layer++)
        for (int i = 0; i < counts[layer]; i++)
            weights[layer][i] -= (float)(rate * (double)gradients[layer][i]);
}

static double worst_error(void)
{
    double worst = 0;

    for (int layer = 0; layer < LAYERS; layer++)
        for (int i = 0; i < counts[layer]; i++)
            worst = fmax(worst, fabs((double)weights[layer][i] -
                                     (double)target(layer, i)));
    return worst;
}

int main(int argc, char **argv)
{
    const bool skips = argc > 1 && strcmp(argv[1], "skips") == 0;
    const double tolerance = argc > 2 ? atof(argv[2]) : 1e-3;
    int skipped = 0, late = 0, good = 0, status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    for (int step = 0; step < STEPS; step++) {
        differentiate();
        if (reduce()) {
            descend();
            if (++good % GROWTH == 0)
                loss_scale *= 2;
            continue;
        }
        loss_scale /= 2;
        good = 0;
        skipped++;
        late += step >= STEPS / 2;
    }
    if (skips) {
        ok_all(skipped > 0 && skipped < STEPS / 4,
               "the program finds an INF, and skips the step");
        ok_all(late <= STEPS / 2 / GROWTH + 1,
               "once loss scale and scale have fallen it skips few steps");
    } else {
        ok_all(skipped == 0, "no sum is INF or NaN");
    }
    if (!ok_all(worst_error() < tolerance, "the weights are trained"))
        diag("rank %d: %d steps skipped, an error of %g", mpitap_rank(),
             skipped, worst_error());
    ok_all(same_on_all(weights, sizeof weights), "... alike on all ranks");
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

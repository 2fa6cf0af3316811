/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Later calls send what a call leaves out, to the last bit that FP32 keeps:
 * after any number of steps the results and the error memory add up to all
 * gradients. The policy's last epoch sends the whole error memory.
 *
 *     telescope sum LAYERS STEPS         a layer has a NaN, and later an INF, in
 *                                        two steps, which count as none
 *     telescope own|mean LAYERS STEPS FILE
 *                                        writes the residual of each call on rank
 *                                        0, as the log should have it: of
 *                                        compressors that remember what a rank
 *                                        itself has not sent, where rank 0 alone
 *                                        has gradients; of those that remember
 *                                        what the mean lacks
 *     telescope shrink LAYERS STEPS      the sums of the first step cannot be
 *                                        kept, but all values can, and those of
 *                                        later steps are small
 *     telescope bits LAYERS STEPS        prints a number that stands for all
 *                                        results
 *
 * Every rank computes the gradients of all ranks, and sums them in FP64.
 */
#include "config.h"

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpitap.h"

/* As in the table of the script. */
#define COUNT 1221
#define LAYERS 32

static int ranks, rank, layers;
static float in[COUNT], out[COUNT];
/* Inputs minus results, and sums of the inputs. */
static double left[LAYERS][COUNT], all[LAYERS][COUNT];

static float draw(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(int32_t)*state * 0x1p-31f;
}

/* Computes a layer's gradient on a rank: a part that all steps share, larger
 * for some elements, and noise. */
static void gradient(int layer, int step, int of, float *x)
{
    uint32_t shared = (uint32_t)layer * 2654435761u + 1;
    uint32_t own = ((uint32_t)step * 31 + (uint32_t)of) * 40503u + shared;

    (void)draw(&own);
    for (int k = 0; k < COUNT; k++) {
        const float common = draw(&shared);

        x[k] = common * common * common + 0.5f * draw(&own);
    }
}

static double norm(const double *x)
{
    double square = 0;

    for (int k = 0; k < COUNT; k++)
        square += x[k] * x[k];
    return sqrt(square);
}

static void reduce(void)
{
    MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

/* --- sums ------------------------------------------------------------------ */

/* Sums over the ranks. */
static void sum(int layer, int step, double *to)
{
    float x[COUNT];

    memset(to, 0, COUNT * sizeof *to);
    for (int r = 0; r < ranks; r++) {
        gradient(layer, step, r, x);
        for (int k = 0; k < COUNT; k++)
            to[k] += (double)x[k];
    }
}

/* Makes a call with such a value on the last rank. */
static bool arrives(int layer, int step, float bad)
{
    const int at = (layer * 131 + step) % COUNT;
    double exact[COUNT];
    bool good = true;

    gradient(layer, step, rank, in);
    sum(layer, step, exact);
    if (rank == ranks - 1)
        in[at] = bad;
    reduce();
    for (int k = 0; k < COUNT; k++)
        good &= k != at      ? fabs((double)out[k] - exact[k]) < 1e-5
                : isnan(bad) ? isnan(out[k])
                             : out[k] == bad;
    return good;
}

static void count_in(int layer, int step)
{
    double exact[COUNT];

    gradient(layer, step, rank, in);
    reduce();
    sum(layer, step, exact);
    for (int k = 0; k < COUNT; k++) {
        all[layer][k] += exact[k];
        left[layer][k] += exact[k] - (double)out[k];
    }
}

static void test_sums(int steps)
{
    static bool arrived[LAYERS];
    static double before[LAYERS];

    for (int i = 0; i < layers; i++)
        arrived[i] = true;
    for (int step = 0; step < steps; step++)
        for (int i = 0; i < layers; i++) {
            if (step == steps / 2)
                arrived[i] &= arrives(i, step, NAN);
            else if (step == steps / 4 * 3)
                arrived[i] &= arrives(i, step, -INFINITY);
            else
                count_in(i, step);
        }
    for (int i = 0; i < layers; i++) {
        before[i] = norm(left[i]) / norm(all[i]);
        count_in(i, steps);
    }
    for (int i = 0; i < layers; i++) {
        const double after = norm(left[i]) / norm(all[i]);

        ok_all(
            after < 2e-7 && (ranks == 1 || before[i] > 5 * after),
            "layer %d: all of %d steps has come, off by %.1e, and before the "
            "last one by %.1e",
            i, steps, after, before[i]);
        ok_all(arrived[i], "... NaN and INF arrive alone");
    }
}

static void test_shrinking(int steps)
{
    for (int i = 0; i < layers; i++) {
        bool near = true;
        double sums = 0, exact = 0;

        for (int step = 0; step < steps; step++) {
            const float large = rank == 0 ? 8 : 1;

            for (int k = 0; k < COUNT; k++)
                in[k] = step == 0 ? large : 0x1p-20f;
            reduce();
            exact += step == 0 ? 8 + (ranks - 1) : ranks * 0x1p-20;
            sums += (double)out[COUNT - 1];
            for (int k = 0; k < COUNT; k++)
                near &= isfinite(out[k]) && out[k] == out[0];
        }
        ok_all(near && fabs(sums - exact) < 1e-4,
               "layer %d: what is remembered of great sums comes with small "
               "ones: %g of %g",
               i, sums, exact);
    }
}

/* --- residuals ------------------------------------------------------------- */

/* left[layer] is the error memory of rank 0. */
static void write_residuals(bool mean, int steps, const char *path)
{
    FILE *file = rank == 0 ? fopen(path, "w") : NULL;

    for (int step = 0; step < steps; step++)
        for (int i = 0; i < layers; i++) {
            double given;

            memset(in, 0, sizeof in);
            if (mean || rank == 0)
                gradient(i, step, rank, in);
            for (int k = 0; k < COUNT; k++)
                left[i][k] += (double)in[k];
            given = norm(left[i]);
            reduce();
            for (int k = 0; k < COUNT; k++)
                left[i][k] -= (double)out[k] / (mean ? ranks : 1);
            if (file)
                fprintf(file, "%d %d %.6e\n", step, i, norm(left[i]) / given);
        }
    ok_all(rank > 0 || (file && fclose(file) == 0), "residuals are written");
}

/* --- bits ------------------------------------------------------------------ */

static void tell_bits(int steps)
{
    uint64_t number = 0;
    bool alike = true;

    for (int step = 0; step < steps; step++)
        for (int i = 0; i < layers; i++) {
            gradient(i, step, rank, in);
            reduce();
            alike &= same_on_all(out, sizeof out);
            for (int k = 0; k < COUNT; k++) {
                uint32_t bits;

                memcpy(&bits, &out[k], sizeof bits);
                number = (number ^ bits) * UINT64_C(0x100000001b3);
            }
        }
    ok_all(alike, "all ranks have the same bits");
    if (rank == 0)
        diag("bits %016llx", (unsigned long long)number);
}

int main(int argc, char **argv)
{
    const char *what = argc > 3 ? argv[1] : "";
    const int steps = argc > 3 ? atoi(argv[3]) : 0;
    int status;

    layers = argc > 3 ? atoi(argv[2]) : 0;
    if (layers < 1 || layers > LAYERS)
        return 99;
    MPI_Init(&argc, &argv);
    mpitap_begin();
    rank = mpitap_rank();
    ranks = mpitap_size();
    if (strcmp(what, "sum") == 0)
        test_sums(steps);
    else if (strcmp(what, "shrink") == 0)
        test_shrinking(steps);
    else if (strcmp(what, "bits") == 0)
        tell_bits(steps);
    else
        write_residuals(strcmp(what, "mean") == 0, steps,
                        argc > 4 ? argv[4] : "");
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

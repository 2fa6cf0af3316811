/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "unit/number/correlated_error.h"

#include <math.h>
#include <stdint.h>

#define N 256     /* elements, of one layer and step ... */
#define STEPS 400 /* ... that are independent of others */
#define STEP 0.125

const struct correlated_values correlated_values[CORRELATED_VALUES] = {
    {"equal", 0, 0, false},
    {"within 1/64 of a step", 0.015625, 0, false},
    {"within 1/16 of a step", 0.0625, 0, false},
    {"within 1/4 of a step", 0.25, 0, false},
    {"within 1 step", 1, 0, false},
    {"within 3 steps", 3, 0, false},
    {"two ranks equal and the others exact", 0, 2, false},
    {"half of the ranks equal and the others exact", 0, -2, false},
    {"equal with opposite signs", 0, 0, true},
    {"within 1/4 of a step with opposite signs", 0.25, 0, true},
    {"within 3 steps with opposite signs", 3, 0, true},
};

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Adds a rank's rounding errors, in steps, to error[N]. */
static void add_error(const struct aps_cast_options *options, const float *x,
                      double *error)
{
    float y[N];

    aps_cast_array(aps_format_get("e4m3", NULL), x, N, options, y, NULL);
    for (int i = 0; i < N; i++)
        error[i] += ((double)y[i] - (double)x[i]) / STEP;
}

struct correlated_error
correlated_error_of(enum aps_rounding rounding, int ranks,
                    const struct correlated_values *values)
{
    struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
    const int rounded = values->rounded > 0    ? values->rounded
                        : values->rounded == 0 ? ranks
                                               : ranks / -values->rounded;
    double sum = 0, squares = 0;
    uint64_t state = 7;

    options.rounding = rounding;
    options.ranks = (uint64_t)ranks;
    options.seed = 5;
    for (options.step = 0; options.step < STEPS; options.step++) {
        double common[N], error[N] = {0}, mean = 0;
        float x[N];

        for (int i = 0; i < N; i++)
            common[i] = 1.5 + STEP * (uniform(&state) - 0.5);
        for (int r = 0; r < ranks; r++) {
            for (int i = 0; i < N; i++) {
                double off = values->spread * (uniform(&state) - 0.5);

                x[i] = r < rounded ? (float)(common[i] + STEP * off) : 1.5f;
                if (values->opposed && r % 2 != 0)
                    x[i] = -x[i];
            }
            options.rank = (uint32_t)r;
            add_error(&options, x, error);
        }
        for (int i = 0; i < N; i++)
            mean += error[i] * error[i] / N;
        sum += mean;
        squares += mean * mean;
    }
    sum /= STEPS;
    return (struct correlated_error){
        sum, sqrt((squares / STEPS - sum * sum) / (STEPS - 1))};
}

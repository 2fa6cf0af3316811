/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit scaling (arXiv 2303.11257) of an all-reduce: the values of a layer get
 * the root mean square 1 once, at the beginning, and keep that scale.
 *
 *     S = 1 / sqrt(sum of squares / values)
 *
 * over the values of all ranks in the first `steps` calls that do not hold only
 * zeros; the exponents of these calls are APS's. Or S = 1 / deviation, if the
 * layer table gives each layer's standard deviation. Values are multiplied by
 * the power of two whose logarithm is nearest to S's. The paper's factors are
 * real numbers, by shapes, in the program's own graph.
 */
#include "config.h"

#include "scale/explain.h"
#include "scale/exponent.h"
#include "scale/history.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/print.h"

struct unit {
    int64_t calls;                   /* calls in the sums */
    double n, sum_squares;           /* sums over their values */
    double next_n, next_sum_squares; /* sums of the call that began last */
    int first;                       /* its max exponent */
};

static bool unit_is_tabled(const struct aps_scale *scale)
{
    return scale->parameters[APS_UNIT_FROM] == APS_UNIT_TABLE;
}

static bool unit_is_measured(const struct aps_scale *scale,
                             const struct unit *unit)
{
    return (double)unit->calls >= scale->parameters[APS_UNIT_STEPS];
}

static enum aps_scale_question unit_question(const struct aps_scale *scale,
                                             const void *state)
{
    return unit_is_tabled(scale) || unit_is_measured(scale, state)
               ? APS_QUESTION_NONE
               : APS_QUESTION_MOMENTS;
}

static void unit_learn(const struct aps_scale *scale, void *state,
                       const struct aps_format *format, int ranks,
                       const struct aps_scale_moments *moments)
{
    struct unit *unit = state;

    (void)scale;
    (void)format;
    unit->next_n = moments->n;
    unit->next_sum_squares = moments->sum_squares;
    unit->first = aps_scale_max_exponent((float)moments->max, ranks);
}

/* Returns the integer nearest to -log2(x) / 2 of an x > 0. */
static int unit_exponent(double x)
{
    const int binade = aps_floor_log2(x);

    /* x is 2^(2j) ... 2^(2j+1), or from there to 2^(2j+2) */
    return -((binade + (binade & 1)) / 2);
}

static struct aps_scale_prediction unit_predict(const struct aps_scale *scale,
                                                const void *state,
                                                const struct aps_format *format,
                                                int ranks)
{
    const double deviation = scale->parameters[APS_UNIT_DEVIATION];
    const struct unit *unit = state;

    (void)ranks;
    if (unit_is_tabled(scale))
        return aps_history_one(
            deviation > 0 ? unit_exponent(deviation * deviation) : 0);
    return aps_history_one(unit_is_measured(scale, unit)
                               ? unit_exponent(unit->sum_squares / unit->n)
                               : aps_scale_aps(format, unit->first));
}

static void unit_update(const struct aps_scale *scale, void *state,
                        const struct aps_format *format, int ranks,
                        const struct aps_scale_record *record)
{
    struct unit *unit = state;

    (void)format;
    (void)ranks;
    (void)record;
    if (unit_is_tabled(scale) || unit_is_measured(scale, unit) ||
        !(unit->next_sum_squares > 0))
        return;
    unit->n += unit->next_n;
    unit->sum_squares += unit->next_sum_squares;
    unit->calls++;
}

static int unit_table(const struct aps_scale *scale)
{
    return unit_is_tabled(scale) ? APS_UNIT_DEVIATION : -1;
}

static void unit_behave(const struct aps_scale *scale,
                        const struct aps_format *format, char *buffer,
                        size_t size)
{
    const double steps = scale->parameters[APS_UNIT_STEPS];
    char calls[48] = "call of a layer has";

    (void)format;
    if (steps > 1)
        aps_print(calls, sizeof calls, "%g calls of a layer have", steps);
    if (unit_is_tabled(scale))
        snprintf(buffer, size,
                 "The scale is constant, and the standard deviation that the "
                 "layer table gives becomes 1.");
    else
        snprintf(buffer, size,
                 "The first %s the scale of aps, and the ranks exchange the "
                 "mean square of the layer's values. From then on the scale is "
                 "constant, and the root of that mean square becomes 1.",
                 calls);
}

static bool unit_doubt(const struct aps_scale *scale,
                       const struct aps_format *format, char *buffer,
                       size_t size)
{
    (void)scale;
    if (format->max >= 16)
        return aps_scale_warning_constant(
            "with scale unit", " standard deviations", 1, format, buffer, size);
    aps_print(buffer, size,
              "with scale unit, values beyond %g standard deviations overflow "
              "in %s, and a large layer has some at every call",
              (double)format->max, format->name);
    return true;
}

const struct aps_scale_ops aps_scale_ops_unit = {
    .state_bytes = sizeof(struct unit),
    .question = unit_question,
    .learn = unit_learn,
    .predict = unit_predict,
    .update = unit_update,
    .on_overflow = APS_UNIT_ON_OVERFLOW,
    .scope = -1,
    .behave = unit_behave,
    .doubt = unit_doubt,
    .table = unit_table,
};

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

#include <math.h>
#include <stdio.h>

const char *aps_scale_name(const struct aps_scale *scale)
{
    return aps_scale_names[scale->kind];
}

bool aps_scale_equal(const struct aps_scale *a, const struct aps_scale *b)
{
    bool equal = a->kind == b->kind;

    for (int i = 0; i < APS_SCALE_PARAMETERS; i++)
        equal &= a->parameters[i] == b->parameters[i];
    return equal;
}

char *aps_scale_describe(const struct aps_scale *scale, char *buffer,
                         size_t size)
{
    const struct aps_scale_ops *ops = aps_scale_ops_of(scale);

    if (ops->describe)
        ops->describe(scale, buffer, size);
    else
        snprintf(buffer, size, "%s", aps_scale_name(scale));
    return buffer;
}

int aps_scale_table(const struct aps_scale *scale)
{
    const struct aps_scale_ops *ops = aps_scale_ops_of(scale);

    return ops->table ? ops->table(scale) : -1;
}

int aps_scale_stage_exponent(const struct aps_scale *scale,
                             const struct aps_format *format, int max_exponent)
{
    const struct aps_scale_ops *ops = aps_scale_ops_of(scale);

    return ops->agreed ? ops->stage_exponent(scale, format, max_exponent) : 0;
}

int aps_scale_block_exponent(const struct aps_scale *scale,
                             const struct aps_format *format,
                             struct aps_magnitude magnitude, int stage_exponent)
{
    const struct aps_scale_ops *ops = aps_scale_ops_of(scale);

    return ops->per_block ? ops->block_exponent(scale, format, magnitude.max)
                          : stage_exponent;
}

struct aps_scaling aps_scale_scaling(const struct aps_scale *scale,
                                     int exponent)
{
    const struct aps_scale_ops *ops = aps_scale_ops_of(scale);
    struct aps_scaling scaling = {.exponent = exponent, .factor = 1};

    if (ops->value) {
        /* frexp's mantissa is in [0.5, 1), the factor in [1, 2). */
        scaling.factor =
            2 * frexpf((float)ops->value(scale), &scaling.exponent);
        scaling.exponent--;
    }
    return scaling;
}

double aps_scale_value(const struct aps_scale *scale, int exponent)
{
    const struct aps_scale_ops *ops = aps_scale_ops_of(scale);

    return ops->value ? ops->value(scale) : ldexp(1, exponent);
}

/* --- scales with a state -------------------------------------------------- */

#define EXPONENT_MAX 400 /* as in aps.h */

size_t aps_scale_state_bytes(const struct aps_scale *scale)
{
    const struct aps_scale_ops *ops = aps_scale_ops_of(scale);

    return ops->state_bytes ? ops->state_bytes(scale) : 0;
}

enum aps_scale_question aps_scale_question(const struct aps_scale *scale,
                                           const void *state)
{
    const struct aps_scale_ops *ops = aps_scale_ops_of(scale);

    return ops->question ? ops->question(scale, state) : APS_QUESTION_NONE;
}

void aps_scale_learn(const struct aps_scale *scale, void *state,
                     const struct aps_format *format, int ranks,
                     const struct aps_scale_moments *moments)
{
    aps_scale_ops_of(scale)->learn(scale, state, format, ranks, moments);
}

static int scale_clamp(int exponent)
{
    if (exponent > EXPONENT_MAX)
        return EXPONENT_MAX;
    return exponent < -EXPONENT_MAX ? -EXPONENT_MAX : exponent;
}

struct aps_scale_prediction aps_scale_predict(const struct aps_scale *scale,
                                              const void *state,
                                              const struct aps_format *format,
                                              int ranks)
{
    struct aps_scale_prediction prediction =
        aps_scale_ops_of(scale)->predict(scale, state, format, ranks);

    prediction.exponent = scale_clamp(prediction.exponent);
    prediction.sum_exponent = scale_clamp(prediction.sum_exponent);
    return prediction;
}

bool aps_scale_is_min(const struct aps_scale *scale, const void *state,
                      const struct aps_format *format, int ranks, double *least)
{
    const struct aps_scale_ops *ops = aps_scale_ops_of(scale);
    int above; /* floor(log2(least)) + 1 */

    if (!ops->least)
        return false;
    (void)frexp(ops->least(scale), &above);
    if (aps_scale_predict(scale, state, format, ranks).exponent >= above)
        return false;
    *least = ops->least(scale);
    return true;
}

void aps_scale_update(const struct aps_scale *scale, void *state,
                      const struct aps_format *format, int ranks,
                      const struct aps_scale_record *record)
{
    /* Non-finite values are the program's overflow, not the scale's. */
    if (record->nonfinite || (record->in_max == 0 && record->sum_max == 0))
        return;
    aps_scale_ops_of(scale)->update(scale, state, format, ranks, record);
}

enum aps_overflow aps_scale_on_overflow(const struct aps_scale *scale)
{
    const int at = aps_scale_ops_of(scale)->on_overflow;

    return (enum aps_overflow)scale->parameters[at];
}

enum aps_scale_scope aps_scale_scope(const struct aps_scale *scale)
{
    const int at = aps_scale_ops_of(scale)->scope;

    return at < 0 ? APS_SCOPE_LAYER
                  : (enum aps_scale_scope)scale->parameters[at];
}

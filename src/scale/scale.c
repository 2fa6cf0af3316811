/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

#include <math.h>
#include <stdio.h>

#include "codec/codec.h"
#include "scale/exponent.h"

const struct aps_scale_ops aps_scale_ops_aps = {.agreed = true};
const struct aps_scale_ops aps_scale_ops_aps_tight = {.per_block = true};

/* Exponents of floats, and of sums of floats, are below this number. */
#define EXPONENT_MOST 1000

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
    /* Other ranks may have sent an exponent that floats do not have. */
    if (max_exponent > EXPONENT_MOST ||
        (max_exponent < -EXPONENT_MOST && max_exponent != APS_EXPONENT_ZERO))
        max_exponent = EXPONENT_MOST;
    return aps_scale_ops_of(scale)->agreed ? aps_scale_aps(format, max_exponent)
                                           : 0;
}

int aps_scale_block_exponent(const struct aps_scale *scale,
                             const struct aps_format *format,
                             struct aps_magnitude magnitude, int stage_exponent)
{
    return aps_scale_ops_of(scale)->per_block
               ? aps_scale_aps_tight(format, magnitude.max)
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

    /* Other scales may have a parameter 0 that no size_t holds. */
    return ops->state_bytes +
           (ops->call_bytes ? ops->call_bytes * (size_t)scale->parameters[0]
                            : 0);
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

    if (ops->least == 0)
        return false;
    (void)frexp(scale->parameters[ops->least], &above);
    if (aps_scale_predict(scale, state, format, ranks).exponent >= above)
        return false;
    *least = scale->parameters[ops->least];
    return true;
}

void aps_scale_record_add(struct aps_scale_record *record,
                          const struct aps_scale_record *other)
{
    if (other->in_max > record->in_max)
        record->in_max = other->in_max;
    if (other->sum_max > record->sum_max)
        record->sum_max = other->sum_max;
    record->over |= other->over;
    record->nonfinite |= other->nonfinite;
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

/* A value that exceeds the largest finite one by less than a step is rounded
 * down to it, or overflows. */
bool aps_scale_overflows(const struct aps_format *format, float max,
                         int exponent, enum aps_rounding rounding)
{
    /* Exact in double: |exponent| <= 400, and 24 bits. */
    const double x = ldexp((double)max, exponent);
    const double largest = (double)format->max;
    double step = ldexp(aps_format_min_normal(format), -format->mantissa_bits);
    double tie;
    int binade;

    if (largest > 0) {
        (void)frexp(largest, &binade);
        step = fmax(step, ldexp(1, binade - 1 - format->mantissa_bits));
    }
    tie = largest + step / 2;
    switch (rounding) {
    case APS_ROUND_NEAREST:
    case APS_ROUND_CPD:
        return x > tie || (x == tie && fmod(largest / step, 2) != 0);
    case APS_ROUND_TOWARD_ZERO:
        return x >= largest + step;
    default: /* by a random draw */
        return x > largest;
    }
}

/* x is finite. */
static void moments_add_value(struct aps_scale_moments *moments, float x)
{
    const double value = (double)x;

    moments->n++;
    moments->sum += value;
    moments->sum_squares += value * value;
    if (fabs(value) > moments->max)
        moments->max = fabs(value);
}

static void moments_add_logarithm(struct aps_scale_moments *moments, float x)
{
    double logarithm;

    if (x == 0)
        return;
    logarithm = log(fabs((double)x));
    moments->nonzero++;
    moments->sum_log += logarithm;
    moments->sum_log_squares += logarithm * logarithm;
}

struct aps_scale_moments aps_scale_moments_of(const float *x, size_t n,
                                              enum aps_scale_question question)
{
    struct aps_scale_moments moments = {0};

    if (question == APS_QUESTION_MAX) {
        moments.max = (double)aps_max_finite(x, n);
        return moments;
    }
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            continue;
        moments_add_value(&moments, x[i]);
        if (question == APS_QUESTION_LOGARITHMS)
            moments_add_logarithm(&moments, x[i]);
    }
    return moments;
}

void aps_scale_moments_add(struct aps_scale_moments *sum,
                           const struct aps_scale_moments *term)
{
    sum->max = term->max > sum->max ? term->max : sum->max;
    sum->n += term->n;
    sum->sum += term->sum;
    sum->sum_squares += term->sum_squares;
    sum->nonzero += term->nonzero;
    sum->sum_log += term->sum_log;
    sum->sum_log_squares += term->sum_log_squares;
}

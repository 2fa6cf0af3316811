/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Autoflex (Köster et al. 2017, Algorithm 2): computes the exponent of a tensor
 * of integers, flexN, from the maxima of the last calls. With kappa the value
 * of the integer 1 and phi the greatest magnitude of a call:
 *
 *     overflow (phi / kappa at least 2^(N-1) - 1):  forget the earlier phis
 *     chi   = alpha (max(phis) + beta std(phis) + gamma kappa)
 *     kappa = 2^(ceil(log2 chi) - N + 1)
 *
 * over at most `window` phis, with the population's standard deviation. Each use
 * of a tensor has its own phis: contributions, and sums. kappa is 2^-f. At
 * first f is APS's.
 *
 * Works for any format: K replaces N - 1, where 2^K is the smallest power of
 * two that is not below the largest value; for flexN this is N - 1. gamma, 100
 * by default, is in integers of 16 bits: 0.3 % of the range. A step of fewer
 * bits is too great: chi would grow without end for N = 8. kappa after gamma
 * therefore is that of flex16 with the same range, and the state depends on no
 * format.
 *
 * After an overflow the paper only has the estimate phi = 2 (2^(N-1) - 1)
 * kappa, because its integers saturate: on_overflow: saturate uses this, or the
 * true phi if it is greater; the other settings use the true phi.
 */
#include "config.h"

#include "scale/exponent.h"
#include "scale/history.h"

#include <stdint.h>
#include <stdio.h>

#include "base/print.h"

#define BITS 15 /* N - 1 of gamma's integers */

/* State of one use. */
struct predictor {
    int32_t range; /* ceil(log2 chi): values are within 2^range */
    int32_t count; /* phis in use, at most `window` */
    int32_t next;  /* index of the next phi */
};

struct autoflex {
    struct predictor in, sum;
    float phis[]; /* `window` of contributions, then `window` of sums */
};

static size_t autoflex_window(const struct aps_scale *scale)
{
    return (size_t)scale->parameters[APS_AUTOFLEX_WINDOW];
}

static enum aps_scale_question autoflex_question(const struct aps_scale *scale,
                                                 const void *state)
{
    const struct autoflex *autoflex = state;

    (void)scale;
    return autoflex->in.count + autoflex->sum.count == 0 ? APS_QUESTION_MAX
                                                         : APS_QUESTION_NONE;
}

static void autoflex_learn(const struct aps_scale *scale, void *state,
                           const struct aps_format *format, int ranks,
                           const struct aps_scale_moments *moments)
{
    struct autoflex *autoflex = state;

    (void)scale;
    autoflex->in.range =
        aps_history_range(format) -
        aps_scale_aps(format,
                      aps_scale_max_exponent((float)moments->max, ranks));
    autoflex->sum.range = autoflex->in.range;
}

static struct aps_scale_prediction
autoflex_predict(const struct aps_scale *scale, const void *state,
                 const struct aps_format *format, int ranks)
{
    const struct autoflex *autoflex = state;
    const int range = aps_history_range(format);

    (void)scale;
    (void)ranks;
    return (struct aps_scale_prediction){range - autoflex->in.range,
                                         range - autoflex->sum.range};
}

/* Returns the greatest phi plus beta standard deviations. */
static double autoflex_reach(double beta, const float *phis, int count)
{
    double greatest = 0, sum = 0, sum_squares = 0, mean;

    for (int i = 0; i < count; i++) {
        greatest = fmax(greatest, (double)phis[i]);
        sum += (double)phis[i];
    }
    mean = sum / count;
    for (int i = 0; i < count; i++)
        sum_squares += ((double)phis[i] - mean) * ((double)phis[i] - mean);
    return greatest + beta * sqrt(sum_squares / count);
}

static void autoflex_adjust(const struct aps_scale *scale,
                            const struct aps_format *format,
                            struct predictor *predictor, float *phis,
                            double phi)
{
    const double *parameters = scale->parameters;
    const double kappa = ldexp(1, predictor->range - aps_history_range(format));
    const double largest = (double)format->max * kappa;
    const double step = ldexp(1, predictor->range - BITS);

    if (phi == 0)
        return;
    if (phi >= largest) {
        predictor->count = predictor->next = 0;
        if (aps_scale_on_overflow(scale) == APS_OVERFLOW_SATURATE)
            phi = fmax(phi, 2 * largest);
    }
    phis[predictor->next] = (float)fmin(phi, (double)__FLT_MAX__);
    predictor->next = (predictor->next + 1) % (int)autoflex_window(scale);
    if (predictor->count < (int)autoflex_window(scale))
        predictor->count++;
    predictor->range = aps_ceil_log2(
        parameters[APS_AUTOFLEX_ALPHA] *
        (autoflex_reach(parameters[APS_AUTOFLEX_BETA], phis, predictor->count) +
         parameters[APS_AUTOFLEX_GAMMA] * step));
}

static void autoflex_update(const struct aps_scale *scale, void *state,
                            const struct aps_format *format, int ranks,
                            const struct aps_scale_record *record)
{
    struct autoflex *autoflex = state;

    (void)ranks;
    autoflex_adjust(scale, format, &autoflex->in, autoflex->phis,
                    (double)record->in_max);
    autoflex_adjust(scale, format, &autoflex->sum,
                    autoflex->phis + autoflex_window(scale),
                    (double)record->sum_max);
}

static void autoflex_behave(const struct aps_scale *scale,
                            const struct aps_format *format, char *buffer,
                            size_t size)
{
    const double *parameters = scale->parameters;

    aps_print(buffer, size,
              "The first call of a layer has the scale of aps. From then on %g "
              "times the sum of the greatest of the last %g maxima and %g of "
              "their standard deviations becomes at most %g. Contributions and "
              "sums have scales of their own where sums are FP32.",
              parameters[APS_AUTOFLEX_ALPHA], parameters[APS_AUTOFLEX_WINDOW],
              parameters[APS_AUTOFLEX_BETA],
              ldexp(1, aps_history_range(format)));
}

const struct aps_scale_ops aps_scale_ops_autoflex = {
    .state_bytes = sizeof(struct autoflex),
    .call_bytes = 2 * sizeof(float),
    .question = autoflex_question,
    .learn = autoflex_learn,
    .predict = autoflex_predict,
    .update = autoflex_update,
    .on_overflow = APS_AUTOFLEX_ON_OVERFLOW,
    .scope = -1,
    .behave = autoflex_behave,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* The statistics of round-off of aps_policy.h, by roundoff/measure.h. */
#include "config.h"

#include "aps_policy.h"

#include <errno.h>
#include <stddef.h>

#include "base/error.h"
#include "number/check.h"
#include "number/struct_version.h"
#include "roundoff/measure.h"

static struct aps_measure roundoff_read(const struct aps_roundoff *from)
{
    return (struct aps_measure){
        .compared = from->compared,
        .skipped = from->skipped,
        .underflow = from->underflow,
        .overflow = from->overflow,
        .nonfinite = from->nonfinite,
        .infinite = from->infinite,
        .sum_relative = from->sum_relative,
        .max_relative = from->max_relative,
        .sum_error2 = from->sum_error2,
        .sum_reference2 = from->sum_reference2,
    };
}

static void roundoff_write(const struct aps_measure *from,
                           struct aps_roundoff *to)
{
    to->compared = from->compared;
    to->skipped = from->skipped;
    to->underflow = from->underflow;
    to->overflow = from->overflow;
    to->nonfinite = from->nonfinite;
    to->infinite = from->infinite;
    to->sum_relative = from->sum_relative;
    to->max_relative = from->max_relative;
    to->sum_error2 = from->sum_error2;
    to->sum_reference2 = from->sum_reference2;
}

int aps_roundoff_add(struct aps_roundoff *roundoff, const double *reference,
                     const float *value, size_t n, struct aps_error *error)
{
    static const struct aps_roundoff defaults = APS_ROUNDOFF_INIT;
    static const struct aps_struct_version version = {
        .name = "aps_roundoff",
        .init = "APS_ROUNDOFF_INIT",
        .first = sizeof defaults,
        .size = sizeof defaults,
        .defaults = &defaults,
    };
    struct aps_roundoff read;
    struct aps_measure measure;

    if (!roundoff || (n > 0 && (!reference || !value)))
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "aps_roundoff_add: %s is NULL",
                             !roundoff    ? "roundoff"
                             : !reference ? "reference"
                                          : "value");
    if (aps_check_count("aps_roundoff_add", "n", n, error) < 0 ||
        aps_struct_version_read("aps_roundoff_add", &version, roundoff, &read,
                                error) < 0)
        return -1;
    measure = roundoff_read(&read);
    aps_measure_add(&measure, reference, value, n);
    roundoff_write(&measure, roundoff);
    return 0;
}

double aps_roundoff_mean(const struct aps_roundoff *roundoff)
{
    const struct aps_measure measure = roundoff_read(roundoff);

    return aps_measure_mean(&measure);
}

double aps_roundoff_l2(const struct aps_roundoff *roundoff)
{
    const struct aps_measure measure = roundoff_read(roundoff);

    return aps_measure_l2(&measure);
}

double aps_roundoff_snr(const struct aps_roundoff *roundoff)
{
    const struct aps_measure measure = roundoff_read(roundoff);

    return aps_measure_snr(&measure);
}

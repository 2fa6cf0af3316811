/* SPDX-License-Identifier: BSD-3-Clause */
/* The data about a rank's contribution that it sends before the contribution. */
#include "config.h"

#include "scale/scale.h"

#include <math.h>

#include "tests/tap/tap.h"

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

int main(void)
{
    static const float x[] = {0, -4, INFINITY, 2, 0.5f, NAN, -0.0f};
    static const float y[] = {-8, 1};
    const struct aps_scale_moments none =
        aps_scale_moments_of(x, 7, APS_QUESTION_NONE);
    const struct aps_scale_moments max =
        aps_scale_moments_of(x, 7, APS_QUESTION_MAX);
    const struct aps_scale_moments moments =
        aps_scale_moments_of(x, 7, APS_QUESTION_MOMENTS);
    struct aps_scale_moments all =
        aps_scale_moments_of(x, 7, APS_QUESTION_LOGARITHMS);
    const struct aps_scale_moments other =
        aps_scale_moments_of(y, 2, APS_QUESTION_LOGARITHMS);

    ok(max.max == 4 && max.n == 0 && none.nonzero == 0,
       "the maximum alone, of finite values");
    ok(moments.max == 4 && moments.n == 5 && moments.sum == -1.5 &&
           moments.sum_squares == 20.25 && moments.nonzero == 0,
       "INF and NaN do not count");
    ok(all.nonzero == 3 && is_near(all.sum_log, 2 * log(2)) &&
           is_near(all.sum_log_squares, 6 * log(2) * log(2)),
       "logarithms are those of values that are not 0");
    aps_scale_moments_add(&all, &other);
    ok(all.max == 8 && all.n == 7 && all.sum == -8.5 &&
           all.sum_squares == 85.25 && all.nonzero == 5 &&
           is_near(all.sum_log, 5 * log(2)) &&
           is_near(all.sum_log_squares, 15 * log(2) * log(2)),
       "the moments of ranks add up");
    return done_testing();
}

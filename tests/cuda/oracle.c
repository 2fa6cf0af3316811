/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cast of one value as nvcc compiles it for the host, against MPFR: every
 * format, exponents on both sides of the float range, both roundings that MPFR
 * has.
 */
#include "config.h"

#include <math.h>

#include "emulate.h"
#include "tap/tap.h"
#include "unit/common/formats.h"
#include "unit/number/oracle.h"
#include "unit/common/wire.h"

#define VALUES 2000

static bool casts(const struct aps_format *f, int exponent, bool nearest)
{
    const enum aps_rounding rounding =
        nearest ? APS_ROUND_NEAREST : APS_ROUND_TOWARD_ZERO;

    for (int i = 0; i < VALUES; i++) {
        float x = random_value(f, exponent);
        float expected, got;
        uint32_t code;

        if (isnan(x))
            continue;
        expected = nearest ? oracle_cast(f, x, exponent)
                           : oracle_cast_toward_zero(f, x, exponent);
        code = emulate_round(f, aps_float_bits(x), exponent, rounding, 0);
        got = aps_float_from_bits(emulate_value(f, code));
        if (isnan(expected) ? !isnan(got)
                            : aps_float_bits(got) != aps_float_bits(expected)) {
            diag("%s: %a * 2^%d -> %a, not %a", f->name, (double)x, exponent,
                 (double)got, (double)expected);
            return false;
        }
    }
    return true;
}

int main(void)
{
    static const int exponents[] = {0, 7, -9, 126, -140, 300, -300};
    struct aps_format format;

    diag("the cast as done by %s", emulate_compiler());
    for (int i = 0; format_at(i, &format); i++) {
        bool nearest = true, zero = true;

        for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
            nearest = nearest && casts(&format, exponents[e], true);
            zero = zero && casts(&format, exponents[e], false);
        }
        ok(nearest, "%s: to nearest", format.name);
        ok(zero, "%s: toward zero", format.name);
    }
    return done_testing();
}

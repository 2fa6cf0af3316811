/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "number/format.h"
#include "unit/common/formats.h"
#include "number/bits.h"
#include "number/cast.h"
#include "unit/number/oracle.h"
#include "tap/tap.h"

/* Number of random bit patterns for each format. */
static int patterns = 100000;

static uint64_t random_state = 1;

static uint32_t random_bits(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 32);
}

/* Returns a float of random sign and mantissa, its exponent near the format's range. */
static float random_near(const struct aps_format *f)
{
    int low = 1 - f->bias - f->mantissa_bits - 3;
    int high = f->bias + 3;
    int e = low + (int)(random_bits() % (unsigned)(high - low + 1));
    uint32_t bits = random_bits();
    float significand = aps_float_from_bits((bits & 0x807fffffu) | 0x3f800000u);

    return ldexpf(significand, e);
}

static uint32_t sign_of(uint32_t bits, const struct aps_format *f)
{
    return bits >> 31 << (f->width - 1);
}

/* Returns the first magnitude code that is not a finite value. */
static uint32_t limit_code(const struct aps_format *f)
{
    if (f->kind == APS_FORMAT_FINITE)
        return 1u << (f->width - 1);
    if (f->kind == APS_FORMAT_NAN)
        return (1u << (f->width - 1)) - 1;
    return ((1u << f->exponent_bits) - 1) << f->mantissa_bits;
}

static uint32_t overflow_code(const struct aps_format *f)
{
    return limit_code(f) - (f->saturate ? 1 : 0);
}

/* Returns the code of NaN, or its replacement. */
static uint32_t nan_code(const struct aps_format *f)
{
    if (f->kind == APS_FORMAT_IEEE)
        return limit_code(f) | (1u << f->mantissa_bits) >> 1;
    return (1u << (f->width - 1)) - 1;
}

/* Returns the value of a finite magnitude code, from the definition. */
static double value_of(const struct aps_format *f, uint32_t code)
{
    uint32_t field = code >> f->mantissa_bits;
    uint32_t m = code & ((1u << f->mantissa_bits) - 1);

    if (field == 0)
        return ldexp(m, 1 - f->bias - f->mantissa_bits);
    return ldexp((1u << f->mantissa_bits) + m,
                 (int)field - f->bias - f->mantissa_bits);
}

static bool same(float a, float b)
{
    return aps_float_bits(a) == aps_float_bits(b);
}

static bool is_value(const struct aps_format *f, uint32_t code, float value)
{
    if ((uint64_t)code >> f->width != 0)
        return false;
    if (isnan(value))
        return code == (sign_of(aps_float_bits(value), f) | nan_code(f));
    return same(aps_decode(f, code), value);
}

/* Compares one cast with the oracle, to nearest and toward zero, as a code and
 * as a float. */
static bool agrees(const struct aps_format *f, float x)
{
    uint32_t bits = aps_float_bits(x);
    uint32_t code = aps_encode(f, x);
    bool pass;

    if (isnan(x)) {
        bool has_nan = f->kind == APS_FORMAT_NAN ||
                       (f->kind == APS_FORMAT_IEEE && f->mantissa_bits > 0);

        pass = code == (sign_of(bits, f) | nan_code(f)) &&
               isnan(aps_cast(f, x)) == has_nan &&
               !signbit(aps_cast(f, x)) == !signbit(x);
    } else {
        pass = is_value(f, code, oracle_cast(f, x, 0)) &&
               is_value(f, aps_cast_round(f, bits, 0, APS_ROUND_TOWARD_ZERO, 0),
                        oracle_cast_toward_zero(f, x, 0)) &&
               same(aps_cast(f, x), aps_decode(f, code));
    }
    if (!pass)
        diag("%s: %a (0x%08x) -> code 0x%x, %a", f->name, (double)x, bits, code,
             (double)aps_decode(f, code));
    return pass;
}

/* --- formats of at most 12 bits: every code ------------------------------ */

static bool every_code(const struct aps_format *f)
{
    uint32_t limit = limit_code(f);

    for (uint32_t code = 0; code < 1u << f->width; code++) {
        uint32_t magnitude = code & ((1u << (f->width - 1)) - 1);
        double sign = code == magnitude ? 1 : -1;
        double value = (double)aps_decode(f, code);
        uint32_t again = magnitude;

        if (!signbit(value) != (sign > 0))
            return false;
        if (magnitude < limit) {
            if (value != sign * value_of(f, magnitude))
                return false;
        } else if (magnitude == limit && f->kind == APS_FORMAT_IEEE) {
            again = overflow_code(f);
            if (value != sign * (double)INFINITY)
                return false;
        } else {
            again = nan_code(f);
            if (!isnan(value))
                return false;
        }
        if (aps_encode(f, (float)value) != ((code & ~magnitude) | again))
            return false;
    }
    return true;
}

/* The middle of two neighbours is rounded to the even one, the floats next to
 * the middle to the nearer one. If M = 0 the only even significand is 0. */
static bool every_middle(const struct aps_format *f)
{
    for (uint32_t code = 0; code < limit_code(f); code++) {
        double low = value_of(f, code), high = value_of(f, code + 1);
        float middle = (float)(low + (high - low) / 2);
        uint32_t next = code + 1 < limit_code(f) ? code + 1 : overflow_code(f);
        uint32_t even = code % 2 == 0 ? code : next;

        if (f->mantissa_bits == 0)
            even = code == 0 ? 0 : next;
        if (aps_encode(f, middle) != even ||
            aps_encode(f, nextafterf(middle, 0)) != code ||
            aps_encode(f, nextafterf(middle, INFINITY)) != next ||
            !agrees(f, middle) || !agrees(f, -middle))
            return false;
    }
    return true;
}

static void test_narrow(void)
{
    struct aps_format f;

    for (int i = 0; format_at(i, &f); i++) {
        if (f.width > 12)
            continue;
        ok(every_code(&f), "%s: every code decodes and encodes", f.name);
        ok(every_middle(&f), "%s: every middle rounds to even", f.name);
    }
}

/* --- all formats: edges and random bit patterns -------------------------- */

static bool edges(const struct aps_format *f)
{
    float max = aps_format_max(f);
    /* INF from here on, or beyond: half of the largest binade's step more */
    float threshold =
        max > 0 ? max + (max - aps_decode(f, limit_code(f) - 2)) / 2 : 1;
    const float centres[] = {
        0,
        0x1p-149f,
        0x1.fffffcp-127f, /* greatest subnormal float */
        0x1p-126f,
        (float)aps_format_min_positive(f),
        (float)aps_format_min_positive(f) / 2,
        (float)aps_format_min_positive(f) * 1.5f,
        (float)aps_format_min_normal(f),
        1,
        max,
        threshold,
        0x1.fffffep127f,
        INFINITY,
    };
    bool pass = true;

    for (size_t i = 0; i < sizeof centres / sizeof *centres; i++) {
        float below = nextafterf(centres[i], 0);
        float above = nextafterf(centres[i], INFINITY);

        pass = agrees(f, centres[i]) && agrees(f, -centres[i]) && pass;
        pass = agrees(f, below) && agrees(f, -below) && pass;
        pass = agrees(f, above) && agrees(f, -above) && pass;
    }
    static const uint32_t nans[] = {0x7fc00000, 0xffc00000, 0x7f800001,
                                    0xff800001, 0x7fffffff, 0xffbfffff};
    for (size_t i = 0; i < sizeof nans / sizeof *nans; i++)
        pass = agrees(f, aps_float_from_bits(nans[i])) && pass;
    return pass;
}

static bool random_patterns(const struct aps_format *f)
{
    for (int i = 0; i < patterns; i++) {
        float x = i % 2 ? random_near(f) : aps_float_from_bits(random_bits());

        if (!agrees(f, x))
            return false;
    }
    return true;
}

static void test_all(void)
{
    struct aps_format f;

    for (int i = 0; format_at(i, &f); i++) {
        ok(edges(&f), "%s: edges", f.name);
        ok(random_patterns(&f), "%s: %d random patterns", f.name, patterns);
    }
}

int main(void)
{
    if (getenv("APS_TEST_LONG"))
        patterns = 2000000;
    test_narrow();
    test_all();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "aps.h"
#include "number/bits.h"
#include "oracle.h"
#include "tap/tap.h"

/* Random bit patterns a format. */
static int patterns = 100000;

static uint64_t random_state = 1;

static uint32_t random_bits(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 32);
}

/* A float of random sign and mantissa, its exponent near the format's range. */
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

/* The code of INF, and the first code that is no finite value. */
static uint32_t inf_code(const struct aps_format *f)
{
    return ((1u << f->exponent_bits) - 1) << f->mantissa_bits;
}

/* Value of a finite magnitude code, from the definition. */
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

/* One cast against the oracle; both ways to the result. */
static bool agrees(const struct aps_format *f, float x)
{
    uint32_t bits = aps_float_bits(x);
    uint32_t code = aps_encode(f, x);
    bool pass;

    if (isnan(x)) {
        uint32_t quiet = (1u << f->mantissa_bits) >> 1;

        pass = code == (sign_of(bits, f) | inf_code(f) | quiet) &&
               (f->mantissa_bits > 0 ? isnan(aps_cast(f, x))
                                     : isinf(aps_cast(f, x))) &&
               !signbit(aps_cast(f, x)) == !signbit(x);
    } else {
        float expected = oracle_cast(f, x, 0);

        pass = same(aps_decode(f, code), expected) &&
               same(aps_cast(f, x), expected) &&
               (uint64_t)code >> f->width == 0;
    }
    if (!pass)
        diag("%s: %a (0x%08x) -> code 0x%x, %a", f->name, (double)x, bits, code,
             (double)aps_decode(f, code));
    return pass;
}

/* --- formats of at most 12 bits: every code ------------------------------ */

static bool every_code(const struct aps_format *f)
{
    uint32_t inf = inf_code(f);

    for (uint32_t code = 0; code < 1u << f->width; code++) {
        uint32_t magnitude = code & ((1u << (f->width - 1)) - 1);
        float sign = code == magnitude ? 1.0f : -1.0f;
        float value = aps_decode(f, code);

        if (!signbit(value) != (sign > 0))
            return false;
        if (magnitude > inf) {
            /* all NaN codes become the canonical one */
            if (!isnan(value) ||
                aps_encode(f, value) !=
                    ((code & ~magnitude) | inf | 1u << (f->mantissa_bits - 1)))
                return false;
            continue;
        }
        double expected = magnitude == inf ? INFINITY : value_of(f, magnitude);

        if ((double)value != (double)sign * expected ||
            aps_encode(f, value) != code)
            return false;
    }
    return true;
}

/* The middle of two neighbours goes to the even one, the floats just beside it
 * to the nearer one. Where M = 0 there is no even significand but 0. */
static bool every_middle(const struct aps_format *f)
{
    for (uint32_t code = 0; code < inf_code(f); code++) {
        double low = value_of(f, code), high = value_of(f, code + 1);
        float middle = (float)(low + (high - low) / 2);
        uint32_t even = code % 2 == 0 ? code : code + 1;

        if (f->mantissa_bits == 0)
            even = code == 0 ? 0 : code + 1;
        if (aps_encode(f, middle) != even ||
            aps_encode(f, nextafterf(middle, 0)) != code ||
            aps_encode(f, nextafterf(middle, INFINITY)) != code + 1 ||
            !agrees(f, middle) || !agrees(f, -middle))
            return false;
    }
    return true;
}

static void test_narrow(void)
{
    for (int e = 1; e <= 8; e++) {
        for (int m = 0; m <= 11 - e; m++) {
            char name[32];
            struct aps_format f;

            snprintf(name, sizeof name, "e%dm%d", e, m);
            if (aps_format_parse(name, &f, NULL) < 0)
                bail_out("%s does not parse", name);
            ok(every_code(&f), "%s: every code decodes and encodes", name);
            ok(every_middle(&f), "%s: every middle rounds to even", name);
        }
    }
}

/* --- all formats: edges and random bit patterns -------------------------- */

static bool edges(const struct aps_format *f)
{
    float max = aps_format_max(f);
    float step = (float)ldexp(1, f->bias - f->mantissa_bits - 1);
    float threshold = f->exponent_bits == 1
                          ? 2 - (float)aps_format_min_positive(f) / 2
                          : max + step; /* INF from here on (or beyond) */
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
    for (int e = 1; e <= 8; e++) {
        for (int m = 0; m <= 23; m++) {
            char name[32];
            struct aps_format f;

            snprintf(name, sizeof name, "e%dm%d", e, m);
            if (aps_format_parse(name, &f, NULL) < 0)
                bail_out("%s does not parse", name);
            ok(edges(&f), "%s: edges", name);
            ok(random_patterns(&f), "%s: %d random patterns", name, patterns);
        }
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

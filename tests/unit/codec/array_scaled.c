/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays with a scale exponent, and the exponents that APS chooses: against
 * their definitions in exact arithmetic.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include "number/parse.h"
#include "unit/common/formats.h"
#include "number/bits.h"
#include "number/cast.h"
#include "number/cpd.h"
#include "number/draw.h"
#include "tap/tap.h"
#include "unit/common/wire.h"

#define N 1500 /* more than a chunk */

static const int exponents[] = {0,   1,    -1,   7,    -24, 100,  126, 127,
                                128, -126, -127, -128, 149, -300, 400, -400};
#define EXPONENTS (sizeof exponents / sizeof *exponents)

static bool same(float a, float b)
{
    return aps_float_bits(a) == aps_float_bits(b) || (isnan(a) && isnan(b));
}

/* Returns the code of x * 2^exponent by number/cast.h, which cast.c checks
 * against MPFR. */
static uint32_t code_of(const struct aps_format *f, float x, int exponent,
                        const struct aps_cast_options *options, size_t i)
{
    const struct aps_draw draw = aps_draw_init(options);
    uint32_t random = 0;

    if (aps_cast_draws(options->rounding))
        random = aps_draw_element(&draw, options->offset + i);
    return aps_cast_round(f, aps_float_bits(x), exponent, options->rounding,
                          random);
}

static void test_codes(const struct aps_format *f, enum aps_rounding rounding,
                       const char *name)
{
    static float x[N], values[N], casts[N];
    static uint8_t wire[N * sizeof(float)];
    bool encoded = true, decoded = true, cast = true;

    for (size_t e = 0; e < EXPONENTS; e++) {
        struct aps_cast_options options = APS_CAST_OPTIONS_INIT;

        options.rounding = rounding;
        options.seed = 9;
        options.rank = 3;
        options.ranks = 4;
        options.scale_exponent = exponents[e];
        for (size_t i = 0; i < N; i++)
            x[i] = random_value(f, exponents[e]);
        if (aps_encode_array(f, x, N, &options, wire, NULL) < 0 ||
            aps_decode_array(f, wire, N, &options, values, NULL) < 0 ||
            aps_cast_array(f, x, N, &options, casts, NULL) < 0)
            bail_out("%s: refused", f->name);
        for (size_t i = 0; i < N; i++) {
            uint32_t code = wire_get(wire, i, f->width);
            /* a value has 24 bits: ldexp is exact, the cast rounds once */
            float value =
                (float)ldexp((double)aps_decode(f, code), -exponents[e]);

            encoded &= code == code_of(f, x[i], exponents[e], &options, i);
            decoded &= same(values[i], value);
            cast &= same(casts[i], values[i]);
        }
    }
    ok(encoded, "%s, %s: x * 2^f is encoded", f->name, name);
    ok(decoded, "... and decoded, times 2^-f");
    ok(cast, "... and a cast is both");
}

/* CPD computes the product as a float. */
static void test_cpd(const struct aps_format *f)
{
    static float x[N], y[N];
    bool pass = true;

    for (size_t e = 0; e < EXPONENTS; e++) {
        struct aps_cast_options options = APS_CAST_OPTIONS_INIT;

        options.rounding = APS_ROUND_CPD;
        options.scale_exponent = exponents[e];
        for (size_t i = 0; i < N; i++)
            x[i] = random_value(f, exponents[e]);
        if (aps_cast_array(f, x, N, &options, y, NULL) < 0)
            bail_out("%s: refused", f->name);
        for (size_t i = 0; i < N; i++) {
            float product = (float)ldexp((double)x[i], exponents[e]);
            float rounded =
                aps_float_from_bits(aps_cpd_cast(f, aps_float_bits(product)));

            pass &= same(y[i], (float)ldexp((double)rounded, -exponents[e]));
        }
    }
    ok(pass, "%s, cpd: the product is cast", f->name);
}

/* --- the exponents ------------------------------------------------------- */

/* Returns the smallest e with product <= 2^e, by trial; `product` is exact. */
static int ceil_log2(long double product)
{
    int e = -160;

    while (ldexpl(1, e) < product)
        e++;
    return e;
}

static void test_max_exponent(void)
{
    static const int ranks[] = {1, 2, 3, 7, 8, 1000, 1 << 20, 2147483647};
    bool pass = true;

    for (int t = 0; t < 4000; t++) {
        int n = 1 + (int)(random_bits() % 9), count = ranks[t % 8];
        int expected = APS_EXPONENT_ZERO, result = 0;
        float x[9];

        for (int i = 0; i < n; i++) {
            x[i] = aps_float_from_bits(random_bits());
            if (t % 3 == 0) /* powers of two, where ceil changes */
                x[i] = ldexpf(1, (int)(random_bits() % 277) - 149);
            if (t % 5 == 0 && i % 2)
                x[i] = i % 4 == 1 ? INFINITY : NAN;
        }
        for (int i = 0; i < n; i++) {
            if (isfinite(x[i]) && x[i] != 0) {
                int e = ceil_log2((long double)fabsf(x[i]) * count);

                expected = e > expected ? e : expected;
            }
        }
        pass &= aps_max_exponent(x, (size_t)n, count, &result, NULL) == 0 &&
                result == expected;
    }
    ok(pass, "aps_max_exponent is the greatest ceil(log2(ranks * |x|))");

    float zeros[3] = {0, -0.0f, INFINITY};
    int result = 42;

    ok(aps_max_exponent(zeros, 3, 4, &result, NULL) == 0 &&
           result == APS_EXPONENT_ZERO,
       "... without a finite value other than 0, APS_EXPONENT_ZERO");
    ok(aps_max_exponent(NULL, 0, 4, &result, NULL) == 0 &&
           result == APS_EXPONENT_ZERO,
       "... and without any value");
}

/* Algorithm 1: the sum of N such arrays cannot overflow, and with one more bit
 * some sum could. */
static void test_aps(void)
{
    struct aps_format f;
    bool zero = true, upper = true, fits = true;

    for (int i = 0; format_at(i, &f); i++) {
        int u = (1 << (f.exponent_bits - 1)) - 1;

        zero &= aps_scale_exponent(&f, APS_EXPONENT_ZERO) == 0;
        for (int x = -149; x <= 160; x++) {
            upper &= aps_scale_exponent(&f, x) == u - x;
            fits &= f.exponent_bits < 2 ||
                    ldexp(1, x + aps_scale_exponent(&f, x)) <=
                        (double)aps_format_max(&f);
        }
    }
    ok(upper, "aps_scale_exponent is U - x");
    ok(fits, "... by which the greatest sum is a value of the format");
    ok(zero, "... and 0 for an array of zeros");
}

static void test_tight(void)
{
    struct aps_format f;

    for (int i = 0; format_at(i, &f); i += 3) {
        double largest = (double)aps_format_max(&f);
        bool pass = true;

        for (int t = 0; t < 200 && largest > 0; t++) {
            float x[2] = {random_near(&f, (int)(random_bits() % 40) - 20), 0};
            double max = (double)fabsf(x[0]);
            int result = 0, expected = 400;

            if (!isfinite(x[0]) || x[0] == 0)
                continue;
            while (ldexp(max, expected) > largest)
                expected--;
            pass &= aps_scale_exponent_tight(&f, x, 2, &result, NULL) == 0 &&
                    result == expected;
        }
        ok(pass, "%s: aps_scale_exponent_tight is the greatest that fits",
           f.name);
    }
    int result = 42;
    ok(aps_scale_exponent_tight(&f, (float[]){0, NAN}, 2, &result, NULL) == 0 &&
           result == 0,
       "... and 0 for an array of zeros");
}

/* The thread's own mode, which takes subnormal numbers as zeros, does not matter. */
static void test_subnormal(void)
{
#ifdef __x86_64__
    const unsigned zeros = 0x8040; /* DAZ, FTZ */
    const unsigned before = _mm_getcsr();
    struct aps_format f;
    int result = 0;
    bool good;

    aps_format_parse("e5m2", &f, NULL);
    _mm_setcsr(before | zeros);
    good = aps_scale_exponent_tight(&f, (float[]){0x1p-140f}, 1, &result,
                                    NULL) == 0;
    good &= (_mm_getcsr() & zeros) == zeros;
    _mm_setcsr(before);
    ok(good && result == 155, "... nor do subnormal numbers count as zeros");
#else
    skip(1, "subnormal numbers count as zeros on x86-64 only");
#endif
}

/* --- errors -------------------------------------------------------------- */

static void refused(int result, struct aps_error *error, const char *text)
{
    if (!ok(result == -1 && errno == EINVAL && strcmp(error->text, text) == 0,
            "refused: %s", text))
        diag("%d, errno %d: %s", result, errno, error->text);
    errno = 0;
}

static void test_errors(void)
{
    const struct aps_format *f = aps_format_get("e4m3", NULL);
    struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
    struct aps_error e = {.text = ""};
    float x = 1, y = 7;
    int exponent = 42;

    options.scale_exponent = 401;
    refused(aps_cast_array(f, &x, 1, &options, &y, &e), &e,
            "aps_cast_array: the scale exponent is 401 and must be -400 to "
            "400");
    options.scale_exponent = -401;
    refused(aps_encode_array(f, &x, 1, &options, &y, &e), &e,
            "aps_encode_array: the scale exponent is -401 and must be -400 to "
            "400");
    refused(aps_decode_array(f, &x, 1, &options, &y, &e), &e,
            "aps_decode_array: the scale exponent is -401 and must be -400 to "
            "400");
    refused(aps_max_exponent(NULL, 1, 1, &exponent, &e), &e,
            "aps_max_exponent: x is NULL");
    refused(aps_max_exponent(&x, 1, 0, &exponent, &e), &e,
            "aps_max_exponent: ranks is 0 and must be at least 1");
    refused(aps_max_exponent(&x, (size_t)-1, 1, &exponent, &e), &e,
            "aps_max_exponent: n is negative or beyond memory: -1");
    refused(aps_scale_exponent_tight(NULL, &x, 1, &exponent, &e), &e,
            "aps_scale_exponent_tight: format is NULL");
    refused(aps_scale_exponent_tight(f, NULL, 1, &exponent, &e), &e,
            "aps_scale_exponent_tight: x is NULL");
    ok(y == 7 && exponent == 42, "nothing was written");
}

int main(void)
{
    static const char *const names[] = {"e4m3",   "e5m2",     "e3m0",
                                        "e8m7",   "e8m23",    "e5m10",
                                        "e4m3fn", "e5m2-sat", "e1m3"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct aps_format f;

        if (aps_format_parse(names[i], &f, NULL) < 0)
            bail_out("%s does not parse", names[i]);
        test_codes(&f, APS_ROUND_NEAREST, "nearest");
        test_codes(&f, APS_ROUND_STOCHASTIC, "stochastic");
        test_codes(&f, APS_ROUND_CORRELATED, "correlated");
        test_codes(&f, APS_ROUND_TOWARD_ZERO, "zero");
        if (f.kind == APS_FORMAT_IEEE && !f.saturate)
            test_cpd(&f);
    }
    test_max_exponent();
    test_aps();
    test_tight();
    test_subnormal();
    test_errors();
    return done_testing();
}

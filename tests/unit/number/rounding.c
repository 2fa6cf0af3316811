/* SPDX-License-Identifier: BSD-3-Clause */
/* Stochastic rounding and CPD's, each against its definition in exact doubles;
 * cast.c tests rounding toward zero. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "number/format.h"
#include "number/parse.h"
#include "unit/common/formats.h"
#include "number/bits.h"
#include "number/cast.h"
#include "number/cpd.h"
#include "number/philox.h"
#include "tap/tap.h"
#include "unit/common/wire.h"

#define DRAWS 1000000

/* --- the generator ------------------------------------------------------- */

/* The known answers that its authors publish with Random123. */
static void test_philox(void)
{
    static const struct {
        uint32_t counter[4];
        uint64_t key;
        uint32_t random[4];
    } known[] = {
        {{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         0xffffffffffffffff,
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         0x299f31d0a4093822,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t word[4];

        memcpy(word, known[i].counter, sizeof word);
        aps_philox(known[i].key, word);
        ok(memcmp(word, known[i].random, sizeof word) == 0,
           "philox4x32-10: known answer %zu", i);
    }

    const struct aps_stream stream = {
        .key = 0x299f31d0a4093822,
        .layer = 0x13198a2e,
        .step = 0x03707344,
    };
    uint64_t element = 4 * 0x85a308d3243f6a88 + 2; /* modulo 2^64 */
    uint32_t word[4];

    aps_stream_group(&stream, 0x85a308d3243f6a88, word);
    ok(word[2] == known[2].random[2], "the counter is (group, layer, step)");
    aps_stream_group(&stream, element / 4, word);
    ok(aps_stream_element(&stream, element) == word[2],
       "element i draws word i %% 4");
}

/* Returns the random bits of one element. */
static uint32_t draw(uint64_t seed, uint32_t stage, uint32_t rank,
                     uint32_t layer, uint32_t step, uint64_t element)
{
    struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
    struct aps_stream stream;

    options.seed = seed;
    options.stage = stage;
    options.rank = rank;
    options.layer = layer;
    options.step = step;
    stream = aps_stream_init(&options);
    return aps_stream_element(&stream, element);
}

/* Known answers, computed by another program from the formula in aps.h. */
static void test_streams(void)
{
    static const struct {
        uint64_t seed;
        uint32_t stage, rank, layer, step;
        uint64_t element;
        uint32_t random;
    } known[] = {
        {0, 0, 0, 0, 0, 0, 0xf1b644d8},
        {0, 0, 0, 0, 0, 1, 0xf8dc1230},
        {0, 0, 0, 0, 0, 2, 0xc12ec879},
        {0, 0, 0, 0, 0, 3, 0x63246410},
        {1, 0, 0, 0, 0, 0, 0xee2e70ee},
        {1, 0, 1, 0, 0, 0, 0x6d9154ef},
        {1, 1, 0, 0, 0, 0, 0x0b09d40f},
        {42, 0, APS_RANK_ALL, 7, 9, 1000000000001, 0x9a8ba3be},
        {UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT64_MAX,
         0x6c1bd7c6},
        {0x299f31d0a4093822, 2, 1000, 0x13198a2e, 0x03707344,
         0x168c234c90fdaa22, 0x385c87f0},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ok(draw(known[i].seed, known[i].stage, known[i].rank, known[i].layer,
                known[i].step, known[i].element) == known[i].random,
           "streams: known answer %zu", i);
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Stages and ranks of one seed have their own keys: no random bits are used twice. */
static void test_keys(void)
{
    static uint64_t keys[64 * 1024];
    struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
    size_t n = 0;
    bool distinct = true;

    options.seed = 12345;
    for (options.stage = 0; options.stage < 64; options.stage++) {
        for (options.rank = 0; options.rank < 1024; options.rank++)
            keys[n++] = aps_stream_init(&options).key;
    }
    qsort(keys, n, sizeof *keys, compare_keys);
    for (size_t i = 1; i < n; i++)
        distinct &= keys[i] != keys[i - 1];
    ok(distinct, "64 stages of 1024 ranks have different keys");
    ok(draw(1, 0, 0, 0, 0, 5) != draw(1, 0, 0, 0, 0, 5 + (1ull << 34)) &&
           draw(1, 0, 0, 0, 0, 5) != draw(1, 0, 0, 0, 0, 5 + (1ull << 63)),
       "elements beyond 2^32 have bits of their own");
}

/* Neighbours of any kind have independent bits: of 32 bits, 16 differ on
 * average (the mean over these pairs is within 0.06 of 16 with 6 sigma). */
static void test_independence(void)
{
    enum { PAIRS = 100000 };
    static const char *const names[] = {"seed",  "stage", "rank",
                                        "layer", "step",  "element"};

    for (int which = 0; which < 6; which++) {
        double sum = 0;

        for (uint32_t i = 0; i < PAIRS; i++) {
            uint32_t other[6] = {0};

            other[which] = 1;
            sum += __builtin_popcount(draw(3, i % 5, i % 7, i % 11, i % 13, i) ^
                                      draw(3 + other[0], i % 5 + other[1],
                                           i % 7 + other[2], i % 11 + other[3],
                                           i % 13 + other[4], i + other[5]));
        }
        ok(fabs(sum / PAIRS - 16) < 0.06,
           "streams of neighbouring %ss: %.3f "
           "of 32 bits differ",
           names[which], sum / PAIRS);
    }
}

/* --- stochastic ---------------------------------------------------------- */

/* Returns the rounded value of finite x: up if the fraction of a step, cut to
 * 32 bits, and the random bits add up to a whole step. */
static double stochastic(const struct aps_format *f, float x, uint32_t random)
{
    double magnitude = fabs((double)x);
    double smallest = aps_format_min_normal(f);
    double binade =
        magnitude < smallest ? smallest : ldexp(1, ilogb(magnitude));
    double step = ldexp(binade, -f->mantissa_bits);
    double steps = magnitude / step; /* exact */
    double fraction = floor(ldexp(steps - floor(steps), 32));
    bool up = fraction + random >= 0x1p32;
    double value = (floor(steps) + up) * step;

    if (value > (double)aps_format_max(f))
        value = (double)fabsf(aps_cast(f, INFINITY));
    return copysign(value, (double)x);
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}

static void test_stochastic(void)
{
    struct aps_format f;

    for (int i = 0; format_at(i, &f); i++) {
        bool pass = true;

        for (int j = 0; j < 20000 && pass; j++) {
            float x = random_value(&f, 0);
            uint32_t random = random_bits();
            uint32_t code = aps_cast_round(&f, aps_float_bits(x), 0,
                                           APS_ROUND_STOCHASTIC, random);
            double expected = isfinite(x) ? stochastic(&f, x, random)
                                          : (double)aps_cast(&f, x);

            pass = same((double)aps_decode(&f, code), expected);
            if (!pass)
                diag("%s: %a with 0x%08x -> %a, not %a", f.name, (double)x,
                     random, (double)aps_decode(&f, code), expected);
        }
        ok(pass, "%s: stochastic rounding of random values", f.name);
    }
}

/* Returns how often x is rounded to `value`. */
static int count_of(const struct aps_format *f, float x, double value)
{
    static float in[1000], out[1000];
    struct aps_cast_options options = {.size = sizeof options,
                                       .rounding = APS_ROUND_STOCHASTIC,
                                       .seed = 42,
                                       .layer = 7};
    int count = 0;

    for (int i = 0; i < 1000; i++)
        in[i] = x;
    options.step = aps_float_bits(x);
    for (int i = 0; i < DRAWS; i += 1000) {
        options.offset = (uint64_t)i;
        aps_cast_array(f, in, 1000, &options, out, NULL);
        for (int j = 0; j < 1000; j++)
            count += (double)out[j] == value;
    }
    return count;
}

static void test_unbiased(void)
{
    static const struct {
        const char *format;
        double low, high, becomes; /* high, or the result of an overflow */
    } pairs[] = {
        {"e4m3", 0, 0x1p-9, 0x1p-9},
        {"e4m3", 0x3p-9, 0x4p-9, 0x4p-9},
        {"e4m3", 0x7p-9, 0x8p-9, 0x8p-9},
        {"e4m3", 1, 1.125, 1.125},
        {"e4m3", -1.875, -2, -2},
        {"e4m3", 240, 256, (double)INFINITY},
        {"e5m2", -0x1p-16, -0x2p-16, -0x2p-16},
        {"e5m2", 40960, 49152, 49152},
        {"e3m0", 0, 0.25, 0.25},
        {"e3m0", 2, 4, 4},
        {"e8m7", 0, 0x1p-133, 0x1p-133},
        {"e2m1fn", 4, 6, 6},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        double low = pairs[i].low, high = pairs[i].high;
        struct aps_format f;
        bool pass = true;

        aps_format_parse(pairs[i].format, &f, NULL);
        for (int k = 0; k <= 8; k++) {
            double p = k / 8.0, mean = p * DRAWS;
            double deviation = sqrt(DRAWS * p * (1 - p));
            float x = (float)(low + (high - low) * p);
            int ups = count_of(&f, x, pairs[i].becomes);

            if (fabs(ups - mean) <= 4 * deviation)
                continue;
            pass = false;
            diag("%s: %a went up %d times of %d", f.name, (double)x, ups,
                 DRAWS);
        }
        ok(pass, "%s: unbiased at eighths between %a and %a", f.name, low,
           high);
    }
}

/* --- CPD ----------------------------------------------------------------- */

static float cpd(const struct aps_format *f, float x)
{
    double magnitude = fabs((double)x), result;
    int e, m = f->mantissa_bits;

    if (x == 0 || !isfinite(x))
        return x;
    if (magnitude < 0x1p-126)
        return 0;
    e = ilogb(magnitude);
    if (e > f->bias) {
        result = (double)INFINITY;
    } else if (e >= 1 - f->bias) {
        result = ldexp(nearbyint(ldexp(magnitude, m - e)), e - m);
    } else {
        /* in 24 bits whose last is 2^-23 of the smallest normal value */
        double kept = floor(ldexp(magnitude, f->bias - 1 + 23));

        result = ldexp(nearbyint(ldexp(kept, m - 23)), 1 - f->bias - m);
    }
    return (float)copysign(result, (double)x);
}

static void test_cpd(void)
{
    static const struct {
        const char *format;
        float x, y;
    } table[] = {
        {"e5m2", 57344, 57344},
        {"e5m2", 61439, 57344},
        {"e5m2", 61440, 65536}, /* rounds past the largest value */
        {"e5m2", -65535, -65536},
        {"e5m2", 65536, INFINITY},
        {"e4m3", 248, 256},
        {"e4m3", -256, -INFINITY},
        {"e4m3", 0x1p-10f, 0},
        {"e4m3", 0x1.00002p-10f, 0x1p-9f},
        {"e4m3", 0x1.00000ep-10f, 0}, /* dropped: a tie, to even */
        {"e4m3", 0x3p-10f, 0x1p-8f},
        {"e4m3", 0x1.80000ep-9f, 0x1p-8f},
        {"e4m3", 0x1.400006p-8f, 0x1p-8f}, /* dropped, as in the first row */
        {"e4m3", -0x1p-11f, -0.0f},
        {"e4m3", -0x1p-130f, 0}, /* a subnormal float loses its sign */
        {"e8m7", 0x1.fffffcp-127f, 0},
        {"e8m7", 0x1p-126f, 0x1p-126f},
        {"e8m7", 0x1.fffffep127f, INFINITY},
        {"e3m0", 3, 4},
        {"e3m0", 6, 8},
        {"e3m0", 12, 16},
        {"e3m0", 0.125f, 0},
        {"e7m23", 0x1.fffffep-63f, 0x1.fffffcp-63f}, /* truncated */
        {"e1m2", 0.75f, 1},
        {"e1m2", 1.75f, 2},
        {"e1m2", 2, INFINITY},
    };
    struct aps_format f;

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        float y;

        aps_format_parse(table[i].format, &f, NULL);
        y = aps_float_from_bits(aps_cpd_cast(&f, aps_float_bits(table[i].x)));
        if (!ok(same((double)y, (double)table[i].y), "cpd %s: %a is %a", f.name,
                (double)table[i].x, (double)table[i].y))
            diag("got %a", (double)y);
    }
    for (int i = 0; i < FORMATS_IEEE && format_at(i, &f); i++) {
        bool pass = true;

        for (int j = 0; j < 20000 && pass; j++) {
            float x = random_value(&f, 0);
            float y = aps_float_from_bits(aps_cpd_cast(&f, aps_float_bits(x)));

            pass = aps_float_bits(y) == aps_float_bits(cpd(&f, x));
            if (!pass)
                diag("cpd %s: %a -> %a, not %a", f.name, (double)x, (double)y,
                     (double)cpd(&f, x));
        }
        ok(pass, "cpd %s: random values", f.name);
    }
}

int main(void)
{
    test_philox();
    test_streams();
    test_keys();
    test_independence();
    test_stochastic();
    test_unbiased();
    test_cpd();
    return done_testing();
}

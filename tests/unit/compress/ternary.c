/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TernGrad's digits and sums against their definitions, element by element, with every
 * instruction set: right on average, exact sums, bytes that follow the formula.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "compress/ternary.h"
#include "compress/ternary_sums.h"
#include "number/bits.h"
#include "number/philox.h"
#include "tests/tap/tap.h"

#define N 5000
#define GUARD 16
#define DRAWS 10000

static const size_t sizes[] = {1,   4,   5,   6,   63,   64,   65,   319, 320,
                               321, 640, 644, 999, 1024, 1025, 2560, N};
#define SIZES (sizeof sizes / sizeof *sizes)

static float x[N];

static void fill(int exponent)
{
    uint32_t state = 1;

    for (size_t i = 0; i < N; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = ldexpf((float)(int32_t)state * 0x1p-31f, exponent);
        x[i] *= fabsf(ldexpf(x[i], -exponent));
        if (i % 97 == 0)
            x[i] = i % 2 ? 0.f : -0.f;
    }
}

/* --- by definition --------------------------------------------------------- */

static double total(const double *lane)
{
    double sum[16];

    memcpy(sum, lane, sizeof sum);
    for (int apart = 8; apart > 0; apart /= 2)
        for (int i = 0; i < apart; i++)
            sum[i] += sum[i + apart];
    return sum[0];
}

static struct aps_ternary_scale scale_of(size_t n, float clip)
{
    struct aps_ternary_scale scale = {0, 0};
    double lane[16] = {0}, square[16] = {0}, mean, sigma;

    for (size_t i = 0; i < n; i++) {
        lane[i % 16] += (double)x[i];
        square[i % 16] += (double)x[i] * (double)x[i];
        scale.limit = fmaxf(scale.limit, fabsf(x[i]));
    }
    mean = total(lane) / (double)n;
    sigma = sqrt(fmax(0, total(square) / (double)n - mean * mean));
    if (clip > 0 && sigma > 0x1p-20 * (double)scale.limit)
        scale.limit = (float)fmin((double)scale.limit, (double)clip * sigma);
    scale.scaler = scale.limit;
    return scale;
}

static int digit_of(size_t i, float limit, float scaler,
                    const struct aps_cast_options *options)
{
    const struct aps_stream stream = aps_stream_init(options);
    const uint32_t bits = aps_stream_element(&stream, options->offset + i);
    const float power = scaler < 0x1p-64f   ? 0x1p64f
                        : scaler >= 0x1p64f ? 0x1p-64f
                                            : 1;
    const float y = fminf(fabsf(x[i]), limit) * power * (1 / (scaler * power));
    const bool one = y >= 1 || floor((double)y * 0x1p31) + bits / 2 >= 0x1p31;

    return !one ? 0 : signbit(x[i]) ? -1 : 1;
}

/* Byte j of group g: digits j, m + j, ... */
static void write_digits(const int *value, size_t n, uint8_t *bytes)
{
    for (size_t g = 0; g < n; g += 320) {
        const size_t count = n - g < 320 ? n - g : 320, m = (count + 4) / 5;

        for (size_t j = 0; j < m; j++) {
            int byte = 0;

            for (size_t k = 5; k-- > 0;)
                byte = 3 * byte +
                       (k * m + j < count ? value[g + k * m + j] : 0) + 1;
            *bytes++ = (uint8_t)byte;
        }
    }
}

/* --- tests ----------------------------------------------------------------- */

/* x is the sum of itself and the clipped part. */
static bool measures_sums_right(enum aps_cpu cpu, size_t n, float clip,
                                const struct aps_ternary_scale *wanted)
{
    struct aps_ternary_scale scale = {-1, -1};
    static float g[N], e[N], delta[N + 1];

    for (size_t i = 0; i < n; i++) {
        e[i] = (float)(i % 3) * 0.25f * x[i];
        g[i] = x[i] - e[i];
        if (g[i] + e[i] != x[i] || signbit(x[i])) {
            g[i] = x[i];
            e[i] = -0.f;
        }
    }
    delta[n] = 7;
    return aps_ternary_measure_sum(g, e, n, clip, cpu, delta, &scale) ==
               (wanted->limit > 0 ? APS_TERNARY_VALUES : APS_TERNARY_ZERO) &&
           scale.limit == wanted->limit && scale.scaler == wanted->scaler &&
           memcmp(delta, x, n * sizeof *x) == 0 && delta[n] == 7;
}

static bool measures_right(enum aps_cpu cpu, size_t n, float clip)
{
    const struct aps_ternary_scale wanted = scale_of(n, clip);
    struct aps_ternary_scale scale = {-1, -1};

    return measures_sums_right(cpu, n, clip, &wanted) &&
           aps_ternary_measure(x, n, clip, cpu, &scale) ==
               (wanted.limit > 0 ? APS_TERNARY_VALUES : APS_TERNARY_ZERO) &&
           scale.limit == wanted.limit && scale.scaler == wanted.scaler;
}

static bool encodes_right(enum aps_cpu cpu, size_t n, float clip)
{
    const struct aps_ternary_scale scale = scale_of(n, clip);
    const float scaler = scale.scaler * 1.25f;
    const size_t bytes = aps_ternary_bytes(n);
    struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
    static uint8_t wanted[N], digits[N + GUARD];
    static int value[N];
    static float left[N];
    static int16_t sum[N + 1];
    bool right = true;

    if (!(scaler > 0))
        return true;
    options.seed = 5;
    options.rank = 3;
    options.offset = 640;
    for (size_t i = 0; i < n; i++)
        value[i] = digit_of(i, scale.limit, scaler, &options);
    write_digits(value, n, wanted);
    memset(digits, 0xa5, sizeof digits);
    aps_ternary_encode(x, n, scale.limit, scaler, &options, cpu, digits);
    right &= memcmp(digits, wanted, bytes) == 0;
    for (size_t i = 0; i < GUARD; i++)
        right &= digits[bytes + i] == 0xa5;
    memcpy(left, x, sizeof left);
    memset(digits, 0xa5, sizeof digits);
    aps_ternary_take(left, n, scale.limit, scaler, &options, cpu, digits);
    right &= memcmp(digits, wanted, bytes) == 0 && digits[bytes] == 0xa5;
    for (size_t i = 0; i < N; i++)
        right &= left[i] == (i < n ? x[i] - (float)value[i] * scaler : x[i]);
    for (size_t i = 0; i <= n; i++)
        sum[i] = (int16_t)(i % 7);
    aps_ternary_add(digits, n, cpu, sum);
    for (size_t i = 0; i < n; i++)
        right &= sum[i] == (int)(i % 7) + value[i];
    return right && sum[n] == (int)(n % 7);
}

/* Packs and unpacks sums of all values, in the bytes of the formula. */
static bool sums_right(enum aps_cpu cpu, size_t n, int ranks)
{
    const size_t bytes = aps_ternary_sum_bytes(ranks, n);
    static int16_t sum[N], more[N + 1];
    static uint8_t wire[2 * N + GUARD];
    static float y[N + 1];
    bool right = bytes == (n * (size_t)ceil(log2(2. * ranks + 1)) + 7) / 8;

    for (size_t i = 0; i < n; i++)
        sum[i] =
            (int16_t)((int)((i * 7919 + 1) % (2 * (size_t)ranks + 1)) - ranks);
    sum[n - 1] = (int16_t)ranks;
    memset(wire, 0xa5, sizeof wire);
    aps_ternary_sum_pack(sum, n, ranks, wire);
    for (size_t i = 0; i < GUARD; i++)
        right &= wire[bytes + i] == 0xa5;
    y[n] = 7;
    aps_ternary_sum_decode(wire, n, ranks, 0.3f, cpu, y);
    for (size_t i = 0; i < n; i++)
        right &= y[i] == (float)sum[i] * 0.3f;
    right &= y[n] == 7;
    memset(y, 0, n * sizeof *y);
    aps_ternary_sum_scale(sum, n, 0.3f, y);
    for (size_t i = 0; i < n; i++)
        right &= y[i] == (float)sum[i] * 0.3f;
    right &= y[n] == 7;
    for (size_t i = 0; i < n; i++)
        more[i] = (int16_t)((int)(i % 5) - 2 - sum[i]);
    more[n] = 7;
    aps_ternary_sum_add(wire, n, ranks, cpu, more);
    for (size_t i = 0; i < n; i++)
        right &= more[i] == (int)(i % 5) - 2;
    return right && more[n] == 7;
}

static void test_cpu(enum aps_cpu cpu)
{
    static const int ranks[] = {1, 2, 3, 4, 7, 8, 64, 100, 127, 256, 32767};
    static const int exponents[] = {0, -100, -140, 100, 126};
    bool measured = true, encoded = true, summed = true;

    for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
        fill(exponents[e]);
        for (size_t s = 0; s < SIZES; s++)
            for (int clip = 0; clip < 4; clip++) {
                const float c = (float)clip * 1.25f;

                measured &= measures_right(cpu, sizes[s], c);
                encoded &= encodes_right(cpu, sizes[s], c);
            }
    }
    for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++)
        for (size_t s = 0; s < SIZES; s++)
            summed &= sums_right(cpu, sizes[s], ranks[r]);
    ok(measured, "%s: limit and scaler as defined", aps_cpu_name(cpu));
    ok(encoded, "%s: digits as defined, decoded and added", aps_cpu_name(cpu));
    ok(summed, "%s: sums in ceil(log2(2 N + 1)) bits", aps_cpu_name(cpu));
}

/* The mean over draws is the clipped value, within four standard errors. */
static void test_unbiased(float clip)
{
    enum { COUNT = 50 };
    const enum aps_cpu cpu = aps_cpu_chosen();
    struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
    struct aps_ternary_scale scale;
    double sum[COUNT] = {0};
    bool right = true;

    fill(0);
    aps_ternary_measure(x, COUNT, clip, cpu, &scale);
    options.rank = 2;
    for (int draw = 0; draw < DRAWS; draw++) {
        uint8_t digits[COUNT];
        int16_t values[COUNT] = {0};

        options.step = (uint32_t)draw;
        aps_ternary_encode(x, COUNT, scale.limit, scale.scaler, &options, cpu,
                           digits);
        aps_ternary_add(digits, COUNT, cpu, values);
        for (int i = 0; i < COUNT; i++)
            sum[i] += values[i] * (double)scale.scaler;
    }
    for (int i = 0; i < COUNT; i++) {
        const double value = copysign(
            fmin(fabs((double)x[i]), (double)scale.limit), (double)x[i]);
        const double p = fabs(value) / (double)scale.scaler;
        const double sigma = (double)scale.scaler * sqrt(p * (1 - p) / DRAWS);

        right &= fabs(sum[i] / DRAWS - value) <= 4 * sigma + 1e-6;
    }
    ok(right && (clip == 0 || scale.scaler < 0.9f),
       "unbiased with clip %g: scaler %g, %d draws", (double)clip,
       (double)scale.scaler, DRAWS);
}

/* The sum of eight ranks is that of each rank's own, in any order. */
static void test_ranks(void)
{
    const enum aps_cpu cpu = aps_cpu_chosen();
    struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
    static int16_t up[N], down[N];
    static int wanted[N];
    static uint8_t digits[8][N];
    size_t differ = 0;
    bool right = true;

    fill(0);
    for (int r = 0; r < 8; r++) {
        options.rank = (uint32_t)r;
        aps_ternary_encode(x, N, 0.25f, 0.25f, &options, cpu, digits[r]);
    }
    for (int r = 0; r < 8; r++) {
        int16_t one[N] = {0};

        aps_ternary_add(digits[r], N, cpu, one);
        for (size_t i = 0; i < N; i++)
            wanted[i] += one[i];
        aps_ternary_add(digits[r], N, cpu, up);
        aps_ternary_add(digits[7 - r], N, cpu, down);
    }
    for (size_t i = 0; i < aps_ternary_bytes(N); i++)
        differ += digits[0][i] != digits[1][i];
    for (size_t i = 0; i < N; i++)
        right &= up[i] == wanted[i];
    ok(right, "sums of eight ranks are those of their own digits");
    ok(memcmp(up, down, sizeof up) == 0,
       "sums of eight ranks are equal in any order");
    ok(differ > aps_ternary_bytes(N) / 4, "ranks draw apart from each other");
}

static void test_special(void)
{
    static const float zeros[4] = {0, -0.f, 0, 0}, alike[3] = {2, 2, 2};
    static const float special[] = {INFINITY, -INFINITY, NAN};
    struct aps_ternary_scale scale = {5, 5};
    float y[40] = {1};
    bool told = true;

    for (enum aps_cpu cpu = APS_CPU_PLAIN; cpu < APS_CPUS; cpu++) {
        if (!aps_cpu_supported(cpu))
            continue;
        for (int i = 0; i < 40; i++)
            for (int k = 0; k < 3; k++) {
                memset(y, 0, sizeof y);
                y[i] = special[k];
                told &= aps_ternary_measure(y, 40, 2.5f, cpu, &scale) ==
                        APS_TERNARY_NONFINITE;
            }
    }
    ok(told && scale.limit == 5,
       "INF and NaN are reported, nothing is written");
    ok(aps_ternary_measure(zeros, 4, 2.5f, aps_cpu_chosen(), &scale) ==
               APS_TERNARY_ZERO &&
           scale.scaler == 0,
       "a layer of zeros is reported");
    ok(aps_ternary_measure(alike, 3, 2.5f, aps_cpu_chosen(), &scale) ==
               APS_TERNARY_VALUES &&
           scale.limit == 2 && scale.scaler == 2,
       "values that are all alike are not clipped");
}

static void test_bytes(void)
{
    static const int table[][2] = {{1, 2},  {2, 3},  {4, 4},   {8, 5},
                                   {16, 6}, {64, 8}, {256, 10}};
    bool right = aps_ternary_bytes(0) == 0 && aps_ternary_bytes(1) == 1 &&
                 aps_ternary_bytes(5) == 1 && aps_ternary_bytes(6) == 2 &&
                 aps_ternary_bytes(320) == 64 && aps_ternary_bytes(321) == 65;

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        right &= aps_ternary_sum_bits(table[i][0]) == (unsigned)table[i][1];
    ok(right, "five digits a byte; bits of sums");
}

int main(void)
{
    for (enum aps_cpu cpu = APS_CPU_PLAIN; cpu < APS_CPUS; cpu++) {
        if (aps_cpu_supported(cpu))
            test_cpu(cpu);
        else
            skip(3, "this CPU has no %s", aps_cpu_name(cpu));
    }
    test_unbiased(0);
    test_unbiased(1);
    test_ranks();
    test_special();
    test_bytes();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compress/ternary.h"

#include <math.h>
#include <string.h>

#include "kernel/kernel.h"
#include "blockwise/lanes.h"
#include "simd/rounding.h"

#define GROUP APS_TERNARY_GROUP
#define BYTES ((size_t)64) /* bytes of a group */
#define DIGITS 5
#define ALIKE                                                                  \
    0x1p-20 /* deviation up to which values count as equal, relative to the
               greatest magnitude */
#define BLOCK ((size_t)4096)

size_t aps_ternary_bytes(size_t n)
{
    return n / DIGITS + (n % DIGITS > 0);
}

/* --- the scale ------------------------------------------------------------ */

struct ternary_sums {
    double lane[APS_LANES], square[APS_LANES];
    int32_t greatest; /* bit pattern */
};

/* Adds x[j] to lane j, for all lanes, in loops that vectorise one by one. */
APS_INLINE void ternary_lanes_add(const float *x, double *lane, double *square,
                                  int32_t *greatest)
{
    double v[APS_LANES];

    for (size_t j = 0; j < APS_LANES; j++)
        v[j] = (double)x[j];
    for (size_t j = 0; j < APS_LANES; j++)
        lane[j] += v[j];
    for (size_t j = 0; j < APS_LANES; j++)
        square[j] += v[j] * v[j];
    for (size_t j = 0; j < APS_LANES; j++) {
        const int32_t magnitude =
            (int32_t)(aps_float_bits(x[j]) & ~APS_FLOAT_SIGN);

        greatest[j] = magnitude > greatest[j] ? magnitude : greatest[j];
    }
}

/* Measures g, or delta = g + e, if there is an e. Values after the end are 0,
 * which changes nothing. */
APS_INLINE void ternary_measure_body(const float *g, const float *e, size_t n,
                                     float *delta, struct ternary_sums *out)
{
    const aps_any_float *in = (const void *)g, *memory = (const void *)e;
    aps_any_float *to = (void *)delta;
    double lane[APS_LANES] = {0}, square[APS_LANES] = {0};
    int32_t greatest[APS_LANES] = {0};
    const size_t whole = n / APS_LANES * APS_LANES;
    float x[APS_LANES];

    for (size_t i = 0; i < whole; i += APS_LANES) {
        for (size_t j = 0; j < APS_LANES; j++)
            x[j] = e ? in[i + j] + memory[i + j] : in[i + j];
        for (size_t j = 0; e && j < APS_LANES; j++)
            to[i + j] = x[j];
        ternary_lanes_add(x, lane, square, greatest);
    }
    for (size_t j = 0; j < APS_LANES; j++)
        x[j] = 0;
    for (size_t j = 0; j < n - whole && j < APS_LANES; j++) {
        x[j] = e ? in[whole + j] + memory[whole + j] : in[whole + j];
        if (e)
            to[whole + j] = x[j];
    }
    ternary_lanes_add(x, lane, square, greatest);
    out->greatest = 0;
    for (size_t j = 0; j < APS_LANES; j++) {
        out->lane[j] = lane[j];
        out->square[j] = square[j];
        out->greatest =
            greatest[j] > out->greatest ? greatest[j] : out->greatest;
    }
}

static struct aps_ternary_scale ternary_scale(const struct ternary_sums *sums,
                                              size_t n, float clip)
{
    const float max = aps_float_from_bits((uint32_t)sums->greatest);
    const double mean = aps_lanes_total(sums->lane) / (double)n;
    const double variance =
        aps_lanes_total(sums->square) / (double)n - mean * mean;
    const double sigma = variance > 0 ? sqrt(variance) : 0;
    struct aps_ternary_scale scale = {.limit = max, .scaler = max};

    if (clip > 0 && sigma > ALIKE * (double)max &&
        (double)clip * sigma < (double)max) {
        scale.limit = (float)((double)clip * sigma);
        /* a limit of subnormal values may have become 0 */
        if (scale.limit > 0)
            scale.scaler = scale.limit;
        else
            scale.limit = max;
    }
    return scale;
}

/* --- digits --------------------------------------------------------------- */

/* Constants that encode a group. */
struct ternary_step {
    float limit, scaler;
    float power, inverse; /* the scaler times the power, and its inverse */
};

/* digit[n] = 0, 1 or 2 for x[n], n <= GROUP. left[n], which may be x, gets the
 * residuals, unless it is NULL. */
APS_INLINE void ternary_draw(const aps_any_float *x, size_t n,
                             const struct ternary_step *step,
                             const uint32_t *random, uint8_t *digit,
                             aps_any_float *left)
{
    const struct ternary_step s = *step;

    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = aps_float_bits(x[i]);
        const float magnitude = aps_float_from_bits(bits & ~APS_FLOAT_SIGN);
        const float clipped = magnitude < s.limit ? magnitude : s.limit;
        const float y = clipped * s.power * s.inverse;
        /* the largest float below 1 gives 2^31 - 128 here */
        const int32_t part = (int32_t)((y < 1 ? y : 0) * 0x1p31f);
        const int32_t word = (int32_t)(random[i] >> 1);
        const int32_t one = (y >= 1) | (word > INT32_MAX - part);
        const int32_t sign = (int32_t)(bits >> 31);
        const int32_t value = one - 2 * (one & sign);

        digit[i] = (uint8_t)(1 + value);
        if (left)
            left[i] = aps_float_from_bits(bits) - (float)value * s.scaler;
    }
}

/* Joins digit[5 * m] to byte[m]. */
APS_INLINE void ternary_join(const uint8_t *digit, size_t m, uint8_t *byte)
{
    for (size_t j = 0; j < m; j++)
        byte[j] = (uint8_t)(digit[j] + 3 * digit[m + j] + 9 * digit[2 * m + j] +
                            27 * digit[3 * m + j] + 81 * digit[4 * m + j]);
}

/* Splits byte[BYTES] to digit[GROUP]. */
APS_INLINE void ternary_split(const uint8_t *byte, uint8_t *digit)
{
    for (size_t j = 0; j < BYTES; j++) {
        uint16_t rest = byte[j];

        for (size_t k = 0; k < DIGITS; k++) {
            const uint16_t third = (uint16_t)(rest * 171 >> 9); /* rest / 3 */

            digit[k * BYTES + j] = (uint8_t)(rest - 3 * third);
            rest = third;
        }
    }
}

/* Splits the digits of the last group, n < GROUP. */
APS_INLINE void ternary_split_last(const uint8_t *byte, size_t n,
                                   uint8_t *digit)
{
    const size_t m = aps_ternary_bytes(n);
    uint8_t whole[BYTES] = {0}, apart[GROUP];

    for (size_t j = 0; j < m && j < BYTES; j++)
        whole[j] = byte[j];
    ternary_split(whole, apart);
    for (size_t i = 0; i < n && i < GROUP; i++)
        digit[i] = apart[i / m * BYTES + i % m];
}

APS_INLINE void ternary_encode_body(const float *x, size_t n, float limit,
                                    float scaler,
                                    const struct aps_cast_options *options,
                                    enum aps_vectors vectors, uint8_t *digits,
                                    float *left)
{
    const aps_any_float *in = (const void *)x;
    aps_any_float *out = (void *)left;
    const struct aps_draw draw = aps_draw_init(options);
    const float power = scaler < 0x1p-64f   ? 0x1p64f
                        : scaler >= 0x1p64f ? 0x1p-64f
                                            : 1;
    const struct ternary_step step = {limit, scaler, power,
                                      1 / (scaler * power)};

    for (size_t i = 0; i < n; i += GROUP, digits += BYTES) {
        const size_t count = n - i < GROUP ? n - i : GROUP;
        uint32_t word[APS_ROUNDING_WORDS];
        uint8_t digit[GROUP];
        const uint32_t *random =
            aps_rounding_draw(&draw, options->offset + i, count, vectors, word);

        if (count == GROUP) {
            ternary_draw(in + i, GROUP, &step, random, digit,
                         left ? out + i : NULL);
            ternary_join(digit, BYTES, digits);
        } else {
            memset(digit, 1, sizeof digit);
            ternary_draw(in + i, count, &step, random, digit,
                         left ? out + i : NULL);
            ternary_join(digit, aps_ternary_bytes(count), digits);
        }
    }
}

APS_INLINE void ternary_add_body(const uint8_t *digits, size_t n, int16_t *sum)
{
    for (size_t i = 0; i < n; i += GROUP, digits += BYTES) {
        const size_t count = n - i < GROUP ? n - i : GROUP;
        uint8_t digit[GROUP];

        if (count == GROUP)
            ternary_split(digits, digit);
        else
            ternary_split_last(digits, count, digit);
        for (size_t j = 0; j < count; j++)
            sum[i + j] = (int16_t)(sum[i + j] + digit[j] - 1);
    }
}

/* --- instruction sets ------------------------------------------------------ */

struct ternary_kernels {
    void (*measure)(const float *x, size_t n, struct ternary_sums *out);
    void (*measure_sum)(const float *g, const float *e, size_t n, float *delta,
                        struct ternary_sums *out);
    void (*encode)(const float *x, size_t n, float limit, float scaler,
                   const struct aps_cast_options *options, uint8_t *digits);
    void (*take)(float *x, size_t n, float limit, float scaler,
                 const struct aps_cast_options *options, uint8_t *digits);
    void (*add)(const uint8_t *digits, size_t n, int16_t *sum);
};

#define VARIANT(arg, CPU, name, target)                                        \
    target static void measure_##name(const float *x, size_t n,                \
                                      struct ternary_sums *out)                \
    {                                                                          \
        ternary_measure_body(x, NULL, n, NULL, out);                           \
    }                                                                          \
    target static void measure_sum_##name(const float *g, const float *e,      \
                                          size_t n, float *delta,              \
                                          struct ternary_sums *out)            \
    {                                                                          \
        ternary_measure_body(g, e, n, delta, out);                             \
    }                                                                          \
    target static void encode_##name(                                          \
        const float *x, size_t n, float limit, float scaler,                   \
        const struct aps_cast_options *options, uint8_t *digits)               \
    {                                                                          \
        ternary_encode_body(x, n, limit, scaler, options, APS_VECTORS_##CPU,   \
                            digits, NULL);                                     \
    }                                                                          \
    target static void take_##name(                                            \
        float *x, size_t n, float limit, float scaler,                         \
        const struct aps_cast_options *options, uint8_t *digits)               \
    {                                                                          \
        ternary_encode_body(x, n, limit, scaler, options, APS_VECTORS_##CPU,   \
                            digits, x);                                        \
    }                                                                          \
    target static void add_##name(const uint8_t *digits, size_t n,             \
                                  int16_t *sum)                                \
    {                                                                          \
        ternary_add_body(digits, n, sum);                                      \
    }
#define ROW(arg, CPU, name, target)                                            \
    [APS_CPU_##CPU] = {                                                        \
        .measure = measure_##name,                                             \
        .measure_sum = measure_sum_##name,                                     \
        .encode = encode_##name,                                               \
        .take = take_##name,                                                   \
        .add = add_##name,                                                     \
    },

APS_CPU_ROWS(VARIANT, )

static const struct ternary_kernels kernels[APS_CPUS] = {APS_CPU_ROWS(ROW, )};

static enum aps_ternary_kind ternary_kind(const struct ternary_sums *sums,
                                          size_t n, float clip,
                                          struct aps_ternary_scale *scale)
{
    if ((uint32_t)sums->greatest >= APS_FLOAT_INF)
        return APS_TERNARY_NONFINITE;
    if (sums->greatest == 0) {
        *scale = (struct aps_ternary_scale){0, 0};
        return APS_TERNARY_ZERO;
    }
    *scale = ternary_scale(sums, n, clip);
    return APS_TERNARY_VALUES;
}

enum aps_ternary_kind aps_ternary_measure(const float *x, size_t n, float clip,
                                          enum aps_cpu cpu,
                                          struct aps_ternary_scale *scale)
{
    struct ternary_sums sums;

    kernels[cpu].measure(x, n, &sums);
    return ternary_kind(&sums, n, clip, scale);
}

enum aps_ternary_kind aps_ternary_measure_sum(const float *g, const float *e,
                                              size_t n, float clip,
                                              enum aps_cpu cpu, float *delta,
                                              struct aps_ternary_scale *scale)
{
    struct ternary_sums sums;

    kernels[cpu].measure_sum(g, e, n, delta, &sums);
    return ternary_kind(&sums, n, clip, scale);
}

void aps_ternary_encode(const float *x, size_t n, float limit, float scaler,
                        const struct aps_cast_options *options,
                        enum aps_cpu cpu, uint8_t *digits)
{
    kernels[cpu].encode(x, n, limit, scaler, options, digits);
}

void aps_ternary_take(float *x, size_t n, float limit, float scaler,
                      const struct aps_cast_options *options, enum aps_cpu cpu,
                      uint8_t *digits)
{
    kernels[cpu].take(x, n, limit, scaler, options, digits);
}

void aps_ternary_add(const uint8_t *digits, size_t n, enum aps_cpu cpu,
                     int16_t *sum)
{
    kernels[cpu].add(digits, n, sum);
}

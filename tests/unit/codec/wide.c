/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats wider than FP32: every variant of their codec against an oracle, which
 * rounds by long double and packs bit by bit.
 */
#include "config.h"

#include <string.h>

#include "base/cpu.h"
#include "codec/codec.h"
#include "unit/common/rounded.h"
#include "unit/common/wide_oracle.h"

#define N ((size_t)1 << 20)

static double x[N], y[N], back[N + 1];
static uint64_t codes[N];
static unsigned char wire[N * 8 + 1], wanted[N * 8 + 1];

static const char *const wide[] = {
    "e8m24",  "e2m24",  "e5m40",  "e8m31",  "e9m1",   "e9m6",   "e9m22",
    "e10m30", "e10m52", "e11m1",  "e11m12", "e11m20", "e11m36", "e11m44",
    "e11m51", "e11m52", "e10m53", "e12m3",  "e9m0",   "e1m30",  "e9m20-sat",
};
#define WIDE 16 /* the others have no such format */

static double double_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t oracle(const struct aps_format *format, double value,
                       double *means)
{
    return wide_oracle(format->exponent_bits, format->mantissa_bits, value,
                       means);
}

/* Bits of any value: also NaN, INF, subnormals, and halves of the format's steps. */
static void fill(const struct aps_format *format)
{
    const int least = 1 - format->bias - format->mantissa_bits;

    for (size_t i = 0; i < N; i++) {
        const uint64_t bits = (uint64_t)random_bits() << 32 | random_bits();

        x[i] = double_of(bits);
        if (i % 8 == 1) /* near the smallest values */
            x[i] = ldexp(x[i] - x[i] == 0 ? frexp(x[i], &(int){0}) : 1,
                         least + (int)(bits & 63) - 4);
        if (i % 8 == 2) /* near the largest */
            x[i] = double_of((bits & ~((uint64_t)0x7ff << 52)) |
                             (uint64_t)(1023 + format->bias - (int)(bits & 1))
                                 << 52);
        if (i % 8 == 3) /* subnormal */
            x[i] = double_of(bits & ~((uint64_t)0x7ff << 52));
        if (i % 8 > 3) /* a value, half a step from one, and its neighbours */
            (void)oracle(format, x[i], &x[i]);
        if (i % 8 > 4 && isfinite(x[i])) {
            const int at = ilogb(x[i]) < 1 - format->bias
                               ? least
                               : ilogb(x[i]) - format->mantissa_bits;

            x[i] += copysign(ldexp(0.5, x[i] == 0 ? least : at), x[i]);
        }
        if (i % 8 > 5)
            x[i] = nextafter(x[i], i % 8 == 6 ? INFINITY : -INFINITY);
    }
    for (int k = 0; k < 8; k++)
        x[k] = double_of(
            (uint64_t[]){0, UINT64_C(1) << 63, 1, UINT64_C(0x7ff) << 52,
                         UINT64_C(0xfff) << 52, (UINT64_C(0x7ff) << 52) + 1,
                         UINT64_MAX, (UINT64_C(0x7ff) << 52) - 1}[k]);
}

static void pack(const struct aps_format *format, size_t from, size_t n)
{
    memset(wanted, 0, (n * (size_t)format->width + 7) / 8);
    for (size_t i = 0; i < n; i++) {
        for (int bit = 0; bit < format->width; bit++) {
            const size_t at = i * (size_t)format->width + (size_t)bit;

            wanted[at / 8] |=
                (unsigned char)((codes[from + i] >> bit & 1) << at % 8);
        }
    }
}

/* Encodes x[from, from + n) to an address that is `off` bytes off, and decodes it. */
static bool goes_and_comes(const struct aps_codec *codec, size_t from, size_t n,
                           size_t off)
{
    const struct aps_scaling unscaled = {.factor = 1};
    const size_t bytes = aps_codec_bytes(codec, n);
    unsigned char *const raw = (unsigned char *)back + off;
    static unsigned char in[N * 8 + 8];
    bool right;

    pack(&codec->format, from, n);
    memcpy(in + off, x + from, n * sizeof *x);
    memset(wire, 0x77, off + bytes + 1);
    right = codec->encode(codec, (void *)(in + off), n, unscaled, NULL,
                          wire + off) == 0 &&
            memcmp(wire + off, wanted, bytes) == 0 && wire[off + bytes] == 0x77;
    memset(back, 0x77, n * sizeof *back + 8);
    codec->decode(codec, wire + off, n, unscaled, 0, (void *)raw);
    right &=
        memcmp(raw, y + from, n * sizeof *y) == 0 && raw[n * sizeof *y] == 0x77;
    memcpy(raw, x + from, n * sizeof *x);
    codec->decode_add(codec, wire + off, n, unscaled, 0, (void *)raw);
    for (size_t i = 0; i < n; i++) {
        double sum = x[from + i] + y[from + i];

        if (isnan(sum))
            sum = NAN;
        right &= memcmp(raw + i * sizeof sum, &sum, sizeof sum) == 0;
    }
    return right;
}

static void test(const char *name)
{
    struct aps_format format;
    struct aps_error error;
    size_t kept = 0;

    if (aps_format_parse_wide(name, &format, &error) < 0)
        bail_out("%s", error.text);
    fill(&format);
    for (size_t i = 0; i < N; i++) {
        codes[i] = oracle(&format, x[i], &y[i]);
        kept += memcmp(&x[i], &y[i], sizeof *x) == 0 || isnan(x[i]);
    }
    ok(strcmp(format.name, name) == 0 && format.wide &&
           (kept == N) == (strcmp(name, "e11m52") == 0),
       "%s is a wide format, and only e11m52 keeps all values", name);
    for (int i = 0; i < APS_CPUS; i++) {
        const char *cpu = aps_cpu_name((enum aps_cpu)i);
        struct aps_codec codec;
        bool right;

        if (aps_codec_init_for(&format, cpu, &codec) < 0) {
            skip(2, "this machine has no %s", cpu);
            continue;
        }
        ok(goes_and_comes(&codec, 0, N, 0), "%s, %s: %zu values", name, cpu, N);
        right = true;
        for (size_t n = 0; n <= 130; n++)
            for (size_t off = 0; off < 8; off++)
                right &= goes_and_comes(&codec, n * 131, n, off);
        right &= goes_and_comes(&codec, 0, 100003, 3);
        ok(right, "%s, %s: any length at any address", name, cpu);
    }
}

int main(void)
{
    static const char *const usual[] = {
        "e8m23",     "e1m0",     "e4m3fn-sat", "bfp24/64", "mx-int8", "nvfp4",
        "qsgd7/512", "int8/512", "sign/512",   "flex16",   "fp32"};
    struct aps_format format;

    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        struct aps_error error;

        if (i < WIDE)
            test(wide[i]);
        else
            ok(aps_format_parse_wide(wide[i], &format, &error) < 0,
               "no format: %s", error.text);
        ok(aps_format_parse(wide[i], &format, &error) < 0,
           "refused for floats: %s", error.text);
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        ok(aps_format_parse_wide(usual[i], &format, NULL) == 0 && !format.wide,
           "%s is not a wide format", usual[i]);
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device's casts, sums and products against those of aps.h, bit for bit.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "number/format.h"
#include "emulate.h"
#include "tap/tap.h"
#include "unit/common/formats.h"
#include "unit/common/wire.h"

#define N 301
#define TERMS 5

static void fill_scaled(const struct aps_format *f, int exponent, float *x,
                        size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = random_bits() % 8 ? random_near(f, exponent)
                                 : random_value(f, exponent);
}

static void fill(const struct aps_format *f, float *x, size_t n)
{
    fill_scaled(f, 0, x, n);
}

static bool test_cast(const struct aps_format *f, int exponent)
{
    float x[N], y[N], expected[N];

    for (enum aps_rounding r = APS_ROUND_NEAREST; r <= APS_ROUND_CORRELATED;
         r++) {
        const struct aps_cast_options options = {.size = sizeof options,
                                                 .rounding = r,
                                                 .layer = 3,
                                                 .step = 4,
                                                 .seed = 5,
                                                 .offset = 6,
                                                 .scale_exponent = exponent,
                                                 .rank = 1,
                                                 .ranks = 3};

        if (r == APS_ROUND_CPD && (f->kind != APS_FORMAT_IEEE || f->saturate))
            continue;
        fill_scaled(f, exponent, x, N);
        memset(y, 0x55, sizeof y);
        if (aps_cast_array(f, x, N, &options, expected, NULL) < 0)
            bail_out("aps_cast_array");
        emulate_cast_array(f, x, N, &options, y);
        if (memcmp(y, expected, sizeof y) != 0)
            return false;
    }
    return true;
}

static bool test_sum(const struct aps_format *f, bool kahan, size_t chunk)
{
    static float terms[TERMS][N];
    const float *x[TERMS];
    float y[N] = {0}, expected[N];

    for (int t = 0; t < TERMS; t++) {
        fill(f, terms[t], N);
        x[t] = terms[t];
    }
    if ((kahan   ? aps_sum_kahan(f, TERMS, N, x, expected, NULL)
         : chunk ? aps_sum_chunked(f, chunk, TERMS, N, x, expected, NULL)
                 : aps_sum(f, TERMS, N, x, expected, NULL)) < 0)
        bail_out("aps_sum");
    emulate_sum(f, kahan, chunk, TERMS, N, x, y);
    return memcmp(y, expected, sizeof y) == 0;
}

static float *matrix(const struct aps_format *f, int64_t rows, int64_t ld)
{
    size_t n = (size_t)(rows * ld);
    float *x = malloc((n + 1) * sizeof *x);

    if (!x)
        bail_out("out of memory");
    for (size_t i = 0; i < n; i++)
        x[i] = random_bits() % 500 ? random_near(f, 0) : random_value(f, 0);
    return x;
}

/* Tests one product: sizes, transposes, factors and formats by `turn`. */
static bool test_gemm(const struct aps_format *f, unsigned turn)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 17, 33};
    static const float factors[] = {1, 0, -1, 0.7f};
    static const char *const accumulators[] = {"e8m23", "e5m10", "e4m3"};
    struct aps_gemm_arguments g = {
        .size = sizeof g,
        .format = f,
        .kahan = turn % 2,
        .transpose_a = turn / 2 % 2,
        .transpose_b = turn / 4 % 2,
        .m = sizes[turn % 9],
        .n = sizes[turn / 3 % 9],
        .k = turn % 19 ? sizes[turn / 7 % 9] : 0,
        .alpha = factors[turn / 5 % 4],
        .beta = factors[turn / 11 % 4],
        .chunk = turn % 8 == 2 ? 1 + turn / 8 % 9 : 0,
    };
    float *a, *b, *c, *expected;
    bool same;

    g.accumulator = aps_format_get(accumulators[turn % 3], NULL);
    if (turn % 4 == 1) /* the sum in the products' format */
        g.accumulator = f;
    g.lda = (g.transpose_a ? g.m : g.k) + 1 + turn % 3;
    g.ldb = (g.transpose_b ? g.k : g.n) + turn % 2 + 1;
    g.ldc = g.n + turn % 4;
    a = matrix(f, g.transpose_a ? g.k : g.m, g.lda);
    b = matrix(f, g.transpose_b ? g.n : g.k, g.ldb);
    c = matrix(f, g.m, g.ldc);
    expected = malloc((size_t)(g.m * g.ldc) * sizeof *c);
    if (!expected)
        bail_out("out of memory");
    memcpy(expected, c, (size_t)(g.m * g.ldc) * sizeof *c);
    g.a = a;
    g.b = b;
    g.c = expected;
    if (aps_gemm(&g, NULL) < 0)
        bail_out("aps_gemm");
    g.c = c;
    emulate_gemm(&g);
    same = memcmp(c, expected, (size_t)(g.m * g.ldc) * sizeof *c) == 0;
    free(a);
    free(b);
    free(c);
    free(expected);
    return same;
}

int main(void)
{
    struct aps_format f;
    static const int exponents[] = {9, -60, 127, -127, 200, -200, 400, -400};
    unsigned turn = 0;

    if (emulate_skip())
        plan_skip_all("%s", emulate_skip());
    diag("casts, sums and products as done by %s", emulate_compiler());
    for (int i = 0; format_at(i, &f); i++) {
        bool product = true, scaled = true;

        ok(test_cast(&f, 0), "%s: cast", f.name);
        for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++)
            scaled = scaled && test_cast(&f, exponents[e]);
        ok(scaled, "%s: cast with scale exponents", f.name);
        ok(test_sum(&f, false, 0), "%s: sum", f.name);
        ok(test_sum(&f, true, 0), "%s: Kahan's sum", f.name);
        ok(test_sum(&f, false, 2) && test_sum(&f, false, TERMS),
           "%s: sums in chunks", f.name);
        for (int k = 0; k < 20; k++)
            product = product && test_gemm(&f, turn++);
        ok(product, "%s: product", f.name);
    }
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matrix products in a format: every variant against a plain triple loop.
 */
#include "config.h"

#include <errno.h>
#include <fenv.h>
#include <stdio.h>
#include <string.h>

#include "unit/number/gemm_matrices.h"

/* Computes the product by the definition in aps.h; `to` holds C already. */
static void multiply_by_definition(const struct aps_gemm_arguments *g,
                                   float *to)
{
    const struct aps_format *q = g->format, *r = g->accumulator;
    const bool product = g->k > 0 && g->alpha != 0;

    for (int64_t i = 0; i < g->m; i++) {
        for (int64_t j = 0; j < g->n; j++) {
            float *y = &to[i * g->ldc + j];
            float before = g->beta == 0 ? 0 : rounded(r, g->beta * *y);
            float s = 0, kept = 0, total = 0;

            for (int64_t k = 0; product && k < g->k; k++) {
                float x = element(g->a, g->lda, g->transpose_a, i, k);
                float z = element(g->b, g->ldb, g->transpose_b, k, j);

                x = rounded(q, rounded(q, x) * rounded(q, z));
                add_rounded(r, g->kahan, x, &s, &kept);
                if (g->chunk > 0 &&
                    (k % g->chunk == g->chunk - 1 || k == g->k - 1)) {
                    total = rounded(r, total + s);
                    s = 0;
                }
            }
            if (g->chunk > 0)
                s = total;
            s = rounded(r, g->alpha * s);
            if (!product)
                *y = before;
            else
                *y = g->beta == 0 ? s : rounded(r, s + before);
        }
    }
}

static void test_formats(enum aps_cpu cpu)
{
    for (size_t i = 0; i < FORMATS; i++) {
        struct aps_gemm_arguments g =
            arguments(formats[i], formats[i], 13, 37, 29);
        bool pass;

        fill(i % 2 == 0);
        pass = transposes_agree(cpu, g);
        g.kahan = true;
        pass &= transposes_agree(cpu, g);
        g.accumulator = aps_format_get(formats[(i + 5) % FORMATS], NULL);
        pass &= transposes_agree(cpu, g);
        g.kahan = false;
        pass &= transposes_agree(cpu, g);
        g.chunk = 1 + (int64_t)i % 8;
        pass &= transposes_agree(cpu, g);
        ok(pass, "%s: products in %s", aps_cpu_name(cpu), formats[i]);
    }
}

/* Around the sizes of vectors and blocks, and high and narrow matrices. */
static void test_sizes(enum aps_cpu cpu)
{
    static const int64_t sizes[][3] = {
        {0, 0, 0},   {1, 1, 1},   {1, 1, 0},     {0, 3, 4},      {3, 0, 4},
        {3, 4, 0},   {1, 17, 5},  {17, 1, 5},    {4, 16, 300},   {5, 15, 3},
        {200, 3, 2}, {3, 600, 7}, {129, 257, 9}, {130, 31, 513}, {65, 64, 256},
    };
    static const int64_t chunks[] = {1, 64, 100, 256, 300, INT64_MAX};

    fill(true);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct aps_gemm_arguments g =
            arguments("e5m10", "e6m9", sizes[i][0], sizes[i][1], sizes[i][2]);
        bool pass = agrees(cpu, &g);

        g.kahan = true;
        pass &= transposes_agree(cpu, g);
        g.kahan = false;
        for (size_t j = 0; j < sizeof chunks / sizeof *chunks; j++) {
            g.chunk = chunks[j];
            pass &= agrees(cpu, &g);
        }
        ok(pass, "%s: %d x %d by %d x %d", aps_cpu_name(cpu), (int)g.m,
           (int)g.k, (int)g.k, (int)g.n);
    }
}

static void test_factors(enum aps_cpu cpu)
{
    static const float factors[] = {0,    -0.0f, 1,        -1,
                                    0.3f, -7.7f, INFINITY, NAN};
    const size_t count = sizeof factors / sizeof *factors;
    bool pass = true;

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            struct aps_gemm_arguments g =
                arguments("e4m3", "e5m10", 21, 18, j % 2 ? 4 : 0);

            fill(i % 2 == 0);
            g.alpha = factors[i];
            g.beta = factors[j];
            pass &= transposes_agree(cpu, g);
            g.k = 4;
            pass &= transposes_agree(cpu, g);
        }
    }
    ok(pass, "%s: alpha and beta", aps_cpu_name(cpu));
}

static void test_meaning(void)
{
    struct aps_gemm_arguments g = arguments("e5m2", "e8m23", 2, 2, 2);
    static const float x[] = {1, 2, 3, 4}, y[] = {5, 6, 7, 8.9f};
    /* In e5m2 8.9 is 8, and the products 15, 18 and 21 (ties) become 16, 16 and
     * 20: 5 + 14, 6 + 16, 16 + 28, 16 + 32. */
    static const float product[] = {19, 22, 44, 48};
    struct aps_gemm_arguments nothing;

    g.a = x;
    g.b = y;
    c[0] = NAN;
    ok(aps_gemm(&g, NULL) == 0 && same_floats(c, product, 4),
       "a product of 2 x 2; C is not read where beta is 0");
    nothing = arguments("e5m2", "e5m2", 2, 2, 0);
    nothing.a = nothing.b = NULL;
    nothing.beta = 1;
    c[0] = 1.3f;
    ok(aps_gemm(&nothing, NULL) == 0 && c[0] == 1.25f,
       "without a term, C times beta is rounded");
}

static void test_environment(void)
{
    struct aps_gemm_arguments g = arguments("e8m10", "e8m23", 9, 20, 30);

    fill(true);
    memcpy(expected, c, sizeof c);
    multiply_by_definition(&g, expected);
    fesetround(FE_DOWNWARD);
    int rc = aps_gemm(&g, NULL);
    int direction = fegetround();
    fesetround(FE_TONEAREST);
    ok(rc == 0 && same_floats(c, expected, ROOM),
       "the caller's rounding direction does not matter");
    ok(direction == FE_DOWNWARD, "... and is left as it was");
}

static void refuse(const char *name, const struct aps_gemm_arguments *g,
                   const char *text)
{
    struct aps_error error = {.text = ""};

    c[0] = 42;
    errno = 0;
    ok(aps_gemm(g, &error) < 0 && errno == EINVAL && c[0] == 42,
       "%s: refused, nothing written", name);
    is(error.text, text, "... with its cause");
}

#define REFUSE(name, member, value, text)                                      \
    do {                                                                       \
        struct aps_gemm_arguments g = arguments("e5m2", "e5m2", 4, 5, 6);      \
                                                                               \
        g.member = value;                                                      \
        refuse(name, &g, "aps_gemm: " text);                                   \
    } while (0)

static void test_errors(void)
{
    refuse("no arguments", NULL, "aps_gemm: the arguments are NULL");
    REFUSE("no format", format, NULL, "format is NULL");
    REFUSE("no accumulator", accumulator, NULL, "accumulator is NULL");
    REFUSE("negative rows", m, -1, "m is negative: -1");
    REFUSE("negative columns", n, -2, "n is negative: -2");
    REFUSE("a negative chunk", chunk, -64, "chunk is negative: -64");
    REFUSE("negative depth", k, INT64_MIN,
           "k is negative: -9223372036854775808");
    REFUSE("a negative leading dimension", lda, -6,
           "lda is -6 and must be at least 6, the length of a row");
    REFUSE("a short leading dimension", ldb, 4,
           "ldb is 4 and must be at least 5, the length of a row");
    REFUSE("a leading dimension of 0", ldc, 0,
           "ldc is 0 and must be at least 5, the length of a row");
    REFUSE("a transpose with the other's leading dimension", transpose_b, true,
           "ldb is 5 and must be at least 6, the length of a row");
    struct aps_gemm_arguments both = arguments("e5m2", "e5m2", 4, 5, 6);
    both.kahan = true;
    both.chunk = 64;
    refuse("Kahan in chunks", &both,
           "aps_gemm: a sum is by Kahan or in chunks, not both: chunk is 64");
    REFUSE("no A", a, NULL, "a is NULL for 4 x 6 elements");
    REFUSE("no B", b, NULL, "b is NULL for 6 x 5 elements");
    REFUSE("no C", c, NULL, "c is NULL for 4 x 5 elements");
    REFUSE("a C that is A", c, (float *)g.a,
           "c is a, which it must not overlap");
    REFUSE("a C that is B", c, (float *)g.b,
           "c is b, which it must not overlap");
    REFUSE("a matrix beyond memory", ldc, INT64_MAX / 2,
           "c is beyond memory: 4 rows of 4611686018427387903 floats");
}

int main(void)
{
    for (enum aps_cpu cpu = APS_CPU_PLAIN; cpu < APS_CPUS; cpu++) {
        if (!aps_gemm_kernel(cpu)) {
            skip(1, "this machine has no %s", aps_cpu_name(cpu));
            continue;
        }
        test_formats(cpu);
        test_sizes(cpu);
        test_factors(cpu);
    }
    test_meaning();
    test_environment();
    test_errors();
    return done_testing();
}

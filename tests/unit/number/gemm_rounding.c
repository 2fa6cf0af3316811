/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of operands that are rounded stochastically, against sums of the values
 * that aps_cast_array makes of each row and column.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "unit/number/gemm_matrices.h"

#define K_MAX 700

static struct aps_cast_options cast = APS_CAST_OPTIONS_INIT;

/* x = a row or a column of k values, rounded with the numbers of line `line`. */
static void round_line(const struct aps_format *format, int64_t line,
                       uint32_t stage, size_t k, float *x)
{
    struct aps_cast_options own = cast;
    const size_t block = (size_t)aps_format_block(format);
    float given[K_MAX];

    memcpy(given, x, k * sizeof *x);
    own.stage = stage;
    own.offset += (uint64_t)line * ((k + block - 1) / block * block);
    if (aps_cast_array(format, x, k, &own, x, NULL) < 0)
        bail_out("aps_cast_array");
    for (size_t i = 0; i < k && block == 1; i++)
        x[i] = isnan(given[i]) ? NAN : x[i];
}

static void multiply_by_definition(const struct aps_gemm_arguments *g,
                                   float *to)
{
    const struct aps_format *b_format = g->format_b ? g->format_b : g->format;
    const int64_t block = (int64_t)aps_format_block(g->format);
    float x[K_MAX], y[K_MAX];

    for (int64_t i = 0; i < g->m; i++) {
        for (int64_t j = 0; j < g->n; j++) {
            float s = 0, kept = 0;

            for (int64_t k = 0; k < g->k; k++) {
                x[k] = element(g->a, g->lda, g->transpose_a, i, k);
                y[k] = element(g->b, g->ldb, g->transpose_b, k, j);
            }
            round_line(g->format, i, cast.stage, (size_t)g->k, x);
            round_line(b_format, j, cast.stage + 1, (size_t)g->k, y);
            for (int64_t k = 0; k < g->k; k += block) {
                double p = 0;

                for (int64_t l = k; l < k + block && l < g->k; l++)
                    p += (double)x[l] * (double)y[l];
                add_rounded(g->accumulator, g->kahan,
                            block == 1 ? rounded(g->format, (float)p)
                                       : (float)p,
                            &s, &kept);
            }
            to[i * g->ldc + j] = rounded(g->accumulator, s);
        }
    }
}

static void test_products(enum aps_cpu cpu)
{
    static const char *const pairs[][2] = {
        {"e4m3", NULL},          {"e5m2", NULL},     {"e2m1fn", NULL},
        {"bfp3/64", "bfp15/64"}, {"bfp7/576", NULL}, {"mx-e4m3fn", NULL},
        {"nvfp4", NULL},         {"int8/512", NULL},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        bool pass = true;

        fill(false);
        /* Wide, and so narrow that its transpose is computed. */
        for (int64_t n = 19; n > 0; n -= 16) {
            struct aps_gemm_arguments g =
                arguments(pairs[i][0], "fp32", 22 - n, n, 150);

            g.format_b = pairs[i][1] ? aps_format_get(pairs[i][1], NULL) : NULL;
            g.cast = &cast;
            pass &= transposes_agree(cpu, g);
            g.k = K_MAX;
            pass &= transposes_agree(cpu, g);
            g.kahan = true;
            pass &= transposes_agree(cpu, g);
            cast.step++;
        }
        ok(pass, "%s: operands in %s are rounded by their own bits",
           aps_cpu_name(cpu), pairs[i][0]);
    }
}

/* A NaN reaches the results, also in formats that have none. */
static void test_specials(enum aps_cpu cpu)
{
    static const char *const names[] = {"e5m2",     "e2m1fn",   "e3m2fn",
                                        "e3m0",     "e5m0-sat", "e4m3fn",
                                        "e4m3-sat", "bfp7/64",  "e1m5"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct aps_gemm_arguments g = arguments(names[i], "fp32", 9, 21, 70);

        fill(true);
        g.cast = &cast;
        ok(transposes_agree(cpu, g), "%s: any floats in %s", aps_cpu_name(cpu),
           names[i]);
    }
}

/* More rows and columns than are rounded at once. */
static void test_strips(enum aps_cpu cpu)
{
    struct aps_gemm_arguments g = arguments("e4m3", "e5m10", 131, 261, 3);

    fill(false);
    g.cast = &cast;
    ok(agrees(cpu, &g), "%s: lines of all strips have their own numbers",
       aps_cpu_name(cpu));
    g.format = aps_format_get("bfp3/64", NULL);
    ok(agrees(cpu, &g), "... in blocks, too");
    g = arguments("e4m3", "e5m10", 261, 131, 3);
    g.cast = &cast;
    ok(agrees(cpu, &g), "... and in a transpose");
}

/* In e5m2 1.1 becomes 1.25 in 0.4 of the draws, and 1.2 in 0.8; otherwise both become
 * 1. The product of 1.25 by 1.25 is rounded to 1.5, and no other product is. */
static void test_independence(void)
{
    struct aps_gemm_arguments g = arguments("e5m2", "fp32", 1, 1, 1);
    const int draws = 20000;
    int both = 0, sum = 0;

    a[0] = 1.1f;
    b[0] = 1.2f;
    g.cast = &cast;
    for (int i = 0; i < draws; i++) {
        cast.step++;
        if (aps_gemm(&g, NULL) < 0)
            bail_out("aps_gemm");
        both += c[0] == 1.5f;
        sum += (int)(c[0] * 4);
    }
    ok(abs(both - draws * 32 / 100) < draws / 100,
       "A and B have bits of their own: both up in %d of %d draws", both,
       draws);
    ok(abs(sum - draws * 52 / 10) < draws / 20,
       "... and the mean of the products is %g, expected 1.3",
       (double)sum / draws / 4);
}

static void refuse(const char *name, const char *format,
                   const struct aps_cast_options *options, const char *text)
{
    struct aps_gemm_arguments g = arguments(format, "fp32", 4, 5, 6);
    struct aps_error error = {.text = ""};

    g.cast = options;
    c[0] = 42;
    errno = 0;
    ok(aps_gemm(&g, &error) < 0 && errno == EINVAL && c[0] == 42,
       "%s: refused, nothing written", name);
    ok(strstr(error.text, text) != NULL, "... with its cause: %s", error.text);
}

static void test_errors(void)
{
    struct aps_cast_options bad = APS_CAST_OPTIONS_INIT;

    bad.rounding = APS_ROUND_CPD;
    refuse("another rounding", "e4m3", &bad,
           "operands are rounded to nearest or stochastically");
    bad.rounding = APS_ROUND_STOCHASTIC;
    refuse("signs", "sign/64", &bad, "aps_gemm: 'sign/64' keeps signs");
    bad.scale_exponent = 3;
    refuse("a scale", "e4m3", &bad, "the scale exponent is 3 and must be 0");
    bad.scale_exponent = 0;
    bad.offset = 3;
    refuse("an offset inside a block", "bfp7/64", &bad, "the offset 3");
}

int main(void)
{
    cast.rounding = APS_ROUND_STOCHASTIC;
    cast.seed = 7;
    cast.offset = 576 * 512 * 64;
    for (enum aps_cpu cpu = APS_CPU_PLAIN; cpu < APS_CPUS; cpu++) {
        if (!aps_gemm_kernel(cpu)) {
            skip(1, "this machine has no %s", aps_cpu_name(cpu));
            continue;
        }
        test_products(cpu);
        test_strips(cpu);
        test_specials(cpu);
    }
    test_independence();
    test_errors();
    return done_testing();
}

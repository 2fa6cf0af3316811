/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Residuals of roundings, and their addition: every variant against the definition, bit
 * for bit, at any alignment and length, in place and out of place.
 */
#include "config.h"

#include <string.h>

#include "compress/feedback.h"
#include "unit/common/vectors.h"

#define N_MAX 1000
#define GUARD 0xa5a5a5a5u

static float x[N_MAX + 2], sent[N_MAX + 2], got[N_MAX + 2], want[N_MAX];

/* Some values that a format has rounded arrive as INF or NaN. */
static void fill(size_t v)
{
    static const float beyond[] = {INFINITY, -INFINITY, NAN, -NAN};

    vector_fill(&vectors[v], N_MAX + 1, x);
    for (size_t i = 0; i <= N_MAX; i++)
        sent[i] = i % 13 == 5
                      ? beyond[i / 13 % 4]
                      : aps_float_from_bits(aps_float_bits(x[i]) & 0xfff00000u);
}

static bool is_want(const float *at, size_t n)
{
    return memcmp(at, want, n * sizeof *want) == 0 &&
           aps_float_bits(at[n]) == GUARD;
}

static bool left_agrees(enum aps_cpu cpu, size_t n, size_t off)
{
    bool pass;

    for (size_t i = 0; i < n; i++)
        want[i] = isfinite(sent[off + i]) ? x[off + i] - sent[off + i] : 0;
    memset(got, 0xa5, sizeof got);
    aps_feedback_left(x + off, sent + off, n, cpu, got + off);
    pass = is_want(got + off, n);
    memset(got, 0xa5, sizeof got);
    memcpy(got + off, x + off, n * sizeof *x);
    aps_feedback_left(got + off, sent + off, n, cpu, got + off);
    return pass && is_want(got + off, n);
}

static bool add_agrees(enum aps_cpu cpu, size_t n, size_t off)
{
    for (size_t i = 0; i < n; i++) {
        want[i] = sent[off + i] + x[i];
        if (isnan(want[i]))
            want[i] = aps_float_from_bits(0x7fc00000u);
    }
    memset(got, 0xa5, sizeof got);
    memcpy(got + off, sent + off, n * sizeof *sent);
    aps_feedback_add(x, n, cpu, got + off);
    return is_want(got + off, n);
}

static void test_variant(enum aps_cpu cpu)
{
    static const size_t sizes[] = {0, 1, 7, 15, 16, 17, 63, 64, 65, N_MAX};
    bool left = true, sum = true;

    if (!aps_cpu_supported(cpu)) {
        skip(2, "this machine has no %s", aps_cpu_name(cpu));
        return;
    }
    for (size_t v = 0; v < VECTORS; v++) {
        fill(v);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (size_t off = 0; off < 2; off++) {
                left &= left_agrees(cpu, sizes[i], off);
                sum &= add_agrees(cpu, sizes[i], off);
            }
    }
    ok(left, "%s: what is left, nothing of what arrives as INF or NaN",
       aps_cpu_name(cpu));
    ok(sum, "%s: what is kept is added, a NaN is the canonical one",
       aps_cpu_name(cpu));
}

int main(void)
{
    for (int cpu = 0; cpu < APS_CPUS; cpu++)
        test_variant((enum aps_cpu)cpu);
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conversions and sums of doubles: every variant against the language's, at any
 * alignment and length.
 */
#include "config.h"

#include <string.h>

#include "codec/doubles.h"
#include "unit/common/rounded.h"

#define N_MAX 1000

static double x[N_MAX + 1], sums[N_MAX + 1];
static float values[N_MAX + 1], floats[N_MAX + 1];

/* Bits of any value: also NaN, INF, subnormals, and values beyond FP32. */
static void fill(size_t round)
{
    for (size_t i = 0; i <= N_MAX; i++) {
        const uint64_t bits = (uint64_t)random_bits() << 32 | random_bits();

        memcpy(&x[i], &bits, sizeof bits);
        if (round > 0) /* near FP32's range */
            x[i] = ldexp((double)(int32_t)(bits >> 32) +
                             (double)(bits & 0xffff) / 65536,
                         (int)(bits & 511) - 256);
        values[i] = aps_float_from_bits(random_bits());
        sums[i] = i % 3 ? x[i] : values[i] * 0x1p-30;
    }
}

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0;
}

static bool agrees(enum aps_cpu cpu, size_t n, size_t off)
{
    double wide[N_MAX + 1], added[N_MAX + 1];
    bool right = true;

    floats[off + n] = added[off + n] = wide[off + n] = 77;
    aps_doubles_round(x + off, n, cpu, floats + off);
    aps_doubles_widen(values + off, n, cpu, wide + off);
    memcpy(added + off, sums + off, n * sizeof *added);
    aps_doubles_add(values + off, n, cpu, added + off);
    for (size_t i = off; i < off + n; i++)
        right &= same(floats[i], (float)x[i]) && same(wide[i], values[i]) &&
                 same(added[i], sums[i] + values[i]);
    return right && floats[off + n] == 77 && wide[off + n] == 77 &&
           added[off + n] == 77;
}

int main(void)
{
    static const size_t sizes[] = {0, 1, 7, 15, 16, 17, 63, 64, 65, N_MAX - 1};

    for (int cpu = 0; cpu < APS_CPUS; cpu++) {
        bool right = true;

        if (!aps_cpu_supported((enum aps_cpu)cpu)) {
            skip(1, "this machine has no %s", aps_cpu_name((enum aps_cpu)cpu));
            continue;
        }
        for (size_t round = 0; round < 200; round++) {
            fill(round % 2);
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
                right &= agrees((enum aps_cpu)cpu, sizes[i], round / 2 % 2);
        }
        ok(right, "%s: doubles are rounded, made and added as C does it",
           aps_cpu_name((enum aps_cpu)cpu));
    }
    return done_testing();
}

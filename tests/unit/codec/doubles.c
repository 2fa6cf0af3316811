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
static float values[N_MAX + 1];

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
    for (size_t i = 0; i < N_MAX; i += 100) /* two NaN */
        sums[i] = values[i] = i % 200 ? NAN : -NAN;
}

/* Arrays at an address that is `off` bytes off; the byte behind them is kept. */
static unsigned char from[N_MAX * 8 + 2], to[N_MAX * 8 + 2];

static bool left_alone(size_t bytes)
{
    return to[bytes] == 0x77;
}

static bool rounds(enum aps_cpu cpu, size_t n, size_t off)
{
    bool right = true;

    memset(to, 0x77, sizeof to);
    memcpy(from + off, x, n * sizeof *x);
    aps_doubles_round((void *)(from + off), n, cpu, (void *)(to + off));
    for (size_t i = 0; i < n; i++) {
        const float wanted = (float)x[i];

        right &=
            memcmp(to + off + i * sizeof wanted, &wanted, sizeof wanted) == 0;
    }
    return right && left_alone(off + n * sizeof(float));
}

static bool widens(enum aps_cpu cpu, size_t n, size_t off)
{
    bool right = true;

    memset(to, 0x77, sizeof to);
    memcpy(from + off, values, n * sizeof *values);
    aps_doubles_widen((void *)(from + off), n, cpu, (void *)(to + off));
    for (size_t i = 0; i < n; i++) {
        const double wanted = values[i];

        right &=
            memcmp(to + off + i * sizeof wanted, &wanted, sizeof wanted) == 0;
    }
    return right && left_alone(off + n * sizeof(double));
}

static bool adds(enum aps_cpu cpu, size_t n, size_t off)
{
    const uint64_t canonical = UINT64_C(0x7ff8) << 48;
    bool right = true;

    memset(to, 0x77, sizeof to);
    memcpy(from + off, values, n * sizeof *values);
    memcpy(to + off, sums, n * sizeof *sums);
    aps_doubles_add((void *)(from + off), n, cpu, (void *)(to + off));
    for (size_t i = 0; i < n; i++) {
        double wanted = sums[i] + values[i];

        if (isnan(wanted))
            memcpy(&wanted, &canonical, sizeof wanted);
        right &=
            memcmp(to + off + i * sizeof wanted, &wanted, sizeof wanted) == 0;
    }
    return right && left_alone(off + n * sizeof(double));
}

int main(void)
{
    static const size_t sizes[] = {0, 1, 7, 15, 16, 17, 63, 64, 65, N_MAX};

    for (int i = 0; i < APS_CPUS; i++) {
        const enum aps_cpu cpu = (enum aps_cpu)i;
        bool right[] = {true, true, true};

        if (!aps_cpu_supported(cpu)) {
            skip(3, "this machine has no %s", aps_cpu_name(cpu));
            continue;
        }
        for (size_t round = 0; round < 200; round++) {
            fill(round % 2);
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
                right[0] &= rounds(cpu, sizes[k], round / 2 % 2);
                right[1] &= widens(cpu, sizes[k], round / 2 % 2);
                right[2] &= adds(cpu, sizes[k], round / 2 % 2);
            }
        }
        ok(right[0], "%s: doubles are rounded as C does it", aps_cpu_name(cpu));
        ok(right[1], "%s: floats become doubles", aps_cpu_name(cpu));
        ok(right[2], "%s: sums are FP64 sums, a NaN is the canonical one",
           aps_cpu_name(cpu));
    }
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "predict/variance.h"

#include <math.h>
#include <stdbool.h>

/* Returns 2 Q(x): the probability that a standard normal value is beyond x on
 * either side. */
static double beyond(double x)
{
    return erfc(x * M_SQRT1_2);
}

/* Returns the variance lost, in values, after a partial sum has passed the
 * stages 1 to `stages`; in each stage the terms lose one more low bit. */
static double lost(int sum_bits, int value_bits, int stages)
{
    double sum = 0;

    for (int j = 1; j <= stages; j++)
        sum += exp2(j) * (exp2(j) - 1) * (exp2(j + 1) - 1);
    return exp2(sum_bits - 3 * value_bits) / 3 * sum;
}

double aps_variance_retained(int sum_bits, int value_bits, size_t n)
{
    const double all = lost(sum_bits, value_bits, value_bits);
    const double count = (double)n, root = sqrt(count);
    /* No bit is lost. */
    double total = 1 - beyond(exp2(sum_bits - value_bits + 1) / root);
    double kept = count * total;

    /* From value i on the terms do not change the sum. */
    for (size_t i = 2; i < n; i++) {
        const double limit = exp2(sum_bits);
        const double part = beyond(limit / sqrt((double)i)) *
                            (1 - beyond(limit / sqrt((double)i - 1)));

        if ((double)i > all) {
            total += part;
            kept += ((double)i - all) * part;
        }
    }
    /* The sum ends in the stage where some bits are lost. */
    for (int j = 2; j <= value_bits; j++) {
        const double less = lost(sum_bits, value_bits, j - 1);
        const double limit = exp2(sum_bits - value_bits + j);
        const double part = beyond(limit / 2 / root) - beyond(limit / root);

        if (count > less) {
            total += part;
            kept += (count - less) * part;
        }
    }
    return n < 2 || total <= 0 ? 1 : kept / (total * count);
}

double aps_variance_retained_chunked(int sum_bits, int value_bits, size_t n,
                                     size_t chunk)
{
    const double grown = value_bits + log2((double)chunk);
    const int wider = grown < sum_bits ? (int)grown : sum_bits;

    if (chunk == 0 || chunk >= n)
        return aps_variance_retained(sum_bits, value_bits, n);
    return aps_variance_retained(sum_bits, value_bits, chunk) *
           aps_variance_retained(sum_bits, wider, (n + chunk - 1) / chunk);
}

double aps_variance_retained_grouped(int sum_bits,
                                     const struct aps_variance_sum *sum)
{
    return aps_variance_retained_chunked(sum_bits, sum->value_bits, sum->group,
                                         sum->chunk) *
           aps_variance_retained_chunked(sum_bits, sum->value_bits, sum->groups,
                                         sum->chunk);
}

/* The paper's test of a sum: exp(n (1 - ratio)) < 50. */
static bool is_kept(double retained, size_t n)
{
    return (double)n * (1 - retained) < log(50);
}

int aps_variance_bits(const struct aps_variance_sum *sum)
{
    int bits = sum->value_bits > 1 ? sum->value_bits : 1;

    while (bits < 24 && !is_kept(aps_variance_retained_grouped(bits, sum),
                                 sum->group * sum->groups))
        bits++;
    return bits;
}

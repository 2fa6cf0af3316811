/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "bench/figures.h"

#include <stdlib.h>

#include "bench/variants.h"

bool aps_bench_has_error(const struct aps_bench_variant *v)
{
    return v->kind != APS_BENCH_FLOOR && v->kind != APS_BENCH_COPY;
}

bool aps_bench_is_passed(const struct aps_bench_variant *v)
{
    return v->kind == APS_BENCH_OURS && v->limit > APS_BENCH_SAME_ERROR &&
           !v->rewritten;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void set_times(struct aps_bench_variant *v, int n)
{
    double *samples = v->samples;

    qsort(samples, (size_t)n, sizeof *samples, compare);
    v->figures = (struct aps_bench_figures){
        .median = (samples[(n - 1) / 2] + samples[n / 2]) / 2,
        .first_quartile = samples[n / 4],
        .third_quartile = samples[n - 1 - n / 4],
        .least = samples[0],
    };
}

/* Sets the quotients, after the times of all variants. The bus bandwidth is that of
 * nccl-tests: the bytes of the FP32 values, times 2 (ranks - 1) / ranks, over time. */
static void set_quotients(const struct aps_bench *b,
                          struct aps_bench_variant *v)
{
    const int copy = aps_bench_variants_find(b, APS_BENCH_COPY, 0);
    const double ranks = b->ranks, hosts = b->hosts, count = (double)b->count;
    struct aps_bench_figures *f = &v->figures;

    f->faster = b->variants[v->native].figures.median / f->median;
    if (v->floor >= 0)
        f->of_floor = f->median / b->variants[v->floor].figures.median;
    if (copy >= 0)
        f->of_copy = b->variants[copy].figures.median / f->median;
    if (v->kind != APS_BENCH_COPY)
        f->bus = count * sizeof(float) * 2 * (ranks - 1) / ranks / f->median;
    if (b->choice.wire_gbit > 0)
        f->of_wire = count * v->width * 2 * (hosts - 1) / hosts / f->median /
                     (1e9 * b->choice.wire_gbit);
}

static void set_min_count(const struct aps_bench *b,
                          struct aps_bench_variant *v)
{
    if (v->figures.faster < 1 || aps_bench_is_passed(v))
        v->min_count = 0;
    else if (v->min_count == 0)
        v->min_count = b->count;
}

static void set_spread(struct aps_bench *b)
{
    const struct aps_bench_figures *f = &b->variants[0].figures;
    const double quartiles =
        (f->third_quartile - f->first_quartile) / f->median;
    const double above = (f->median / f->least - 1) / 4;
    const double spread = above > quartiles ? above : quartiles;

    if (spread > b->spread) {
        b->spread = spread;
        b->spread_count = b->count;
    }
}

void aps_bench_figures_take(struct aps_bench *b)
{
    for (int i = 0; i < b->variant_count; i++)
        set_times(&b->variants[i], b->rounds);
    for (int i = 0; i < b->variant_count; i++)
        set_quotients(b, &b->variants[i]);
    for (int i = 0; i < b->variant_count && b->piece_count == 1; i++)
        set_min_count(b, &b->variants[i]);
    set_spread(b);
}

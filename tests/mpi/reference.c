/* SPDX-License-Identifier: BSD-3-Clause */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As direct.c and hierarchical.c document. */
#define DIRECT_CHUNK (512 * 1024)
#define HIERARCHICAL_CHUNK (128 * 1024)
#define SLICE_UNIT 64

/* --- ways ---------------------------------------------------------------- */

bool way_is_allowed(const struct way *way)
{
    return !(way->scale == SCALE_TIGHT && way->round_sums) &&
           (way->hierarchical || (way->group == 0 && !way->node_fp32));
}

bool way_equals(const struct way *a, const struct way *b)
{
    return strcmp(a->format, b->format) == 0 && a->scale == b->scale &&
           a->fixed == b->fixed && a->hierarchical == b->hierarchical &&
           a->group == b->group && a->node_fp32 == b->node_fp32 &&
           a->round_sums == b->round_sums;
}

static const char *scale_name(const struct way *way, char text[32])
{
    static const char *const names[] = {[SCALE_NONE] = "none",
                                        [SCALE_APS] = "aps",
                                        [SCALE_TIGHT] = "aps-tight"};

    if (way->scale == SCALE_FIXED)
        snprintf(text, 32, "{fixed: %g}", way->fixed);
    else
        snprintf(text, 32, "%s", names[way->scale]);
    return text;
}

const char *way_name(const struct way *way, char *text, size_t size)
{
    char scale[32], group[16] = "";

    if (way->group > 0)
        snprintf(group, sizeof group, " by %d", way->group);
    snprintf(text, size, "%s, scale %s, %s%s%s%s", way->format,
             scale_name(way, scale),
             way->hierarchical ? "hierarchical" : "direct", group,
             way->node_fp32 ? ", node fp32" : "",
             way->round_sums ? ", accumulate format" : "");
    return text;
}

void way_print_rule(FILE *stream, const struct way *way, long first, long last)
{
    char scale[32];

    if (first >= 0)
        fprintf(stream, "  - layers: %ld-%ld\n    ", first, last);
    else
        fprintf(stream, "  - ");
    fprintf(stream, "format: %s\n    scale: %s\n    reduce: %s\n", way->format,
            scale_name(way, scale),
            way->hierarchical ? "hierarchical" : "direct");
    if (way->group > 0)
        fprintf(stream, "    group: %d\n", way->group);
    if (way->node_fp32)
        fprintf(stream, "    node: fp32\n");
    if (way->round_sums)
        fprintf(stream, "    accumulate: format\n");
}

void way_groups(const struct way *way, int ranks, struct groups *groups)
{
    const char *nodes_text = getenv("APSMPI_TEST_NODES");
    const int nodes = nodes_text ? atoi(nodes_text) : 1;
    const bool cyclic = nodes_text && strstr(nodes_text, ":cyclic");
    int on_node[RANKS_MAX] = {0};
    int keys[RANKS_MAX][2];

    memset(groups, 0, sizeof *groups);
    for (int rank = 0; rank < ranks; rank++) {
        int node = cyclic ? rank % nodes : rank * nodes / ranks;
        int part = way->group > 0 ? on_node[node] / way->group : 0;
        int g = 0;

        if (!way->hierarchical)
            node = part = 0;
        else
            on_node[node]++;
        while (g < groups->count && (keys[g][0] != node || keys[g][1] != part))
            g++;
        if (g == groups->count) {
            keys[g][0] = node;
            keys[g][1] = part;
            groups->count++;
        }
        groups->members[g][groups->sizes[g]++] = rank;
    }
    groups->smallest = ranks;
    for (int g = 0; g < groups->count; g++)
        if (groups->sizes[g] < groups->smallest)
            groups->smallest = groups->sizes[g];
}

/* --- one value ----------------------------------------------------------- */

struct number {
    int m;        /* mantissa bits */
    int bias;     /* also the greatest exponent */
    double limit; /* the greatest finite value */
};

static struct number number_of(const struct way *way)
{
    struct number number;
    int e;

    if (sscanf(way->format, "e%dm%d", &e, &number.m) != 2)
        abort();
    number.bias = (1 << (e - 1)) - 1;
    number.limit = ldexp(2 - ldexp(1, -number.m), number.bias);
    if (e == 1) /* no normal numbers */
        number.limit = 2 - ldexp(2, -number.m);
    return number;
}

/* Round to nearest even in the format. */
static double cast(const struct number *number, double x)
{
    int step;
    double y;

    if (x == 0 || !isfinite(x))
        return x;
    step = ilogb(x);
    if (step < 1 - number->bias)
        step = 1 - number->bias;
    step -= number->m;
    y = ldexp(rint(ldexp(x, -step)), step);
    return fabs(y) > number->limit ? copysign(INFINITY, y) : y;
}

/* Products with a constant are rounded to float, others are exact. */
static double scaled(const struct way *way, float x, int exponent)
{
    if (way->scale == SCALE_FIXED)
        return (float)((double)x * (double)way->fixed);
    return ldexp(x, exponent);
}

static float unscaled(const struct way *way, double x, int exponent)
{
    if (way->scale == SCALE_FIXED)
        return (float)(x / (double)way->fixed);
    return (float)ldexp(x, -exponent);
}

static float max_finite(size_t n, const float *x)
{
    float max = 0;

    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i]) && fabsf(x[i]) > max)
            max = fabsf(x[i]);
    return max;
}

/* Algorithm 1 of the APS paper, for the greatest of all ranks. */
static int aps_exponent(const struct number *number, int ranks, float max)
{
    double product = (double)ranks * (double)max;
    int x;

    if (max == 0)
        return 0;
    x = ilogb(product);
    if (product > ldexp(1, x))
        x++;
    return number->bias - x;
}

static int tight_exponent(const struct number *number, float max)
{
    int exponent;

    if (max == 0)
        return 0;
    exponent = ilogb(number->limit) - ilogb(max);
    return ldexp(max, exponent) > number->limit ? exponent - 1 : exponent;
}

/* --- blocks and stages --------------------------------------------------- */

/* y[n]: what a receiver decodes of the block of x[n]. */
static void send_block(const struct way *way, int exponent, size_t n,
                       const float *x, float *y)
{
    const struct number number = number_of(way);
    bool nan = false;

    if (way->scale == SCALE_TIGHT)
        exponent = tight_exponent(&number, max_finite(n, x));
    for (size_t i = 0; i < n; i++)
        nan |= isnan(x[i]);
    for (size_t i = 0; i < n; i++) {
        double code = cast(&number, scaled(way, x[i], exponent));

        /* The marker of formats without NaN stands for the whole block. */
        if (nan && number.m == 0 && isinf(code))
            code = NAN;
        y[i] = unscaled(way, code, exponent);
    }
}

static void round_array(const struct way *way, int exponent, size_t n, float *x)
{
    const struct number number = number_of(way);

    for (size_t i = 0; i < n; i++)
        if (!isnan(x[i]))
            x[i] = unscaled(way, cast(&number, scaled(way, x[i], exponent)),
                            exponent);
}

/* Sum of the blocks at `begin` that `count` ranks send. */
static void sum_blocks(const struct way *way, int exponent, int count,
                       const float *const in[], size_t begin, size_t n,
                       float *sum)
{
    float *block = malloc(n * sizeof *block);

    for (int rank = 0; rank < count; rank++) {
        send_block(way, exponent, n, in[rank] + begin, block);
        for (size_t i = 0; i < n; i++)
            sum[i] = rank == 0 ? block[i] : sum[i] + block[i];
        if (way->round_sums && rank > 0)
            round_array(way, exponent, n, sum);
    }
    free(block);
}

static size_t slice_begin(size_t n, int parts, int i)
{
    size_t units = (n + SLICE_UNIT - 1) / SLICE_UNIT;
    size_t begin = 0;

    for (int k = 0; k < i; k++)
        begin += units / (size_t)parts + ((size_t)k < units % (size_t)parts);
    return begin * SLICE_UNIT < n ? begin * SLICE_UNIT : n;
}

/* Every slice: summed by its owner, sent once more to all. */
static void exchange(const struct way *way, int exponent, int ranks,
                     const float *const in[], size_t n, float *out)
{
    for (int i = 0; i < ranks; i++) {
        size_t begin = slice_begin(n, ranks, i);
        size_t length = slice_begin(n, ranks, i + 1) - begin;
        float *sum = malloc(length * sizeof *sum + 1);

        sum_blocks(way, exponent, ranks, in, begin, length, sum);
        send_block(way, exponent, length, sum, out + begin);
        free(sum);
    }
}

static float greatest(int count, const float *const in[], size_t n)
{
    float max = 0;

    for (int i = 0; i < count; i++)
        max = fmaxf(max, max_finite(n, in[i]));
    return max;
}

static void reduce_direct(const struct way *way, int ranks, size_t n,
                          float *const in[], float *out)
{
    const struct number number = number_of(way);
    const float *at[RANKS_MAX];
    int exponent = 0;

    if (way->scale == SCALE_APS)
        exponent = aps_exponent(&number, ranks,
                                greatest(ranks, (const float *const *)in, n));
    for (size_t begin = 0; begin < n; begin += DIRECT_CHUNK) {
        for (int rank = 0; rank < ranks; rank++)
            at[rank] = in[rank] + begin;
        exchange(way, exponent, ranks, at,
                 n - begin < DIRECT_CHUNK ? n - begin : DIRECT_CHUNK,
                 out + begin);
    }
}

/* A slice of a chunk: `n` elements from `begin` on. */
static void reduce_slice(const struct way *way, const struct groups *groups,
                         const int exponents[], float *const in[], size_t begin,
                         size_t n, float *out)
{
    const struct number number = number_of(way);
    float *sums[RANKS_MAX];
    int exponent = 0;

    for (int g = 0; g < groups->count; g++) {
        const float *members[RANKS_MAX];

        sums[g] = malloc(n * sizeof *sums[g] + 1);
        for (int i = 0; i < groups->sizes[g]; i++)
            members[i] = in[groups->members[g][i]];
        if (!way->node_fp32) {
            sum_blocks(way, exponents[g], groups->sizes[g], members, begin, n,
                       sums[g]);
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            sums[g][i] = members[0][begin + i];
            for (int k = 1; k < groups->sizes[g]; k++)
                sums[g][i] += members[k][begin + i];
        }
    }
    if (groups->count == 1 && way->node_fp32) {
        memcpy(out + begin, sums[0], n * sizeof *out);
    } else if (groups->count == 1) {
        send_block(way, exponents[0], n, sums[0], out + begin);
    } else {
        if (way->scale == SCALE_APS)
            exponent = aps_exponent(
                &number, groups->count,
                greatest(groups->count, (const float *const *)sums, n));
        exchange(way, exponent, groups->count, (const float *const *)sums, n,
                 out + begin);
    }
    for (int g = 0; g < groups->count; g++)
        free(sums[g]);
}

static void reduce_hierarchical(const struct way *way, int ranks, size_t n,
                                float *const in[], float *out)
{
    const struct number number = number_of(way);
    struct groups groups;
    int exponents[RANKS_MAX] = {0};

    way_groups(way, ranks, &groups);
    for (int g = 0; g < groups.count && way->scale == SCALE_APS; g++) {
        const float *members[RANKS_MAX];

        for (int i = 0; i < groups.sizes[g]; i++)
            members[i] = in[groups.members[g][i]];
        exponents[g] = aps_exponent(&number, groups.sizes[g],
                                    greatest(groups.sizes[g], members, n));
    }
    for (size_t begin = 0; begin < n; begin += HIERARCHICAL_CHUNK) {
        size_t chunk =
            n - begin < HIERARCHICAL_CHUNK ? n - begin : HIERARCHICAL_CHUNK;

        for (int owner = 0; owner < groups.smallest; owner++) {
            size_t first = slice_begin(chunk, groups.smallest, owner);
            size_t last = slice_begin(chunk, groups.smallest, owner + 1);

            reduce_slice(way, &groups, exponents, in, begin + first,
                         last - first, out);
        }
    }
}

void reference_reduce(const struct way *way, int ranks, size_t n,
                      float *const in[], float *out)
{
    if (way->hierarchical)
        reduce_hierarchical(way, ranks, n, in, out);
    else
        reduce_direct(way, ranks, n, in, out);
}

void reference_exact(const struct way *way, int ranks, size_t n,
                     float *const in[], float *out)
{
    struct groups groups;

    way_groups(way, ranks, &groups);
    for (size_t i = 0; i < n; i++) {
        for (int g = 0; g < groups.count; g++) {
            float sum = in[groups.members[g][0]][i];

            for (int k = 1; k < groups.sizes[g]; k++)
                sum += in[groups.members[g][k]][i];
            out[i] = g == 0 ? sum : out[i] + sum;
        }
    }
}

bool same_float(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

size_t first_difference(size_t n, const float *a, const float *b)
{
    size_t i = 0;

    while (i < n && same_float(a[i], b[i]))
        i++;
    return i;
}

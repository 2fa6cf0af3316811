/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "explain/traffic.h"

#include "compress/chunks.h"
#include "compress/indices.h"

/* Formats of elements on their way to the sum, and of the sum on its way back;
 * NULL: values of `bytes` each. */
struct ways {
    const struct aps_format *there;
    const struct aps_format *back;
    size_t bytes;
};

static struct ways ways_of(const struct aps_plan *plan,
                           enum aps_element element)
{
    struct ways ways = {NULL, NULL, aps_element_types[element].bytes};

    if (!plan || !plan->rewrite)
        return ways;
    ways.bytes = aps_format_value_bytes(&plan->format);
    ways.back = &plan->format;
    /* A ring sends partial sums. */
    if (plan->reduce != APS_REDUCE_RING ||
        plan->accumulate != APS_ACCUMULATE_FP32)
        ways.there = &plan->format;
    return ways;
}

static double way_bytes(const struct aps_format *format, size_t bytes)
{
    return format ? aps_format_bits(format) / 8 : (double)bytes;
}

double aps_traffic_per_element(const struct aps_plan *plan,
                               enum aps_element element)
{
    const struct ways ways = ways_of(plan, element);

    return (way_bytes(ways.there, ways.bytes) +
            way_bytes(ways.back, ways.bytes)) /
           2;
}

static size_t packed(const struct aps_format *format, size_t bytes,
                     size_t count)
{
    return format ? aps_packed_bytes(format, count) : count * bytes;
}

/* Returns the bytes of values that a compressor sends, which are FP32 before they are
 * encoded. */
static size_t floats_bytes(const struct aps_plan *plan, size_t count)
{
    return aps_traffic_bytes(plan, APS_ELEMENT_FLOAT, count);
}

size_t aps_traffic_bytes(const struct aps_plan *plan, enum aps_element element,
                         size_t count)
{
    const struct ways ways = ways_of(plan, element);
    size_t there = packed(ways.there, ways.bytes, count);
    size_t back = packed(ways.back, ways.bytes, count);

    return back + (there - back + 1) / 2;
}

/* The parts of a message of selected elements (pmpi/compressed/selected.c)
 * are multiples of PART: a header, indices, and values with a header of
 * their own. */
#define PART 16
#define VALUES_HEADER 4

static size_t parts(size_t bytes)
{
    return (bytes + PART - 1) / PART * PART;
}

/* A section of a slice has k elements, n in the slice
 * (pmpi/compressed/elements.h). It has no indices if sending all elements takes
 * fewer bytes. */
#define SECTION_HEADER 8

static size_t words(size_t bytes)
{
    return (bytes + 3) / 4 * 4;
}

static size_t section(const struct aps_plan *plan, size_t k, size_t n)
{
    const size_t all =
        SECTION_HEADER +
        words(VALUES_HEADER + aps_packed_bytes(&plan->format, n));
    const size_t some =
        SECTION_HEADER + words(aps_indices_bytes(k, n)) +
        words(VALUES_HEADER + aps_packed_bytes(&plan->format, k));

    return some < all ? some : all;
}

/* Ranks select different elements, equally many of each slice. */
static size_t direct_bytes(const struct aps_plan *plan, size_t k, size_t n)
{
    const size_t slice = (n + APS_TRAFFIC_RANKS - 1) / APS_TRAFFIC_RANKS;
    const size_t there = (k + APS_TRAFFIC_RANKS - 1) / APS_TRAFFIC_RANKS;
    const size_t back = k < slice ? k : slice;

    return APS_TRAFFIC_RANKS *
           (section(plan, there, slice) + section(plan, back, slice)) / 2;
}

size_t aps_traffic_compressed(const struct aps_plan *plan,
                              const struct aps_matrix *matrix)
{
    const struct aps_compressor *compressor = &plan->compressor;
    const struct aps_compressor_ops *ops = aps_compressor_ops_of(compressor);
    size_t k;

    /* A format with feedback. */
    if (compressor->kind == APS_COMPRESSOR_NONE)
        return floats_bytes(plan, matrix->count);
    /* Norms are FP32. */
    if (ops->chunk) {
        const size_t floats = ops->floats(compressor, matrix);
        size_t keep, size = ops->chunk(compressor, matrix->count, &keep);
        const size_t norms = aps_chunks_count(matrix->count, size);

        return norms * sizeof(float) + floats_bytes(plan, floats - norms);
    }
    if (ops->floats)
        return floats_bytes(plan, ops->floats(compressor, matrix));
    if (ops->integers) {
        const size_t there = ops->integer_bytes(matrix->count);
        const size_t back =
            plan->reduce == APS_REDUCE_GATHER
                ? there
                : ops->sum_bytes(APS_TRAFFIC_RANKS, matrix->count);

        return (there + back + 1) / 2;
    }
    k = ops->most(compressor, matrix->count);
    if (plan->reduce == APS_REDUCE_DIRECT)
        return direct_bytes(plan, k, matrix->count);
    if (plan->reduce == APS_REDUCE_HIERARCHICAL)
        return section(plan, k, matrix->count);
    return PART + parts(aps_indices_bytes(k, matrix->count)) +
           parts(VALUES_HEADER + aps_packed_bytes(&plan->format, k));
}

static size_t layer_bytes(const struct aps_policy *policy,
                          const struct aps_plan *plan, size_t layer)
{
    const struct aps_layer_row *row = &aps_policy_layers(policy)->list[layer];

    return aps_traffic_bytes(plan, row->element, row->count);
}

size_t aps_traffic_layer(const struct aps_policy *policy, int rule,
                         size_t layer)
{
    struct aps_plan plan;

    aps_policy_layer_plan(policy, rule, layer, &plan);
    return aps_plan_compresses(&plan)
               ? aps_traffic_compressed(&plan, &plan.matrix)
               : layer_bytes(policy, &plan, layer);
}

size_t aps_traffic_layers(const struct aps_policy *policy, int rule,
                          size_t first, size_t last)
{
    size_t bytes = 0;

    for (size_t i = first; i <= last; i++)
        if (aps_policy_layers(policy)->list[i].count >=
            aps_policy_min_count(policy))
            bytes += aps_traffic_layer(policy, rule, i);
    return bytes;
}

size_t aps_traffic_layer_native(const struct aps_policy *policy, size_t layer)
{
    return layer_bytes(policy, NULL, layer);
}

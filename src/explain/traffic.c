/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "explain/traffic.h"

#include <math.h>
#include <string.h>

#include "cli/command.h"
#include "compress/chunks.h"
#include "compress/indices.h"
#include "policy/keywords.h"

#define FP32_BITS 32
#define NOTE_MAX 400

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
    ways.bytes = sizeof(float);
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

static void write_note(const struct aps_plan *plan, char *note, size_t size)
{
    const char *accumulate = aps_accumulate_name(plan->accumulate);
    bool fp32 = plan->accumulate == APS_ACCUMULATE_FP32;
    int ranks = (int)ceil(2 * FP32_BITS / aps_format_bits(&plan->format));

    note[0] = '\0';
    if (!plan->rewrite)
        return;
    switch (plan->reduce) {
    case APS_REDUCE_RING:
        snprintf(note, size, "ring, accumulate %s: %s", accumulate,
                 fp32 ? "partial sums travel in FP32, and the result in the "
                        "format; bytes/elem is the mean of both."
                      : "partial sums and the result travel in the format; "
                        "each rank rounds.");
        break;
    case APS_REDUCE_MASTER:
        snprintf(note, size,
                 "master, accumulate %s: the members of a group send their "
                 "contributions to their master in the format, and get the "
                 "result from it in the format; between the masters partial "
                 "sums travel %s.",
                 accumulate,
                 fp32 ? "in FP32, whose bytes are not in the table"
                      : "in the format, and each master rounds");
        break;
    case APS_REDUCE_GATHER:
        /* Compressors that gather have a note of their own. */
        if (plan->compressor.kind != APS_COMPRESSOR_NONE &&
            !aps_compressor_ops_of(&plan->compressor)->floats)
            break;
        /* Each rank sends p - 1 copies; other reductions, FP32 too, send (p -
         * 1) / p of a copy each way. */
        snprintf(note, size,
                 "gather: every rank gets the %s of all p ranks and adds it up "
                 "itself. That takes p/2 times the bytes shown, which is no "
                 "less than FP32 from %d ranks on. The sum is not encoded.",
                 plan->format.name, ranks);
        break;
    case APS_REDUCE_AUTO:
        snprintf(
            note, size,
            "auto: the library measures native MPI_Allreduce, hierarchical, "
            "direct and ring with the first calls of each class of sizes, four "
            "times each (16 below 64 Ki elements), and keeps native unless it "
            "takes more than 1.1 times as long as the fastest, plus 3 us. The "
            "bytes shown are those of hierarchical and direct.");
        break;
    default:
        break;
    }
}

/* Writes the format inside a group; empty if it is the rule's. */
static void write_node_note(const struct aps_plan *plan, char *note,
                            size_t size)
{
    note[0] = '\0';
    if (plan->rewrite && plan->node == APS_NODE_FP32 &&
        aps_reduce_takes(plan->reduce, APS_SETTING_NODE))
        snprintf(note, size,
                 "node fp32: full floats travel inside a group, and values in "
                 "the format between groups, whose bytes are shown. If all "
                 "ranks are in one group, nothing is rounded: format, scale, "
                 "accumulate and rounding have no effect.");
}

/* Prints the notes of all rules that are shown, each once. */
static void print_notes(const struct aps_policy *policy, const bool *shown,
                        void (*write)(const struct aps_plan *plan, char *note,
                                      size_t size),
                        FILE *stream)
{
    char note[NOTE_MAX], earlier[NOTE_MAX];

    for (size_t i = 0; i < aps_policy_rules(policy); i++) {
        bool said = !shown[i];

        write(aps_policy_rule_plan(policy, (int)i), note, sizeof note);
        for (size_t j = 0; j < i && !said; j++) {
            write(aps_policy_rule_plan(policy, (int)j), earlier,
                  sizeof earlier);
            said = shown[j] && strcmp(note, earlier) == 0;
        }
        if (note[0] != '\0' && !said)
            aps_command_note(note, stream);
    }
}

void aps_traffic_notes(const struct aps_policy *policy, const bool *shown,
                       FILE *stream)
{
    print_notes(policy, shown, write_note, stream);
    print_notes(policy, shown, write_node_note, stream);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "reduction_spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As the headers of the reductions document. */
#define MESSAGE_BYTES 16384

static const char *const scale_names[] = {[SCALE_NONE] = "none",
                                          [SCALE_APS] = "aps",
                                          [SCALE_TIGHT] = "aps-tight",
                                          [SCALE_OWN] = "of each block"};

static const char *const reduce_names[] = {
    [REDUCE_DIRECT] = "direct", [REDUCE_HIERARCHICAL] = "hierarchical",
    [REDUCE_RING] = "ring",     [REDUCE_MASTER] = "master",
    [REDUCE_GATHER] = "gather",
};

static const char *const accumulate_names[] = {[ACCUMULATE_FP32] = "fp32",
                                               [ACCUMULATE_FORMAT] = "format",
                                               [ACCUMULATE_KAHAN] = "kahan"};

bool way_is_allowed(const struct way *way)
{
    const bool grouped =
        way->reduce == REDUCE_HIERARCHICAL || way->reduce == REDUCE_MASTER;

    if (way->scale == SCALE_TIGHT && way->accumulate != ACCUMULATE_FP32)
        return false;
    if (way->accumulate == ACCUMULATE_KAHAN &&
        (way->reduce == REDUCE_RING || way->reduce == REDUCE_MASTER))
        return false;
    if (way->chunk > 0 &&
        (way->accumulate != ACCUMULATE_FORMAT || way->reduce == REDUCE_RING ||
         way->reduce == REDUCE_MASTER))
        return false;
    if (way->sums &&
        (way->accumulate == ACCUMULATE_FP32 || way->reduce == REDUCE_RING ||
         way->reduce == REDUCE_MASTER))
        return false;
    return (way->group == 0 || grouped) &&
           (!way->node_fp32 || way->reduce == REDUCE_HIERARCHICAL);
}

bool way_equals(const struct way *a, const struct way *b)
{
    return strcmp(a->format, b->format) == 0 && a->scale == b->scale &&
           a->fixed == b->fixed && a->reduce == b->reduce &&
           a->group == b->group && a->node_fp32 == b->node_fp32 &&
           a->accumulate == b->accumulate && a->chunk == b->chunk &&
           strcmp(a->history ? a->history : "", b->history ? b->history : "") ==
               0 &&
           strcmp(a->sums ? a->sums : a->format,
                  b->sums ? b->sums : b->format) == 0;
}

static const char *scale_name(const struct way *way, char text[128])
{
    if (way->history)
        snprintf(text, 128, "%s", way->history);
    else if (way->scale == SCALE_FIXED)
        snprintf(text, 128, "{fixed: %g}", way->fixed);
    else
        snprintf(text, 128, "%s", scale_names[way->scale]);
    return text;
}

const char *way_name(const struct way *way, char *text, size_t size)
{
    char scale[128], group[16] = "", chunk[32] = "";
    const bool plain = way->accumulate == ACCUMULATE_FP32;

    if (way->group > 0)
        snprintf(group, sizeof group, " by %d", way->group);
    if (way->chunk > 0)
        snprintf(chunk, sizeof chunk, ", chunks of %d", way->chunk);
    snprintf(text, size, "%s, scale %s, %s%s%s%s%s%s%s%s", way->format,
             scale_name(way, scale), reduce_names[way->reduce], group,
             way->node_fp32 ? ", node fp32" : "", plain ? "" : ", accumulate ",
             plain ? "" : accumulate_names[way->accumulate],
             way->sums ? " in " : "", way->sums ? way->sums : "", chunk);
    return text;
}

void way_print_rule(FILE *stream, const struct way *way, long first, long last)
{
    char scale[128];

    if (first >= 0)
        fprintf(stream, "  - layers: %ld-%ld\n    ", first, last);
    else
        fprintf(stream, "  - ");
    fprintf(stream, "format: %s\n", way->format);
    if (way->scale != SCALE_OWN)
        fprintf(stream, "    scale: %s\n", scale_name(way, scale));
    fprintf(stream, "    reduce: %s\n", reduce_names[way->reduce]);
    if (way->group > 0)
        fprintf(stream, "    group: %d\n", way->group);
    if (way->node_fp32)
        fprintf(stream, "    node: fp32\n");
    if (way->chunk > 0)
        fprintf(stream, "    accumulate: {%s%s%schunk: %d}\n",
                way->sums ? "format: " : "", way->sums ? way->sums : "",
                way->sums ? ", " : "", way->chunk);
    else if (way->sums)
        fprintf(stream, "    accumulate: {format: %s, kahan: %s}\n", way->sums,
                way->accumulate == ACCUMULATE_KAHAN ? "on" : "off");
    else if (way->accumulate != ACCUMULATE_FP32)
        fprintf(stream, "    accumulate: %s\n",
                accumulate_names[way->accumulate]);
}

/* Properties that the ranks of one group share. */
struct place {
    int node;
    int part; /* index of the part of the node, or of the communicator */
};

/* Returns the place of a rank that has `before` ranks before it on its node. */
static struct place place_of(const struct way *way, int rank, int node,
                             int before)
{
    switch (way->reduce) {
    case REDUCE_RING:
        return (struct place){0, rank};
    case REDUCE_MASTER:
        /* Consecutive ranks form a group, on any nodes. */
        if (way->group > 0)
            return (struct place){0, rank / way->group};
        return (struct place){node, 0};
    case REDUCE_HIERARCHICAL:
        return (struct place){node, way->group > 0 ? before / way->group : 0};
    default:
        return (struct place){0, 0};
    }
}

void way_groups(const struct way *way, int ranks, struct groups *groups)
{
    const char *nodes_text = getenv("APSMPI_TEST_NODES");
    const int nodes = nodes_text ? atoi(nodes_text) : 1;
    const bool cyclic = nodes_text && strstr(nodes_text, ":cyclic");
    int on_node[RANKS_MAX] = {0};
    struct place places[RANKS_MAX];

    memset(groups, 0, sizeof *groups);
    for (int rank = 0; rank < ranks; rank++) {
        int node = cyclic ? rank % nodes : rank * nodes / ranks;
        struct place place = place_of(way, rank, node, on_node[node]++);
        int g = 0;

        while (g < groups->count &&
               (places[g].node != place.node || places[g].part != place.part))
            g++;
        if (g == groups->count)
            places[groups->count++] = place;
        groups->members[g][groups->sizes[g]++] = rank;
    }
    groups->smallest = ranks;
    for (int g = 0; g < groups->count; g++) {
        if (groups->sizes[g] < groups->smallest)
            groups->smallest = groups->sizes[g];
        if (groups->sizes[g] > groups->largest)
            groups->largest = groups->sizes[g];
    }
}

/* Returns the number of elements of `width` bits in `bytes` bytes, a multiple of 64. */
static size_t length_in(size_t bytes, int width)
{
    return bytes * 8 / (size_t)width / 64 * 64;
}

static size_t message_length(int width)
{
    return length_in(MESSAGE_BYTES, width);
}

size_t hierarchical_chunk_fp32(size_t owners)
{
    const size_t many = owners * 16384;

    return many > HIERARCHICAL_CHUNK ? many : HIERARCHICAL_CHUNK;
}

/* Length for a single group: as many codes per owner as fit where FP32 values fit. */
static size_t hierarchical_chunk_alone(const struct way *way, size_t owners,
                                       int width)
{
    const size_t fp32 = hierarchical_chunk_fp32(owners);
    const size_t slice = (fp32 / 64 + owners - 1) / owners * 64;
    size_t fit = length_in(slice * sizeof(float), width);

    if (fit > HIERARCHICAL_SLICE)
        fit = HIERARCHICAL_SLICE;
    return way->node_fp32 || fit * owners < fp32 ? fp32 : fit * owners;
}

/* Between groups, chunks of narrow codes are as long as chunks of one-byte values. */
static size_t hierarchical_chunk(const struct way *way,
                                 const struct groups *groups, int width)
{
    if (groups->count == 1)
        return hierarchical_chunk_alone(way, (size_t)groups->smallest, width);
    if (way->node_fp32 || width >= 8)
        return HIERARCHICAL_CHUNK;
    return width > 4 ? length_in(HIERARCHICAL_CHUNK, width)
                     : (size_t)2 * HIERARCHICAL_CHUNK;
}

size_t way_chunk(const struct way *way, int ranks)
{
    struct groups groups;
    int e, m, width;

    if (sscanf(way->format, "e%dm%d", &e, &m) != 2)
        abort();
    width = 1 + e + m;
    way_groups(way, ranks, &groups);
    switch (way->reduce) {
    case REDUCE_HIERARCHICAL:
        /* If every group has one rank, the reduction is `direct`. */
        return groups.count == ranks ? (size_t)ranks * message_length(width)
                                     : hierarchical_chunk(way, &groups, width);
    case REDUCE_MASTER:
    case REDUCE_GATHER:
        return message_length(width);
    case REDUCE_RING:
        /* Partial sums may travel as FP32. */
        if (way->accumulate == ACCUMULATE_FP32)
            width = 32;
        break;
    case REDUCE_DIRECT:
        break;
    }
    return (size_t)ranks * message_length(width);
}

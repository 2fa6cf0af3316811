/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reference_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "aps.h"

/* As the headers of the reductions document. */
#define MESSAGE_BYTES 16384
#define TILE 4096

static const struct aps_format *format_of(const char *name)
{
    const struct aps_format *format = aps_format_get(name, NULL);

    if (!format)
        abort();
    return format;
}

size_t blocks_granule(const char *format)
{
    const size_t block = (size_t)aps_format_block(format_of(format));
    size_t granule = block;

    while (granule % 64 > 0)
        granule += block;
    return granule;
}

static float *new_floats(size_t n)
{
    float *x = malloc(n * sizeof *x + 1);

    if (!x)
        abort();
    return x;
}

/* --- where a layer is cut -------------------------------------------------- */

/* Chunks in slices, of one owner each, in parts. */
struct cut {
    size_t n;
    size_t chunk;
    size_t granule;
    int slices;
    int parts;
};

static size_t slice_begin(size_t n, size_t granule, int slices, int i)
{
    const size_t units = (n + granule - 1) / granule;
    const size_t count = (size_t)slices, k = (size_t)i;
    const size_t longer = k < units % count ? k : units % count;
    const size_t begin = (units / count * k + longer) * granule;

    return begin < n ? begin : n;
}

static size_t slice_length(size_t n, size_t granule, int slices, int i)
{
    return slice_begin(n, granule, slices, i + 1) -
           slice_begin(n, granule, slices, i);
}

typedef void (*piece_fn)(void *state, size_t begin, size_t n, int slice);

/* Visits every part of every slice, with the slice's owner. */
static void visit(const struct cut *cut, piece_fn piece, void *state)
{
    for (size_t begin = 0; begin < cut->n; begin += cut->chunk) {
        const size_t rest = cut->n - begin;
        const size_t length = rest < cut->chunk ? rest : cut->chunk;

        for (int i = 0; i < cut->slices; i++) {
            const size_t at =
                begin + slice_begin(length, cut->granule, cut->slices, i);
            const size_t slice =
                slice_length(length, cut->granule, cut->slices, i);

            for (int k = 0; k < cut->parts; k++)
                piece(state,
                      at + slice_begin(slice, cut->granule, cut->parts, k),
                      slice_length(slice, cut->granule, cut->parts, k), i);
        }
    }
}

/* --- casts ----------------------------------------------------------------- */

struct cast {
    const struct aps_format *format;
    const float *x;
    float *y;
    size_t most; /* values that share a scale, at most */
};

static void cast_values(const struct cast *cast, size_t begin, size_t n)
{
    if (aps_cast_array(cast->format, cast->x + begin, n, NULL, cast->y + begin,
                       NULL) < 0)
        abort();
}

static void cast_piece(void *state, size_t begin, size_t n, int slice)
{
    const struct cast *cast = state;

    (void)slice;
    for (size_t at = 0; at < n; at += cast->most)
        cast_values(cast, begin + at,
                    n - at < cast->most ? n - at : cast->most);
}

/* y[n] gets the decoded values of x[n]; y may be x. */
static void cast_layer(const char *name, const struct cut *cut, size_t most,
                       const float *x, float *y)
{
    struct cast cast = {format_of(name), x, y, most};

    if (strcmp(name, "nvfp4") == 0)
        visit(cut, cast_piece, &cast);
    else
        cast_values(&cast, 0, cut->n);
}

/* Casts a block that is sent. */
static void send_layer(const struct way *way, const struct cut *cut,
                       const float *x, float *y)
{
    cast_layer(way->format, cut, cut->n, x, y);
}

/* Rounds a partial sum. */
static void round_layer(const struct way *way, const struct cut *cut, float *x)
{
    cast_layer(way->sums ? way->sums : way->format, cut, TILE, x, x);
}

/* --- sums ------------------------------------------------------------------ */

/* sum = Q(sum + x) */
static void add_layer(const struct way *way, const struct cut *cut,
                      const float *x, float *sum)
{
    for (size_t i = 0; i < cut->n; i++)
        sum[i] += x[i];
    if (way->accumulate == ACCUMULATE_FORMAT)
        round_layer(way, cut, sum);
}

static void add_by_kahan(const struct way *way, const struct cut *cut,
                         const float *x, float *sum, float *lost)
{
    float *y = new_floats(cut->n), *t = new_floats(cut->n);

    for (size_t i = 0; i < cut->n; i++)
        y[i] = x[i] - lost[i];
    round_layer(way, cut, y);
    for (size_t i = 0; i < cut->n; i++)
        t[i] = sum[i] + y[i];
    round_layer(way, cut, t);
    for (size_t i = 0; i < cut->n; i++)
        lost[i] = t[i] - sum[i];
    round_layer(way, cut, lost);
    for (size_t i = 0; i < cut->n; i++)
        lost[i] -= y[i];
    round_layer(way, cut, lost);
    memcpy(sum, t, cut->n * sizeof *sum);
    free(y);
    free(t);
}

/* Adds contribution k of `count` in chunks of way->chunk: the first chunk goes
 * to the sum directly, the others through `chunk`. */
static void add_in_chunks(const struct way *way, const struct cut *cut, int k,
                          int count, const float *x, float *sum, float *chunk)
{
    const bool ends = k % way->chunk == way->chunk - 1 || k == count - 1;
    float *to = k < way->chunk ? sum : chunk;

    if (k % way->chunk == 0)
        memcpy(to, x, cut->n * sizeof *to);
    else
        add_layer(way, cut, x, to);
    if (to == chunk && ends)
        add_layer(way, cut, chunk, sum);
}

/* Sums what `count` ranks send. */
static void sum_layers(const struct way *way, const struct cut *cut, int count,
                       const float *const x[], float *sum)
{
    float *sent = new_floats(cut->n);
    float *other = calloc(cut->n + 1, sizeof *other);
    const bool kahan = way->accumulate == ACCUMULATE_KAHAN;

    if (!other)
        abort();
    memset(sum, 0, cut->n * sizeof *sum);
    for (int k = 0; k < count; k++) {
        send_layer(way, cut, x[k], sent);
        if (kahan)
            add_by_kahan(way, cut, sent, sum, other);
        else if (way->chunk > 0)
            add_in_chunks(way, cut, k, count, sent, sum, other);
        else if (k == 0)
            memcpy(sum, sent, cut->n * sizeof *sum);
        else
            add_layer(way, cut, sent, sum);
    }
    free(sent);
    free(other);
}

static void sum_exactly(size_t n, int count, const float *const x[], float *sum)
{
    memcpy(sum, x[0], n * sizeof *sum);
    for (int k = 1; k < count; k++)
        for (size_t i = 0; i < n; i++)
            sum[i] += x[k][i];
}

/* --- rings ----------------------------------------------------------------- */

/* Moves the layer round the ring as one slice, with x[count] in the order of
 * its way, up to the sending of the result. */
static void travel(const struct way *way, const struct cut *cut, int count,
                   const float *const x[], float *sum)
{
    const bool each = way->accumulate == ACCUMULATE_FORMAT;
    float *own = new_floats(cut->n);

    for (int k = 0; k < count; k++) {
        if (each)
            send_layer(way, cut, x[k], own);
        else
            memcpy(own, x[k], cut->n * sizeof *own);
        if (k == 0)
            memcpy(sum, own, cut->n * sizeof *sum);
        else
            add_layer(way, cut, own, sum);
        if (each && k > 0 && k < count - 1)
            send_layer(way, cut, sum, sum);
    }
    free(own);
}

struct turn {
    int slice;
    const float *from;
    float *to;
};

static void take_slice(void *state, size_t begin, size_t n, int slice)
{
    const struct turn *turn = state;

    if (slice == turn->slice)
        memcpy(turn->to + begin, turn->from + begin, n * sizeof *turn->to);
}

/* Slice j begins after its owner j and ends there. */
static void pass_round(const struct way *way, const struct cut *cut, int count,
                       const float *const x[], float *out)
{
    float *sum = new_floats(cut->n), *sums = new_floats(cut->n);

    for (int j = 0; j < count; j++) {
        const float *stops[RANKS_MAX];
        struct turn turn = {j, sum, sums};

        for (int k = 0; k < count; k++)
            stops[k] = x[(j + 1 + k) % count];
        travel(way, cut, count, stops, sum);
        visit(cut, take_slice, &turn);
    }
    send_layer(way, cut, sums, out);
    free(sum);
    free(sums);
}

/* --- reductions ------------------------------------------------------------ */

/* Returns the elements that fit in `bytes` bytes, in whole granules. */
static size_t length_in(const struct way *way, size_t bytes)
{
    const struct aps_format *format = format_of(way->format);
    const size_t granule = blocks_granule(way->format);
    const size_t one = aps_packed_bytes(format, granule);
    const size_t each = aps_packed_bytes(format, 2 * granule) - one;

    const size_t fit = (bytes - (one - each)) / each * granule;
    /* Codes of one bit allow no more elements than codes of two. */
    const size_t most = bytes * 4 / granule * granule;

    return fit < most ? fit : most;
}

static size_t message_length(const struct way *way)
{
    return length_in(way, MESSAGE_BYTES);
}

static size_t whole(size_t n, size_t granule)
{
    return (n + granule - 1) / granule * granule;
}

/* Length for a single group: as many codes per owner as fit where FP32 values fit. */
static size_t hierarchical_chunk_alone(const struct way *way, size_t owners)
{
    const size_t granule = blocks_granule(way->format);
    const size_t fp32 = hierarchical_chunk_fp32(owners);
    const size_t slice = whole((fp32 + owners - 1) / owners, 64);
    const size_t most = (size_t)HIERARCHICAL_SLICE / granule * granule;
    const size_t least = whole(fp32, granule);
    size_t fit = length_in(way, slice * sizeof(float));

    if (fit > most)
        fit = most;
    return way->node_fp32 || fit * owners < least ? least : fit * owners;
}

/* Length for several groups: that of one-byte values. */
static size_t hierarchical_chunk(const struct way *way,
                                 const struct groups *groups)
{
    const size_t granule = blocks_granule(way->format);
    const size_t most = (size_t)2 * HIERARCHICAL_CHUNK / granule * granule;
    const size_t least = whole(HIERARCHICAL_CHUNK, granule);
    const size_t fit = length_in(way, HIERARCHICAL_CHUNK);

    if (groups->count == 1)
        return hierarchical_chunk_alone(way, (size_t)groups->smallest);
    if (way->node_fp32 || fit < least)
        return least;
    return fit < most ? fit : most;
}

static size_t chunk_of(const struct way *way, int ranks,
                       const struct groups *groups)
{
    const size_t granule = blocks_granule(way->format);
    const size_t fp32 = MESSAGE_BYTES / (granule * sizeof(float)) * granule;

    switch (way->reduce) {
    case REDUCE_HIERARCHICAL:
        if (groups->count < ranks)
            return hierarchical_chunk(way, groups);
        break;
    case REDUCE_RING:
        if (way->accumulate == ACCUMULATE_FP32)
            return (size_t)ranks * fp32;
        break;
    case REDUCE_MASTER:
    case REDUCE_GATHER:
        return message_length(way);
    case REDUCE_DIRECT:
        break;
    }
    return (size_t)ranks * message_length(way);
}

/* Computes the sums of the groups, which the caller frees. */
static void sum_groups(const struct way *way, const struct cut *cut,
                       const struct groups *groups, float *const in[],
                       float *sums[])
{
    for (int g = 0; g < groups->count; g++) {
        const int count = groups->sizes[g];
        const float *members[RANKS_MAX];

        for (int i = 0; i < count; i++)
            members[i] = in[groups->members[g][i]];
        sums[g] = new_floats(cut->n);
        /* A rank that is alone sends nothing to a master. */
        if (way->node_fp32 || (way->reduce == REDUCE_MASTER && count == 1 &&
                               way->accumulate == ACCUMULATE_FP32))
            sum_exactly(cut->n, count, members, sums[g]);
        else
            sum_layers(way, cut, count, members, sums[g]);
    }
}

/* Sends slices of sums to their owners, and back to all. */
static void exchange(const struct way *way, const struct cut *cut, int count,
                     const float *const x[], float *out)
{
    float *sum = new_floats(cut->n);

    sum_layers(way, cut, count, x, sum);
    send_layer(way, cut, sum, out);
    free(sum);
}

static void reduce_in_groups(const struct way *way, const struct groups *groups,
                             struct cut cut, float *const in[], float *out)
{
    float *sums[RANKS_MAX];
    const float *const *const read_sums = (const float *const *)sums;
    const bool masters = way->reduce == REDUCE_MASTER;

    cut.slices = masters ? 1 : groups->smallest;
    sum_groups(way, &cut, groups, in, sums);
    if (masters)
        cut.slices = groups->count;
    else
        cut.parts = groups->count;
    if (groups->count == 1 && way->node_fp32)
        memcpy(out, sums[0], cut.n * sizeof *out);
    else if (groups->count == 1)
        send_layer(way, &cut, sums[0], out);
    else if (masters)
        pass_round(way, &cut, groups->count, read_sums, out);
    else
        exchange(way, &cut, groups->count, read_sums, out);
    for (int g = 0; g < groups->count; g++)
        free(sums[g]);
}

void reference_blocks(const struct way *way, int ranks, size_t n,
                      float *const in[], float *out)
{
    const float *const *const read_in = (const float *const *)in;
    struct groups groups;
    struct cut cut = {n, 0, blocks_granule(way->format), ranks, 1};

    way_groups(way, ranks, &groups);
    cut.chunk = chunk_of(way, ranks, &groups);
    switch (way->reduce) {
    case REDUCE_RING:
        pass_round(way, &cut, ranks, read_in, out);
        break;
    case REDUCE_GATHER:
        cut.slices = 1;
        sum_layers(way, &cut, ranks, read_in, out);
        break;
    case REDUCE_HIERARCHICAL:
        if (groups.count == ranks)
            exchange(way, &cut, ranks, read_in, out);
        else
            reduce_in_groups(way, &groups, cut, in, out);
        break;
    case REDUCE_MASTER:
        reduce_in_groups(way, &groups, cut, in, out);
        break;
    case REDUCE_DIRECT:
        exchange(way, &cut, ranks, read_in, out);
        break;
    }
}

/* --- other collectives ------------------------------------------------------ */

/* Cuts a share into messages. */
static struct cut cut_of_share(const struct way *way, size_t n)
{
    return (struct cut){n, message_length(way), blocks_granule(way->format), 1,
                        1};
}

void reference_blocks_scatter(const struct way *way, int ranks,
                              const size_t bounds[], float *const in[],
                              float *sum)
{
    for (int i = 0; i < ranks; i++) {
        const struct cut cut = cut_of_share(way, bounds[i + 1] - bounds[i]);
        const float *shares[RANKS_MAX];

        for (int r = 0; r < ranks; r++)
            shares[r] = in[r] + bounds[i];
        sum_layers(way, &cut, ranks, shares, sum + bounds[i]);
    }
}

void reference_blocks_gather(const struct way *way, int ranks, size_t n,
                             float *const in[], float *gathered)
{
    const struct cut cut = cut_of_share(way, n);

    for (int r = 0; r < ranks; r++)
        send_layer(way, &cut, in[r], gathered + (size_t)r * n);
}

void reference_blocks_bcast(const struct way *way, int ranks, size_t n,
                            const float *x, float *out)
{
    const struct cut cut = {n, (size_t)(ranks - 1) * message_length(way),
                            blocks_granule(way->format), ranks - 1, 1};

    send_layer(way, &cut, x, out);
}

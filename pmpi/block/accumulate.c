/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "block/accumulate.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/cache.h"
#include "block/tile.h"
#include "codec/divided.h"
#include "codec/doubles.h"
#include "codec/workers.h"

/* Largest number of elements that are summed at a time over all blocks. */
#define TILE APS_BLOCK_PART

/* Largest number of blocks that a codec sums at a time. */
#define SUMMANDS 256

/* Adds one block by `fp32` or `format`. */
static void accumulate_add_tile(const struct aps_wire *wire, int turn,
                                struct aps_block_part part, size_t n,
                                float *sum)
{
    if (turn == 0) {
        aps_block_part_decode(wire, &part, n, sum);
        return;
    }
    aps_block_part_add(wire, &part, n, sum);
    if (wire->accumulate == APS_ACCUMULATE_FORMAT)
        wire->sums.round(&wire->sums, n, part.scaling, sum);
}

/* Takes one Kahan step for every element; y and t are those of the header. */
static void accumulate_add_tile_kahan(const struct aps_wire *wire,
                                      struct aps_block_part part, size_t n,
                                      float *sum, float *carry)
{
    const struct aps_codec *sums = &wire->sums;
    float y[TILE], t[TILE];

    aps_block_part_decode(wire, &part, n, y);
    for (size_t i = 0; i < n; i++)
        y[i] -= carry[i];
    sums->round(sums, n, part.scaling, y);
    for (size_t i = 0; i < n; i++)
        t[i] = sum[i] + y[i];
    sums->round(sums, n, part.scaling, t);
    for (size_t i = 0; i < n; i++)
        carry[i] = t[i] - sum[i];
    sums->round(sums, n, part.scaling, carry);
    for (size_t i = 0; i < n; i++)
        carry[i] -= y[i];
    sums->round(sums, n, part.scaling, carry);
    memcpy(sum, t, n * sizeof *sum);
}

/* Adds block i of `count`. The first chunk is summed in `sum`, others in
 * `chunk`, which is added to `sum` at the chunk's end. */
static void accumulate_add_tile_chunked(const struct aps_wire *wire, int i,
                                        int count, struct aps_block_part part,
                                        size_t n, float *sum, float *chunk)
{
    const int turn = i % wire->chunk;

    if (i < wire->chunk) {
        accumulate_add_tile(wire, turn, part, n, sum);
        return;
    }
    accumulate_add_tile(wire, turn, part, n, chunk);
    if (turn < wire->chunk - 1 && i < count - 1)
        return;
    for (size_t k = 0; k < n; k++)
        sum[k] += chunk[k];
    wire->sums.round(&wire->sums, n, part.scaling, sum);
}

/* True if only its size shows that a partial sum has overflowed. */
static bool accumulate_hides_overflow(const struct aps_wire *wire)
{
    return wire->records && wire->accumulate != APS_ACCUMULATE_FP32 &&
           wire->sums.format.saturate;
}

/* Sets the arguments of a codec that adds all blocks in one pass, in FP32.
 * Returns false if a codec cannot do that for this wire. */
static bool accumulate_tell_codec(const struct aps_wire *wire, int count,
                                  const unsigned char *blocks, size_t stride,
                                  struct aps_summand summands[SUMMANDS])
{
    if (wire->accumulate != APS_ACCUMULATE_FP32 || wire->fp64 || count < 2 ||
        count > SUMMANDS)
        return false;
    for (int i = 0; i < count; i++) {
        const unsigned char *block = blocks + (size_t)i * stride;

        summands[i].wire = block + aps_block_header_bytes(wire);
        summands[i].scaling =
            aps_block_scaling(wire, block, &summands[i].flags);
    }
    return true;
}

/* Sums values [begin, begin + n) of the blocks in FP64, and rounds the sums to
 * FP32. */
static void accumulate_tile_fp64(const struct aps_wire *wire, int count,
                                 const unsigned char *blocks, size_t stride,
                                 size_t begin, size_t n, float *sum)
{
    const enum aps_cpu cpu = aps_cpu_chosen();
    double total[TILE];
    float values[TILE];

    for (int i = 0; i < count; i++) {
        struct aps_block_copy copy;
        const struct aps_block_part part = aps_block_part_of(
            wire, blocks + (size_t)i * stride, begin, n, &copy);

        aps_block_part_decode(wire, &part, n, values);
        if (i == 0)
            aps_doubles_widen(values, n, cpu, total);
        else
            aps_doubles_add(values, n, cpu, total);
    }
    aps_doubles_round(total, n, cpu, sum);
}

/* A pass over the elements of a sum, in parts (codec/workers.h). */
struct sum_pass {
    const struct aps_wire *wire;
    int count;
    const unsigned char *blocks;
    size_t stride;
    const struct aps_summand *summands;
    float *sum;
    bool measured; /* the tiles' magnitude is wanted */
    struct aps_scaling scaling;
    unsigned char *to; /* values of the encoded sum */
    float *values;
    atomic_bool failed;
    struct aps_divided_magnitude magnitude;
};

/* Returns the summands of elements from `begin` on. */
static const struct aps_summand *
accumulate_summands_from(const struct sum_pass *pass, size_t begin,
                         struct aps_summand summands[SUMMANDS])
{
    const size_t bytes = aps_codec_bytes(&pass->wire->codec, begin);

    if (begin == 0)
        return pass->summands;
    for (int i = 0; i < pass->count; i++) {
        summands[i] = pass->summands[i];
        summands[i].wire = (const unsigned char *)summands[i].wire + bytes;
    }
    return summands;
}

static void accumulate_pass_by_codec(void *state, size_t begin, size_t n)
{
    struct sum_pass *pass = state;
    const struct aps_codec *codec = &pass->wire->codec;
    struct aps_summand summands[SUMMANDS];
    struct aps_magnitude found;

    if (codec->sum(codec, accumulate_summands_from(pass, begin, summands),
                   pass->count, n, pass->sum + begin, &found))
        aps_divided_magnitude_add(&pass->magnitude, found);
    else
        atomic_store(&pass->failed, true);
}

/* Sums the blocks in one pass of the codec. Returns false, without a sum, if
 * the codec cannot do that. */
static bool accumulate_by_codec(const struct aps_wire *wire, int count,
                                const unsigned char *blocks, size_t stride,
                                size_t n, float *sum,
                                struct aps_magnitude *magnitude)
{
    const struct aps_codec *codec = &wire->codec;
    struct aps_summand summands[SUMMANDS];
    struct sum_pass pass = {
        .wire = wire, .count = count, .summands = summands, .sum = sum};

    if (!codec->sum ||
        !accumulate_tell_codec(wire, count, blocks, stride, summands))
        return false;
    aps_workers_pass(n, count, aps_divided_unit(codec),
                     accumulate_pass_by_codec, &pass);
    if (atomic_load(&pass.failed))
        return false;
    if (magnitude)
        *magnitude = aps_divided_magnitude_get(&pass.magnitude);
    return true;
}

static void accumulate_pass_encode(void *state, size_t begin, size_t n)
{
    struct sum_pass *pass = state;
    const struct aps_codec *codec = &pass->wire->codec;
    struct aps_summand summands[SUMMANDS];
    struct aps_magnitude found = {0, true};

    if (codec->sum_encode(
            codec, accumulate_summands_from(pass, begin, summands), pass->count,
            n, pass->scaling, pass->to + aps_codec_bytes(codec, begin),
            pass->values ? pass->values + begin : NULL, pass->wire->streams,
            &found.max))
        aps_divided_magnitude_add(&pass->magnitude, found);
    else
        atomic_store(&pass->failed, true);
}

/* Sums and encodes a block in one pass, if its exponent does not depend on the sum and
 * the sum stays within the format. Returns false, with any bytes in the block,
 * otherwise. */
static bool accumulate_encode_by_codec(const struct aps_wire *wire, int count,
                                       const unsigned char *blocks,
                                       size_t stride, struct aps_block sum,
                                       unsigned char *to, float *values,
                                       struct aps_scale_record *before)
{
    const struct aps_codec *codec = &wire->codec;
    struct aps_summand summands[SUMMANDS];
    struct aps_magnitude magnitude = {0, true};
    struct aps_block_meta meta = aps_block_meta_of(wire, &sum, magnitude);
    struct sum_pass pass = {.wire = wire,
                            .count = count,
                            .summands = summands,
                            .scaling = meta.scaling,
                            .to = to + aps_block_header_bytes(wire),
                            .values = values};

    if (!codec->sum_encode || wire->rounding != APS_ROUND_NEAREST ||
        aps_scale_ops_of(&wire->scale)->per_block || !meta.scaling.bounded ||
        !accumulate_tell_codec(wire, count, blocks, stride, summands))
        return false;
    aps_workers_pass(sum.n, count, aps_divided_unit(codec),
                     accumulate_pass_encode, &pass);
    if (atomic_load(&pass.failed))
        return false;
    magnitude = aps_divided_magnitude_get(&pass.magnitude);
    *before = aps_accumulate_record(wire, count, blocks, stride, magnitude);
    sum.sums = before;
    meta = aps_block_meta_of(wire, &sum, magnitude);
    if (!meta.scaling.bounded)
        return false;
    aps_block_write_header(wire, &meta, 0, to);
    return true;
}

struct aps_scale_record
aps_accumulate_encode(const struct aps_wire *wire, int count,
                      const unsigned char *blocks, size_t stride,
                      struct aps_block sum, void *scratch, unsigned char *to,
                      float *values, bool *decoded)
{
    struct aps_scale_record before;
    bool encoded;

    /* only whole cache lines can be written past the caches */
    if (wire->streams && (uintptr_t)values % APS_CACHE_LINE != 0)
        values = NULL;
    encoded = accumulate_encode_by_codec(wire, count, blocks, stride, sum, to,
                                         values, &before);

    *decoded = encoded && values;
    if (!encoded) {
        sum.memory = aps_wire_sum_memory(wire);
        sum.x = scratch;
        sum.exact = true;
        sum.sums = &before;
        aps_accumulate(wire, count, blocks, stride, sum.n, scratch,
                       aps_wire_measures(wire) ? &sum.known : NULL);
        before = aps_accumulate_record(wire, count, blocks, stride, sum.known);
        aps_block_encode(wire, &sum, to);
    }
    return before;
}

/* Sums elements [from, from + n) tile by tile. */
static void accumulate_pass_by_tiles(void *state, size_t from, size_t n)
{
    struct sum_pass *pass = state;
    const struct aps_wire *wire = pass->wire;
    const int count = pass->count;
    const bool kahan = wire->accumulate == APS_ACCUMULATE_KAHAN;
    const bool fp64 = wire->accumulate == APS_ACCUMULATE_FP32 && wire->fp64 &&
                      !wire->codec.format.wide;
    const size_t most = aps_block_part_max(wire), end = from + n;
    const bool watch = pass->measured && accumulate_hides_overflow(wire);
    struct aps_magnitude magnitude = {0, true};

    for (size_t begin = from; begin < end; begin += most) {
        const size_t length = end - begin < most ? end - begin : most;
        float *const tile =
            aps_memory_at(aps_wire_sum_memory(wire), pass->sum, begin);
        float carry[TILE]; /* carry of Kahan's sum, or sum of a chunk */
        struct aps_block_copy copy;

        if (fp64)
            accumulate_tile_fp64(wire, count, pass->blocks, pass->stride, begin,
                                 length, tile);
        if (kahan) {
            memset(tile, 0, length * sizeof *tile);
            memset(carry, 0, length * sizeof *carry);
        }
        for (int i = 0; i < count && !fp64; i++) {
            const struct aps_block_part part =
                aps_block_part_of(wire, pass->blocks + (size_t)i * pass->stride,
                                  begin, length, &copy);

            if (kahan)
                accumulate_add_tile_kahan(wire, part, length, tile, carry);
            else if (wire->chunk > 0)
                accumulate_add_tile_chunked(wire, i, count, part, length, tile,
                                            carry);
            else
                accumulate_add_tile(wire, i, part, length, tile);
            if (watch && wire->chunk > 0 && i >= wire->chunk &&
                i % wire->chunk > 0)
                aps_magnitude_add(carry, length, &magnitude);
            if (watch && i > 0)
                aps_magnitude_add(tile, length, &magnitude);
        }
        if (pass->measured)
            aps_magnitude_add(tile, length, &magnitude);
    }
    aps_divided_magnitude_add(&pass->magnitude, magnitude);
}

void aps_accumulate(const struct aps_wire *wire, int count,
                    const unsigned char *blocks, size_t stride, size_t n,
                    void *sum, struct aps_magnitude *magnitude)
{
    struct sum_pass pass = {.wire = wire,
                            .count = count,
                            .blocks = blocks,
                            .stride = stride,
                            .sum = sum,
                            .measured = magnitude && !wire->codec.format.wide};

    if (accumulate_by_codec(wire, count, blocks, stride, n, sum, magnitude))
        return;
    aps_workers_pass(n, count, aps_block_part_max(wire),
                     accumulate_pass_by_tiles, &pass);
    if (magnitude)
        *magnitude = aps_divided_magnitude_get(&pass.magnitude);
}

struct aps_scale_record aps_accumulate_record(const struct aps_wire *wire,
                                              int count,
                                              const unsigned char *blocks,
                                              size_t stride,
                                              struct aps_magnitude magnitude)
{
    struct aps_scale_record record =
        aps_blocks_record(wire, count, blocks, stride);
    struct aps_scaling scaling;
    unsigned flags;

    if (!wire->records)
        return record;
    if (wire->accumulate == APS_ACCUMULATE_FP32) {
        /* The sum exceeds FP32, as it would without the library. */
        record.nonfinite |= !magnitude.finite && !record.over;
        return record;
    }
    scaling = aps_block_scaling(wire, blocks, &flags);
    /* This also counts an INF of the program, because a partial sum may have
     * become INF by overflow, too. */
    record.over |= !magnitude.finite;
    if (count > 1 && accumulate_hides_overflow(wire))
        record.over |= ldexp(magnitude.max, scaling.exponent) >=
                       aps_format_max(&wire->sums.format);
    return record;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "block/block.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/cache.h"
#include "codec/divided.h"
#include "codec/workers.h"
#include "number/draw.h"

bool aps_wire_has_own_blocks(const struct aps_wire *wire)
{
    return wire->records ||
           aps_scale_binds_blocks(&wire->scale, &wire->codec.format,
                                  wire->rounding);
}

size_t aps_block_bytes(const struct aps_wire *wire, size_t n)
{
    return n > 0
               ? aps_block_header_bytes(wire) + aps_codec_bytes(&wire->codec, n)
               : 0;
}

size_t aps_block_aligned(size_t bytes)
{
    return (bytes + APS_CACHE_LINE - 1) / APS_CACHE_LINE * APS_CACHE_LINE;
}

size_t aps_block_stride(const struct aps_wire *wire, size_t n)
{
    return aps_block_aligned(aps_block_bytes(wire, n));
}

size_t aps_block_stride_widest(size_t n)
{
    return aps_block_stride_bytes(n * sizeof(float));
}

size_t aps_block_stride_bytes(size_t bytes)
{
    return aps_block_aligned(APS_BLOCK_HEADER_MAX + bytes);
}

void aps_cost_add(struct aps_cost *cost, const struct aps_wire *wire, size_t n,
                  int receivers)
{
    const unsigned long long bytes =
        (unsigned long long)receivers * aps_block_bytes(wire, n);

    cost->wire_bytes += bytes;
    if (wire->device)
        cost->device_bytes += bytes;
    cost->fp32_bytes += (unsigned long long)receivers * n * sizeof(float);
}

void aps_cost_note(struct aps_cost *cost, int exponent)
{
    if (!cost->encoded || exponent < cost->least_exponent)
        cost->least_exponent = exponent;
    cost->encoded = true;
}

struct aps_magnitude aps_block_magnitude(const struct aps_wire *wire,
                                         const struct aps_memory *memory,
                                         const void *x, size_t n)
{
    const unsigned long failures = wire->device ? memory->failures(NULL, 0) : 0;
    const struct aps_magnitude magnitude = aps_divided_magnitude(memory, x, n);

    if (wire->device && memory->failures(NULL, 0) != failures)
        *wire->lost = true;
    return magnitude;
}

/* --- records -------------------------------------------------------------- */

struct aps_scale_record aps_blocks_record(const struct aps_wire *wire,
                                          int count,
                                          const unsigned char *blocks,
                                          size_t stride)
{
    struct aps_scale_record record = {0};

    for (int i = 0; i < count && wire->records; i++) {
        const unsigned char *block = blocks + (size_t)i * stride;
        struct aps_block_header header;
        struct aps_block_record values;

        memcpy(&header, block, sizeof header);
        memcpy(&values, block + sizeof header, sizeof values);
        aps_scale_record_add(
            &record, &(struct aps_scale_record){
                         .in_max = values.in_max,
                         .sum_max = values.sum_max,
                         .over = header.record & APS_RECORD_OVER,
                         .nonfinite = header.record & APS_RECORD_NONFINITE,
                     });
    }
    return record;
}

static bool record_overflows(const struct aps_wire *wire, float max,
                             int exponent)
{
    return aps_scale_overflows(&wire->codec.format, max, exponent,
                               wire->rounding);
}

/* Adds a sum of that magnitude, which is about to be cast with that exponent,
 * to the record of its contributions. */
static void record_note_sum(const struct aps_wire *wire,
                            struct aps_scale_record *record,
                            struct aps_magnitude magnitude, int exponent)
{
    if (magnitude.max > record->sum_max)
        record->sum_max = magnitude.max;
    /* No cast has caused this: FP32 sums of values that were not measured are
     * not finite. */
    if (!magnitude.finite && !record->over)
        record->nonfinite = true;
    if (record_overflows(wire, magnitude.max, exponent))
        record->over = true;
}

/* --- encode and decode ---------------------------------------------------- */

/* Rounding is correlated only between at most as many ranks as libaps supports. */
struct aps_cast_options aps_block_options(const struct aps_wire *wire,
                                          const struct aps_block *block)
{
    struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
    const bool alone = block->ranks == 1 || block->ranks > APS_DRAW_RANKS;

    options.rounding = wire->rounding == APS_ROUND_CORRELATED && alone
                           ? APS_ROUND_STOCHASTIC
                           : wire->rounding;
    options.seed = wire->seed;
    options.layer = (uint32_t)(block->number >> 32);
    options.step = (uint32_t)block->number;
    options.offset = block->first;
    options.stage = block->stage;
    options.rank = (uint32_t)block->rank;
    options.ranks = (uint64_t)block->ranks;
    return options;
}

/* True if no value of that magnitude exceeds the largest one, so that encode
 * need not check. */
static bool block_is_bounded(const struct aps_wire *wire,
                             struct aps_magnitude magnitude, int exponent)
{
    const struct aps_scale_ops *ops = aps_scale_ops_of(&wire->scale);

    if (!magnitude.finite)
        return false;
    return ops->per_block || (!ops->value && ldexp(magnitude.max, exponent) <=
                                                 wire->codec.format.max);
}

static int block_choose_scaling(const struct aps_wire *wire,
                                struct aps_magnitude magnitude, int exponent,
                                struct aps_scaling *scaling)
{
    exponent = aps_scale_block_exponent(&wire->scale, &wire->codec.format,
                                        magnitude, exponent);
    if (aps_wire_may_step_over(wire) &&
        aps_scale_overflows(&wire->codec.format, magnitude.max, exponent,
                            wire->rounding))
        exponent--;
    *scaling = aps_scale_scaling(&wire->scale, exponent);
    /* Rounding is monotone, so no value exceeds the scaled maximum. (No policy
     * has e1m0, whose only finite value is 0.) */
    scaling->bounded = block_is_bounded(wire, magnitude, exponent);
    return exponent;
}

struct aps_block_meta aps_block_meta_of(const struct aps_wire *wire,
                                        const struct aps_block *block,
                                        struct aps_magnitude magnitude)
{
    struct aps_block_meta meta = {.record = {0}};

    if (wire->records && block->sums) {
        meta.record = *block->sums;
        record_note_sum(wire, &meta.record, magnitude, block->exponent);
    } else if (wire->records) {
        meta.record = (struct aps_scale_record){
            .in_max = magnitude.max,
            .over = record_overflows(wire, magnitude.max, block->exponent),
            .nonfinite = !magnitude.finite,
        };
    }
    meta.exponent =
        block_choose_scaling(wire, magnitude, block->exponent, &meta.scaling);
    return meta;
}

void aps_block_write_header(const struct aps_wire *wire,
                            const struct aps_block_meta *meta, unsigned flags,
                            unsigned char *block)
{
    const struct aps_scale_record *record = &meta->record;
    struct aps_block_header header = {
        .exponent = (int16_t)meta->scaling.exponent,
        .flags = (uint8_t)flags,
    };

    if (wire->records) {
        const struct aps_block_record values = {record->in_max,
                                                record->sum_max};

        header.record =
            (uint8_t)((record->over ? APS_RECORD_OVER : 0) |
                      (record->nonfinite ? APS_RECORD_NONFINITE : 0));
        /* The format has no code for a value that must not arrive as a number. */
        if (record->over && wire->codec.format.saturate && wire->over_is_inf)
            header.flags |= APS_BLOCK_NAN;
        memcpy(block + sizeof header, &values, sizeof values);
    }
    memcpy(block, &header, sizeof header);
}

int aps_block_encode(const struct aps_wire *wire, const struct aps_block *block,
                     unsigned char *to)
{
    const struct aps_magnitude magnitude =
        block->exact || !aps_wire_measures(wire)
            ? block->known
            : aps_divided_magnitude(block->memory, block->x, block->n);
    const struct aps_block_meta meta =
        aps_block_meta_of(wire, block, magnitude);
    const struct aps_block_watch *watch = block->watch;
    const size_t most = watch ? watch->length : block->n;
    struct aps_cast_options options = aps_block_options(wire, block);
    unsigned flags = 0;

    for (size_t begin = 0; begin < block->n; begin += most) {
        const size_t length = block->n - begin < most ? block->n - begin : most;
        unsigned char *values = to + aps_block_header_bytes(wire) +
                                aps_codec_bytes(&wire->codec, begin);

        flags |=
            aps_divided_encode(block->memory, &wire->codec,
                               aps_memory_at(block->memory, block->x, begin),
                               length, meta.scaling, &options, values);
        options.offset += length;
        if (watch)
            watch->see(watch->state, begin, length, values, meta.scaling);
    }
    aps_block_write_header(wire, &meta, flags, to);
    return meta.exponent;
}

struct aps_scaling aps_block_scaling(const struct aps_wire *wire,
                                     const unsigned char *block,
                                     unsigned *flags)
{
    struct aps_block_header header;

    memcpy(&header, block, sizeof header);
    *flags = header.flags;
    return aps_scale_scaling(&wire->scale, header.exponent);
}

void aps_block_decode(const struct aps_wire *wire,
                      const struct aps_memory *memory,
                      const unsigned char *block, size_t n, void *x)
{
    struct aps_scaling scaling;
    unsigned flags;

    scaling = aps_block_scaling(wire, block, &flags);
    aps_divided_decode(memory, &wire->codec,
                       block + aps_block_header_bytes(wire), n, scaling, flags,
                       x);
}

/* --- several blocks -------------------------------------------------------- */

void aps_blocks_begin(struct aps_blocks *blocks, const struct aps_wire *wire,
                      struct aps_cost *cost)
{
    blocks->wire = wire;
    blocks->cost = cost;
    blocks->shared = false;
    blocks->count = 0;
}

/* Queues one more step. Returns its index. */
static size_t blocks_push(struct aps_blocks *blocks,
                          const struct aps_memory *memory,
                          struct aps_device_step step)
{
    if (blocks->count == APS_DEVICE_STEPS ||
        (blocks->count > 0 &&
         (blocks->memory != memory || blocks->steps[0].verb != step.verb)))
        aps_blocks_run(blocks);
    blocks->memory = memory;
    blocks->steps[blocks->count] = step;
    return blocks->count++;
}

/* True if blocks of x are queued. Threads do not share values that a GPU's driver
 * moves. */
static bool blocks_queue(const struct aps_blocks *blocks,
                         const struct aps_memory *memory, const void *x)
{
    return memory->run ||
           (blocks->shared && !(memory->whole && memory->whole(x)));
}

void aps_blocks_encode(struct aps_blocks *blocks, const struct aps_block *block,
                       unsigned char *to)
{
    const struct aps_wire *wire = blocks->wire;
    size_t i;

    if (!blocks_queue(blocks, block->memory, block->x)) {
        aps_cost_note(blocks->cost, aps_block_encode(wire, block, to));
        return;
    }
    i = blocks_push(blocks, block->memory,
                    (struct aps_device_step){
                        .verb = APS_DEVICE_ENCODE,
                        .codec = &wire->codec,
                        .x = (void *)(uintptr_t)block->x,
                        .n = block->n,
                        .wire = to + aps_block_header_bytes(wire),
                        .options = aps_block_options(wire, block),
                    });
    blocks->values[i] = *block;
    blocks->to[i] = to;
}

static void blocks_set_verbs(struct aps_blocks *blocks,
                             enum aps_device_verb verb)
{
    for (size_t i = 0; i < blocks->count; i++)
        blocks->steps[i].verb = verb;
}

/* Encodes the queued blocks, after it has measured them if their scales need
 * that. */
static void blocks_run_encodes(struct aps_blocks *blocks)
{
    const bool measures = aps_wire_measures(blocks->wire);
    struct aps_block_meta metas[APS_DEVICE_STEPS];

    if (measures) {
        blocks_set_verbs(blocks, APS_DEVICE_MAGNITUDE);
        blocks->memory->run(blocks->steps, blocks->count);
        blocks_set_verbs(blocks, APS_DEVICE_ENCODE);
    }
    for (size_t i = 0; i < blocks->count; i++) {
        const struct aps_block *block = &blocks->values[i];

        metas[i] = aps_block_meta_of(blocks->wire, block,
                                     measures ? blocks->steps[i].magnitude
                                              : block->known);
        blocks->steps[i].scaling = metas[i].scaling;
    }
    blocks->memory->run(blocks->steps, blocks->count);
    for (size_t i = 0; i < blocks->count; i++) {
        aps_block_write_header(blocks->wire, &metas[i], blocks->steps[i].flags,
                               blocks->to[i]);
        aps_cost_note(blocks->cost, metas[i].exponent);
    }
}

static void blocks_decode_step(const struct aps_memory *memory,
                               const struct aps_device_step *step)
{
    aps_divided_decode(memory, step->codec, step->wire, step->n, step->scaling,
                       step->flags, step->x);
}

void aps_blocks_decode(struct aps_blocks *blocks,
                       const struct aps_memory *memory,
                       const unsigned char *block, size_t n, void *x)
{
    const struct aps_wire *wire = blocks->wire;
    struct aps_device_step step = {
        .verb = APS_DEVICE_DECODE, .codec = &wire->codec, .x = x, .n = n};

    step.wire =
        (unsigned char *)(uintptr_t)block + aps_block_header_bytes(wire);
    step.scaling = aps_block_scaling(wire, block, &step.flags);
    if (!memory->run && wire->streams && memory == &aps_memory_host)
        step.flags |= APS_DECODE_STREAM;
    if (blocks_queue(blocks, memory, x))
        (void)blocks_push(blocks, memory, step);
    else
        blocks_decode_step(memory, &step);
}

void aps_blocks_decode_slices(struct aps_blocks *blocks,
                              const struct aps_memory *memory, int parts,
                              const unsigned char *from, size_t stride,
                              size_t n, void *x)
{
    const size_t granule = aps_codec_granule(&blocks->wire->codec);

    for (int i = 0; i < parts; i++) {
        const struct aps_slice slice = aps_slice_of(n, granule, parts, i);

        if (slice.length > 0)
            aps_blocks_decode(blocks, memory, from + (size_t)i * stride,
                              slice.length,
                              aps_memory_at(memory, x, slice.begin));
    }
}

/* Carries out queued steps [begin, begin + n), whose values the host reads. The
 * exponents of encodes go to their scalings. */
static void blocks_make(void *state, size_t begin, size_t n)
{
    struct aps_blocks *blocks = state;

    for (size_t i = begin; i < begin + n; i++) {
        struct aps_device_step *step = &blocks->steps[i];

        if (step->verb == APS_DEVICE_ENCODE)
            step->scaling.exponent = aps_block_encode(
                blocks->wire, &blocks->values[i], blocks->to[i]);
        else
            blocks_decode_step(blocks->memory, step);
    }
}

/* The threads of this rank share the queued steps. */
static void blocks_share(struct aps_blocks *blocks)
{
    size_t n = 0;

    for (size_t i = 0; i < blocks->count; i++)
        n += blocks->steps[i].n;
    aps_workers_list(blocks->count, n, blocks_make, blocks);
    for (size_t i = 0;
         i < blocks->count && blocks->steps[0].verb == APS_DEVICE_ENCODE; i++)
        aps_cost_note(blocks->cost, blocks->steps[i].scaling.exponent);
}

void aps_blocks_run(struct aps_blocks *blocks)
{
    if (blocks->count > 0 && !blocks->memory->run)
        blocks_share(blocks);
    else if (blocks->count > 0 && blocks->steps[0].verb == APS_DEVICE_ENCODE)
        blocks_run_encodes(blocks);
    else if (blocks->count > 0)
        blocks->memory->run(blocks->steps, blocks->count);
    blocks->count = 0;
}

/* --- slices ---------------------------------------------------------------- */

struct aps_slice aps_slice_of(size_t n, size_t granule, int parts, int i)
{
    const size_t units = (n + granule - 1) / granule;
    const size_t whole = units / (size_t)parts;
    const size_t rest = units % (size_t)parts;
    const size_t k = (size_t)i;
    /* The first `rest` slices are one unit longer. */
    size_t begin = (whole * k + (k < rest ? k : rest)) * granule;
    size_t end = begin + (whole + (k < rest)) * granule;

    if (begin > n)
        begin = n;
    if (end > n)
        end = n;
    return (struct aps_slice){.begin = begin, .length = end - begin};
}

size_t aps_slice_longest(size_t n, size_t granule, int parts)
{
    return aps_slice_of(n, granule, parts, 0).length;
}

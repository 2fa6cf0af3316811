/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "block/block_batch.h"

#include <stdint.h>

void aps_blocks_begin(struct aps_blocks *blocks, const struct aps_wire *wire,
                      struct aps_cost *cost)
{
    blocks->wire = wire;
    blocks->cost = cost;
    blocks->count = 0;
}

/* Room for one more step. */
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

/* --- encode ------------------------------------------------------------------ */

void aps_blocks_encode(struct aps_blocks *blocks, const struct aps_block *block,
                       unsigned char *to)
{
    const struct aps_wire *wire = blocks->wire;
    size_t i;

    if (!block->memory->run) {
        aps_cost_note(blocks->cost, aps_block_encode(wire, block, to));
        return;
    }
    i = blocks_push(blocks, block->memory,
                    (struct aps_device_step){
                        .verb = APS_DEVICE_ENCODE,
                        .codec = &wire->codec,
                        .x = (float *)(uintptr_t)block->x,
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

/* First what decides on their scales. */
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

/* --- decode ------------------------------------------------------------------ */

void aps_blocks_decode(struct aps_blocks *blocks,
                       const struct aps_memory *memory,
                       const unsigned char *block, size_t n, float *x)
{
    const struct aps_wire *wire = blocks->wire;
    struct aps_device_step step = {
        .verb = APS_DEVICE_DECODE, .codec = &wire->codec, .x = x, .n = n};

    step.wire =
        (unsigned char *)(uintptr_t)block + aps_block_header_bytes(wire);
    step.scaling = aps_block_scaling(wire, block, &step.flags);
    if (!memory->run) {
        if (wire->streams && memory == &aps_memory_host)
            step.flags |= APS_DECODE_STREAM;
        memory->decode(step.codec, step.wire, n, step.scaling, step.flags, x);
        return;
    }
    (void)blocks_push(blocks, memory, step);
}

void aps_blocks_decode_slices(struct aps_blocks *blocks,
                              const struct aps_memory *memory, int parts,
                              const unsigned char *from, size_t stride,
                              size_t n, float *x)
{
    const size_t granule = aps_codec_granule(&blocks->wire->codec);

    for (int i = 0; i < parts; i++) {
        const struct aps_slice slice = aps_slice_of(n, granule, parts, i);

        if (slice.length > 0)
            aps_blocks_decode(blocks, memory, from + (size_t)i * stride,
                              slice.length, x + slice.begin);
    }
}

void aps_blocks_run(struct aps_blocks *blocks)
{
    if (blocks->count > 0 && blocks->steps[0].verb == APS_DEVICE_ENCODE)
        blocks_run_encodes(blocks);
    else if (blocks->count > 0)
        blocks->memory->run(blocks->steps, blocks->count);
    blocks->count = 0;
}

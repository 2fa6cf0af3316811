/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "block/block_batch.h"

#include <stdint.h>

int aps_block_values_encode(const struct aps_wire *wire,
                            const struct aps_block_values *values,
                            unsigned char *block)
{
    if (values->contributions)
        return aps_block_encode_sum(
            wire, &values->origin, values->memory, values->x, values->n, NULL,
            values->exponent, values->contributions, block);
    return aps_block_encode_within(wire, &values->origin, values->memory,
                                   values->x, values->n, values->bound,
                                   values->exponent, block);
}

void aps_block_batch_begin(struct aps_block_batch *batch,
                           const struct aps_wire *wire, struct aps_cost *cost)
{
    batch->wire = wire;
    batch->cost = cost;
    batch->count = 0;
}

/* Room for one more step. */
static size_t batch_push(struct aps_block_batch *batch,
                         const struct aps_memory *memory,
                         struct aps_device_step step)
{
    if (batch->count == APS_DEVICE_STEPS ||
        (batch->count > 0 &&
         (batch->memory != memory || batch->steps[0].verb != step.verb)))
        aps_block_batch_run(batch);
    batch->memory = memory;
    batch->steps[batch->count] = step;
    return batch->count++;
}

/* --- encode ------------------------------------------------------------------ */

void aps_block_batch_encode(struct aps_block_batch *batch,
                            const struct aps_block_values *values,
                            unsigned char *block)
{
    const struct aps_wire *wire = batch->wire;
    size_t i;

    if (!values->memory->run) {
        aps_cost_note(batch->cost,
                      aps_block_values_encode(wire, values, block));
        return;
    }
    i = batch_push(batch, values->memory,
                   (struct aps_device_step){
                       .verb = APS_DEVICE_ENCODE,
                       .codec = &wire->codec,
                       .x = (float *)(uintptr_t)values->x,
                       .n = values->n,
                       .wire = block + aps_block_header_bytes(wire),
                       .options = aps_block_options(wire, &values->origin),
                   });
    batch->values[i] = *values;
    batch->blocks[i] = block;
}

static void batch_set_verbs(struct aps_block_batch *batch,
                            enum aps_device_verb verb)
{
    for (size_t i = 0; i < batch->count; i++)
        batch->steps[i].verb = verb;
}

/* First what decides on their scales. */
static void batch_run_encodes(struct aps_block_batch *batch)
{
    const bool measures = aps_wire_measures(batch->wire);
    struct aps_block_draft drafts[APS_DEVICE_STEPS];

    if (measures) {
        batch_set_verbs(batch, APS_DEVICE_MAGNITUDE);
        batch->memory->run(batch->steps, batch->count);
        batch_set_verbs(batch, APS_DEVICE_ENCODE);
    }
    for (size_t i = 0; i < batch->count; i++) {
        const struct aps_block_values *values = &batch->values[i];

        drafts[i] = aps_block_draft_of(
            batch->wire, measures ? batch->steps[i].magnitude : values->bound,
            values->exponent, values->contributions);
        batch->steps[i].scaling = drafts[i].scaling;
    }
    batch->memory->run(batch->steps, batch->count);
    for (size_t i = 0; i < batch->count; i++) {
        aps_block_write_header(batch->wire, &drafts[i], batch->steps[i].flags,
                               batch->blocks[i]);
        aps_cost_note(batch->cost, drafts[i].exponent);
    }
}

/* --- decode ------------------------------------------------------------------ */

void aps_block_batch_decode(struct aps_block_batch *batch,
                            const struct aps_memory *memory,
                            const unsigned char *block, size_t n, float *x)
{
    const struct aps_wire *wire = batch->wire;
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
    (void)batch_push(batch, memory, step);
}

void aps_block_batch_decode_slices(struct aps_block_batch *batch,
                                   const struct aps_memory *memory, int parts,
                                   const unsigned char *blocks, size_t stride,
                                   size_t n, float *x)
{
    const size_t granule = aps_codec_granule(&batch->wire->codec);

    for (int i = 0; i < parts; i++) {
        const struct aps_slice slice = aps_slice_of(n, granule, parts, i);

        if (slice.length > 0)
            aps_block_batch_decode(batch, memory, blocks + (size_t)i * stride,
                                   slice.length, x + slice.begin);
    }
}

void aps_block_batch_run(struct aps_block_batch *batch)
{
    if (batch->count > 0 && batch->steps[0].verb == APS_DEVICE_ENCODE)
        batch_run_encodes(batch);
    else if (batch->count > 0)
        batch->memory->run(batch->steps, batch->count);
    batch->count = 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "block/block_queue.h"

#include <stdint.h>
#include <string.h>

void aps_block_queue_begin(struct aps_block_queue *queue,
                           const struct aps_wire *wire)
{
    queue->wire = wire;
    queue->count = 0;
}

/* Queues one more step, which has no destination yet. Returns its index. */
static size_t queue_push(struct aps_block_queue *queue,
                         struct aps_device_step step)
{
    size_t i;

    if (queue->count == APS_DEVICE_STEPS)
        aps_block_queue_run(queue);
    i = queue->count++;
    queue->steps[i] = step;
    queue->headers[i] = NULL;
    queue->magnitudes[i] = NULL;
    return i;
}

int aps_block_queue_encode(struct aps_block_queue *queue,
                           const struct aps_block *block,
                           struct aps_block_header *header, unsigned char *to)
{
    const struct aps_wire *wire = queue->wire;
    const struct aps_block_meta meta =
        aps_block_meta_of(wire, block, block->known);

    *header =
        (struct aps_block_header){.exponent = (int16_t)meta.scaling.exponent};
    queue->headers[queue_push(queue,
                              (struct aps_device_step){
                                  .verb = APS_DEVICE_ENCODE,
                                  .codec = &wire->codec,
                                  .x = (float *)(uintptr_t)block->x,
                                  .n = block->n,
                                  .wire = to + sizeof *header,
                                  .scaling = meta.scaling,
                                  .options = aps_block_options(wire, block),
                              })] = header;
    return meta.exponent;
}

void aps_block_queue_decode(struct aps_block_queue *queue,
                            const struct aps_block_header *header,
                            const unsigned char *block, size_t n, bool add,
                            float *x)
{
    const struct aps_wire *wire = queue->wire;

    (void)queue_push(
        queue, (struct aps_device_step){
                   .verb = APS_DEVICE_DECODE,
                   .codec = &wire->codec,
                   .x = x,
                   .n = n,
                   .wire = (unsigned char *)(uintptr_t)block + sizeof *header,
                   .scaling = aps_scale_scaling(&wire->scale, header->exponent),
                   .add = add,
                   .flags = header->flags,
               });
}

void aps_block_queue_measure(struct aps_block_queue *queue, const void *x,
                             size_t n, struct aps_magnitude *magnitude)
{
    *magnitude = (struct aps_magnitude){0, false};
    queue->magnitudes[queue_push(
        queue, (struct aps_device_step){.verb = APS_DEVICE_MAGNITUDE,
                                        .x = (float *)(uintptr_t)x,
                                        .n = n})] = magnitude;
}

_Static_assert(sizeof(struct aps_block_header) <= APS_DEVICE_STEP_BYTES,
               "a step has room for a header");

void aps_block_queue_put(struct aps_block_queue *queue,
                         const struct aps_block_header *header,
                         unsigned char *block)
{
    struct aps_device_step step = {
        .verb = APS_DEVICE_PUT, .wire = block, .n = sizeof *header};

    memcpy(step.bytes, header, sizeof *header);
    (void)queue_push(queue, step);
}

void aps_block_queue_get(struct aps_block_queue *queue,
                         const unsigned char *block,
                         struct aps_block_header *header)
{
    *header = (struct aps_block_header){0};
    queue->headers[queue_push(
        queue, (struct aps_device_step){.verb = APS_DEVICE_GET,
                                        .wire = (void *)(uintptr_t)block,
                                        .n = sizeof *header})] = header;
}

static void queue_tell(struct aps_block_queue *queue, size_t i)
{
    const struct aps_device_step *step = &queue->steps[i];

    if (queue->magnitudes[i])
        *queue->magnitudes[i] = step->magnitude;
    if (!queue->headers[i])
        return;
    if (step->verb == APS_DEVICE_GET)
        memcpy(queue->headers[i], step->bytes, sizeof *queue->headers[i]);
    else
        queue->headers[i]->flags = (uint8_t)step->flags;
}

void aps_block_queue_run(struct aps_block_queue *queue)
{
    const size_t count = queue->count;

    queue->count = 0;
    if (count == 0)
        return;
    if (queue->wire->device->run(queue->steps, count) < 0) {
        *queue->wire->lost = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        queue_tell(queue, i);
}

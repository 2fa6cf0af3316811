/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cuda/staged_steps.h"

#include <string.h>

#include "cuda/context.h"
#include "cuda/kernels.h"
#include "cuda/steps.h"
#include "cuda/stream.h"

/* Codes begin at cache lines of a GPU. */
#define LINE ((size_t)128)

/* The findings of kernels precede the codes, so that one copy transfers
 * both. */
#define FOUND_BYTES                                                            \
    ((APS_DEVICE_STEPS * sizeof(struct aps_cuda_result) + LINE - 1) / LINE *   \
     LINE)

/* Steps that share a slot. Places are bytes of its piece. */
struct batch {
    const struct aps_slot *slot;
    struct aps_device_step *steps;
    size_t count;
    size_t at[APS_DEVICE_STEPS]; /* places of the codes */
    size_t end;                  /* end of all codes */
    bool finds;                  /* a kernel has findings */
    bool encodes, decodes;
};

/* --- what a step needs ------------------------------------------------------ */

static size_t staged_step_bytes(const struct aps_device_step *step)
{
    return step->verb == APS_DEVICE_MAGNITUDE
               ? 0
               : aps_codec_bytes(step->codec, step->n);
}

/* True if the step has values, a kernel that supports its format, and fits into
 * a slot. */
static bool staged_step_suits(const struct aps_device_step *step)
{
    if (step->n == 0)
        return false;
    if (step->verb == APS_DEVICE_MAGNITUDE)
        return true;
    return (step->verb == APS_DEVICE_ENCODE ||
            step->verb == APS_DEVICE_DECODE) &&
           aps_device_takes(&step->codec->format) &&
           staged_step_bytes(step) <= APS_CUDA_STREAM_BYTES - FOUND_BYTES;
}

/* True if its kernel needs a place for its findings. */
static bool staged_step_finds(const struct aps_device_step *step)
{
    return step->verb == APS_DEVICE_MAGNITUDE ||
           (step->verb == APS_DEVICE_ENCODE &&
            (step->codec->format.marks || step->codec->format.piece_bytes > 0));
}

/* --- a batch ----------------------------------------------------------------- */

static unsigned char *staged_host_at(const struct batch *batch, size_t place)
{
    return batch->slot->host + APS_CUDA_STREAM_HEADER + place;
}

static unsigned char *staged_device_at(const struct batch *batch, size_t place)
{
    return batch->slot->device + APS_CUDA_STREAM_HEADER + place;
}

/* Takes as many of the steps as fit into the slot: at least one. */
static void staged_batch_fill(struct batch *batch, const struct aps_slot *slot,
                              struct aps_device_step steps[], size_t count)
{
    size_t next = FOUND_BYTES;

    *batch = (struct batch){.slot = slot, .steps = steps, .end = FOUND_BYTES};
    while (batch->count < count && batch->count < APS_DEVICE_STEPS) {
        const struct aps_device_step *step = &steps[batch->count];
        const size_t bytes = staged_step_bytes(step);

        if (bytes > APS_CUDA_STREAM_BYTES - next)
            return;
        batch->at[batch->count++] = next;
        batch->finds |= staged_step_finds(step);
        batch->encodes |= step->verb == APS_DEVICE_ENCODE;
        batch->decodes |= step->verb == APS_DEVICE_DECODE;
        batch->end = next + bytes;
        next = (batch->end + LINE - 1) / LINE * LINE;
        if (next > APS_CUDA_STREAM_BYTES)
            next = APS_CUDA_STREAM_BYTES;
    }
}

static cudaError_t staged_step_start(const struct batch *batch, size_t i)
{
    const struct aps_device_step *step = &batch->steps[i];
    unsigned char *codes = staged_device_at(batch, batch->at[i]);
    struct aps_cuda_result *found = NULL;

    if (staged_step_finds(step))
        found = (struct aps_cuda_result *)(void *)staged_device_at(
            batch, i * sizeof *found);
    if (step->verb == APS_DEVICE_MAGNITUDE)
        return aps_cuda_kernel_magnitude(step->x, step->n, found,
                                         batch->slot->stream);
    if (step->verb == APS_DEVICE_ENCODE)
        return aps_cuda_kernel_encode(&step->codec->format, step->x, step->n,
                                      step->scaling, &step->options, NULL,
                                      false, codes, found, batch->slot->stream);
    return aps_cuda_kernel_decode(&step->codec->format, codes, step->n,
                                  step->scaling, step->flags, false, step->x,
                                  batch->slot->stream);
}

/* Starts the copy of the codes that are decoded to the device, all kernels, and
 * the copy of their output to the host: one copy each way. */
static cudaError_t staged_batch_start(const struct batch *batch)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < batch->count; i++) {
        if (batch->steps[i].verb == APS_DEVICE_DECODE)
            memcpy(staged_host_at(batch, batch->at[i]), batch->steps[i].wire,
                   staged_step_bytes(&batch->steps[i]));
    }
    if (batch->decodes)
        error = aps_slot_send(batch->slot, FOUND_BYTES, batch->end);
    if (batch->finds && error == cudaSuccess)
        error = cudaMemsetAsync(staged_device_at(batch, 0), 0,
                                batch->count * sizeof(struct aps_cuda_result),
                                batch->slot->stream);
    for (size_t i = 0; i < batch->count && error == cudaSuccess; i++)
        error = staged_step_start(batch, i);
    if ((batch->finds || batch->encodes) && error == cudaSuccess)
        error = aps_slot_fetch_part(batch->slot, batch->finds ? 0 : FOUND_BYTES,
                                    batch->end);
    return error == cudaSuccess ? aps_slot_mark(batch->slot) : error;
}

static cudaError_t staged_batch_finish(const struct batch *batch)
{
    const struct aps_cuda_result *found =
        (const struct aps_cuda_result *)(const void *)staged_host_at(batch, 0);
    static const struct aps_cuda_result nothing;
    cudaError_t error = aps_slot_wait(batch->slot);

    for (size_t i = 0; i < batch->count && error == cudaSuccess; i++) {
        struct aps_device_step *step = &batch->steps[i];

        if (step->verb == APS_DEVICE_ENCODE)
            memcpy(step->wire, staged_host_at(batch, batch->at[i]),
                   staged_step_bytes(step));
        aps_cuda_step_take(step,
                           staged_step_finds(step) ? &found[i] : &nothing);
    }
    return error;
}

/* --- batches ------------------------------------------------------------------ */

/* Runs the steps through the slots of a lane in rotation: copies of one batch
 * overlap kernels of another. *done: number of complete steps. */
static cudaError_t staged_run_in_lane(struct aps_device_step steps[],
                                      size_t count,
                                      const struct aps_cuda_stream *lane,
                                      size_t *done)
{
    struct batch batches[APS_CUDA_STREAM_SLOTS];
    size_t started = 0, finished = 0, next = 0;
    cudaError_t error = cudaSuccess;

    *done = 0;
    while (*done < count && error == cudaSuccess) {
        if (next < count && started - finished < APS_CUDA_STREAM_SLOTS) {
            const size_t turn = started++ % APS_CUDA_STREAM_SLOTS;

            staged_batch_fill(&batches[turn], &lane->slot[turn], &steps[next],
                              count - next);
            next += batches[turn].count;
            error = staged_batch_start(&batches[turn]);
            continue;
        }
        error = staged_batch_finish(&batches[finished % APS_CUDA_STREAM_SLOTS]);
        if (error == cudaSuccess)
            *done += batches[finished % APS_CUDA_STREAM_SLOTS].count;
        finished++;
    }
    return error;
}

/* Runs as many steps, from the first on, as kernels of the context of its
 * values can; *done of them are complete. Returns 0 if they cannot run the
 * first. */
static size_t staged_run_some(struct aps_device_step steps[], size_t count,
                              size_t *done)
{
    struct aps_cuda_visit visit;
    struct aps_cuda_stream *lane;
    cudaError_t error;
    size_t n = 1;

    *done = 0;
    if (!staged_step_suits(&steps[0]) ||
        aps_cuda_enter(steps[0].x, &visit) != APS_CUDA_DEVICE)
        return 0;
    while (n < count && staged_step_suits(&steps[n]) &&
           aps_cuda_is_reached(&visit, steps[n].x))
        n++;
    lane = aps_cuda_lane_take(&visit, &error);
    if (lane) {
        error = staged_run_in_lane(steps, n, lane, done);
        aps_cuda_lane_give(&visit, lane, error == cudaSuccess);
    }
    aps_cuda_leave(&visit);
    return n;
}

void aps_staged_run(struct aps_device_step steps[], size_t count,
                    void (*alone)(struct aps_device_step *step))
{
    size_t some, done;

    for (size_t i = 0; i < count; i += some) {
        some = staged_run_some(&steps[i], count - i, &done);
        if (some == 0)
            some = 1;
        for (size_t k = done; k < some; k++)
            alone(&steps[i + k]);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cuda/steps.h"

#include <string.h>

#include "cuda/allocations.h"
#include "cuda/blocks.h"
#include "cuda/context.h"
#include "cuda/failure.h"
#include "cuda/kernels.h"
#include "cuda/stream.h"
#include "number/bits.h"

/* --- in one stream ------------------------------------------------------- */

/* True if its kernel adds to its findings, so that these are on the device. */
static bool steps_adds_up(const struct aps_device_step *step)
{
    return step->verb == APS_DEVICE_MAGNITUDE ||
           (step->verb == APS_DEVICE_ENCODE &&
            step->codec->format.piece_bytes > 0);
}

static bool steps_add_up(const struct aps_device_step steps[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (steps_adds_up(&steps[i]))
            return true;
    }
    return false;
}

/* True for steps on bytes instead of values. */
static bool steps_is_of_bytes(const struct aps_device_step *step)
{
    return step->verb == APS_DEVICE_PUT || step->verb == APS_DEVICE_GET;
}

static cudaError_t steps_start(const struct aps_device_step *step,
                               struct aps_cuda_result *found,
                               unsigned char *bytes, cudaStream_t stream)
{
    switch (step->verb) {
    case APS_DEVICE_ENCODE:
        return aps_cuda_kernel_encode(&step->codec->format, step->x, step->n,
                                      step->scaling, &step->options, NULL,
                                      false, step->wire, found, stream);
    case APS_DEVICE_DECODE:
        return aps_cuda_kernel_decode(&step->codec->format, step->wire, step->n,
                                      step->scaling, step->flags, step->add,
                                      step->x, stream);
    case APS_DEVICE_MAGNITUDE:
        return aps_cuda_kernel_magnitude(step->x, step->n, found, stream);
    case APS_DEVICE_PUT:
        memcpy(bytes, step->bytes, step->n);
        return cudaMemcpyAsync(step->wire, bytes, step->n,
                               cudaMemcpyHostToDevice, stream);
    case APS_DEVICE_GET:
        return cudaMemcpyAsync(bytes, step->wire, step->n,
                               cudaMemcpyDeviceToHost, stream);
    }
    return cudaErrorInvalidValue;
}

void aps_cuda_step_take(struct aps_device_step *step,
                        const struct aps_cuda_result *found)
{
    if (step->verb == APS_DEVICE_ENCODE)
        step->flags = found->marked ? APS_BLOCK_NAN : 0;
    if (step->verb == APS_DEVICE_MAGNITUDE)
        step->magnitude = (struct aps_magnitude){
            .max = aps_float_from_bits(found->finite),
            .finite = found->greatest < APS_FLOAT_INF,
        };
}

static void steps_finish(struct aps_device_step *step,
                         const struct aps_cuda_result *found,
                         const unsigned char *bytes)
{
    aps_cuda_step_take(step, found);
    if (step->verb == APS_DEVICE_GET)
        memcpy(step->bytes, bytes, step->n);
}

/* Runs all steps in the first slot's stream. */
static cudaError_t steps_run_in_lane(struct aps_device_step steps[],
                                     size_t count,
                                     const struct aps_cuda_stream *lane)
{
    const struct aps_findings *findings = &lane->findings;
    const struct aps_slot *slot = &lane->slot[0];
    const size_t bytes = count * sizeof *findings->device;
    const bool add_up = steps_add_up(steps, count);
    cudaError_t error = cudaSuccess;

    memset(findings->marks, 0, bytes);
    if (add_up)
        error = cudaMemsetAsync(findings->device, 0, bytes, slot->stream);
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = steps_start(&steps[i],
                            steps_adds_up(&steps[i]) ? &findings->device[i]
                                                     : &findings->marks[i],
                            findings->bytes[i], slot->stream);
    if (error == cudaSuccess && add_up)
        error = cudaMemcpyAsync(findings->host, findings->device, bytes,
                                cudaMemcpyDeviceToHost, slot->stream);
    if (error == cudaSuccess)
        error = aps_slot_mark(slot);
    if (error == cudaSuccess)
        error = aps_slot_wait(slot);
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        steps_finish(&steps[i],
                     steps_adds_up(&steps[i]) ? &findings->host[i]
                                              : &findings->marks[i],
                     findings->bytes[i]);
    return error;
}

/* --- which of them ------------------------------------------------------- */

/* True if x[n] is at the previous step's values, or next to them. The driver
 * then need not be asked for its place. */
static bool steps_follows(const struct aps_device_step *step,
                          const struct aps_device_step *previous)
{
    return !steps_is_of_bytes(previous) &&
           (step->x == previous->x ||
            step->x == (float *)previous->x + previous->n);
}

/* True if kernels of the visited context can access the memory of a step. */
static bool steps_reaches(const struct aps_cuda_visit *visit,
                          const struct aps_device_step *step,
                          const struct aps_device_step *previous)
{
    if (steps_is_of_bytes(step))
        return aps_cuda_allocations_reach(visit, step->wire);
    return ((previous && steps_follows(step, previous)) ||
            aps_cuda_is_reached(visit, step->x)) &&
           (step->verb == APS_DEVICE_MAGNITUDE ||
            aps_cuda_allocations_reach(visit, step->wire));
}

/* Runs a step in pieces, through the slots of a lane; it counts its own
 * failure. */
static int steps_run_alone(struct aps_device_step *step)
{
    int flags;

    switch (step->verb) {
    case APS_DEVICE_ENCODE:
        flags = aps_cuda_encode(step->codec, step->x, step->n, step->scaling,
                                &step->options, step->wire, NULL);
        step->flags = flags > 0 ? (unsigned)flags : 0;
        return flags < 0 ? -1 : 0;
    case APS_DEVICE_DECODE:
        return aps_cuda_decode(step->codec, step->wire, step->n, step->scaling,
                               step->flags, step->add, step->x);
    case APS_DEVICE_PUT:
        return aps_cuda_put(step->wire, step->bytes, step->n);
    case APS_DEVICE_GET:
        return aps_cuda_get(step->bytes, step->wire, step->n);
    case APS_DEVICE_MAGNITUDE:
        break; /* every context can access the memory that it visits */
    }
    return -1;
}

static int steps_fail(const char *cause)
{
    aps_cuda_failure_note("steps on the device", cause);
    return -1;
}

/* In the context of the first step's values: runs as many steps as its kernels
 * can; their number is *done. */
static int steps_run_some(struct aps_device_step steps[], size_t count,
                          size_t *done)
{
    struct aps_cuda_visit visit;
    struct aps_cuda_stream *lane;
    cudaError_t error = cudaSuccess;
    size_t n = 0;

    switch (steps_is_of_bytes(&steps[0])
                ? aps_cuda_allocations_enter(steps[0].wire, &visit)
                : aps_cuda_enter(steps[0].x, &visit)) {
    case APS_CUDA_HOST:
        return steps_fail("the memory is not a device's");
    case APS_CUDA_NOWHERE:
        return steps_fail(aps_cuda_driver_error(visit.failed));
    case APS_CUDA_DEVICE:
        break;
    }
    while (n < count && n < APS_DEVICE_STEPS &&
           steps_reaches(&visit, &steps[n], n > 0 ? &steps[n - 1] : NULL))
        n++;
    lane = n > 0 ? aps_cuda_lane_take(&visit, &error) : NULL;
    if (lane) {
        error = steps_run_in_lane(steps, n, lane);
        aps_cuda_lane_give(&visit, lane, error == cudaSuccess);
    }
    aps_cuda_leave(&visit);
    *done = n;
    return error == cudaSuccess ? 0 : steps_fail(cudaGetErrorString(error));
}

int aps_cuda_run(struct aps_device_step steps[], size_t count)
{
    size_t done;

    for (size_t i = 0; i < count; i += done) {
        if (steps[i].n == 0) {
            done = 1;
            continue;
        }
        if (steps_run_some(&steps[i], count - i, &done) < 0)
            return -1;
        if (done == 0) {
            done = 1;
            if (steps_run_alone(&steps[i]) < 0)
                return -1;
        }
    }
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cuda/elements.h"

#include "cuda/context.h"
#include "cuda/failure.h"
#include "cuda/staged.h"

static cudaError_t elements_run_in_lane(struct aps_cuda_stream *lane,
                                        enum aps_element element,
                                        struct aps_device_step *step,
                                        struct aps_encode_stats *stats)
{
    if (step->verb == APS_DEVICE_MAGNITUDE)
        return aps_staged_magnitude(lane, element, step->x, step->n,
                                    &step->magnitude);
    if (step->verb == APS_DEVICE_ENCODE)
        return aps_staged_encode(lane, &step->codec->format, element, step->x,
                                 step->n, step->scaling, &step->options,
                                 step->wire, &step->flags, stats);
    return aps_staged_decode(lane, &step->codec->format, step->wire, step->n,
                             step->scaling, step->flags, element, step->x);
}

int aps_cuda_elements_run(enum aps_element element,
                          struct aps_device_step *step,
                          struct aps_encode_stats *stats)
{
    static const char *const verbs[] = {"encode", "decode", "magnitude"};
    struct aps_encode_stats found = {0};
    struct aps_cuda_stream *lane;
    struct aps_cuda_visit visit;
    cudaError_t error;

    if (step->codec && !aps_device_takes(&step->codec->format))
        return -1;
    switch (aps_cuda_enter(step->x, &visit)) {
    case APS_CUDA_HOST:
        return -1;
    case APS_CUDA_NOWHERE:
        aps_cuda_detour_note(verbs[step->verb],
                             aps_cuda_driver_error(visit.failed));
        return -1;
    case APS_CUDA_DEVICE:
        break;
    }
    lane = aps_cuda_lane_take(&visit, &error);
    if (lane) {
        error =
            elements_run_in_lane(lane, element, step, stats ? &found : NULL);
        aps_cuda_lane_give(&visit, lane, error == cudaSuccess);
    }
    if (error != cudaSuccess) {
        aps_cuda_detour_note(verbs[step->verb], cudaGetErrorString(error));
        cudaGetLastError();
    } else if (stats) {
        aps_encode_stats_add(stats, &found);
    }
    aps_cuda_leave(&visit);
    return error == cudaSuccess ? 0 : -1;
}

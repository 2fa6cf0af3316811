/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory backend. A verb uses the device's kernels. If that fails (no memory
 * left on the device, code for another one), and in formats that they do not
 * support, it transfers the floats through the host in pieces, with the host's
 * backend. The verb fails only if that fails, too.
 */
#include "config.h"

#include "cuda/plugin.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/blocks.h"
#include "cuda/context.h"
#include "cuda/failure.h"
#include "cuda/allocate.h"
#include "cuda/elements.h"
#include "cuda/ipc.h"
#include "cuda/staged.h"
#include "cuda/staged_steps.h"
#include "cuda/steps.h"

/* --- one verb, whichever ------------------------------------------------- */

struct verb {
    const char *name;
    const struct aps_codec *codec;
    struct aps_scaling scaling;
    struct aps_cast_options options;
    bool counts; /* also count the statistics */
    struct aps_encode_stats stats;
    float *x;
    size_t n;
    void *host;
    size_t bytes; /* bytes that the verb writes there */
    unsigned flags;
    struct aps_magnitude magnitude;

    cudaError_t (*staged)(struct verb *verb, struct aps_cuda_stream *lane);
    /* Called with x[i], x[i + 1], ... x[i + count - 1] at `x`, in host memory,
     * which was read from the device before, or is written there afterwards. */
    void (*on_host)(struct verb *verb, float *x, size_t i, size_t count);
    bool reads;
};

static size_t plugin_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static cudaError_t plugin_run_on_device(struct verb *verb,
                                        const struct aps_cuda_visit *visit)
{
    cudaError_t error;
    struct aps_cuda_stream *lane = aps_cuda_lane_take(visit, &error);

    if (!lane)
        return error;
    error = verb->staged(verb, lane);
    aps_cuda_lane_give(visit, lane, error == cudaSuccess);
    return error;
}

/* --- through the host ---------------------------------------------------- */

/* Host memory for the values: pinned memory of a lane, if it is long enough and
 * the device has not failed, or pageable memory. */
struct detour {
    struct aps_cuda_stream *lane; /* or NULL */
    cudaStream_t stream;
    float *piece;
    size_t length;
};

/* Returns the values of a piece: whole granules of a wire, or all of it if its
 * values share a scale. */
static size_t plugin_detour_length(const struct verb *verb)
{
    const size_t most = APS_CUDA_STREAM_BYTES / sizeof(float);
    size_t granule = 1;

    if (verb->codec) {
        if (verb->codec->format.piece_bytes > 0)
            return verb->n;
        granule = aps_codec_granule(verb->codec);
    }
    return plugin_min_size(verb->n, most / granule * granule);
}

static cudaError_t plugin_detour_begin(const struct verb *verb,
                                       const struct aps_cuda_visit *visit,
                                       bool failed, struct detour *detour)
{
    cudaError_t error;

    *detour = (struct detour){.length = plugin_detour_length(verb)};
    if (!failed && detour->length * sizeof(float) <= APS_CUDA_STREAM_BYTES)
        detour->lane = aps_cuda_lane_take(visit, &error);
    if (detour->lane) {
        const struct aps_slot *slot = &detour->lane->slot[0];

        detour->stream = slot->stream;
        detour->piece = (float *)(void *)(slot->host + APS_CUDA_STREAM_HEADER);
        return cudaSuccess;
    }
    cudaGetLastError();
    detour->piece = malloc(detour->length * sizeof *detour->piece);
    error = detour->piece ? aps_cuda_stream_make(&detour->stream)
                          : cudaErrorMemoryAllocation;
    if (error != cudaSuccess)
        free(detour->piece);
    return error;
}

static void plugin_detour_end(const struct aps_cuda_visit *visit,
                              const struct detour *detour, bool clean)
{
    if (detour->lane) {
        aps_cuda_lane_give(visit, detour->lane, clean);
        return;
    }
    free(detour->piece);
    cudaStreamDestroy(detour->stream);
}

static cudaError_t plugin_run_through_host(struct verb *verb,
                                           const struct aps_cuda_visit *visit,
                                           bool failed)
{
    struct detour detour;
    cudaError_t error = plugin_detour_begin(verb, visit, failed, &detour);

    if (error != cudaSuccess)
        return error;
    for (size_t i = 0; i < verb->n && error == cudaSuccess;
         i += detour.length) {
        const size_t count = plugin_min_size(verb->n - i, detour.length);
        const size_t bytes = count * sizeof(float);

        if (verb->reads)
            error = aps_cuda_stream_copy(detour.stream, detour.piece,
                                         verb->x + i, bytes);
        if (error == cudaSuccess)
            verb->on_host(verb, detour.piece, i, count);
        if (error == cudaSuccess && !verb->reads)
            error = aps_cuda_stream_copy(detour.stream, verb->x + i,
                                         detour.piece, bytes);
    }
    plugin_detour_end(visit, &detour, error == cudaSuccess);
    return error;
}

/* --- the way of a verb ---------------------------------------------------- */

/* Handles a failure; `visited`: the device may still be able to write zeros. */
static void plugin_fail(struct verb *verb, const char *cause, bool visited)
{
    aps_cuda_failure_note(verb->name, cause);
    verb->flags = 0;
    verb->stats = (struct aps_encode_stats){0};
    verb->magnitude = (struct aps_magnitude){.max = 0, .finite = false};
    if (verb->bytes > 0)
        memset(verb->host, 0, verb->bytes);
    else if (visited && !verb->reads)
        (void)aps_cuda_clear(verb->x, verb->n * sizeof *verb->x);
}

static void plugin_run(struct verb *verb)
{
    struct aps_cuda_visit visit;
    cudaError_t error;

    if (verb->n == 0)
        return;
    switch (aps_cuda_enter(verb->x, &visit)) {
    case APS_CUDA_HOST:
        verb->on_host(verb, verb->x, 0, verb->n);
        return;
    case APS_CUDA_NOWHERE:
        plugin_fail(verb, aps_cuda_driver_error(visit.failed), false);
        return;
    case APS_CUDA_DEVICE:
        break;
    }
    if (verb->codec && !aps_device_takes(&verb->codec->format)) {
        error = plugin_run_through_host(verb, &visit, false);
        if (error != cudaSuccess)
            cudaGetLastError();
    } else if ((error = plugin_run_on_device(verb, &visit)) != cudaSuccess) {
        const char *cause = cudaGetErrorString(error);

        cudaGetLastError();
        verb->stats = (struct aps_encode_stats){0};
        error = plugin_run_through_host(verb, &visit, true);
        if (error == cudaSuccess)
            aps_cuda_detour_note(verb->name, cause);
    }
    if (error != cudaSuccess)
        plugin_fail(verb, cudaGetErrorString(error), true);
    aps_cuda_leave(&visit);
}

/* --- the verbs ----------------------------------------------------------- */

static cudaError_t plugin_staged_magnitude(struct verb *verb,
                                           struct aps_cuda_stream *lane)
{
    return aps_staged_magnitude(lane, APS_ELEMENT_FLOAT, verb->x, verb->n,
                                &verb->magnitude);
}

static void plugin_host_magnitude(struct verb *verb, float *x, size_t i,
                                  size_t count)
{
    struct aps_magnitude found = aps_memory_host.magnitude(x, count);

    (void)i;
    if (found.max > verb->magnitude.max)
        verb->magnitude.max = found.max;
    if (!found.finite)
        verb->magnitude.finite = false;
}

static struct aps_magnitude plugin_cuda_magnitude(const void *x, size_t n)
{
    struct verb verb = {
        .name = "magnitude",
        .x = (void *)(uintptr_t)x,
        .n = n,
        .magnitude = {.max = 0, .finite = true},
        .staged = plugin_staged_magnitude,
        .on_host = plugin_host_magnitude,
        .reads = true,
    };

    plugin_run(&verb);
    return verb.magnitude;
}

static cudaError_t plugin_staged_encode(struct verb *verb,
                                        struct aps_cuda_stream *lane)
{
    return aps_staged_encode(lane, &verb->codec->format, APS_ELEMENT_FLOAT,
                             verb->x, verb->n, verb->scaling, &verb->options,
                             verb->host, &verb->flags,
                             verb->counts ? &verb->stats : NULL);
}

static unsigned char *plugin_wire_at(const struct verb *verb, size_t i)
{
    return (unsigned char *)verb->host + aps_codec_bytes(verb->codec, i);
}

static void plugin_host_encode(struct verb *verb, float *x, size_t i,
                               size_t count)
{
    struct aps_cast_options here = verb->options;

    here.offset += i;
    verb->flags |= aps_memory_host.encode(verb->codec, x, count, verb->scaling,
                                          &here, plugin_wire_at(verb, i),
                                          verb->counts ? &verb->stats : NULL);
}

static unsigned plugin_cuda_encode(const struct aps_codec *codec, const void *x,
                                   size_t n, struct aps_scaling scaling,
                                   const struct aps_cast_options *options,
                                   void *wire, struct aps_encode_stats *stats)
{
    static const struct aps_cast_options nearest = APS_CAST_OPTIONS_INIT;
    struct verb verb = {
        .name = "encode",
        .codec = codec,
        .scaling = scaling,
        .options = options ? *options : nearest,
        .counts = stats,
        .x = (void *)(uintptr_t)x,
        .n = n,
        .host = wire,
        .bytes = aps_codec_bytes(codec, n),
        .staged = plugin_staged_encode,
        .on_host = plugin_host_encode,
        .reads = true,
    };

    plugin_run(&verb);
    if (stats)
        aps_encode_stats_add(stats, &verb.stats);
    return verb.flags;
}

static cudaError_t plugin_staged_decode(struct verb *verb,
                                        struct aps_cuda_stream *lane)
{
    return aps_staged_decode(lane, &verb->codec->format, verb->host, verb->n,
                             verb->scaling, verb->flags, APS_ELEMENT_FLOAT,
                             verb->x);
}

static void plugin_host_decode(struct verb *verb, float *x, size_t i,
                               size_t count)
{
    aps_memory_host.decode(verb->codec, plugin_wire_at(verb, i), count,
                           verb->scaling, verb->flags, x);
}

static void plugin_cuda_decode(const struct aps_codec *codec, const void *wire,
                               size_t n, struct aps_scaling scaling,
                               unsigned flags, void *x)
{
    struct verb verb = {
        .name = "decode",
        .codec = codec,
        .scaling = scaling,
        .x = x,
        .n = n,
        .host = (void *)(uintptr_t)wire,
        .flags = flags,
        .staged = plugin_staged_decode,
        .on_host = plugin_host_decode,
    };

    plugin_run(&verb);
}

static cudaError_t plugin_staged_copy_out(struct verb *verb,
                                          struct aps_cuda_stream *lane)
{
    return aps_staged_copy_out(lane, verb->host, verb->x, verb->n);
}

static void plugin_host_copy_out(struct verb *verb, float *x, size_t i,
                                 size_t count)
{
    memcpy((unsigned char *)verb->host + i * sizeof *x, x, count * sizeof *x);
}

static void plugin_cuda_copy_out(float *host, const void *x, size_t n)
{
    struct verb verb = {
        .name = "copy_out",
        .x = (void *)(uintptr_t)x,
        .n = n,
        .host = host,
        .bytes = n * sizeof *host,
        .staged = plugin_staged_copy_out,
        .on_host = plugin_host_copy_out,
        .reads = true,
    };

    plugin_run(&verb);
}

static cudaError_t plugin_staged_copy_in(struct verb *verb,
                                         struct aps_cuda_stream *lane)
{
    return aps_staged_copy_in(lane, verb->x, verb->host, verb->n);
}

static void plugin_host_copy_in(struct verb *verb, float *x, size_t i,
                                size_t count)
{
    memcpy(x, (unsigned char *)verb->host + i * sizeof *x, count * sizeof *x);
}

static void plugin_cuda_copy_in(void *x, const float *host, size_t n)
{
    struct verb verb = {
        .name = "copy_in",
        .x = x,
        .n = n,
        .host = (void *)(uintptr_t)host,
        .staged = plugin_staged_copy_in,
        .on_host = plugin_host_copy_in,
    };

    plugin_run(&verb);
}

/* --- several ---------------------------------------------------------------- */

static void plugin_run_step(struct aps_device_step *step)
{
    switch (step->verb) {
    case APS_DEVICE_ENCODE:
        step->flags =
            plugin_cuda_encode(step->codec, step->x, step->n, step->scaling,
                               &step->options, step->wire, NULL);
        return;
    case APS_DEVICE_DECODE:
        plugin_cuda_decode(step->codec, step->wire, step->n, step->scaling,
                           step->flags, step->x);
        return;
    case APS_DEVICE_MAGNITUDE:
        step->magnitude = plugin_cuda_magnitude(step->x, step->n);
        return;
    case APS_DEVICE_PUT:
    case APS_DEVICE_GET:
        return; /* host memory needs no steps for that */
    }
}

static void plugin_cuda_run(struct aps_device_step steps[], size_t count)
{
    aps_staged_run(steps, count, plugin_run_step);
}

static const struct aps_device_memory device_memory = {
    .allocate = aps_cuda_allocate,
    .release = aps_cuda_release,
    .holds = aps_cuda_holds,
    .probe = aps_cuda_try,
    .encode = aps_cuda_encode,
    .decode = aps_cuda_decode,
    .run = aps_cuda_run,
    .put = aps_cuda_put,
    .get = aps_cuda_get,
    .offer = aps_cuda_offer,
    .open = aps_cuda_open,
    .close = aps_cuda_close,
};

const struct aps_cuda_plugin aps_cuda_plugin = {
    .identity = APS_CUDA_IDENTITY,
    .version = PACKAGE_VERSION,
    .sizes = APS_CUDA_SIZES,
    .open = aps_cuda_driver_open,
    .tell = &aps_cuda_tell,
    .memory =
        {
            .name = "cuda",
            .element = sizeof(float),
            .magnitude = plugin_cuda_magnitude,
            .encode = plugin_cuda_encode,
            .decode = plugin_cuda_decode,
            .run = plugin_cuda_run,
            .copy_out = plugin_cuda_copy_out,
            .copy_in = plugin_cuda_copy_in,
            .pin = aps_cuda_pin,
            .unpin = aps_cuda_unpin,
            .device = &device_memory,
            .failures = aps_cuda_failure_count,
        },
    .elements = aps_cuda_elements_run,
};

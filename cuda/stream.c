/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cuda/stream.h"

#include <stdlib.h>

#include "cuda/kernels.h"

#define STRIDE (APS_CUDA_STREAM_HEADER + APS_CUDA_STREAM_BYTES)
#define SLOTS (APS_CUDA_STREAM_SLOTS * STRIDE)
#define FINDINGS (APS_DEVICE_STEPS * sizeof(struct aps_cuda_result))

#define BYTES (APS_DEVICE_STEPS * APS_DEVICE_STEP_BYTES)

/* Returns the place of findings after the slots. */
static void *stream_findings_at(void *memory, size_t i)
{
    return (unsigned char *)memory + SLOTS + i * FINDINGS;
}

cudaError_t aps_cuda_stream_make(cudaStream_t *stream)
{
    int least, greatest;
    cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &greatest);

    if (error == cudaSuccess)
        error = cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking,
                                             greatest);
    return error;
}

cudaError_t aps_cuda_stream_copy(cudaStream_t stream, void *to,
                                 const void *from, size_t bytes)
{
    cudaError_t error =
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);

    return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}

cudaError_t aps_cuda_clear(void *memory, size_t bytes)
{
    cudaStream_t stream;
    cudaError_t error = aps_cuda_stream_make(&stream);

    if (error != cudaSuccess)
        return error;
    error = cudaMemsetAsync(memory, 0, bytes, stream);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    return error;
}

static cudaError_t stream_slot_create(struct aps_slot *slot)
{
    cudaError_t error = aps_cuda_stream_make(&slot->stream);

    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&slot->done, cudaEventDisableTiming);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(slot->device, 0, APS_CUDA_STREAM_HEADER,
                                slot->stream);
    return error;
}

struct aps_cuda_stream *aps_cuda_stream_create(cudaError_t *error)
{
    struct aps_cuda_stream *lane = calloc(1, sizeof *lane);
    void *device = NULL, *host = NULL;

    if (!lane) {
        *error = cudaErrorMemoryAllocation;
        return NULL;
    }
    *error = cudaMalloc(&device, SLOTS + FINDINGS);
    if (*error != cudaSuccess)
        goto free_lane;
    *error = cudaHostAlloc(&host, SLOTS + 2 * FINDINGS + BYTES, 0);
    if (*error != cudaSuccess)
        goto free_device;
    for (int i = 0; i < APS_CUDA_STREAM_SLOTS; i++) {
        lane->slot[i].device = (unsigned char *)device + (size_t)i * STRIDE;
        lane->slot[i].host = (unsigned char *)host + (size_t)i * STRIDE;
    }
    lane->findings = (struct aps_findings){
        .marks = stream_findings_at(host, 0),
        .host = stream_findings_at(host, 1),
        .bytes = stream_findings_at(host, 2),
        .device = stream_findings_at(device, 0),
    };
    for (int i = 0; i < APS_CUDA_STREAM_SLOTS && *error == cudaSuccess; i++)
        *error = stream_slot_create(&lane->slot[i]);
    if (*error == cudaSuccess)
        *error = aps_cuda_kernels_load();
    if (*error == cudaSuccess)
        return lane;
    aps_cuda_stream_destroy(lane);
    return NULL;

free_device:
    cudaFree(device);
free_lane:
    free(lane);
    return NULL;
}

bool aps_cuda_stream_reset(struct aps_cuda_stream *lane)
{
    cudaError_t error = cudaSuccess;

    for (int i = 0; i < APS_CUDA_STREAM_SLOTS; i++) {
        const struct aps_slot *slot = &lane->slot[i];
        cudaError_t first = cudaStreamSynchronize(slot->stream);

        if (first == cudaSuccess)
            first = cudaMemsetAsync(slot->device, 0, APS_CUDA_STREAM_HEADER,
                                    slot->stream);
        if (error == cudaSuccess)
            error = first;
    }
    return error == cudaSuccess;
}

void aps_cuda_stream_destroy(struct aps_cuda_stream *lane)
{
    if (!lane)
        return;
    for (int i = 0; i < APS_CUDA_STREAM_SLOTS; i++) {
        if (lane->slot[i].stream)
            cudaStreamSynchronize(lane->slot[i].stream);
        if (lane->slot[i].done)
            cudaEventDestroy(lane->slot[i].done);
        if (lane->slot[i].stream)
            cudaStreamDestroy(lane->slot[i].stream);
    }
    cudaFreeHost(lane->slot[0].host);
    cudaFree(lane->slot[0].device);
    free(lane);
}

cudaError_t aps_slot_fetch(const struct aps_slot *slot, size_t bytes)
{
    cudaError_t error = cudaMemcpyAsync(slot->host, slot->device,
                                        APS_CUDA_STREAM_HEADER + bytes,
                                        cudaMemcpyDeviceToHost, slot->stream);

    if (error == cudaSuccess)
        error = cudaEventRecord(slot->done, slot->stream);
    /* for the next use, while the host continues */
    if (error == cudaSuccess)
        error = cudaMemsetAsync(slot->device, 0, APS_CUDA_STREAM_HEADER,
                                slot->stream);
    return error;
}

cudaError_t aps_slot_fetch_part(const struct aps_slot *slot, size_t begin,
                                size_t end)
{
    return cudaMemcpyAsync(slot->host + APS_CUDA_STREAM_HEADER + begin,
                           slot->device + APS_CUDA_STREAM_HEADER + begin,
                           end - begin, cudaMemcpyDeviceToHost, slot->stream);
}

cudaError_t aps_slot_send(const struct aps_slot *slot, size_t begin, size_t end)
{
    return cudaMemcpyAsync(slot->device + APS_CUDA_STREAM_HEADER + begin,
                           slot->host + APS_CUDA_STREAM_HEADER + begin,
                           end - begin, cudaMemcpyHostToDevice, slot->stream);
}

cudaError_t aps_slot_mark(const struct aps_slot *slot)
{
    return cudaEventRecord(slot->done, slot->stream);
}

cudaError_t aps_slot_wait(const struct aps_slot *slot)
{
    return cudaEventSynchronize(slot->done);
}

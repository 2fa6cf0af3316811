/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values in device memory, wire bytes and floats on the host: cut into pieces,
 * which go through the slots of a lane. All in the lane's context. The output
 * is complete when they return cudaSuccess; after an error it has any value,
 * and the lane's work may still be in progress. Elements of other types than
 * FP32 are converted to FP32, and back, a piece at a time.
 */
#ifndef APS_CUDA_STAGED_H
#define APS_CUDA_STAGED_H

#include "base/element.h"
#include "codec/codec.h"
#include "cuda/stream.h"

cudaError_t aps_staged_magnitude(struct aps_cuda_stream *lane,
                                 enum aps_element element, const void *x,
                                 size_t n, struct aps_magnitude *magnitude);

/* Adds to *stats, unless that is NULL. */
cudaError_t aps_staged_encode(struct aps_cuda_stream *lane,
                              const struct aps_format *format,
                              enum aps_element element, const void *x, size_t n,
                              struct aps_scaling scaling,
                              const struct aps_cast_options *options,
                              void *wire, unsigned *flags,
                              struct aps_encode_stats *stats);
cudaError_t aps_staged_decode(struct aps_cuda_stream *lane,
                              const struct aps_format *format, const void *wire,
                              size_t n, struct aps_scaling scaling,
                              unsigned flags, enum aps_element element,
                              void *x);

cudaError_t aps_staged_copy_out(struct aps_cuda_stream *lane, void *host,
                                const float *x, size_t n);
cudaError_t aps_staged_copy_in(struct aps_cuda_stream *lane, float *x,
                               const void *host, size_t n);

#endif

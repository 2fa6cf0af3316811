/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values and wire bytes that are both in device memory: the kernels write the
 * output directly. See struct aps_device_memory.
 */
#ifndef APS_CUDA_BLOCKS_H
#define APS_CUDA_BLOCKS_H

#include "codec/codec.h"

int aps_cuda_encode(const struct aps_codec *codec, const float *x, size_t n,
                    struct aps_scaling scaling,
                    const struct aps_cast_options *options, void *wire,
                    struct aps_encode_stats *stats);
int aps_cuda_decode(const struct aps_codec *codec, const void *wire, size_t n,
                    struct aps_scaling scaling, unsigned flags, bool add,
                    float *x);

int aps_cuda_try(void *memory, char *cause, size_t size);

int aps_cuda_put(void *to, const void *host, size_t bytes);
int aps_cuda_get(void *host, const void *from, size_t bytes);

#endif

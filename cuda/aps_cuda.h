/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libaps-cuda: the arrays, sums and matrix products of aps.h on memory that the
 * GPU can access (device, managed or pinned): the same bits as on the host.
 *
 * Functions start their work on `stream` (a cudaStream_t of the current device,
 * as void *; NULL is the default stream) and return; structs and arrays of
 * pointers may be reused at once. They return 0, or -1 with errno set and an
 * optional struct aps_error filled: EINVAL like the functions of the same names
 * in aps.h, and EIO with the cause if CUDA fails. As with any kernel, the call
 * that waits for the stream reports later failures.
 *
 * Formats are of floats, each encoded separately: formats in blocks and of
 * integers are EINVAL in all functions.
 */
#ifndef APS_CUDA_H
#define APS_CUDA_H

#include <aps.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the version of libaps-cuda, like aps_version. Formats come from a
 * libaps of the same version: those of another version are EINVAL. */
APS_API int aps_cuda_version(void);

APS_API int aps_cuda_cast_array(const struct aps_format *format, const float *x,
                                size_t n,
                                const struct aps_cast_options *options,
                                float *y, void *stream,
                                struct aps_error *error);

APS_API int aps_cuda_encode_array(const struct aps_format *format,
                                  const float *x, size_t n,
                                  const struct aps_cast_options *options,
                                  void *packed, void *stream,
                                  struct aps_error *error);

APS_API int aps_cuda_decode_array(const struct aps_format *format,
                                  const void *packed, size_t n,
                                  const struct aps_cast_options *options,
                                  float *x, void *stream,
                                  struct aps_error *error);

/* sum[i] += the value of packed code i, times 2^-f of `options`: one FP32
 * addition for each element; a NaN is the positive canonical one. */
APS_API int aps_cuda_decode_add_array(const struct aps_format *format,
                                      const void *packed, size_t n,
                                      const struct aps_cast_options *options,
                                      float *sum, void *stream,
                                      struct aps_error *error);

/* x[terms] is an array in host memory, of pointers that the GPU can access. At
 * most APS_CUDA_TERMS of them, or EINVAL. */
#define APS_CUDA_TERMS 256
APS_API int aps_cuda_sum(const struct aps_format *format, size_t terms,
                         size_t n, const float *const x[], float *out,
                         void *stream, struct aps_error *error);
APS_API int aps_cuda_sum_kahan(const struct aps_format *format, size_t terms,
                               size_t n, const float *const x[], float *out,
                               void *stream, struct aps_error *error);
APS_API int aps_cuda_sum_chunked(const struct aps_format *format, size_t chunk,
                                 size_t terms, size_t n, const float *const x[],
                                 float *out, void *stream,
                                 struct aps_error *error);

/* a, b and c of the arguments point to memory that the GPU can access.
 * aps_gemm, on the host, computes products of formats in blocks, and those with a
 * `cast`. */
APS_API int aps_cuda_gemm(const struct aps_gemm_arguments *arguments,
                          void *stream, struct aps_error *error);

#ifdef __cplusplus
}
#endif

#endif

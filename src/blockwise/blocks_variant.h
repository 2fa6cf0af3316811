/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of struct aps_codec for a family of formats in blocks, by its
 * struct aps_block_ops: one set for each instruction set.
 */
#ifndef APS_BLOCKWISE_BLOCKS_VARIANT_H
#define APS_BLOCKWISE_BLOCKS_VARIANT_H

#include "base/size_min.h"
#include "blockwise/blocks_decode.h"
#include "blockwise/blocks_encode.h"
#include "kernel/table.h"

/* Values of a cast that are encoded at a time: whole blocks. No block is longer
 * than its values in FP32, so that four bytes each are enough. */
#define APS_BLOCKS_CAST ((size_t)APS_FORMAT_GRANULE_MAX)

/* Writes the scale of the piece before the first block. */
APS_INLINE uint8_t *aps_blocks_put_piece(const struct aps_block_kernel *kernel,
                                         uint8_t *wire)
{
    const size_t bytes = (size_t)kernel->format.piece_bytes;

    memcpy(wire, &kernel->piece, bytes);
    return wire + bytes;
}

APS_INLINE const uint8_t *aps_blocks_get_piece(struct aps_block_kernel *kernel,
                                               const uint8_t *wire)
{
    const size_t bytes = (size_t)kernel->format.piece_bytes;

    memcpy(&kernel->piece, wire, bytes);
    return wire + bytes;
}

/* Returns the bytes of n values, whole blocks. */
APS_INLINE size_t aps_blocks_bytes(const struct aps_block_ops *ops,
                                   const struct aps_format *format, size_t n)
{
    const size_t block = (size_t)format->block;

    return n / block *
           (ops->scale + aps_pack_bytes(block, (unsigned)format->width));
}

/* Encodes x[n], the elements from `first` of the piece on. `stats` NULL: not
 * counted. */
APS_INLINE void aps_blocks_encode_body(const struct aps_block_ops *ops,
                                       const struct aps_block_kernel *kernel,
                                       const aps_any_float *x, size_t n,
                                       uint64_t first,
                                       const struct aps_cast_options *options,
                                       enum aps_vectors vectors, uint8_t *wire,
                                       struct aps_encode_stats *stats)
{
    const struct aps_blocks_loop loop = aps_blocks_loop_of(ops, vectors);
    struct aps_encode_stats counted = {0};
    const struct aps_blocks_encoder e =
        aps_blocks_encoder_init(ops, kernel, options, vectors);
    size_t done = 0;

    if (e.rounding == APS_ROUND_NEAREST && !stats) {
        const size_t block = ops->block > 0 ? ops->block : 64;

        if (loop.step && loop.step(&kernel->format) > 0)
            done = aps_blocks_encode_vectors(&e, loop, x, n, wire);
        else if (kernel->format.block == (int)block)
            done = aps_blocks_encode_fast(&e, x, n, block, wire);
        else
            done = aps_blocks_encode_fast(&e, x, n,
                                          (size_t)kernel->format.block, wire);
    }
    if (done < n)
        aps_blocks_encode_any(
            &e, x + done, n - done, first + done,
            wire + aps_blocks_bytes(ops, &kernel->format, done), &counted);
    if (stats)
        aps_encode_stats_add(stats, &counted);
}

APS_INLINE void aps_blocks_decode_body(const struct aps_block_ops *ops,
                                       const struct aps_block_kernel *kernel,
                                       const uint8_t *wire, size_t n, bool vbmi,
                                       bool add, aps_any_float *x)
{
    const struct aps_blocks_decoder d = {
        .ops = ops, .kernel = kernel, .vbmi = vbmi, .add = add};
    size_t done;

    if (vbmi && ops->vbmi_decode && kernel->format.exponent_bits > 0)
        done = aps_blocks_decode_vbmi(&d, wire, n, x);
    else if (ops->block > 0)
        done = aps_blocks_decode_fast(&d, wire, n, ops->block, x);
    else if (kernel->format.block == 64)
        done = aps_blocks_decode_fast(&d, wire, n, 64, x);
    else
        done = aps_blocks_decode_fast(&d, wire, n, (size_t)kernel->format.block,
                                      x);
    if (done < n)
        aps_blocks_decode_any(
            &d, wire + aps_blocks_bytes(ops, &kernel->format, done), n - done,
            x + done);
}

/* Function that is compiled for each instruction set. */
typedef void (*aps_blocks_encode_fn)(const struct aps_block_kernel *kernel,
                                     const aps_any_float *x, size_t n,
                                     uint64_t first,
                                     const struct aps_cast_options *options,
                                     uint8_t *wire,
                                     struct aps_encode_stats *stats);
typedef void (*aps_blocks_decode_fn)(const struct aps_block_kernel *kernel,
                                     const uint8_t *wire, size_t n,
                                     aps_any_float *x);

/* y[n] = the values of x[n]'s codes; y may be x. */
static inline void aps_blocks_cast_body(const struct aps_block_kernel *kernel,
                                        aps_blocks_encode_fn encode,
                                        aps_blocks_decode_fn decode,
                                        const aps_any_float *x, size_t n,
                                        const struct aps_cast_options *options,
                                        aps_any_float *y)
{
    const size_t block = (size_t)kernel->format.block;
    const size_t most = APS_BLOCKS_CAST / block * block;
    uint8_t wire[APS_BLOCKS_CAST * 4 + APS_PACK_SLACK];

    for (size_t i = 0; i < n; i += most) {
        const size_t count = aps_size_min(n - i, most);

        encode(kernel, x + i, count, i, options, wire, NULL);
        decode(kernel, wire, count, y + i);
    }
}

#define APS_BLOCKS_VARIANT(ops, CPU, name, target)                             \
    APS_CODEC_##CPU static void ops##_put_##name(                              \
        const struct aps_block_kernel *kernel, const aps_any_float *x,         \
        size_t n, uint64_t first, const struct aps_cast_options *options,      \
        uint8_t *wire, struct aps_encode_stats *stats)                         \
    {                                                                          \
        aps_blocks_encode_body(&ops##_ops, kernel, x, n, first, options,       \
                               APS_VECTORS_##CPU, wire, stats);                \
    }                                                                          \
    APS_CODEC_##CPU static void ops##_get_##name(                              \
        const struct aps_block_kernel *kernel, const uint8_t *wire, size_t n,  \
        aps_any_float *x)                                                      \
    {                                                                          \
        aps_blocks_decode_body(&ops##_ops, kernel, wire, n,                    \
                               APS_VECTORS_##CPU == APS_VECTORS_AVX512, false, \
                               x);                                             \
    }                                                                          \
    APS_CODEC_##CPU static void ops##_add_##name(                              \
        const struct aps_block_kernel *kernel, const uint8_t *wire, size_t n,  \
        aps_any_float *x)                                                      \
    {                                                                          \
        aps_blocks_decode_body(&ops##_ops, kernel, wire, n,                    \
                               APS_VECTORS_##CPU == APS_VECTORS_AVX512, true,  \
                               x);                                             \
    }                                                                          \
    APS_CODEC_##CPU static struct aps_block_kernel ops##_init_##name(          \
        const struct aps_codec *codec, const float *x, size_t n)               \
    {                                                                          \
        return ops##_ops.init(&codec->format, (const void *)x, n);             \
    }                                                                          \
    static unsigned ops##_encode_stats_##name(                                 \
        const struct aps_codec *codec, const float *x, size_t n,               \
        struct aps_scaling scaling, const struct aps_cast_options *options,    \
        void *wire, struct aps_encode_stats *stats)                            \
    {                                                                          \
        const struct aps_block_kernel kernel = ops##_init_##name(codec, x, n); \
                                                                               \
        (void)scaling;                                                         \
        if (n > 0)                                                             \
            ops##_put_##name(&kernel, (const void *)x, n, 0, options,          \
                             aps_blocks_put_piece(&kernel, wire), stats);      \
        return 0;                                                              \
    }                                                                          \
    static unsigned ops##_encode_##name(                                       \
        const struct aps_codec *codec, const float *x, size_t n,               \
        struct aps_scaling scaling, const struct aps_cast_options *options,    \
        void *wire)                                                            \
    {                                                                          \
        return ops##_encode_stats_##name(codec, x, n, scaling, options, wire,  \
                                         NULL);                                \
    }                                                                          \
    static void ops##_decode_##name(                                           \
        const struct aps_codec *codec, const void *wire, size_t n,             \
        struct aps_scaling scaling, unsigned flags, float *x)                  \
    {                                                                          \
        struct aps_block_kernel kernel = ops##_init_##name(codec, NULL, 0);    \
                                                                               \
        (void)scaling, (void)flags;                                            \
        if (n > 0)                                                             \
            ops##_get_##name(&kernel, aps_blocks_get_piece(&kernel, wire), n,  \
                             (void *)x);                                       \
    }                                                                          \
    static void ops##_decode_add_##name(                                       \
        const struct aps_codec *codec, const void *wire, size_t n,             \
        struct aps_scaling scaling, unsigned flags, float *sum)                \
    {                                                                          \
        struct aps_block_kernel kernel = ops##_init_##name(codec, NULL, 0);    \
                                                                               \
        (void)scaling, (void)flags;                                            \
        if (n > 0)                                                             \
            ops##_add_##name(&kernel, aps_blocks_get_piece(&kernel, wire), n,  \
                             (void *)sum);                                     \
    }                                                                          \
    static void ops##_cast_##name(                                             \
        const struct aps_codec *codec, const float *x, size_t n,               \
        const struct aps_cast_options *options, float *y)                      \
    {                                                                          \
        const struct aps_block_kernel kernel = ops##_init_##name(codec, x, n); \
                                                                               \
        aps_blocks_cast_body(&kernel, ops##_put_##name, ops##_get_##name,      \
                             (const void *)x, n, options, (void *)y);          \
    }                                                                          \
    static void ops##_round_##name(const struct aps_codec *codec, size_t n,    \
                                   struct aps_scaling scaling, float *sum)     \
    {                                                                          \
        (void)scaling;                                                         \
        ops##_cast_##name(codec, sum, n, NULL, sum);                           \
    }

#define APS_BLOCKS_ROW(ops, CPU, name, target)                                 \
    [APS_CPU_##CPU] = {                                                        \
        .cpu = #name,                                                          \
        .encode = ops##_encode_##name,                                         \
        .encode_stats = ops##_encode_stats_##name,                             \
        .decode = ops##_decode_##name,                                         \
        .decode_add = ops##_decode_add_##name,                                 \
        .round = ops##_round_##name,                                           \
        .cast = ops##_cast_##name,                                             \
    },

#define APS_BLOCKS_VARIANTS(ops)                                               \
    APS_CPU_ROWS(APS_BLOCKS_VARIANT, ops)                                      \
    static const struct aps_codec ops##_variants[APS_CPUS] = {                 \
        APS_CPU_ROWS(APS_BLOCKS_ROW, ops)};                                    \
    APS_BLOCKS_INIT(ops)

/* The function of kernel/table.h. */
#define APS_BLOCKS_INIT(ops)                                                   \
    void aps_codec_init_##ops(const struct aps_format *format,                 \
                              enum aps_cpu cpu, struct aps_codec *codec)       \
    {                                                                          \
        *codec = ops##_variants[cpu];                                          \
        codec->format = *format;                                               \
    }

#endif

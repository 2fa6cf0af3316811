/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "compressed/digits.h"

#include <string.h>

#include "compress/ternary_sums.h"
#include "number/bits.h"
#include "number/philox.h"
#include "message/agree.h"

/* Byte that packs five digits of value 0. */
#define NOTHING 121

struct aps_slice aps_digits_slice(size_t n, int parts, int i)
{
    return aps_slice_of(n, APS_TERNARY_GROUP, parts, i);
}

struct aps_slice aps_digits_slice_of(const struct aps_digits_run *run, int i,
                                     int owner)
{
    const size_t n = run->layers[i].layer->matrix.count;

    return run->owners > 0 ? aps_digits_slice(n, run->owners, owner)
                           : (struct aps_slice){0, n};
}

size_t aps_digits_bytes(const void *state, int owner)
{
    const struct aps_digits_run *run = state;
    size_t bytes = 0;

    for (int i = 0; i < run->count; i++)
        bytes += aps_ternary_bytes(aps_digits_slice_of(run, i, owner).length);
    return bytes;
}

static void digits_measure(const struct aps_digits_run *run,
                           struct aps_digits *of, struct aps_compressed *layer)
{
    const float clip =
        (float)run->site->plan->compressor.parameters[APS_TERNARY_CLIP];
    const size_t n = layer->matrix.count;
    enum aps_ternary_kind kind;

    *of = (struct aps_digits){.layer = layer};
    kind = layer->error
               ? aps_ternary_measure_sum(layer->in, layer->error, n, clip,
                                         run->cpu, layer->delta, &of->scale)
               : aps_ternary_measure(layer->in, n, clip, run->cpu, &of->scale);
    if (kind == APS_TERNARY_NONFINITE)
        of->scale.scaler = aps_float_from_bits(APS_FLOAT_INF);
}

void aps_digits_begin(struct aps_digits_run *run,
                      const struct aps_compressed_env *site, int owners,
                      int count, struct aps_compressed layers[],
                      struct aps_cost *cost)
{
    *run = (struct aps_digits_run){
        .site = site,
        .ranks = site->vcomm->size,
        .rank = site->vcomm->rank,
        .owners = owners,
        .cpu = aps_cpu_chosen(),
        .count = count,
        .cost = cost,
    };
    for (int i = 0; i < count; i++)
        digits_measure(run, &run->layers[i], &layers[i]);
}

void aps_digits_agree(struct aps_digits_run *run)
{
    int bits[APS_VECTORS_MAX];

    for (int i = 0; i < run->count; i++)
        bits[i] = (int)aps_float_bits(run->layers[i].scale.scaler);
    *run->site->exchange->messages.outcome =
        aps_agree_max(run->site->vcomm, run->count, bits);
    for (int i = 0; i < run->count; i++) {
        struct aps_digits *of = &run->layers[i];
        const float scaler = aps_float_from_bits((uint32_t)bits[i]);
        const float greatest = scaler * (float)run->ranks;

        of->layer->fp32_fallback = run->ranks > APS_TERNARY_RANKS ||
                                   aps_float_bits(greatest) >= APS_FLOAT_INF;
        of->scaler = of->layer->fp32_fallback ? 0 : scaler;
    }
}

static void digits_encode(const struct aps_digits_run *run,
                          const struct aps_digits *of,
                          const struct aps_slice *slice, uint8_t *digits)
{
    const struct aps_compressor *compressor = &run->site->plan->compressor;
    const uint64_t number = of->layer->number;
    struct aps_cast_options draw = APS_CAST_OPTIONS_INIT;

    if (of->scaler == 0) {
        memset(digits, NOTHING, aps_ternary_bytes(slice->length));
        return;
    }
    draw.seed = aps_stream_mix(run->site->vcomm->number) ^
                aps_compressor_seed(compressor);
    draw.layer = (uint32_t)(number >> 32);
    draw.step = (uint32_t)number;
    draw.rank = (uint32_t)run->rank;
    draw.offset = slice->begin;
    if (of->layer->error)
        aps_ternary_take(of->layer->delta + slice->begin, slice->length,
                         of->scale.limit, of->scaler, &draw, run->cpu, digits);
    else
        aps_ternary_encode(of->layer->in + slice->begin, slice->length,
                           of->scale.limit, of->scaler, &draw, run->cpu,
                           digits);
}

void aps_digits_encode(const void *state, int owner, unsigned char *digits)
{
    const struct aps_digits_run *run = state;

    for (int i = 0; i < run->count; i++) {
        const struct aps_slice slice = aps_digits_slice_of(run, i, owner);

        digits_encode(run, &run->layers[i], &slice, digits);
        digits += aps_ternary_bytes(slice.length);
    }
}

void aps_digits_sum(const struct aps_digits_run *run, int ranks,
                    const uint8_t *from, size_t stride, size_t at, size_t n,
                    int16_t *sum)
{
    memset(sum, 0, n * sizeof *sum);
    for (int i = 0; i < ranks; i++)
        aps_ternary_add(from + (size_t)i * stride + aps_ternary_bytes(at), n,
                        run->cpu, sum);
}

void aps_digits_pack_sums(const struct aps_digits_run *run, int ranks,
                          const uint8_t *from, size_t stride,
                          const struct aps_slice *part, int most, uint8_t *sums)
{
    int16_t sum[APS_DIGITS_BLOCK];

    for (size_t at = 0; at < part->length; at += APS_DIGITS_BLOCK) {
        const size_t n = part->length - at < APS_DIGITS_BLOCK
                             ? part->length - at
                             : APS_DIGITS_BLOCK;

        aps_digits_sum(run, ranks, from, stride, part->begin + at, n, sum);
        aps_ternary_sum_pack(sum, n, most,
                             sums + aps_ternary_sum_bytes(most, at));
    }
}

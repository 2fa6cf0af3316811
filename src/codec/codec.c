/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "codec/codec.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "codec/float.h"
#include "number/bits.h"

/*
 * The variant of this process: what APSMPI_CPU names, or the best. Chosen at
 * the first use; threads that meet here choose the same.
 */
static const struct aps_float_variant *chosen_variant(void)
{
    static _Atomic(const struct aps_float_variant *) chosen;
    const struct aps_float_variant *variant =
        atomic_load_explicit(&chosen, memory_order_relaxed);

    if (!variant) {
        const char *cpu = getenv("APSMPI_CPU");

        if (cpu)
            variant = aps_float_variant_find(cpu);
        if (!variant)
            variant = aps_float_variant_best();
        atomic_store_explicit(&chosen, variant, memory_order_relaxed);
    }
    return variant;
}

void aps_codec_init(const struct aps_format *format, struct aps_codec *codec)
{
    aps_float_codec_init(format, chosen_variant(), codec);
}

size_t aps_codec_bytes(const struct aps_codec *codec, size_t n)
{
    return aps_packed_bytes(&codec->format, n);
}

float aps_max_finite(const float *x, size_t n)
{
    return aps_float_from_bits(chosen_variant()->max_finite(x, n));
}

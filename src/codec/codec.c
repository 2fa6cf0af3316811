/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "codec/codec.h"

#include <stdatomic.h>

#include "base/cpu.h"
#include "float/float.h"
#include "float/wide.h"
#include "kernel/table.h"
#include "number/bits.h"

/* Returns the variant of this process (base/cpu.h), or the best codec if that
 * variant has none: AVX-512 without VBMI. Threads that come here at the same
 * time choose the same. */
static const struct aps_float_variant *chosen_variant(void)
{
    static _Atomic(const struct aps_float_variant *) chosen;
    const struct aps_float_variant *variant =
        atomic_load_explicit(&chosen, memory_order_relaxed);

    if (!variant) {
        variant = aps_float_variant_find(aps_cpu_name(aps_cpu_chosen()));
        if (!variant)
            variant = aps_float_variant_best();
        atomic_store_explicit(&chosen, variant, memory_order_relaxed);
    }
    return variant;
}

void aps_codec_init_float(const struct aps_format *format, enum aps_cpu cpu,
                          struct aps_codec *codec)
{
    if (format->wide)
        aps_wide_codec_init(format, cpu, codec);
    else
        aps_float_codec_init(format, aps_float_variant_find(aps_cpu_name(cpu)),
                             codec);
}

#define INIT(family, ops) [APS_FAMILY_##family] = aps_codec_init_##ops,
static void (*const families[APS_FAMILY_KINDS])(const struct aps_format *,
                                                enum aps_cpu,
                                                struct aps_codec *) = {
    APS_FAMILIES(INIT)};

int aps_codec_init_for(const struct aps_format *format, const char *cpu,
                       struct aps_codec *codec)
{
    enum aps_cpu variant;

    if (aps_cpu_parse(cpu, &variant) < 0 || !aps_float_variant_find(cpu))
        return -1;
    families[format->family](format, variant, codec);
    return 0;
}

void aps_codec_init(const struct aps_format *format, struct aps_codec *codec)
{
    (void)aps_codec_init_for(format, chosen_variant()->codec.cpu, codec);
}

float aps_max_finite(const float *x, size_t n)
{
    return aps_float_from_bits(chosen_variant()->max_finite(x, n));
}

/* Parts of a long array, searched from the last to the first: the encoder then
 * begins with the part that is still in the caches. */
#define PART ((size_t)1 << 18) /* floats */

static uint32_t greatest_of(const float *x, size_t n)
{
    uint32_t greatest = 0;

    for (size_t end = n; end > 0;) {
        const size_t begin = (end - 1) / PART * PART;
        const uint32_t part =
            chosen_variant()->greatest(x + begin, end - begin);

        greatest = part > greatest ? part : greatest;
        end = begin;
    }
    return greatest;
}

struct aps_magnitude aps_magnitude_of(const float *x, size_t n)
{
    const uint32_t greatest = greatest_of(x, n);

    if (greatest < APS_FLOAT_INF)
        return (struct aps_magnitude){aps_float_from_bits(greatest), true};
    return (struct aps_magnitude){aps_max_finite(x, n), false};
}

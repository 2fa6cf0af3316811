/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "codec/divided.h"

#include "codec/workers.h"
#include "number/bits.h"

/* Values between the bounds of parts: whole tiles of a pass, whole lines. */
#define UNIT APS_FORMAT_GRANULE_MAX

size_t aps_divided_unit(const struct aps_codec *codec)
{
    const size_t granule = aps_codec_granule(codec);

    return codec->format.piece_bytes > 0 ? SIZE_MAX : UNIT / granule * granule;
}

void aps_divided_magnitude_add(struct aps_divided_magnitude *sum,
                               struct aps_magnitude more)
{
    /* Magnitudes have the order of their bits. */
    const unsigned max = aps_float_bits(more.max);
    unsigned now = atomic_load(&sum->max);

    while (max > now && !atomic_compare_exchange_weak(&sum->max, &now, max))
        ;
    if (!more.finite)
        atomic_store(&sum->infinite, true);
}

struct aps_magnitude
aps_divided_magnitude_get(const struct aps_divided_magnitude *sum)
{
    return (struct aps_magnitude){aps_float_from_bits(atomic_load(&sum->max)),
                                  !atomic_load(&sum->infinite)};
}

/* Arguments of a verb, and its results. */
struct divided {
    const struct aps_memory *memory;
    const struct aps_codec *codec;
    const void *x;
    unsigned char *wire;
    struct aps_scaling scaling;
    const struct aps_cast_options *options;
    unsigned flags; /* argument of decode */
    struct aps_divided_magnitude magnitude;
    atomic_uint markers;
};

static bool divided_is(const struct aps_memory *memory, const void *x, size_t n)
{
    return aps_workers_divide(n) && !memory->run &&
           !(memory->whole && memory->whole(x));
}

static void divided_measure(void *state, size_t begin, size_t n)
{
    struct divided *of = state;

    aps_divided_magnitude_add(
        &of->magnitude,
        of->memory->magnitude(aps_memory_at(of->memory, of->x, begin), n));
}

struct aps_magnitude aps_divided_magnitude(const struct aps_memory *memory,
                                           const void *x, size_t n)
{
    struct divided of = {.memory = memory, .x = x};

    if (!divided_is(memory, x, n))
        return memory->magnitude(x, n);
    aps_workers_pass(n, 1, UNIT, divided_measure, &of);
    return aps_divided_magnitude_get(&of.magnitude);
}

static void divided_encode(void *state, size_t begin, size_t n)
{
    struct divided *of = state;
    struct aps_cast_options options = *of->options;

    options.offset += begin;
    atomic_fetch_or(
        &of->markers,
        of->memory->encode(of->codec, aps_memory_at(of->memory, of->x, begin),
                           n, of->scaling, &options,
                           of->wire + aps_codec_bytes(of->codec, begin), NULL));
}

unsigned aps_divided_encode(const struct aps_memory *memory,
                            const struct aps_codec *codec, const void *x,
                            size_t n, struct aps_scaling scaling,
                            const struct aps_cast_options *options, void *wire)
{
    struct divided of = {.memory = memory,
                         .codec = codec,
                         .x = x,
                         .wire = wire,
                         .scaling = scaling,
                         .options = options};

    if (!divided_is(memory, x, n))
        return memory->encode(codec, x, n, scaling, options, wire, NULL);
    aps_workers_pass(n, 1, aps_divided_unit(codec), divided_encode, &of);
    return atomic_load(&of.markers);
}

static void divided_decode(void *state, size_t begin, size_t n)
{
    struct divided *of = state;

    of->memory->decode(of->codec, of->wire + aps_codec_bytes(of->codec, begin),
                       n, of->scaling, of->flags,
                       aps_memory_at(of->memory, of->x, begin));
}

void aps_divided_decode(const struct aps_memory *memory,
                        const struct aps_codec *codec, const void *wire,
                        size_t n, struct aps_scaling scaling, unsigned flags,
                        void *x)
{
    struct divided of = {.memory = memory,
                         .codec = codec,
                         .x = x,
                         .wire = (unsigned char *)(uintptr_t)wire,
                         .scaling = scaling,
                         .flags = flags};

    if (divided_is(memory, x, n))
        aps_workers_pass(n, 1, aps_divided_unit(codec), divided_decode, &of);
    else
        memory->decode(codec, wire, n, scaling, flags, x);
}

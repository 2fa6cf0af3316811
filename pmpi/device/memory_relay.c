/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "device/memory_relay.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/failures.h"
#include "codec/doubles.h"
#include "device/gpu_copies.h"
#include "device/gpu_driver.h"
#include "number/parse.h"

/* Largest number of elements of a piece. In GPU memory its copy takes long compared
 * with the start of a copy, and it fits into the second cache; in host memory it
 * fits into the first. */
#define PIECE ((size_t)128 * 1024)
#define PIECE_HOST ((size_t)4096)
_Static_assert(PIECE_HOST >= APS_FORMAT_GRANULE_MAX, "a piece has a granule");

/* Scratch memory: one piece for each thread inside a verb. Pieces of PIECE
 * elements are kept for later. */
struct piece {
    struct piece *next;
    bool longer;
    double *raw; /* elements of the program's type, on their way to the GPU */
    float values[]; /* followed by raw */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct piece *idle;
static struct aps_failures failures = APS_FAILURES_NONE;

/* Returns a piece of at least `length` elements, or NULL. */
static struct piece *relay_take(size_t length)
{
    const bool longer = length > PIECE;
    const size_t room = longer ? length : PIECE;
    struct piece *piece = NULL;

    pthread_mutex_lock(&lock);
    if (!longer)
        piece = idle;
    if (piece)
        idle = piece->next;
    pthread_mutex_unlock(&lock);
    if (piece)
        return piece;
    piece = malloc(sizeof *piece + room * sizeof piece->values[0] +
                   room * sizeof *piece->raw + sizeof *piece->raw);
    if (!piece) {
        aps_failures_note(&failures, "out of memory");
        return NULL;
    }
    piece->longer = longer;
    piece->raw = (double *)(void *)(piece->values + (room + 1) / 2 * 2);
    return piece;
}

static void relay_give(struct piece *piece)
{
    if (!piece)
        return;
    if (piece->longer) {
        free(piece);
        return;
    }
    pthread_mutex_lock(&lock);
    piece->next = idle;
    idle = piece;
    pthread_mutex_unlock(&lock);
}

/* --- conversion ------------------------------------------------------------ */

/* Codecs of the types that are formats. */
static struct aps_codec codecs[APS_ELEMENTS];

static const struct aps_scaling unscaled = {.factor = 1};

static void relay_to_fp32(enum aps_element element, const void *raw, size_t n,
                          float *values)
{
    if (element == APS_ELEMENT_DOUBLE)
        aps_doubles_round(raw, n, aps_cpu_chosen(), values);
    else
        codecs[element].decode(&codecs[element], raw, n, unscaled, 0, values);
}

static void relay_from_fp32(enum aps_element element, const float *values,
                            size_t n, void *raw)
{
    if (element == APS_ELEMENT_DOUBLE)
        aps_doubles_widen(values, n, aps_cpu_chosen(), raw);
    else
        (void)codecs[element].encode(&codecs[element], values, n, unscaled,
                                     NULL, raw);
}

/* Converts x[n] to values[n]; zeros if the copy from the GPU fails. */
static void relay_read(enum aps_element element, const void *x, size_t n,
                       double *raw, float *values)
{
    const size_t bytes = n * aps_element_types[element].bytes;
    void *host = element == APS_ELEMENT_FLOAT ? (void *)values : raw;
    char cause[256];

    if (!aps_gpu_driver_owns(x)) {
        relay_to_fp32(element, x, n, values);
        return;
    }
    if (aps_gpu_copy_out(host, x, bytes, cause, sizeof cause) < 0) {
        aps_failures_note(&failures, "%s", cause);
        memset(host, 0, bytes);
    }
    if (host == raw)
        relay_to_fp32(element, raw, n, values);
}

/* Converts values[n] to x[n]. */
static void relay_write(enum aps_element element, const float *values, size_t n,
                        double *raw, void *x)
{
    const size_t bytes = n * aps_element_types[element].bytes;
    const void *host =
        element == APS_ELEMENT_FLOAT ? (const void *)values : raw;
    char cause[256];

    if (!aps_gpu_driver_owns(x)) {
        relay_from_fp32(element, values, n, x);
        return;
    }
    if (host == raw)
        relay_from_fp32(element, values, n, raw);
    if (aps_gpu_copy_in(x, host, bytes, cause, sizeof cause) < 0)
        aps_failures_note(&failures, "%s", cause);
}

/* Copy doubles to and from host memory; they pass a GPU's driver as pairs of floats. */
static void wide_copy_out(float *host, const void *x, size_t n)
{
    if (aps_gpu_driver_owns(x))
        relay_read(APS_ELEMENT_FLOAT, x, 2 * n, NULL, host);
    else
        memcpy(host, x, n * sizeof(double));
}

static void wide_copy_in(void *x, const float *host, size_t n)
{
    if (aps_gpu_driver_owns(x))
        relay_write(APS_ELEMENT_FLOAT, host, 2 * n, NULL, x);
    else
        memcpy(x, host, n * sizeof(double));
}

/* --- verbs ------------------------------------------------------------------ */

/* The verbs go over x[n] piece by piece. */
struct pieces {
    enum aps_element element;
    bool wide; /* values are doubles */
    size_t n;
    size_t
        most; /* elements of a piece: whole granules, or all values of a format
                    in which they share a scale */
    struct piece *piece; /* NULL: out of memory, and there are no pieces */
    size_t at, length;   /* the present piece */
};

static struct pieces relay_begin(enum aps_element element, const void *x,
                                 size_t n, const struct aps_codec *codec)
{
    const size_t most = aps_gpu_driver_owns(x) ? PIECE : PIECE_HOST;
    const size_t granule = codec ? aps_codec_granule(codec) : 1;
    struct pieces pieces = {.element = element,
                            .wide = codec && codec->format.wide,
                            .n = n,
                            .most = most / granule * granule};

    if (codec && codec->format.piece_bytes > 0)
        pieces.most = n;
    pieces.piece = relay_take(pieces.most);
    return pieces;
}

/* Goes on to the next piece; after the last one gives the scratch back and returns
 * false. */
static bool relay_next(struct pieces *pieces)
{
    pieces->at += pieces->length;
    if (!pieces->piece || pieces->at == pieces->n) {
        relay_give(pieces->piece);
        return false;
    }
    pieces->length = pieces->n - pieces->at < pieces->most
                         ? pieces->n - pieces->at
                         : pieces->most;
    return true;
}

/* Returns the place of a piece's values. */
static float *relay_place(const struct pieces *pieces)
{
    return pieces->wide ? (float *)(void *)pieces->piece->raw
                        : pieces->piece->values;
}

/* Returns the values of the present piece of x. */
static const float *relay_values(const struct pieces *pieces, const void *x)
{
    const void *from = aps_element_at(pieces->element, x, pieces->at);

    if (pieces->wide)
        wide_copy_out(relay_place(pieces), from, pieces->length);
    else
        relay_read(pieces->element, from, pieces->length, pieces->piece->raw,
                   relay_place(pieces));
    return relay_place(pieces);
}

/* True if the host's verbs can take x as it is. */
static bool relay_is_plain(enum aps_element element,
                           const struct aps_codec *codec, const void *x)
{
    return (element == APS_ELEMENT_FLOAT || (codec && codec->format.wide)) &&
           !aps_gpu_driver_owns(x);
}

static _Atomic(aps_cuda_elements_fn) plugin; /* NULL: there is none */

void aps_memory_relay_use(aps_cuda_elements_fn elements)
{
    atomic_store_explicit(&plugin, elements, memory_order_release);
}

/* Returns true if the plugin has done the step. */
static bool relay_on_device(enum aps_element element,
                            struct aps_device_step *step,
                            struct aps_encode_stats *stats)
{
    const aps_cuda_elements_fn run =
        atomic_load_explicit(&plugin, memory_order_acquire);

    return run && element != APS_ELEMENT_FLOAT && step->n > 0 &&
           !(step->codec && step->codec->format.wide) &&
           aps_gpu_driver_owns(step->x) && run(element, step, stats) == 0;
}

static struct aps_magnitude relay_magnitude(enum aps_element element,
                                            const void *x, size_t n)
{
    struct aps_device_step step = {
        .verb = APS_DEVICE_MAGNITUDE, .x = (void *)(uintptr_t)x, .n = n};
    struct aps_magnitude magnitude = {.max = 0, .finite = true};
    struct pieces pieces;

    if (relay_is_plain(element, NULL, x))
        return aps_memory_host.magnitude(x, n);
    if (relay_on_device(element, &step, NULL))
        return step.magnitude;
    pieces = relay_begin(element, x, n, NULL);
    while (relay_next(&pieces)) {
        const struct aps_magnitude part =
            aps_memory_host.magnitude(relay_values(&pieces, x), pieces.length);

        if (part.max > magnitude.max)
            magnitude.max = part.max;
        magnitude.finite &= part.finite;
    }
    return magnitude;
}

/* Encodes elements of the host from the present piece on, as many as the codec
 * takes without a conversion to FP32, and makes them the present piece. */
static bool relay_encode_direct(struct pieces *pieces,
                                const struct aps_codec *codec, const void *x,
                                struct aps_scaling scaling, void *wire)
{
    const size_t count = codec->encode_elements(
        codec, pieces->element, aps_element_at(pieces->element, x, pieces->at),
        pieces->n - pieces->at, scaling, wire);

    if (count > 0)
        pieces->length = count;
    return count > 0;
}

static unsigned relay_encode(enum aps_element element,
                             const struct aps_codec *codec, const void *x,
                             size_t n, struct aps_scaling scaling,
                             const struct aps_cast_options *options, void *wire,
                             struct aps_encode_stats *stats)
{
    struct aps_device_step step = {.verb = APS_DEVICE_ENCODE,
                                   .codec = codec,
                                   .x = (void *)(uintptr_t)x,
                                   .n = n,
                                   .wire = wire,
                                   .scaling = scaling};
    struct aps_cast_options here = APS_CAST_OPTIONS_INIT;
    unsigned char *bytes = wire;
    struct pieces pieces;
    unsigned flags = 0;
    bool direct;

    if (relay_is_plain(element, codec, x))
        return aps_memory_host.encode(codec, x, n, scaling, options, wire,
                                      stats);
    if (options)
        here = *options;
    step.options = here;
    if (relay_on_device(element, &step, stats))
        return step.flags;
    direct = codec->encode_elements && !stats &&
             here.rounding == APS_ROUND_NEAREST && !aps_gpu_driver_owns(x);
    pieces = relay_begin(element, x, n, codec);
    if (!pieces.piece)
        memset(wire, 0, aps_codec_bytes(codec, n));
    while (relay_next(&pieces)) {
        unsigned char *to = bytes + aps_codec_bytes(codec, pieces.at);

        if (direct && relay_encode_direct(&pieces, codec, x, scaling, to))
            continue;
        flags |=
            aps_memory_host.encode(codec, relay_values(&pieces, x),
                                   pieces.length, scaling, &here, to, stats);
        here.offset += pieces.length;
    }
    return flags;
}

static void relay_decode(enum aps_element element,
                         const struct aps_codec *codec, const void *wire,
                         size_t n, struct aps_scaling scaling, unsigned flags,
                         void *x)
{
    struct aps_device_step step = {.verb = APS_DEVICE_DECODE,
                                   .codec = codec,
                                   .x = x,
                                   .n = n,
                                   .wire = (void *)(uintptr_t)wire,
                                   .scaling = scaling,
                                   .flags = flags};
    const unsigned char *bytes = wire;
    struct pieces pieces;

    if (relay_is_plain(element, codec, x)) {
        aps_memory_host.decode(codec, wire, n, scaling, flags, x);
        return;
    }
    if (codec->decode_elements && !aps_gpu_driver_owns(x) &&
        codec->decode_elements(codec, wire, n, scaling, flags, element, x))
        return;
    if (relay_on_device(element, &step, NULL))
        return;
    pieces = relay_begin(element, x, n, codec);
    while (relay_next(&pieces)) {
        void *const to = aps_element_at(element, x, pieces.at);

        aps_memory_host.decode(codec, bytes + aps_codec_bytes(codec, pieces.at),
                               pieces.length, scaling, flags,
                               relay_place(&pieces));
        if (pieces.wide)
            wide_copy_in(to, relay_place(&pieces), pieces.length);
        else
            relay_write(element, relay_place(&pieces), pieces.length,
                        pieces.piece->raw, to);
    }
}

static void relay_copy_out(enum aps_element element, float *host, const void *x,
                           size_t n)
{
    struct pieces pieces = relay_begin(element, x, n, NULL);

    if (!pieces.piece)
        memset(host, 0, n * sizeof *host);
    while (relay_next(&pieces))
        relay_read(element, aps_element_at(element, x, pieces.at),
                   pieces.length, pieces.piece->raw, host + pieces.at);
}

static void relay_copy_in(enum aps_element element, void *x, const float *host,
                          size_t n)
{
    struct pieces pieces = relay_begin(element, x, n, NULL);

    while (relay_next(&pieces))
        relay_write(element, host + pieces.at, pieces.length, pieces.piece->raw,
                    aps_element_at(element, x, pieces.at));
}

unsigned long aps_memory_relay_failures(char *cause, size_t size)
{
    return aps_failures_count(&failures, cause, size);
}

/* --- backends --------------------------------------------------------------- */

/* The verbs of struct aps_memory have no argument for the type. */
#define RELAY(ELEMENT, NAME)                                                   \
    static struct aps_magnitude NAME##_magnitude(const void *x, size_t n)      \
    {                                                                          \
        return relay_magnitude(ELEMENT, x, n);                                 \
    }                                                                          \
    static unsigned NAME##_encode(                                             \
        const struct aps_codec *codec, const void *x, size_t n,                \
        struct aps_scaling scaling, const struct aps_cast_options *options,    \
        void *wire, struct aps_encode_stats *stats)                            \
    {                                                                          \
        return relay_encode(ELEMENT, codec, x, n, scaling, options, wire,      \
                            stats);                                            \
    }                                                                          \
    static void NAME##_decode(const struct aps_codec *codec, const void *wire, \
                              size_t n, struct aps_scaling scaling,            \
                              unsigned flags, void *x)                         \
    {                                                                          \
        relay_decode(ELEMENT, codec, wire, n, scaling, flags, x);              \
    }                                                                          \
    static void NAME##_copy_out(float *host, const void *x, size_t n)          \
    {                                                                          \
        relay_copy_out(ELEMENT, host, x, n);                                   \
    }                                                                          \
    static void NAME##_copy_in(void *x, const float *host, size_t n)           \
    {                                                                          \
        relay_copy_in(ELEMENT, x, host, n);                                    \
    }

#define BACKEND(ELEMENT, NAME, TEXT, BYTES)                                    \
    [ELEMENT] = {                                                              \
        .name = TEXT,                                                          \
        .element = BYTES,                                                      \
        .magnitude = NAME##_magnitude,                                         \
        .encode = NAME##_encode,                                               \
        .decode = NAME##_decode,                                               \
        .whole = aps_gpu_driver_owns,                                          \
        .copy_out = NAME##_copy_out,                                           \
        .copy_in = NAME##_copy_in,                                             \
        .failures = aps_memory_relay_failures,                                 \
    }

RELAY(APS_ELEMENT_FLOAT, float)
RELAY(APS_ELEMENT_BF16, bf16)
RELAY(APS_ELEMENT_FP16, fp16)
RELAY(APS_ELEMENT_DOUBLE, double)

static const struct aps_memory backends[APS_ELEMENTS] = {
    BACKEND(APS_ELEMENT_FLOAT, float, "cuda, through the host", 4),
    BACKEND(APS_ELEMENT_BF16, bf16, "bf16", 2),
    BACKEND(APS_ELEMENT_FP16, fp16, "fp16", 2),
    BACKEND(APS_ELEMENT_DOUBLE, double, "double", 8),
};

static void relay_make_codecs(void)
{
    for (int i = 0; i < APS_ELEMENTS; i++) {
        const char *name = aps_element_types[i].format;
        struct aps_format format;

        (void)aps_format_parse(name ? name : "fp32", &format, NULL);
        aps_codec_init(&format, &codecs[i]);
    }
}

const struct aps_memory *aps_memory_relay(enum aps_element element)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, relay_make_codecs);
    return &backends[element];
}

const struct aps_memory aps_memory_doubles = {
    .name = "double",
    .element = sizeof(double),
    .magnitude = double_magnitude,
    .encode = double_encode,
    .decode = double_decode,
    .whole = aps_gpu_driver_owns,
    .copy_out = wide_copy_out,
    .copy_in = wide_copy_in,
    .failures = aps_memory_relay_failures,
};

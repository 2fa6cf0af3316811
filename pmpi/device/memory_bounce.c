/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "device/memory_bounce.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/failures.h"
#include "device/gpu_copies.h"
#include "device/gpu_driver.h"

/* Largest number of elements of a piece: its copy takes long compared with the
 * start of a copy, and it fits into a cache. */
#define PIECE ((size_t)128 * 1024)

/* Scratch memory: one piece for each thread inside a verb. Pieces of PIECE
 * elements are kept for later. */
struct piece {
    struct piece *next;
    bool longer;
    float values[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct piece *idle;
static struct aps_failures failures = APS_FAILURES_NONE;

/* Returns a piece of at least `length` elements, or NULL. */
static struct piece *memory_bounce_take(size_t length)
{
    const bool longer = length > PIECE;
    struct piece *piece = NULL;

    pthread_mutex_lock(&lock);
    if (!longer)
        piece = idle;
    if (piece)
        idle = piece->next;
    pthread_mutex_unlock(&lock);
    if (!piece)
        piece = malloc(sizeof *piece +
                       (longer ? length : PIECE) * sizeof piece->values[0]);
    if (piece)
        piece->longer = longer;
    else
        aps_failures_note(&failures, "out of memory");
    return piece;
}

static void memory_bounce_give(struct piece *piece)
{
    if (piece->longer) {
        free(piece);
        return;
    }
    pthread_mutex_lock(&lock);
    piece->next = idle;
    idle = piece;
    pthread_mutex_unlock(&lock);
}

/* Returns the length of a piece of n packed values, in elements: whole granules,
 * or all values if they share a scale. */
static size_t memory_bounce_piece_of(const struct aps_codec *codec, size_t n)
{
    const size_t granule = aps_codec_granule(codec);

    return codec->format.piece_bytes > 0 ? n : PIECE / granule * granule;
}

static size_t memory_bounce_length_at(size_t begin, size_t n, size_t most)
{
    return n - begin < most ? n - begin : most;
}

static int memory_bounce_copy_out(void *host, const float *x, size_t n)
{
    char cause[256];

    if (!aps_gpu_driver_owns(x)) {
        memcpy(host, x, n * sizeof *x);
        return 0;
    }
    if (aps_gpu_copy_out(host, x, n * sizeof *x, cause, sizeof cause) == 0)
        return 0;
    aps_failures_note(&failures, "%s", cause);
    memset(host, 0, n * sizeof *x);
    return -1;
}

static void memory_bounce_copy_in(float *x, const void *host, size_t n)
{
    char cause[256];

    if (!aps_gpu_driver_owns(x))
        memcpy(x, host, n * sizeof *x);
    else if (aps_gpu_copy_in(x, host, n * sizeof *x, cause, sizeof cause) < 0)
        aps_failures_note(&failures, "%s", cause);
}

static struct aps_magnitude memory_bounce_relay_magnitude(const float *x,
                                                          size_t n)
{
    struct aps_magnitude magnitude = {.max = 0, .finite = true};
    struct piece *piece;

    if (!aps_gpu_driver_owns(x))
        return aps_memory_host.magnitude(x, n);
    piece = memory_bounce_take(PIECE);
    for (size_t at = 0; at < n && piece; at += PIECE) {
        const size_t length = memory_bounce_length_at(at, n, PIECE);
        struct aps_magnitude part;

        if (memory_bounce_copy_out(piece->values, x + at, length) < 0)
            break;
        part = aps_memory_host.magnitude(piece->values, length);
        if (part.max > magnitude.max)
            magnitude.max = part.max;
        magnitude.finite &= part.finite;
    }
    if (piece)
        memory_bounce_give(piece);
    return magnitude;
}

static unsigned
memory_bounce_relay_encode_stats(const struct aps_codec *codec, const float *x,
                                 size_t n, struct aps_scaling scaling,
                                 const struct aps_cast_options *options,
                                 void *wire, struct aps_encode_stats *stats)
{
    const size_t most = memory_bounce_piece_of(codec, n);
    struct aps_cast_options here = APS_CAST_OPTIONS_INIT;
    unsigned char *bytes = wire;
    struct piece *piece;
    unsigned flags = 0;

    if (!aps_gpu_driver_owns(x))
        return aps_memory_host.encode_stats(codec, x, n, scaling, options, wire,
                                            stats);
    if (options)
        here = *options;
    piece = memory_bounce_take(most);
    if (!piece)
        memset(wire, 0, aps_codec_bytes(codec, n));
    for (size_t at = 0; at < n && piece; at += most) {
        const size_t length = memory_bounce_length_at(at, n, most);

        /* If the copy fails, the values are zeros. */
        (void)memory_bounce_copy_out(piece->values, x + at, length);
        flags |= aps_memory_host.encode_stats(
            codec, piece->values, length, scaling, &here,
            bytes + aps_codec_bytes(codec, at), stats);
        here.offset += length;
    }
    if (piece)
        memory_bounce_give(piece);
    return flags;
}

static unsigned memory_bounce_relay_encode(const struct aps_codec *codec,
                                           const float *x, size_t n,
                                           struct aps_scaling scaling,
                                           void *wire)
{
    return memory_bounce_relay_encode_stats(codec, x, n, scaling, NULL, wire,
                                            NULL);
}

static void memory_bounce_relay_decode(const struct aps_codec *codec,
                                       const void *wire, size_t n,
                                       struct aps_scaling scaling,
                                       unsigned flags, float *x)
{
    const size_t most = memory_bounce_piece_of(codec, n);
    const unsigned char *bytes = wire;
    struct piece *piece;

    if (!aps_gpu_driver_owns(x)) {
        aps_memory_host.decode(codec, wire, n, scaling, flags, x);
        return;
    }
    piece = memory_bounce_take(most);
    for (size_t at = 0; at < n && piece; at += most) {
        const size_t length = memory_bounce_length_at(at, n, most);

        aps_memory_host.decode(codec, bytes + aps_codec_bytes(codec, at),
                               length, scaling, flags, piece->values);
        memory_bounce_copy_in(x + at, piece->values, length);
    }
    if (piece)
        memory_bounce_give(piece);
}

static void memory_bounce_relay_copy_out(void *host, const float *x, size_t n)
{
    (void)memory_bounce_copy_out(host, x, n);
}

static unsigned long memory_bounce_relay_failures(char *cause, size_t size)
{
    return aps_failures_count(&failures, cause, size);
}

const struct aps_memory aps_memory_bounce = {
    .name = "cuda, through the host",
    .magnitude = memory_bounce_relay_magnitude,
    .encode = memory_bounce_relay_encode,
    .encode_stats = memory_bounce_relay_encode_stats,
    .decode = memory_bounce_relay_decode,
    .copy_out = memory_bounce_relay_copy_out,
    .copy_in = memory_bounce_copy_in,
    .failures = memory_bounce_relay_failures,
};

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "predict/clocked.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "codec/codec.h"
#include "number/parse.h"

/* Floats of the arrays, of the part of them that caches hold, and of a piece,
 * which stands for a message. Pages that are never written take no memory. */
#define MOST ((size_t)16 * 1024 * 1024)
#define FLOATS ((size_t)APS_MEMORY_CACHED)
#define PIECE ((size_t)16 * 1024)
#define REPEATS 9
#define CROWD_NS 200000000

struct aps_clocked {
    float *x;
    float *y;
    unsigned char *wire; /* size of a piece */
    struct aps_codec codec;
    float sink; /* keeps the compiler from removing the sums */
};

void aps_clocked_destroy(struct aps_clocked *clocked)
{
    if (!clocked)
        return;
    free(clocked->x);
    free(clocked->y);
    free(clocked->wire);
    free(clocked);
}

/* Values in many binades, of both signs. */
static void fill(float *x, size_t count)
{
    uint32_t state = 1;

    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)(int32_t)state * 0x1p-31f *
               (float)(1u << (state >> 8 & 15)) * 0x1p-16f;
    }
}

struct aps_clocked *aps_clocked_create(void)
{
    struct aps_clocked *clocked = calloc(1, sizeof *clocked);

    if (!clocked)
        return NULL;
    clocked->x = aligned_alloc(64, MOST * sizeof(float));
    clocked->y = aligned_alloc(64, MOST * sizeof(float));
    clocked->wire = malloc(2 * PIECE * sizeof(float));
    if (!clocked->x || !clocked->y || !clocked->wire) {
        aps_clocked_destroy(clocked);
        return NULL;
    }
    fill(clocked->x, FLOATS);
    memset(clocked->y, 0, FLOATS * sizeof(float));
    memset(clocked->wire, 0, 2 * PIECE * sizeof(float));
    return clocked;
}

/* --- what is timed: a piece at x, at y ----------------------------------- */

static const struct aps_scaling scaling = {.exponent = 3, .factor = 1};

static void run_magnitude(struct aps_clocked *c, float *x)
{
    c->sink += aps_magnitude_of(x, PIECE).max;
}

static void run_encode(struct aps_clocked *c, float *x)
{
    c->codec.encode(&c->codec, x, PIECE, scaling, NULL, c->wire);
}

static void run_decode(struct aps_clocked *c, float *x)
{
    c->codec.decode(&c->codec, c->wire, PIECE, scaling, 0, c->y + (x - c->x));
}

/* Adds to a sum that stays in the cache. */
static void run_add(struct aps_clocked *c, float *x)
{
    (void)x;
    c->codec.decode_add(&c->codec, c->wire, PIECE, scaling, 0, c->y);
}

static void run_round(struct aps_clocked *c, float *x)
{
    (void)x;
    c->codec.round(&c->codec, PIECE, scaling, c->y);
}

static void run_copy(struct aps_clocked *c, float *x)
{
    memcpy(c->y + (x - c->x), x, PIECE * sizeof *x);
}

/* Adds a piece that has just been copied to another one; both are in the
 * cache. */
static void run_add_fp32(struct aps_clocked *c, float *x)
{
    (void)x;
    for (size_t i = 0; i < PIECE; i++)
        c->y[i] += c->x[i];
}

/* Reads all of a vector, and writes all of another. */
static void run_both_ways(struct aps_clocked *c, float *x)
{
    run_encode(c, x);
    run_decode(c, x);
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Returns the seconds of core time for a value, whatever else uses the core:
 * the median of some passes over `floats` floats of the arrays. */
static double seconds_of(struct aps_clocked *c, size_t floats,
                         void (*run)(struct aps_clocked *c, float *x))
{
    int64_t passes[REPEATS];

    for (int i = -1; i < REPEATS; i++) { /* the first pass warms up */
        const int64_t begin = aps_clock_ns(CLOCK_THREAD_CPUTIME_ID);

        for (size_t k = 0; k < floats; k += PIECE)
            run(c, c->x + k);
        if (i >= 0)
            passes[i] = aps_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
    }
    qsort(passes, REPEATS, sizeof *passes, compare);
    return 1e-9 * (double)passes[REPEATS / 2] / (double)floats;
}

static double seconds(struct aps_clocked *c,
                      void (*run)(struct aps_clocked *c, float *x))
{
    return seconds_of(c, FLOATS, run);
}

void aps_clocked_codec(struct aps_clocked *clocked,
                       const struct aps_format *format,
                       struct aps_codec_rates *rates)
{
    const double floats =
        (double)aps_format_value_bytes(format) / sizeof(float);
    struct aps_format full;

    /* A double takes as long as two floats. */
    if (format->wide && aps_format_parse("fp32", &full, NULL) == 0)
        format = &full;
    aps_codec_init(format, &clocked->codec);
    rates->magnitude = seconds(clocked, run_magnitude);
    rates->encode = seconds(clocked, run_encode);
    rates->decode = seconds(clocked, run_decode);
    memset(clocked->y, 0, PIECE * sizeof(float));
    rates->add = seconds(clocked, run_add);
    memset(clocked->y, 0, PIECE * sizeof(float));
    rates->round = seconds(clocked, run_round);
    aps_codec_rates_oversubscribe(rates, floats);
}

double aps_clocked_oversubscription(void)
{
    const int64_t begin = aps_clock_ns(CLOCK_MONOTONIC);
    const int64_t used = aps_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const int64_t end = begin + CROWD_NS;
    int64_t now;

    do
        now = aps_clock_ns(CLOCK_MONOTONIC);
    while (now < end);
    return (double)(now - begin) /
           (double)(aps_clock_ns(CLOCK_THREAD_CPUTIME_ID) - used);
}

double aps_clocked_copy(struct aps_clocked *clocked)
{
    return seconds(clocked, run_copy) / sizeof(float);
}

double aps_clocked_add(struct aps_clocked *clocked)
{
    return seconds(clocked, run_add_fp32);
}

void aps_clocked_memory(struct aps_clocked *clocked,
                        double memory[APS_MEMORY_SIZES])
{
    struct aps_format format;
    struct aps_error error;
    double cached;

    (void)aps_format_parse("e5m2", &format, &error);
    aps_codec_init(&format, &clocked->codec);
    fill(clocked->x, MOST);
    memset(clocked->y, 0, MOST * sizeof(float));
    cached = seconds(clocked, run_both_ways);
    for (int i = 0; i < APS_MEMORY_SIZES; i++) {
        /* A program touches as many floats again between two calls. */
        const double twice = 2 * aps_memory_floats[i];
        const double all = seconds_of(
            clocked, twice < MOST ? (size_t)twice : MOST, run_both_ways);

        memory[i] = all > cached ? (all - cached) / (2 * sizeof(float)) : 0;
    }
}

void aps_machine_assume(struct aps_clocked *clocked,
                        struct aps_machine *machine)
{
    machine->between = (struct aps_link){.latency = APS_ASSUMED_LATENCY,
                                         .rate = 1e9,
                                         .bulk = 1e9,
                                         .wait = APS_ASSUMED_LATENCY,
                                         .message = 1e-6};
    machine->inside = (struct aps_link){.latency = 5e-7,
                                        .rate = 1e10,
                                        .bulk = 1e10,
                                        .wait = 5e-7,
                                        .message = 1e-6};
    machine->copy = aps_clocked_copy(clocked);
    machine->add = aps_clocked_add(clocked);
    aps_clocked_memory(clocked, machine->memory);
    machine->mark = 1e-6;
}

static void link_crowd(struct aps_link *link, double factor)
{
    link->message *= factor;
    link->byte *= factor;
}

void aps_machine_oversubscribe(struct aps_machine *machine, double factor)
{
    link_crowd(&machine->between, factor);
    link_crowd(&machine->inside, factor);
    machine->copy *= factor;
    machine->add *= factor;
    machine->mark *= factor;
    for (int i = 0; i < APS_MEMORY_SIZES; i++)
        machine->memory[i] *= factor;
}

void aps_codec_rates_oversubscribe(struct aps_codec_rates *rates, double factor)
{
    rates->magnitude *= factor;
    rates->encode *= factor;
    rates->decode *= factor;
    rates->add *= factor;
    rates->round *= factor;
}

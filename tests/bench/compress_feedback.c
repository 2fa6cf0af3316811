/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cost of a format's error feedback in addition to its encode and decode: ms of the
 * fastest run over a layer of FLOATS, GB/s of its floats, and the time divided by that
 * of memcpy of the floats. Passes work on parts that stay in the caches, as in a call.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "codec/codec.h"
#include "compress.h"
#include "compress/feedback.h"
#include "compress/magnitudes.h"
#include "number/parse.h"

#define FLOATS 26843545 /* 25.6 Mi: ResNet-50's gradients */
#define PART ((size_t)4096)

static const struct aps_scaling scaling = {.exponent = 4, .factor = 1};

struct data {
    enum aps_cpu cpu;
    struct aps_codec codec;
    float *g, *e, *x;
    unsigned char *codes;
};

static void run_measure(void *data)
{
    struct data *d = data;

    (void)aps_magnitudes_add(d->g, d->e, FLOATS, d->x);
}

static void run_encode(void *data)
{
    struct data *d = data;
    float sent[PART];

    for (size_t at = 0; at < FLOATS; at += PART) {
        const size_t n = FLOATS - at < PART ? FLOATS - at : PART;
        unsigned char *codes = d->codes + aps_codec_bytes(&d->codec, at);

        (void)d->codec.encode(&d->codec, d->x + at, n, scaling, NULL, codes);
        d->codec.decode(&d->codec, codes, n, scaling, 0, sent);
        aps_feedback_left(d->x + at, sent, n, d->cpu, d->x + at);
    }
}

static void run_sum(void *data)
{
    struct data *d = data;

    for (size_t at = 0; at < FLOATS; at += PART) {
        const size_t n = FLOATS - at < PART ? FLOATS - at : PART;
        const unsigned char *codes = d->codes + aps_codec_bytes(&d->codec, at);

        d->codec.decode(&d->codec, codes, n, scaling, 0, d->x + at);
        d->codec.decode_add(&d->codec, codes, n, scaling, 0, d->x + at);
        aps_feedback_add(d->e + at, n, d->cpu, d->x + at);
    }
}

static void run_decode(void *data)
{
    struct data *d = data;

    d->codec.decode(&d->codec, d->codes, FLOATS, scaling, 0, d->g);
}

/* In the order of a call. */
static const struct bench_row rows[] = {
    {"x = g + e, measure x", run_measure},
    {"encode x, and what is left of it", run_encode},
    {"sum of 2 ranks, and what is kept", run_sum},
    {"decode the sums", run_decode},
};

int bench_feedback(void)
{
    struct data d = {
        .cpu = aps_cpu_chosen(),
        .g = bench_floats(FLOATS),
        .e = bench_floats(FLOATS),
        .x = bench_floats(FLOATS),
        .codes = malloc(FLOATS),
    };
    struct aps_format format;

    if (!d.codes || aps_format_parse("e4m3", &format, NULL) < 0) {
        perror("compress");
        exit(1);
    }
    aps_codec_init(&format, &d.codec);
    bench_rows("e4m3 with feedback", rows, sizeof rows / sizeof *rows, &d, d.g,
               FLOATS, d.x);
    free(d.g);
    free(d.e);
    free(d.x);
    free(d.codes);
    return 0;
}

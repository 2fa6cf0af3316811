/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The work of the kernels' threads with block formats, done on the host,
 * against the host's plain codec: the same bytes, floats and statistics, for
 * all families, block lengths, values, sizes, alignments and roundings.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codec/codec.h"
#include "cuda/threads.h"
#include "emulate.h"
#include "number/parse.h"
#include "tap/tap.h"
#include "unit/common/wire.h"

#define N_MAX 1600
#define GUARD 64
#define ROOM (GUARD + N_MAX * 4 + GUARD)
#define FLUSH 16 /* an offset: at the end of accessible memory */

/* Every family; blocks shorter than an eight, longer than a warp's, and whose
 * codes end inside a byte; the most bits. The longest need more values than
 * launch.c can hold in one call; tests/cuda/staging tests them. */
static const char *const names[] = {
    "bfp7/64",   "bfp7/2",     "bfp4/3",   "bfp1/5",    "bfp5/36",
    "bfp7/576",  "bfp15/48",   "bfp23/33", "bfp24/16",  "bfp3/320",
    "hbfp8/256", "bfp11/1472", "mx-e5m2",  "mx-e4m3fn", "mx-e3m2fn",
    "mx-e2m3fn", "mx-e2m1fn",  "mx-int8",  "nvfp4",
};

static const size_t sizes[] = {0,  1,  2,  3,  5,  7,   8,   9,    15,   16,
                               17, 31, 32, 33, 65, 100, 577, 1003, N_MAX};

struct array {
    unsigned char *bytes; /* `room` bytes */
};

/* Returns `size` bytes, `offset` bytes before a boundary, with guards at both
 * ends that must not change. */
static void *array_at(struct array *array, size_t offset, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t whole = (ROOM + page - 1) / page * page;

    if (!array->bytes) {
        unsigned char *pages = mmap(NULL, whole + page, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (pages == MAP_FAILED || mprotect(pages + whole, page, PROT_NONE) < 0)
            bail_out("no memory with a guard page");
        array->bytes = pages + whole - ROOM;
    }
    memset(array->bytes, 0xa5, ROOM);
    if (offset == FLUSH)
        return array->bytes + ROOM - size;
    return array->bytes + GUARD - offset;
}

static bool same(const struct array *a, const struct array *b)
{
    return memcmp(a->bytes, b->bytes, ROOM) == 0;
}

static void put_float(void *x, size_t i, float value)
{
    memcpy((char *)x + i * sizeof value, &value, sizeof value);
}

/* Fills magnitudes near each other for a while, of all exponents that floats have, then
 * others; blocks of zeros, and, unless `finite`, some of INF and NaN. */
static void fill(void *x, size_t n, bool finite)
{
    static const uint32_t special[] = {0x7f800000, 0xff800000, 0x7fc00000,
                                       0xffc12345, 0x7f800001};
    uint32_t kind = 0;
    int exponent = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t bits = random_bits();
        float value;

        if (i % 24 == 0) {
            kind = random_bits() % 12;
            exponent = kind % 3 ? -6 + (int)(random_bits() % 12)
                                : -149 + (int)(random_bits() % 277);
        }
        if (random_bits() % 3 == 0) /* short ones: ties, and the greatest */
            bits &= ~(0x3fffffu >> random_bits() % 9);
        value = ldexpf(aps_float_from_bits((bits & 0x807fffffu) | 0x3f800000u),
                       exponent - (int)(random_bits() % 10));
        if (kind == 0)
            value = aps_float_from_bits(bits & APS_FLOAT_SIGN);
        else if (kind == 1 && isfinite(aps_float_from_bits(bits)))
            value = aps_float_from_bits(bits);
        if (!finite && random_bits() % 400 == 0)
            value = aps_float_from_bits(special[random_bits() % 5]);
        put_float(x, i, isfinite(value) || !finite ? value : 1);
    }
}

struct sample {
    size_t n;
    size_t x_offset;
    size_t wire_offset;
    bool finite;
};

static const char *check_encode(const struct aps_codec *codec,
                                const struct sample *s,
                                const struct aps_cast_options *options,
                                bool stats)
{
    static const struct aps_scaling scaling = {.exponent = 0, .factor = 1};
    static struct array x_array, wire_array, expected_array;
    const struct aps_format *f = &codec->format;
    const size_t bytes = aps_codec_bytes(codec, s->n);
    float *x = array_at(&x_array, s->x_offset, s->n * sizeof *x);
    unsigned char *wire = array_at(&wire_array, s->wire_offset, bytes);
    unsigned char *expected = array_at(&expected_array, s->wire_offset, bytes);
    struct aps_encode_stats counted = {0, 0, 0};
    struct aps_cuda_result result;

    memset(&result, 0, sizeof result);
    fill(x, s->n, s->finite);
    if (stats)
        codec->encode_stats(codec, x, s->n, scaling, options, expected,
                            &counted);
    else
        codec->encode(codec, x, s->n, scaling, options, expected);
    emulate_encode(f, x, s->n, scaling, options, NULL, stats, wire, &result);
    if (!same(&wire_array, &expected_array))
        return "encode";
    if (result.marked != 0)
        return "a marker";
    if (result.underflow != counted.underflow ||
        result.overflow != counted.overflow ||
        result.nonfinite != counted.nonfinite)
        return "statistics";
    return NULL;
}

/* Encodes a part of a piece, by the magnitude of the whole: both begin with the
 * piece's scale, and have the blocks of the whole. */
static const char *check_part(const struct aps_codec *codec,
                              const struct sample *s)
{
    static const struct aps_scaling scaling = {.exponent = 0, .factor = 1};
    static struct array x_array, part_array, whole_array;
    const struct aps_format *f = &codec->format;
    const size_t bytes = aps_codec_bytes(codec, s->n);
    const size_t piece = (size_t)f->piece_bytes;
    const size_t at = s->n / 2 / (size_t)f->block * (size_t)f->block;
    const size_t begin = at > 0 ? aps_packed_bytes(f, at) : piece;
    float *x = array_at(&x_array, s->x_offset, s->n * sizeof *x);
    unsigned char *part = array_at(&part_array, s->wire_offset, bytes);
    unsigned char *whole = array_at(&whole_array, 0, bytes);
    struct aps_cuda_result result;
    float max, y[N_MAX];

    if (piece == 0 || s->n == at)
        return NULL;
    fill(x, s->n, s->finite);
    max = aps_max_finite(x, s->n);
    codec->encode(codec, x, s->n, scaling, NULL, whole);
    memset(&result, 0, sizeof result);
    emulate_encode(f, (void *)((char *)x + at * sizeof *x), s->n - at, scaling,
                   NULL, &max, false, part, &result);
    if (memcmp(part, whole, piece) != 0 ||
        memcmp(part + piece, whole + begin, bytes - begin) != 0)
        return "encode of a part";
    codec->decode(codec, whole, s->n, scaling, 0, y);
    emulate_decode(f, part, s->n - at, scaling, 0, false, x);
    return memcmp(x, y + at, (s->n - at) * sizeof *x) == 0 ? NULL
                                                           : "decode of a part";
}

/* Decodes all codes, to any floats. */
static const char *check_decode(const struct aps_codec *codec,
                                const struct sample *s, bool add)
{
    static const struct aps_scaling scaling = {.exponent = 0, .factor = 1};
    static struct array wire_array, x_array, expected_array;
    const struct aps_format *f = &codec->format;
    const size_t bytes = aps_codec_bytes(codec, s->n);
    const size_t piece = (size_t)f->piece_bytes;
    unsigned char *wire = array_at(&wire_array, s->wire_offset, bytes);
    float *x = array_at(&x_array, s->x_offset, s->n * sizeof *x);
    float *expected = array_at(&expected_array, s->x_offset, s->n * sizeof *x);

    fill(x, s->n, true);
    codec->encode(codec, x, s->n, scaling, NULL, wire);
    for (size_t i = piece; i < bytes && !s->finite; i++)
        wire[i] = (unsigned char)random_bits();
    fill(x, s->n, s->finite);
    memcpy(expected, x, s->n * sizeof *x);
    if (add)
        codec->decode_add(codec, wire, s->n, scaling, 0, expected);
    else
        codec->decode(codec, wire, s->n, scaling, 0, expected);
    emulate_decode(f, wire, s->n, scaling, 0, add, x);
    if (!same(&x_array, &expected_array))
        return add ? "decode_add" : "decode";
    return NULL;
}

static const char *check_sample(const struct aps_codec *codec,
                                const struct sample *s)
{
    static const enum aps_rounding roundings[] = {
        APS_ROUND_NEAREST, APS_ROUND_TOWARD_ZERO, APS_ROUND_STOCHASTIC,
        APS_ROUND_CORRELATED};
    const char *failed = check_encode(codec, s, NULL, false);

    for (size_t r = 0; r < sizeof roundings / sizeof *roundings; r++) {
        const struct aps_cast_options options = {
            .rounding = roundings[r],
            .layer = random_bits(),
            .stage = random_bits() % 8,
            .rank = random_bits() % 4,
            .ranks = s->n % 3 ? 4 + random_bits() % 4 : 1,
            .step = random_bits(),
            .seed = (uint64_t)random_bits() << 32 | random_bits(),
            .offset = 0xfffffff0ull * 4 * (uint64_t)codec->format.block,
        };

        if (!failed)
            failed = check_encode(codec, s, &options, false);
        if (!failed)
            failed = check_encode(codec, s, &options, true);
    }
    if (!failed)
        failed = check_part(codec, s);
    if (!failed)
        failed = check_decode(codec, s, false);
    return failed ? failed : check_decode(codec, s, true);
}

static void test_format(const char *name)
{
    struct aps_format format;
    struct aps_codec codec;
    unsigned turn = 0;

    if (aps_format_parse(name, &format, NULL) < 0 ||
        aps_codec_init_for(&format, "plain", &codec) < 0)
        bail_out("%s does not parse", name);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t offset = 0; offset <= FLUSH; offset++, turn++) {
            const struct sample s = {
                .n = sizes[i],
                .x_offset = turn % 7 == 0 ? offset : offset / 4 * 4,
                .wire_offset = offset == FLUSH ? FLUSH : turn % 16,
                .finite = turn % 3 != 0,
            };
            const char *failed = check_sample(&codec, &s);

            if (failed) {
                ok(false, "%s: %s of %zu values, %zu and %zu bytes off", name,
                   failed, s.n, s.x_offset, s.wire_offset);
                return;
            }
        }
    }
    ok(true, "%s: the host codec's bytes, floats and statistics", name);
}

int main(void)
{
    if (emulate_skip())
        plan_skip_all("%s", emulate_skip());
    diag("the kernels' work as done by %s", emulate_compiler());
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        test_format(names[i]);
    return done_testing();
}

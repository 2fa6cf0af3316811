/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The work of the kernels' threads, done on the host, against the host's codec:
 * the same bytes, floats, flags and statistics, for all formats, values, sizes,
 * alignments, scalings and roundings.
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
#include "unit/common/formats.h"
#include "unit/common/wire.h"

#define N_MAX 1100
/* Enough values for the loops that load several units before they compute, in a
 * grid of one block (APS_TEST_BLOCKS of launch.c). */
#define N_LONG 9001
#define GUARD 64

static const size_t sizes[] = {
    0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 15, 16, 17, 31, 32, 33, 100, 1003, N_MAX,
};

/* The path through double, too. */
static const struct aps_scaling scalings[] = {
    {.exponent = 0, .factor = 1},     {.exponent = 5, .factor = 1},
    {.exponent = -3, .factor = 1},    {.exponent = 90, .factor = 1},
    {.exponent = -90, .factor = 1},   {.exponent = 140, .factor = 1},
    {.exponent = -140, .factor = 1},  {.exponent = 3, .factor = 1.3f},
    {.exponent = -2, .factor = 1.5f}, {.exponent = -149, .factor = 1.7f},
    {.exponent = 127, .factor = 1},   {.exponent = -127, .factor = 1},
    {.exponent = 300, .factor = 1},   {.exponent = -300, .factor = 1.1f},
};
#define SCALINGS (sizeof scalings / sizeof *scalings)

/* An array at an address that is `offset` bytes off, with guards at both ends that must
 * not change, or, with the offset FLUSH, at the end of accessible memory. */
#define ROOM(n) (GUARD + (size_t)(n)*4 + GUARD)
#define FLUSH 16
struct array {
    unsigned char *end; /* of `room` bytes */
};
static size_t room = ROOM(N_MAX);

static void *array_at(struct array *array, size_t offset, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t whole = (ROOM(N_LONG) + page - 1) / page * page;
    unsigned char *bytes;

    if (!array->end) {
        unsigned char *pages = mmap(NULL, whole + page, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (pages == MAP_FAILED || mprotect(pages + whole, page, PROT_NONE) < 0)
            bail_out("no memory with a guard page");
        array->end = pages + whole;
    }
    bytes = array->end - room;
    memset(bytes, 0xa5, room);
    return offset == FLUSH ? array->end - size : bytes + GUARD - offset;
}

static bool same(const struct array *a, const struct array *b)
{
    return memcmp(a->end - room, b->end - room, room) == 0;
}

static void put_float(void *x, size_t i, float value)
{
    memcpy((char *)x + i * sizeof value, &value, sizeof value);
}

/* Kind of values: any, or neither INF nor NaN. */
static void fill(const struct aps_format *f, void *x, size_t n,
                 struct aps_scaling scaling, bool finite)
{
    for (size_t i = 0; i < n; i++) {
        float value = random_value(f, scaling.exponent);

        if (finite && !isfinite(value))
            value = random_near(f, scaling.exponent);
        put_float(x, i, isfinite(value) || !finite ? value : 0);
    }
}

struct sample {
    size_t n;
    size_t x_offset;
    size_t wire_offset;
    struct aps_scaling scaling;
    bool finite;
};

static const char *check_encode(const struct aps_codec *codec,
                                const struct sample *s,
                                const struct aps_cast_options *options,
                                bool stats)
{
    static struct array x_array, wire_array, expected_array;
    const struct aps_format *f = &codec->format;
    const size_t bytes = aps_codec_bytes(codec, s->n);
    float *x = array_at(&x_array, s->x_offset, s->n * sizeof *x);
    unsigned char *wire = array_at(&wire_array, s->wire_offset, bytes);
    unsigned char *expected = array_at(&expected_array, s->wire_offset, bytes);
    struct aps_encode_stats counted = {0, 0, 0};
    struct aps_cuda_result result;
    unsigned flags;

    memset(&result, 0, sizeof result);
    fill(f, x, s->n, s->scaling, s->finite);
    if (stats)
        flags = codec->encode_stats(codec, x, s->n, s->scaling, options,
                                    expected, &counted);
    else
        flags = codec->encode(codec, x, s->n, s->scaling, options, expected);
    emulate_encode(f, x, s->n, s->scaling, options, NULL, stats, wire, &result);
    if (!same(&wire_array, &expected_array))
        return "encode";
    if (result.marked != (flags & APS_BLOCK_NAN ? 1 : 0))
        return "the marker";
    if (result.underflow != counted.underflow ||
        result.overflow != counted.overflow ||
        result.nonfinite != counted.nonfinite)
        return "statistics";
    return NULL;
}

/* Decodes all codes, to any floats. */
static const char *check_decode(const struct aps_codec *codec,
                                const struct sample *s, unsigned flags,
                                bool add)
{
    static struct array wire_array, x_array, expected_array;
    const struct aps_format *f = &codec->format;
    const size_t bytes = aps_codec_bytes(codec, s->n);
    unsigned char *wire = array_at(&wire_array, s->wire_offset, bytes);
    float *x = array_at(&x_array, s->x_offset, s->n * sizeof *x);
    float *expected = array_at(&expected_array, s->x_offset, s->n * sizeof *x);

    for (size_t i = 0; i < bytes; i++)
        wire[i] = (unsigned char)random_bits();
    if (s->finite) { /* a few that are not finite */
        for (size_t i = 0; i < s->n; i++)
            put_float(x, i, random_near(f, s->scaling.exponent));
        codec->encode(codec, x, s->n, s->scaling, NULL, wire);
    }
    fill(f, x, s->n, s->scaling, s->finite);
    memcpy(expected, x, s->n * sizeof *x);
    if (add)
        codec->decode_add(codec, wire, s->n, s->scaling, flags, expected);
    else
        codec->decode(codec, wire, s->n, s->scaling, flags, expected);
    emulate_decode(f, wire, s->n, s->scaling, flags, add, x);
    if (!same(&x_array, &expected_array))
        return add ? "decode_add" : "decode";
    return NULL;
}

static const char *check_sample(const struct aps_codec *codec,
                                const struct sample *s)
{
    const struct aps_format *f = &codec->format;
    const char *failed = check_encode(codec, s, NULL, false);

    for (enum aps_rounding r = APS_ROUND_NEAREST; r <= APS_ROUND_CORRELATED;
         r++) {
        const struct aps_cast_options options = {
            .rounding = r,
            .layer = random_bits(),
            .stage = random_bits() % 8,
            .rank = random_bits() % 4,
            .ranks = 4 + random_bits() % 4,
            .step = random_bits(),
            .seed = (uint64_t)random_bits() << 32 | random_bits(),
            .offset = 0xfffffff0ull * 4 + s->n, /* carries to 64 bits */
        };

        if (r == APS_ROUND_CPD && (f->kind != APS_FORMAT_IEEE || f->saturate))
            continue;
        if (!failed && s->n < 200)
            failed = check_encode(codec, s, &options, false);
        if (!failed && s->n < 200)
            failed = check_encode(codec, s, &options, true);
    }
    for (unsigned flags = 0; flags <= APS_BLOCK_NAN; flags++) {
        if (!failed)
            failed = check_decode(codec, s, flags, false);
        if (!failed)
            failed = check_decode(codec, s, flags, true);
    }
    return failed;
}

static void test_format(const struct aps_format *f)
{
    struct aps_codec codec;
    struct sample s;
    unsigned turn = 0;

    aps_codec_init(f, &codec);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t offset = 0; offset <= FLUSH; offset++) {
            const char *failed;

            turn++;
            s = (struct sample){
                .n = sizes[i],
                .x_offset = turn % 7 == 0 ? offset : offset / 4 * 4,
                .wire_offset = offset == FLUSH ? FLUSH
                               : turn % 3 == 0 ? turn / 3 % 16
                                               : 0,
                .scaling = scalings[turn % 2 ? turn / 2 % SCALINGS : turn % 5],
                .finite = turn % 4 != 0,
            };
            failed = check_sample(&codec, &s);
            if (failed) {
                ok(false,
                   "%s: %s of %zu values, %zu and %zu bytes off, %g * 2^%d",
                   f->name, failed, s.n, s.x_offset, s.wire_offset,
                   (double)s.scaling.factor, s.scaling.exponent);
                return;
            }
        }
    }
    ok(true, "%s: the host codec's bytes, floats and statistics", f->name);
}

/* The floats of a reduction are aligned to a float, its wire to 8 or 16 bytes. */
static void test_long(const struct aps_format *f)
{
    struct aps_codec codec;
    const char *failed = NULL;

    aps_codec_init(f, &codec);
    room = ROOM(N_LONG);
    for (size_t turn = 0; turn < 8 && !failed; turn++) {
        const struct sample s = {
            .n = N_LONG - turn,
            .x_offset = turn * 4 % 16,
            .scaling = scalings[turn % 3],
            .finite = turn < 6,
        };

        failed = check_sample(&codec, &s);
    }
    room = ROOM(N_MAX);
    ok(!failed, "%s, long: %s", f->name,
       failed ? failed : "the host codec's bytes and floats");
}

static void test_magnitude(void)
{
    static struct array array;
    bool pass = true;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t offset = 0; offset <= FLUSH; offset++) {
            /* from mostly zero to any bit pattern */
            uint32_t mask = 0xffffffffu >> offset;
            float *x = array_at(&array, offset, sizes[i] * sizeof *x);
            struct aps_magnitude expected;
            struct aps_cuda_result result;

            for (size_t j = 0; j < sizes[i]; j++) {
                uint32_t bits = random_bits() & (mask | APS_FLOAT_SIGN);

                put_float(x, j, aps_float_from_bits(bits));
            }
            memset(&result, 0, sizeof result);
            expected = aps_magnitude_of(x, sizes[i]);
            emulate_magnitude(x, sizes[i], &result);
            pass = pass && expected.finite == (result.greatest < 0x7f800000u) &&
                   aps_float_bits(expected.max) == result.finite;
        }
    }
    ok(pass, "the greatest magnitude, and the greatest finite one");
}

int main(int argc, char **argv)
{
    static const char *const integers[] = {"flex8", "flex16"};
    /* tests every `step`th format: for slow tools */
    int step = argc > 1 ? atoi(argv[1]) : 1;
    struct aps_format format;

    if (step < 1)
        bail_out("usage: work [STEP]");
    if (emulate_skip())
        plan_skip_all("%s", emulate_skip());
    diag("the kernels' work as done by %s", emulate_compiler());
    for (int i = 0; format_at(i, &format); i += step) {
        test_format(&format);
        test_long(&format);
    }
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        if (aps_format_parse(integers[i], &format, NULL) < 0)
            bail_out("%s does not parse", integers[i]);
        test_format(&format);
    }
    test_magnitude();
    return done_testing();
}

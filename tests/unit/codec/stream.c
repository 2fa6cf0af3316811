/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streaming decodes give the bits of ordinary ones, at any address, and write
 * nothing else; and the values of APSMPI_STREAM.
 */
#include "config.h"

#include "base/cpu.h"
#include "codec/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cache.h"
#include "codec/memory.h"
#include "number/parse.h"
#include "tap/tap.h"
#include "unit/common/wire.h"

#define N ((size_t)9000)
#define GUARD 64

static const char *const names[] = {
    "e4m3",    "e5m2-sat", "e3m0",      "e3m2",     "e2m0",       "e5m10",
    "e6m9",    "e8m7",     "e7m12",     "e8m23",    "nvfp4",      "mx-e4m3fn",
    "bfp7/64", "bfp7/576", "bfp3/4096", "int4/512", "qsgd3/7-l2", "sign/512",
};
static const char *const cpus[] = APS_CPU_NAMES;
static const size_t sizes[] = {0, 1, 15, 16, 17, 63, 4095, 4096, 4097, N};

static unsigned char wire[N * 4 + GUARD];
static float expected[N];
/* Memory for an array that begins up to GUARD bytes after a guard. */
static _Alignas(64) unsigned char room[GUARD + sizeof expected + 2 * GUARD];

/* Decodes `skew` bytes after the begin of a cache line, and checks the guards. */
static bool streams_to(const struct aps_codec *codec, size_t n, size_t offset,
                       struct aps_scaling scaling, unsigned flags)
{
    unsigned char *const x = room + GUARD + offset;
    bool right;

    memset(room, 0x5a, sizeof room);
    aps_memory_host.decode(codec, wire, n, scaling, flags | APS_DECODE_STREAM,
                           (float *)(void *)x);
    right = memcmp(x, expected, n * sizeof *expected) == 0;
    for (size_t i = 0; i < GUARD; i++)
        right &=
            x[-(ptrdiff_t)i - 1] == 0x5a && x[n * sizeof *expected + i] == 0x5a;
    return right;
}

/* Tests one CPU's code, unless this CPU does not support it. */
static void test_decode(const char *name, const char *cpu,
                        struct aps_scaling scaling)
{
    static const size_t offsets[] = {0, 4, 8, 16, 60, 1, 63};
    struct aps_format format;
    struct aps_codec codec;
    bool right = true;

    if (aps_format_parse(name, &format, NULL) < 0)
        bail_out("%s does not parse", name);
    if (aps_codec_init_for(&format, cpu, &codec) < 0)
        return;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const size_t n = sizes[k];
        unsigned flags;
        float x[N];

        for (size_t i = 0; i < n; i++)
            x[i] = ldexpf((float)(int32_t)random_bits(), -36);
        if (k % 2 == 1) /* with a marker, if the format has one */
            x[n / 2] = NAN;
        flags = codec.encode(&codec, x, n, scaling, NULL, wire);
        codec.decode(&codec, wire, n, scaling, flags, expected);
        for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
            right &= streams_to(&codec, n, offsets[i], scaling, flags);
    }
    ok(right,
       "%s, %s, scale %g * 2^%d: the same bits at any address, and no others",
       name, cpu, scaling.factor, scaling.exponent);
}

/* --- the minimum length --------------------------------------------------- */

static void test_parse(void)
{
    static const struct {
        const char *text;
        int rc;
        size_t bytes;
    } cases[] = {
        {"", -1, 7},        {"-1", -1, 7}, {"4 M", -1, 7},       {"all", -1, 7},
        {"4KiB", -1, 7},    {"on", 0, 0},  {"off", 0, SIZE_MAX}, {"1", 0, 0},
        {"0", 0, SIZE_MAX}, {"64", 0, 64}, {"4Mi", 0, 4 << 20},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t bytes = 7;

        ok(aps_cache_passing_parse(cases[i].text, &bytes) == cases[i].rc &&
               bytes == cases[i].bytes,
           "APSMPI_STREAM='%s' is %s", cases[i].text,
           cases[i].rc == 0 ? "read" : "refused");
    }
}

int main(void)
{
    static const struct aps_scaling power = {.exponent = 3, .factor = 1},
                                    factor = {.exponent = 3, .factor = 1.5f};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < sizeof cpus / sizeof *cpus; k++) {
            test_decode(names[i], cpus[k], power);
            test_decode(names[i], cpus[k], factor);
        }
    test_parse();
    /* chosen once */
    setenv("APSMPI_STREAM", "4Ki", 1);
#if defined(__x86_64__)
    ok(!aps_cache_passed(4095) && aps_cache_passed(4096),
       "the variable says from which length on");
    setenv("APSMPI_STREAM", "off", 1);
    ok(aps_cache_passed(4096), "... once a process");
#else
    ok(!aps_cache_passed(SIZE_MAX - 1), "there are no streaming stores");
    skip(1, "no streaming stores on this processor");
#endif
    return done_testing();
}

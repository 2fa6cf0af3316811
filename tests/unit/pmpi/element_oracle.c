/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Elements of every type in every format, against an oracle (exact.h): codes and
 * markers on the wire, and results in the program's type. The oracle shares only
 * the random bits with the library, and tests/unit/number/ compares those with
 * known answers.
 *
 * Conversions of a process have one CPU path, so each path has a process. With
 * APS_TEST_LONG each combination of type, format, scale and rounding has 2^20
 * values, otherwise 2^17; they include all values of a type of 16 bits.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cpu.h"
#include "codec/codec.h"
#include "device/memory_relay.h"
#include "number/cast.h"
#include "number/draw.h"
#include "tests/tap/tap.h"
#include "tests/unit/pmpi/exact.h"
#include "tests/unit/pmpi/exact_wire.h"

#define COUNT ((size_t)1 << 16)

/* --- comparison ------------------------------------------------------------ */

/* The encodings of the types, by IEEE 754. */
static const struct aps_format types[APS_ELEMENTS] = {
    [APS_ELEMENT_FLOAT] = {.exponent_bits = 8, .mantissa_bits = 23},
    [APS_ELEMENT_BF16] = {.exponent_bits = 8, .mantissa_bits = 7},
    [APS_ELEMENT_FP16] = {.exponent_bits = 5, .mantissa_bits = 10},
    [APS_ELEMENT_DOUBLE] = {.exponent_bits = 11, .mantissa_bits = 52},
};

static struct totals {
    size_t combinations, values, wrong;
} * totals;

static bool is_long;
static unsigned char elements[COUNT * 8], results[COUNT * 8];
static unsigned char wire[COUNT * 5 + 64], wanted[COUNT * 5 + 64];
static struct exact values[COUNT], decoded[COUNT];
static uint32_t random_bits[COUNT];

static uint64_t draw(void)
{
    static uint64_t state = 1;
    const uint64_t high = state = state * 6364136223846793005u + 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (high & 0xffffffff00000000u) | state >> 32;
}

/* Returns a double that is special in FP32, or near 1 and the ends of its range,
 * with a mantissa of all lengths. */
static uint64_t draw_double(void)
{
    const uint64_t bits = draw(), kind = draw() >> 60;
    const uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
    uint64_t field = 1023 - 20 + (bits >> 52) % 40;

    if (kind == 0)
        return bits;
    if (kind == 1)
        return (bits & (uint64_t)1 << 63) | (uint64_t)0x7ff << 52 |
               (bits & 1) << 51;
    if (kind < 4)
        field = 1023 - 160 + (bits >> 52) % 320;
    return (bits & (uint64_t)1 << 63) | field << 52 |
           (mantissa & ~(((uint64_t)1 << (bits >> 52) % 53) - 1));
}

/* Returns the code of element i. Pass 0 has all codes of 16 bits in their order.
 * Others mix both signs and the codes of each 4096, and have zeros in place of INF
 * and NaN, so that all blocks are finite. */
static uint64_t element_at(enum aps_element element, size_t i, unsigned pass)
{
    uint64_t code = i;

    if (element == APS_ELEMENT_DOUBLE)
        code = draw_double();
    else if (element == APS_ELEMENT_FLOAT)
        code = (uint32_t)draw();
    else if (pass > 0)
        code = ((i * 40503) & 0x8fff) | (i & 0x7000);
    if (pass > 0 && !is_finite(to_fp32(exact_of(&types[element], code))))
        code = 0;
    return code;
}

static void fill(enum aps_element element, unsigned pass,
                 const struct aps_cast_options *options)
{
    const size_t bytes = aps_element_types[element].bytes;
    const struct aps_draw draws = aps_draw_init(options);

    for (size_t i = 0; i < COUNT; i++) {
        const uint64_t code = element_at(element, i, pass);

        memcpy(elements + i * bytes, &code, bytes);
        values[i] = to_fp32(exact_of(&types[element], code));
        if (aps_cast_draws(options->rounding))
            random_bits[i] = aps_draw_element(&draws, options->offset + i);
    }
}

/* Returns how many results differ from decoded[], rounded once. */
static size_t wrong_results(enum aps_element element)
{
    const struct aps_format *type = &types[element];
    const size_t bytes = aps_element_types[element].bytes;
    size_t wrong = 0;

    for (size_t i = 0; i < COUNT; i++) {
        uint64_t code = 0;

        memcpy(&code, results + i * bytes, bytes);
        wrong += decoded[i].nan
                     ? !exact_of(type, code).nan
                     : code != code_of(type, decoded[i], APS_ROUND_NEAREST, 0);
    }
    return wrong;
}

/* Returns how many of `bytes` bytes differ. */
static size_t wrong_bytes(size_t bytes)
{
    size_t wrong = 0;

    for (size_t i = 0; i < bytes; i++)
        wrong += wire[i] != wanted[i];
    return wrong;
}

static size_t wrong_decoding(enum aps_element element,
                             const struct aps_codec *codec,
                             struct aps_scaling scaling, unsigned flags)
{
    if (codec->format.block > 1)
        decode_blocks(block_of(&codec->format, APS_ROUND_NEAREST), wire, COUNT,
                      decoded);
    else
        decode_each(&codec->format, wire, COUNT, scaling, flags, decoded);
    aps_memory_relay(element)->decode(codec, wire, COUNT, scaling, flags,
                                      results);
    return wrong_results(element);
}

/* Compares all passes of a combination. */
static void compare(enum aps_element element, const struct aps_codec *codec,
                    struct aps_scaling scaling, enum aps_rounding rounding)
{
    const struct aps_memory *memory = aps_memory_relay(element);
    const struct aps_format *f = &codec->format;
    const size_t bytes = aps_codec_bytes(codec, COUNT);
    struct aps_cast_options options = APS_CAST_OPTIONS_INIT;
    size_t wrong = 0;

    options.rounding = rounding;
    options.seed = 5;
    options.rank = 3;
    options.ranks = 7;
    for (unsigned pass = 0; pass < (is_long ? 16 : 2); pass++) {
        struct aps_encode_stats stats = {0};
        unsigned flags = 0;

        options.step = pass;
        options.offset = pass * COUNT * 9;
        fill(element, pass, &options);
        if (f->block > 1)
            encode_blocks(block_of(f, rounding), values, COUNT, random_bits,
                          wanted);
        else
            flags = encode_each(f, values, COUNT, scaling, rounding,
                                random_bits, wanted);
        for (int counted = 0; counted < 2; counted++) {
            memset(wire, 0xa5, bytes);
            wrong += memory->encode(codec, elements, COUNT, scaling, &options,
                                    wire, counted ? &stats : NULL) != flags;
            wrong += wrong_bytes(bytes);
        }
        /* also codes that no value of the type has, unless they are in blocks */
        for (size_t i = 0; pass > 0 && f->block == 1 && i < bytes; i++)
            wire[i] = (unsigned char)(draw() >> 56);
        wrong += wrong_decoding(element, codec, scaling, flags);
        totals->values += COUNT;
    }
    totals->combinations++;
    totals->wrong += wrong;
    if (wrong > 0)
        diag("%s in %s (%s), scale %a * 2^%d, rounding %d: %zu wrong",
             aps_element_types[element].name, f->name, codec->cpu,
             (double)scaling.factor, scaling.exponent, (int)rounding, wrong);
}

static bool allows(const struct aps_format *f, enum aps_rounding rounding)
{
    if (rounding == APS_ROUND_CPD)
        return f->family == APS_FAMILY_FLOAT && f->kind == APS_FORMAT_IEEE &&
               !f->saturate;
    return f->draws == APS_FORMAT_DRAWS_ALWAYS  ? aps_cast_draws(rounding)
           : f->draws == APS_FORMAT_DRAWS_NEVER ? rounding == APS_ROUND_NEAREST
                                                : true;
}

static void compare_scales(enum aps_element element,
                           const struct aps_codec *codec,
                           enum aps_rounding rounding)
{
    static const struct aps_scaling scalings[] = {
        {-7, 1, false},  {20, 1.3f, false}, {0, 1, false},   {-126, 1, false},
        {127, 1, false}, {-149, 1, false},  {300, 1, false}, {-3, 1.5f, false},
    };
    const size_t all = sizeof scalings / sizeof *scalings;
    const size_t count = codec->format.block > 1 ? 1 : is_long ? all : 2;

    for (size_t s = 0; s < count; s++)
        compare(element, codec, scalings[s], rounding);
}

static void compare_all(const char *cpu)
{
    static const char *const formats[] = {
        /* in the short form, too */
        "e4m3",      "bf16",      "fp16",           "e3m0",      "e4m3fn-sat",
        "mx-e4m3fn", "nvfp4",     "bfp7/64",        "int8/256",  "qsgd4/128",
        "sign/256",  "flex16",    "fp32",           "tf32",      "e5m2",
        "e4m3fn",    "e3m2fn",    "e2m3fn",         "e2m1fn",    "e3m2",
        "e2m1",      "e6m9",      "e7m12",          "e1m6",      "e8m0",
        "e5m2-sat",  "mx-e5m2",   "mx-e3m2fn",      "mx-e2m3fn", "mx-e2m1fn",
        "mx-int8",   "bfp3/576",  "bfp15/64",       "bfp24/32",  "int4/512",
        "int16/2",   "qsgd1/128", "qsgd127/512-l2", "sign/7",    "flex8"};
    const size_t count = is_long ? sizeof formats / sizeof *formats : 12;

    for (size_t f = 0; f < count; f++) {
        const struct aps_format *format = aps_format_get(formats[f], NULL);
        struct aps_codec codec;

        if (!format)
            bail_out("no format %s", formats[f]);
        if (aps_codec_init_for(format, cpu, &codec) < 0)
            bail_out("no %s for %s", cpu, formats[f]);
        for (int r = APS_ROUND_NEAREST; r <= APS_ROUND_CORRELATED; r++)
            for (int e = 0; e < APS_ELEMENTS; e++)
                if (allows(format, (enum aps_rounding)r))
                    compare_scales((enum aps_element)e, &codec,
                                   (enum aps_rounding)r);
    }
}

/* Starts a process for a CPU path. Returns 0 if the path is missing. */
static pid_t start(const char *cpu, struct totals *sums)
{
    struct aps_codec codec;
    pid_t child;

    if (aps_codec_init_for(aps_format_get("e4m3", NULL), cpu, &codec) < 0)
        return 0;
    child = fork();
    if (child < 0)
        bail_out("cannot fork");
    if (child > 0)
        return child;
    totals = sums;
    setenv("APSMPI_CPU", cpu, 1);
    compare_all(cpu);
    fflush(stdout);
    _exit(0);
}

int main(void)
{
    static const char *const cpus[] = APS_CPU_NAMES;
    struct totals *shared =
        mmap(NULL, 3 * sizeof *shared, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child[3];

    if (shared == MAP_FAILED)
        bail_out("out of memory");
    is_long = getenv("APS_TEST_LONG") != NULL;
    for (int c = 0; c < 3; c++)
        child[c] = start(cpus[c], &shared[c]);
    for (int c = 0; c < 3; c++) {
        int status = 0;

        if (child[c] == 0) {
            skip(1, "no %s here", cpus[c]);
            continue;
        }
        if (waitpid(child[c], &status, 0) < 0)
            bail_out("cannot wait");
        ok(status == 0 && shared[c].wrong == 0,
           "%s: %zu combinations of type, format, scale and rounding, "
           "%zu values, wrong: %zu",
           cpus[c], shared[c].combinations, shared[c].values, shared[c].wrong);
    }
    return done_testing();
}

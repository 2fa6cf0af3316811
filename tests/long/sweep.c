/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encodes all 2^32 floats by aps_encode and by every kernel of this machine.
 *
 *     sweep [FORMAT...]
 *
 * The oracle: codes grow with the value, so a float's code is the number of
 * boundaries below it. The boundaries are the middles between neighbours, exact
 * in double, and taken from the definition of the format. MPFR confirms the
 * oracle on samples. One process a CPU takes its share of every format.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cpu.h"
#include "number/format.h"
#include "codec/codec.h"
#include "float/float.h"
#include "number/bits.h"
#include "number/parse.h"
#include "tap/tap.h"
#include "unit/number/oracle.h"
#include "unit/common/wire.h"

#define BLOCK 4096 /* floats at a time */
#define BLOCKS (0x100000000u / BLOCK)
#define SAMPLE 1021 /* MPFR checks one float in SAMPLE */

static const char *const formats[] = {"e5m2",  "e4m3", "e3m0",
                                      "e5m10", "e8m7", "e4m3fn"};
static const char *const cpus[] = APS_CPU_NAMES;
#define CPUS (sizeof cpus / sizeof *cpus)

/* --- the oracle ---------------------------------------------------------- */

struct oracle {
    const struct aps_format *format;
    uint32_t limit;     /* first magnitude code that is not finite */
    uint32_t nan;       /* code of NaN */
    double *boundaries; /* [c]: between the codes c and c + 1 */
};

static double value_of(const struct aps_format *f, uint32_t code)
{
    uint32_t field = code >> f->mantissa_bits;
    uint32_t m = code & ((1u << f->mantissa_bits) - 1);
    int e = (int)(field ? field : 1) - f->bias - f->mantissa_bits;

    return ldexp((field ? 1u << f->mantissa_bits : 0) + m, e);
}

static struct oracle oracle_create(const struct aps_format *f)
{
    struct oracle o = {.format = f};

    if (f->kind == APS_FORMAT_NAN) {
        o.limit = (1u << (f->width - 1)) - 1;
        o.nan = o.limit;
    } else {
        o.limit = ((1u << f->exponent_bits) - 1) << f->mantissa_bits;
        o.nan = o.limit + (1u << f->mantissa_bits) / 2;
    }
    o.boundaries = malloc(o.limit * sizeof *o.boundaries);
    if (!o.boundaries)
        bail_out("out of memory");
    for (uint32_t c = 0; c < o.limit; c++)
        o.boundaries[c] = (value_of(f, c) + value_of(f, c + 1)) / 2;
    return o;
}

/* True if a value on the boundary above the code c rounds up. */
static bool tie_goes_up(const struct oracle *o, uint32_t c)
{
    return o->format->mantissa_bits > 0 ? c % 2 == 1 : c > 0;
}

/* Returns the magnitude code of |x|, which is at least `from`. */
static uint32_t oracle_code(const struct oracle *o, double magnitude,
                            uint32_t from)
{
    uint32_t c = from;

    if (isnan(magnitude))
        return o->nan;
    while (c < o->limit &&
           (magnitude > o->boundaries[c] ||
            (magnitude == o->boundaries[c] && tie_goes_up(o, c))))
        c++;
    return c;
}

/* Returns by bisection the least code from which a search for |x| may start. */
static uint32_t oracle_start(const struct oracle *o, double magnitude)
{
    uint32_t low = 0, high = o->limit;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (o->boundaries[middle] < magnitude)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* --- one share ----------------------------------------------------------- */

/* Packs the expected codes, laid out as on the wire. */
static void pack(const struct aps_format *f, const uint32_t *codes,
                 uint8_t *wire)
{
    memset(wire, 0, BLOCK * 4);
    for (size_t i = 0; i < BLOCK; i++) {
        if (f->width == 8)
            wire[i] = (uint8_t)codes[i];
        else if (f->width == 16)
            memcpy(wire + 2 * i, &(uint16_t){(uint16_t)codes[i]}, 2);
        else
            wire_put(wire, i, f->width, codes[i]);
    }
}

/* Checks block number `block` of the floats, in the order of their bit patterns. */
static bool check_block(const struct oracle *o, const struct aps_codec *codecs,
                        size_t count, uint32_t block)
{
    static float x[BLOCK];
    static uint32_t expected[BLOCK];
    static uint8_t packed[BLOCK * 4], wire[BLOCK * 4];
    const struct aps_format *f = o->format;
    const struct aps_scaling unscaled = {0, 1};
    uint32_t first = block * BLOCK;
    uint32_t sign = first >> 31 << (f->width - 1);
    uint32_t code = oracle_start(
        o, fabs((double)aps_float_from_bits(first & ~APS_FLOAT_SIGN)));

    for (uint32_t i = 0; i < BLOCK; i++) {
        x[i] = aps_float_from_bits(first + i);
        code = oracle_code(o, fabs((double)x[i]), isnan(x[i]) ? 0 : code);
        expected[i] = code | sign;
        if (aps_encode(f, x[i]) != expected[i]) {
            diag("%s: %a -> 0x%x, not 0x%x", f->name, (double)x[i],
                 aps_encode(f, x[i]), expected[i]);
            return false;
        }
    }
    for (uint32_t i = block % SAMPLE; i < BLOCK; i += SAMPLE) {
        float value = aps_decode(f, expected[i]);
        float exact = isnan(x[i]) ? value : oracle_cast(f, x[i], 0);

        if (isnan(exact) ? !isnan(value) : value != exact) {
            diag("%s: MPFR has %a for %a", f->name, (double)exact,
                 (double)x[i]);
            return false;
        }
    }
    pack(f, expected, packed);
    for (size_t c = 0; c < count; c++) {
        size_t bytes = aps_codec_bytes(&codecs[c], BLOCK);
        struct aps_encode_stats stats = {0};

        codecs[c].encode(&codecs[c], x, BLOCK, unscaled, NULL, wire);
        if (memcmp(wire, packed, bytes) != 0) {
            diag("%s: encode %s", f->name, codecs[c].cpu);
            return false;
        }
        codecs[c].encode_stats(&codecs[c], x, BLOCK, unscaled, NULL, wire,
                               &stats);
        if (memcmp(wire, packed, bytes) != 0) {
            diag("%s: encode_stats %s", f->name, codecs[c].cpu);
            return false;
        }
    }
    return true;
}

static bool check_share(const struct aps_format *format, long share,
                        long shares)
{
    struct oracle o = oracle_create(format);
    struct aps_codec codecs[CPUS];
    size_t count = 0;
    bool pass = true;

    for (size_t c = 0; c < CPUS; c++) {
        const struct aps_float_variant *v = aps_float_variant_find(cpus[c]);

        if (v)
            aps_float_codec_init(format, v, &codecs[count++]);
    }
    for (uint64_t b = (uint64_t)share; b < BLOCKS && pass;
         b += (uint64_t)shares)
        pass = check_block(&o, codecs, count, (uint32_t)b);
    free(o.boundaries);
    return pass;
}

static bool sweep(const struct aps_format *format, long shares)
{
    bool pass = true;

    for (long share = 0; share < shares; share++) {
        pid_t child = fork();

        if (child < 0)
            bail_out("cannot fork");
        if (child == 0)
            _exit(check_share(format, share, shares) ? 0 : 1);
    }
    for (long share = 0; share < shares; share++) {
        int status;

        if (wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
            pass = false;
    }
    return pass;
}

int main(int argc, char **argv)
{
    const char *const *names = formats;
    int count = sizeof formats / sizeof *formats;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (argc > 1) {
        names = (const char *const *)argv + 1;
        count = argc - 1;
    }
    for (int i = 0; i < count; i++) {
        struct aps_format format;

        if (aps_format_parse(names[i], &format, NULL) < 0 ||
            format.width > 20 || format.saturate)
            bail_out("%s: not a format for a sweep", names[i]);
        ok(sweep(&format, cores > 0 ? cores : 1), "%s: all 2^32 floats",
           format.name);
    }
    return done_testing();
}

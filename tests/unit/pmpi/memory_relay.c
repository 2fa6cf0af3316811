/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Elements of bf16, fp16 and double, in the host's memory and in that of a pretended
 * GPU: the wire has the bytes of the values in FP32, and results are rounded once.
 * Integers and the compiler's _Float16 are the oracle.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "aps.h"
#include "codec/codec.h"
#include "device/gpu_copies.h"
#include "device/gpu_driver.h"
#include "device/memory_relay.h"
#include "tests/tap/tap.h"

#define COUNT 9001        /* more than two pieces of host memory, and a rest */
#define RANDOM (1u << 21) /* values that are rounded */

/* --- the pretended GPU ----------------------------------------------------- */

static unsigned char gpu[COUNT * sizeof(double)];
static bool fails;

atomic_uintptr_t aps_gpu_driver_image_begin, aps_gpu_driver_heap_end;
_Thread_local struct aps_gpu_driver_stack aps_gpu_driver_stack;
const struct aps_gpu_driver *_Atomic aps_gpu_driver_loaded;
_Atomic uint64_t aps_gpu_driver_missed;

bool aps_gpu_driver_asks(const void *p)
{
    return (const unsigned char *)p >= gpu &&
           (const unsigned char *)p < gpu + sizeof gpu;
}

static int copy(void *to, const void *from, size_t bytes, char *cause,
                size_t size)
{
    if (fails) {
        strncpy(cause, "told to fail", size);
        return -1;
    }
    memcpy(to, from, bytes);
    return 0;
}

int aps_gpu_copy_out(void *host, const void *device, size_t bytes, char *cause,
                     size_t size)
{
    return copy(host, device, bytes, cause, size);
}

int aps_gpu_copy_in(void *device, const void *host, size_t bytes, char *cause,
                    size_t size)
{
    return copy(device, host, bytes, cause, size);
}

/* --- the oracle ------------------------------------------------------------ */

static uint32_t draw(void)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

static float float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Returns the element of that type to which `value` is rounded. */
static uint64_t rounded(enum aps_element element, float value)
{
    const uint32_t bits = bits_of(value);
    _Float16 half = (_Float16)value;
    const double wide = value;
    uint64_t result = 0;

    if (element == APS_ELEMENT_BF16)
        return value != value ? 0x7fc0
                              : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    if (element == APS_ELEMENT_FP16)
        memcpy(&result, &half, sizeof half);
    else
        memcpy(&result, &wide, sizeof wide);
    return result;
}

static float value_of(enum aps_element element, uint64_t code)
{
    _Float16 half;
    double wide;

    memcpy(&half, &code, sizeof half);
    memcpy(&wide, &code, sizeof wide);
    if (element == APS_ELEMENT_BF16)
        return float_of((uint32_t)code << 16);
    return element == APS_ELEMENT_FP16 ? (float)half : (float)wide;
}

static bool is_nan(enum aps_element element, uint64_t code)
{
    const float value = value_of(element, code);

    return value != value;
}

static uint64_t code_at(enum aps_element element, const void *x, size_t i)
{
    const size_t bytes = aps_element_types[element].bytes;
    uint64_t code = 0;

    memcpy(&code, (const unsigned char *)x + i * bytes, bytes);
    return code;
}

/* Compares x[n] with values[n], rounded; any NaN is as good. */
static size_t wrong(enum aps_element element, const void *x,
                    const float *values, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        const uint64_t got = code_at(element, x, i);
        const uint64_t wanted = rounded(element, values[i]);

        count +=
            is_nan(element, wanted) ? !is_nan(element, got) : got != wanted;
    }
    return count;
}

/* --- conversions ------------------------------------------------------------ */

static void test_codes(enum aps_element element)
{
    const struct aps_memory *memory = aps_memory_relay(element);
    static uint16_t codes[1 << 16], back[1 << 16];
    static float values[1 << 16];
    size_t bad = 0;

    for (size_t i = 0; i < 1 << 16; i++)
        codes[i] = (uint16_t)i;
    memory->copy_out(values, codes, 1 << 16);
    memory->copy_in(back, values, 1 << 16);
    for (size_t i = 0; i < 1 << 16; i++) {
        const bool nan = is_nan(element, i);

        bad += nan ? values[i] == values[i]
                   : bits_of(values[i]) != bits_of(value_of(element, i));
        bad += nan ? !is_nan(element, back[i]) : back[i] != i;
    }
    ok(bad == 0, "%s: all codes: %zu wrong", aps_element_types[element].name,
       bad);
}

static void test_rounding(enum aps_element element)
{
    float *values = malloc(RANDOM * sizeof *values);
    void *x = malloc(RANDOM * sizeof(double));
    size_t bad;

    /* also halves between two values, and subnormals of all types */
    for (size_t i = 0; i < RANDOM; i++)
        values[i] = float_of(i % 2 ? draw() : draw() & 0xffff8000u);
    aps_memory_relay(element)->copy_in(x, values, RANDOM);
    bad = wrong(element, x, values, RANDOM);
    ok(bad == 0, "%s: %u random values rounded: %zu wrong",
       aps_element_types[element].name, RANDOM, bad);
    free(values);
    free(x);
}

/* --- codecs ----------------------------------------------------------------- */

static const char *const formats[] = {
    "fp32",      "bf16",   "fp16",      "e5m2",     "e4m3",       "e3m2",
    "e3m0",      "e4m3fn", "e2m1",      "tf32",     "e4m3fn-sat", "bfp8/64",
    "mx-e4m3fn", "nvfp4",  "qsgd4/128", "int8/256", "sign/256"};
#define FORMATS (sizeof formats / sizeof *formats)
static const char *const cpus[] = APS_CPU_NAMES;

static unsigned char wire[COUNT * 8 + 64], wanted_wire[COUNT * 8 + 64];
static float values[COUNT], decoded[COUNT];
static unsigned char elements[COUNT * sizeof(double)],
    results[COUNT * sizeof(double)];

/* Fills in elements of all magnitudes, some of them INF and NaN, and their values. */
static void fill(enum aps_element element, bool finite)
{
    const size_t bytes = aps_element_types[element].bytes;

    for (size_t i = 0; i < COUNT; i++) {
        float value = float_of(draw());
        uint64_t code;

        if (i % 2 || (finite && value - value != 0))
            value = (float)(int32_t)draw() * 0x1p-31f;
        code = rounded(element, value);
        if (finite && is_nan(element, code ^ (code & 1)))
            code = 0;
        values[i] = value_of(element, code);
        if (finite && values[i] - values[i] != 0)
            values[i] = 0, code = 0;
        memcpy(elements + i * bytes, &code, bytes);
    }
}

static bool same_encoding(enum aps_element element,
                          const struct aps_codec *codec,
                          const struct aps_cast_options *options,
                          struct aps_scaling scaling, const void *x)
{
    const struct aps_memory *memory = aps_memory_relay(element);
    struct aps_encode_stats stats = {0}, wanted_stats = {0};
    const size_t bytes = aps_codec_bytes(codec, COUNT);
    const unsigned flags =
        memory->encode(codec, x, COUNT, scaling, options, wire, &stats);
    const unsigned wanted = aps_memory_host.encode(
        codec, values, COUNT, scaling, options, wanted_wire, &wanted_stats);

    return flags == wanted && memcmp(wire, wanted_wire, bytes) == 0 &&
           memcmp(&stats, &wanted_stats, sizeof stats) == 0;
}

/* Decodes the wire of the last comparison to x[COUNT]. */
static bool same_decoding(enum aps_element element,
                          const struct aps_codec *codec,
                          struct aps_scaling scaling, void *x)
{
    aps_memory_relay(element)->decode(codec, wire, COUNT, scaling, 0, x);
    aps_memory_host.decode(codec, wire, COUNT, scaling, 0, decoded);
    return wrong(element, x, decoded, COUNT) == 0;
}

static bool same(enum aps_element element, const struct aps_codec *codec,
                 bool on_gpu)
{
    const enum aps_rounding roundings[] = {APS_ROUND_NEAREST,
                                           APS_ROUND_STOCHASTIC};
    const int exponents[] = {0, -3, 20};
    void *in = on_gpu ? gpu : elements, *out = on_gpu ? gpu : results;
    bool right = true;

    for (size_t r = 0; r < 2; r++) {
        struct aps_cast_options options = APS_CAST_OPTIONS_INIT;

        if (codec->format.draws ==
            (r ? APS_FORMAT_DRAWS_NEVER : APS_FORMAT_DRAWS_ALWAYS))
            continue;
        options.rounding = roundings[r];
        options.seed = 5;
        for (size_t e = 0; e < 3; e++) {
            const struct aps_scaling scaling = {
                .exponent = codec->format.self_scaled ? 0 : exponents[e],
                .factor = 1};

            fill(element, e == 2 || codec->format.block > 1);
            if (on_gpu)
                memcpy(gpu, elements, sizeof gpu);
            right &= same_encoding(element, codec, &options, scaling, in);
            right &= same_decoding(element, codec, scaling, out);
        }
    }
    return right;
}

static void test_codecs(enum aps_element element)
{
    for (size_t c = 0; c < sizeof cpus / sizeof *cpus; c++) {
        bool right = true, on_gpu = true;
        int missing = 0;

        for (size_t f = 0; f < FORMATS; f++) {
            const struct aps_format *format = aps_format_get(formats[f], NULL);
            struct aps_codec codec;

            if (!format)
                bail_out("no format %s", formats[f]);
            if (aps_codec_init_for(format, cpus[c], &codec) < 0) {
                missing++;
                continue;
            }
            if (!same(element, &codec, false)) {
                diag("%s in %s", aps_element_types[element].name, formats[f]);
                right = false;
            }
            on_gpu &= same(element, &codec, true);
        }
        if (missing == (int)FORMATS) {
            skip(2, "no %s here", cpus[c]);
            continue;
        }
        ok(right,
           "%s: the bytes of FP32, and results rounded once, in %zu "
           "formats (%s)",
           aps_element_types[element].name, FORMATS, cpus[c]);
        ok(on_gpu, "... and in GPU memory");
    }
}

static void test_magnitude(enum aps_element element)
{
    const struct aps_memory *memory = aps_memory_relay(element);
    bool right = true;

    for (int finite = 0; finite < 2; finite++) {
        struct aps_magnitude got, wanted;

        fill(element, finite);
        got = memory->magnitude(elements, COUNT);
        wanted = aps_memory_host.magnitude(values, COUNT);
        right &= got.max == wanted.max && got.finite == wanted.finite;
    }
    ok(right, "%s: magnitudes", aps_element_types[element].name);
}

static void test_failures(void)
{
    const struct aps_memory *memory = aps_memory_relay(APS_ELEMENT_BF16);
    const unsigned long before = aps_memory_relay_failures(NULL, 0);
    char cause[64] = "";

    fails = true;
    memory->copy_out(decoded, gpu, COUNT);
    fails = false;
    ok(decoded[0] == 0 && decoded[COUNT - 1] == 0,
       "values that cannot be copied from a GPU are zeros");
    ok(aps_memory_relay_failures(cause, sizeof cause) > before &&
           strcmp(cause, "told to fail") == 0,
       "... and count as failures with a cause");
}

int main(void)
{
    test_codes(APS_ELEMENT_BF16);
    test_codes(APS_ELEMENT_FP16);
    for (int i = 0; i < APS_ELEMENTS; i++) {
        const enum aps_element element = (enum aps_element)i;

        if (element == APS_ELEMENT_FLOAT)
            continue;
        test_rounding(element);
        test_codecs(element);
        test_magnitude(element);
    }
    test_failures();
    return done_testing();
}

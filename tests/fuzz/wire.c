/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The input is a line "FORMAT COUNT EXPONENT", and bytes that are read as
 * messages and as floats. Every variant must decode and encode them like the
 * plain one, and stay inside its arrays.
 */
#include "config.h"

#include <string.h>

#include "base/cpu.h"
#include "codec/codec.h"
#include "compress/indices.h"
#include "compress/ternary.h"
#include "compress/ternary_sums.h"
#include "compress/vote.h"
#include "fuzz/fuzz.h"
#include "number/parse.h"

#define COUNT_MOST 3000

/* In the order of enum aps_cpu. */
static const char *const cpus[APS_CPUS] = APS_CPU_NAMES;

/* The bytes after the first line, repeated as often as necessary. */
struct bytes {
    const uint8_t *data;
    size_t size;
};

static void *allocate(size_t size)
{
    void *memory = malloc(size ? size : 1);

    if (!memory)
        abort();
    return memory;
}

/* Returns size bytes, which the caller frees. */
static void *take(const struct bytes *bytes, size_t size)
{
    uint8_t *made = allocate(size);

    for (size_t i = 0; i < size; i++)
        made[i] = bytes->size > 0 ? bytes->data[i % bytes->size] : 0;
    return made;
}

/* --- formats -------------------------------------------------------------- */

struct result {
    unsigned flags;
    uint8_t *wire;
    float *decoded, *added, *again;
};

/* Decodes the bytes, and encodes and decodes them as floats. */
static struct result convert(const struct aps_codec *codec, size_t n,
                             struct aps_scaling scaling,
                             const struct bytes *bytes)
{
    const size_t length = aps_packed_bytes(&codec->format, n);
    void *message = take(bytes, length);
    float *x = take(bytes, n * sizeof *x);
    struct result result = {
        .wire = allocate(length),
        .decoded = allocate(n * sizeof *x),
        .added = take(bytes, n * sizeof *x),
        .again = allocate(n * sizeof *x),
    };

    codec->decode(codec, message, n, scaling, bytes->size % 2, result.decoded);
    codec->decode_add(codec, message, n, scaling, bytes->size % 2,
                      result.added);
    result.flags = codec->encode(codec, x, n, scaling, NULL, result.wire);
    codec->decode(codec, result.wire, n, scaling, result.flags, result.again);
    free(message);
    free(x);
    return result;
}

static void clear(struct result *result)
{
    free(result->wire);
    free(result->decoded);
    free(result->added);
    free(result->again);
}

static void try_format(const struct aps_format *format, size_t n, int exponent,
                       const struct bytes *bytes)
{
    const struct aps_scaling scaling = {.exponent = exponent, .factor = 1};
    const size_t length = aps_packed_bytes(format, n);
    struct result plain = {0};

    for (size_t i = 0; i < APS_CPUS; i++) {
        struct aps_codec codec;
        struct result result;

        if (aps_codec_init_for(format, cpus[i], &codec) < 0)
            continue;
        result = convert(&codec, n, scaling, bytes);
        if (i == 0) {
            plain = result;
            continue;
        }
        fuzz_require(result.flags == plain.flags &&
                         memcmp(result.wire, plain.wire, length) == 0,
                     "%s encodes %s differently", cpus[i], format->name);
        fuzz_require(
            memcmp(result.decoded, plain.decoded, n * sizeof(float)) == 0 &&
                memcmp(result.added, plain.added, n * sizeof(float)) == 0 &&
                memcmp(result.again, plain.again, n * sizeof(float)) == 0,
            "%s decodes %s differently", cpus[i], format->name);
        clear(&result);
    }
    clear(&plain);
}

/* --- compressors ---------------------------------------------------------- */

static void try_indices(size_t n, const struct bytes *bytes)
{
    const size_t k = bytes->size % (n + 1);
    const size_t length = aps_indices_bytes(k, n);
    uint8_t *message = take(bytes, length);
    uint8_t *again = allocate(length);
    uint32_t *indices = allocate(k * sizeof *indices);

    if (aps_indices_decode(message, k, 7, n, indices) == 0) {
        for (size_t i = 0; i < k; i++)
            fuzz_require(indices[i] >= 7 && indices[i] < n + 7 &&
                             (i == 0 || indices[i] > indices[i - 1]),
                         "index %zu is wrong", i);
        aps_indices_encode(indices, k, 7, n, again);
        for (size_t i = 0; i + 1 < length; i++)
            fuzz_require(message[i] == again[i], "byte %zu differs", i);
    }
    free(message);
    free(again);
    free(indices);
}

static void try_ternary(size_t n, const struct bytes *bytes)
{
    const int ranks = 1 + (int)(bytes->size % 9);
    uint8_t *digits = take(bytes, aps_ternary_bytes(n));
    uint8_t *packed = take(bytes, aps_ternary_sum_bytes(ranks, n));
    const size_t y_bytes = n * sizeof(float);
    float *y[APS_CPUS];
    int16_t *sums[APS_CPUS];

    for (size_t i = 0; i < APS_CPUS; i++) {
        const enum aps_cpu cpu = (enum aps_cpu)i;

        y[i] = allocate(y_bytes);
        sums[i] = allocate(n * sizeof *sums[i]);
        memset(sums[i], 0, n * sizeof *sums[i]);
        if (!aps_cpu_supported(cpu)) {
            memcpy(y[i], y[0], y_bytes);
            memcpy(sums[i], sums[0], n * sizeof *sums[i]);
            continue;
        }
        aps_ternary_sum_decode(packed, n, ranks, 0.5f, cpu, y[i]);
        aps_ternary_add(digits, n, cpu, sums[i]);
        aps_ternary_sum_add(packed, n, ranks, cpu, sums[i]);
    }
    for (size_t i = 0; i < APS_CPUS; i++) {
        fuzz_require(memcmp(y[i], y[0], y_bytes) == 0 &&
                         memcmp(sums[i], sums[0], n * sizeof *sums[i]) == 0,
                     "%s decodes ternary digits differently", cpus[i]);
        if (i > 0) {
            free(y[i]);
            free(sums[i]);
        }
    }
    free(y[0]);
    free(sums[0]);
    free(digits);
    free(packed);
}

static void try_vote(size_t n, const struct bytes *bytes)
{
    const int ranks = 1 + (int)(bytes->size % 9);
    const size_t stride = aps_vote_bytes(n);
    uint8_t *ballots = take(bytes, stride * (size_t)ranks);
    uint8_t *outcome = allocate(aps_vote_outcome_bytes(ranks, n));
    uint8_t *message = take(bytes, aps_vote_outcome_bytes(ranks, n));
    float *y = allocate(n * sizeof *y);

    aps_vote_count(ballots, stride, ranks, n, outcome);
    aps_vote_decode(outcome, ranks, n, 2, y);
    for (size_t i = 0; i < n; i++)
        fuzz_require(y[i] == 2 || y[i] == -2 || y[i] == 0,
                     "outcome %zu is not one", i);
    aps_vote_decode(message, ranks, n, 2, y);
    free(ballots);
    free(outcome);
    free(message);
    free(y);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, '\n', size);
    struct aps_format format;
    struct bytes bytes;
    char line[64], name[sizeof line];
    unsigned count;
    int exponent;

    if (!end || (size_t)(end - data) >= sizeof line)
        return -1;
    memcpy(line, data, (size_t)(end - data));
    line[end - data] = '\0';
    if (sscanf(line, "%63s %5u %5d", name, &count, &exponent) != 3 ||
        count < 1 || count > COUNT_MOST || exponent < -400 || exponent > 400)
        return -1;
    bytes = (struct bytes){end + 1, size - (size_t)(end - data) - 1};
    if (aps_format_parse(name, &format, NULL) == 0)
        try_format(&format, count, exponent, &bytes);
    try_indices(count, &bytes);
    try_ternary(count, &bytes);
    try_vote(count, &bytes);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The input is a line "COUNT KEYS", where KEYS are keys of a rule, and bytes that are
 * read as blocks of other ranks and as a section of selected elements. They decode and
 * add to some values, and stay inside their arrays.
 */
#include "config.h"

#include <limits.h>
#include <string.h>

#include "block/accumulate.h"
#include "compressed/elements.h"
#include "fuzz/fuzz.h"
#include "policy/policy.h"

#define COUNT_MOST 3000
#define BLOCKS 3
#define BEGIN 7 /* first element of the section's slice */

/* Returns `size` bytes of data, repeated as often as necessary, from byte `first` on;
 * the caller frees them. */
static void *take(const uint8_t *data, size_t data_size, size_t first,
                  size_t size)
{
    uint8_t *made = calloc(1, size ? size : 1);

    if (!made)
        abort();
    for (size_t i = 0; i < size && data_size > 0; i++)
        made[i] = data[(first + i) % data_size];
    return made;
}

/* Sets *plan to that of an all-reduce by the rule. Returns false if there is none. */
static bool read_plan(const char *keys, size_t count, struct aps_plan *plan)
{
    static struct aps_errors errors;
    const struct aps_plan_key key = {
        .call = APS_CALL_ALLREDUCE, .layer = -1, .count = count};
    char text[256];
    struct aps_policy_source source = {
        .path = (char[]){"policy"},
        .text = text,
        .length =
            (size_t)snprintf(text, sizeof text,
                             "version: 1\nmin_count: 1\nrules: [{%s}]\n", keys),
    };
    struct aps_policy *policy = NULL;

    errors.count = errors.warning_count = 0;
    if (aps_policy_parse(&source, &policy, &errors) < 0)
        return false;
    aps_policy_resolve(policy, &key, plan);
    aps_policy_destroy(policy);
    return plan->rewrite;
}

/* A state of the scale learns from the record of all blocks. */
static void learn(const struct aps_wire *wire,
                  const struct aps_scale_record *record)
{
    const struct aps_scale_ops *ops = aps_scale_ops_of(&wire->scale);
    const struct aps_format *format = &wire->codec.format;
    struct aps_scale_prediction next;
    void *state = calloc(1, aps_scale_state_bytes(&wire->scale));

    for (int i = 0; i < 2 && state; i++) {
        ops->update(&wire->scale, state, format, BLOCKS, record);
        next = ops->predict(&wire->scale, state, format, BLOCKS);
        fuzz_require(next.exponent >= INT16_MIN && next.exponent <= INT16_MAX,
                     "scale exponent %d does not fit into a header",
                     next.exponent);
    }
    free(state);
}

static void try_blocks(const struct aps_plan *plan, size_t n,
                       const uint8_t *data, size_t size)
{
    struct aps_wire wire = {
        .memory = &aps_memory_host,
        .scale = plan->scale,
        .accumulate = plan->accumulate,
        .records = aps_scale_state_bytes(&plan->scale) > 0,
        .chunk = plan->chunk,
        .rounding = plan->rounding,
    };
    struct aps_block sum = {.memory = &aps_memory_host, .n = n, .ranks = 2};
    struct aps_scale_record record;
    struct aps_magnitude magnitude;
    size_t stride;
    uint8_t *blocks, *to;
    float *x = take(data, size, 0, n * sizeof *x);
    bool decoded;

    aps_codec_init(&plan->format, &wire.codec);
    if (plan->accumulate != APS_ACCUMULATE_FP32)
        aps_codec_init(&plan->sums, &wire.sums);
    stride = aps_block_bytes(&wire, n);
    blocks = take(data, size, 0, BLOCKS * stride);
    to = take(data, size, 0, stride);
    aps_block_decode(&wire, &aps_memory_host, blocks + 2 * stride, n, x);
    aps_accumulate(&wire, BLOCKS, blocks, stride, n, x, &magnitude);
    aps_accumulate_record(&wire, BLOCKS, blocks, stride, magnitude);
    record = aps_accumulate_encode(&wire, BLOCKS, blocks, stride, sum, x, to,
                                   NULL, &decoded);
    aps_block_decode(&wire, &aps_memory_host, to, n, x);
    if (wire.records)
        learn(&wire, &record);
    free(blocks);
    free(to);
    free(x);
}

static void try_elements(const struct aps_plan *plan, size_t n,
                         const uint8_t *data, size_t size)
{
    struct aps_wire wire;
    struct aps_elements elements = {
        .slice = {BEGIN, n},
        .indices = take(NULL, 0, 0, n * sizeof *elements.indices),
        .values = take(NULL, 0, 0, n * sizeof *elements.values),
    };
    struct aps_elements skipped = elements;
    float *sum = take(NULL, 0, 0, n * sizeof *sum);
    uint8_t *section = take(data, size, 0, size);
    size_t taken;

    aps_elements_wire(plan, size % 2 == 0, &wire);
    taken = aps_elements_decode(&wire, section, size, &elements);
    fuzz_require(taken <= size && elements.count <= n &&
                     taken == aps_elements_skip(&wire, section, size, &skipped),
                 "a section of %zu bytes takes %zu", size, taken);
    fuzz_require(elements.bad ? elements.count == 0 : !skipped.bad,
                 "a bad section has elements");
    for (size_t i = 0; i < elements.count; i++)
        fuzz_require(
            elements.indices[i] >= BEGIN && elements.indices[i] < BEGIN + n &&
                (i == 0 || elements.indices[i] > elements.indices[i - 1]),
            "index %zu is wrong", i);
    aps_elements_add(&elements, sum);
    free(elements.indices);
    free(elements.values);
    free(section);
    free(sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, '\n', size);
    struct aps_plan plan;
    char line[160], keys[sizeof line];
    unsigned count;

    if (!end || (size_t)(end - data) >= sizeof line)
        return -1;
    memcpy(line, data, (size_t)(end - data));
    line[end - data] = '\0';
    if (sscanf(line, "%5u %159[^\n]", &count, keys) != 2 || count < 1 ||
        count > COUNT_MOST || !read_plan(keys, count, &plan))
        return -1;
    size -= (size_t)(end + 1 - data);
    try_blocks(&plan, count, end + 1, size);
    try_elements(&plan, count, end + 1, size);
    return 0;
}

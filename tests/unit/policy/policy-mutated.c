/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts that are cut or mutated parse, or have an error. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"
#include "tests/tap/tap.h"
#include "tests/unit/policy/policytext.h"

static const char sample[] =
    "version: 1\n"
    "needs: 0.0.1\n"
    "x-by: [me, {a: b}]\n"
    "steps: {calls: 5, per_epoch: 156, order: backward}\n"
    "table: t.csv   # a table \xc3\xa4\n"
    "log: {file: \"round\\u006fff.csv\", every: 100}\n"
    "min_count: 10\n"
    "progress: thread\n"
    "fuse: 4 MiB\n"
    "threads: auto\n"
    "gemm: {format: {bf16: {}}, accumulate: {format: fp32, chunk: 64}, "
    "rounding: {stochastic: 3}}\n"
    "rules:\n"
    "  - calls: [allgather, reduce]\n"
    "    format: e4m3\n"
    "  - layers: [last, '*.bias']\n"
    "    format: native\n"
    "  - epochs: 0-29, 40-\n"
    "    steps: 7-\n"
    "    format: fp32\n"
    "  - layers: 0-1, conv[1-2].*\n"
    "    name: first.2\n"
    "    format: e4m3\n"
    "    scale: {fixed: {factor: 1.5e3}}\n"
    "    group: 4\n"
    "  - max-count: 64Ki\n"
    "    format: e5m2\n"
    "    scale: {fixed: 2^-3}\n"
    "    reduce: {auto: {group: 2^3, node: fp32}}\n"
    "    rounding: {nearest}\n"
    "  - format: e5m2\n"
    "    aps: on\n"
    "    accumulate: {format: bf16, kahan: off}\n"
    "    reduce: direct\n";

/* Parses a copy without memory after it, so that a tool can find a read there. */
static bool try_text(const char *text, size_t length)
{
    struct aps_policy *policy = NULL;
    char *copy = malloc(length ? length : 1);
    int result;

    if (!copy)
        bail_out("out of memory");
    memcpy(copy, text, length);
    result = parse_bytes(copy, length, TABLE, &policy);
    free(copy);
    if (result == 0) {
        struct aps_plan plan;

        resolve(policy, 0, 5, 9408, 3, 500, &plan);
        aps_policy_destroy(policy);
        return errors.count == 0;
    }
    return errors.count > 0 && !policy;
}

static void test_truncated(void)
{
    bool sound = true;

    for (size_t length = 0; length < sizeof sample; length++)
        sound &= try_text(sample, length);
    ok(sound, "a policy cut anywhere parses or says why not");
}

static uint32_t draw(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void test_mutated(void)
{
    static const char spice[] = "{}[]:,-&*!|>'\"%@`#?\n\t \\0a\xff\xc3\x01~<";
    uint32_t state = 1;
    bool sound = true;
    int parsed = 0;

    for (int round = 0; round < 2000; round++) {
        char text[sizeof sample];
        size_t length = sizeof sample - 1;

        memcpy(text, sample, sizeof sample);
        for (uint32_t n = 1 + draw(&state) % 4; n > 0; n--) {
            size_t at = draw(&state) % length;

            switch (draw(&state) % 3) {
            case 0: /* another byte */
                text[at] = spice[draw(&state) % (sizeof spice - 1)];
                break;
            case 1: /* a byte less */
                memmove(text + at, text + at + 1, length - at - 1);
                length--;
                break;
            default: /* two bytes from elsewhere */
                memmove(text + at, text + draw(&state) % (length - 2),
                        length - at < 2 ? 1 : 2);
                break;
            }
        }
        sound &= try_text(text, length);
        parsed += errors.count == 0;
    }
    ok(sound, "2000 mutations of a policy parse or say why not");
    ok(parsed > 0 && parsed < 2000, "... some of either (%d parse)", parsed);
}

int main(void)
{
    test_truncated();
    test_mutated();
    return done_testing();
}

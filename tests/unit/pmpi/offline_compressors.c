/* SPDX-License-Identifier: BSD-3-Clause */
/* The compressors of aps_policy.h: several ranks of one process exchange
 * messages, and what is lost stays in their error memories. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aps_policy.h>

#include "tap/tap.h"

#define RANKS 3
#define ROWS 32
#define COLUMNS 48
#define COUNT (ROWS * COLUMNS)

static float gradients[RANKS][COUNT];
static float sums[RANKS][COUNT];

/* The compressors of all ranks. */
struct ranks {
    struct aps_policy *policy;
    struct aps_layer_plan *plan;
    struct aps_layer_compressor *of[RANKS];
};

static struct aps_layer_plan *plan_of(const char *rule,
                                      struct aps_policy **policy)
{
    struct aps_layer_request request = APS_LAYER_REQUEST_INIT;
    struct aps_layer_plan *plan;
    struct aps_error error;
    char text[200];

    snprintf(text, sizeof text, "version: 1\nsteps: auto\nrules:\n  - {%s}\n",
             rule);
    request.count = COUNT;
    if (aps_policy_open(text, NULL, policy, &error) < 0 ||
        aps_layer_plan_create(*policy, &request, &plan, &error) < 0)
        bail_out("%s: %s", rule, error.text);
    return plan;
}

static void begin(const char *rule, struct ranks *ranks)
{
    struct aps_error error;

    ranks->plan = plan_of(rule, &ranks->policy);
    for (int r = 0; r < RANKS; r++)
        if (aps_layer_compressor_create(ranks->plan, r, RANKS, &ranks->of[r],
                                        &error) < 0)
            bail_out("%s: %s", rule, error.text);
}

static void end(struct ranks *ranks)
{
    for (int r = 0; r < RANKS; r++)
        aps_layer_compressor_destroy(ranks->of[r]);
    aps_layer_plan_destroy(ranks->plan);
    aps_policy_close(ranks->policy);
}

/* Replaces the messages of a round by their sum or maximum, in the first one. */
static void fold(enum aps_message_kind kind, void *const messages[],
                 size_t bytes)
{
    float *first = messages[0];

    for (int r = 1; r < RANKS; r++) {
        const float *term = messages[r];

        for (size_t i = 0; i < bytes / sizeof *term; i++)
            first[i] = kind == APS_MESSAGE_FLOATS_SUM
                           ? first[i] + term[i]
                           : fmaxf(first[i], term[i]);
    }
}

/* One call of all ranks; `folded`: floats are passed as their sum or maximum.
 * Returns false after an error. */
static bool reduce(struct ranks *ranks, bool folded)
{
    const size_t most = aps_layer_compressor_bytes(ranks->of[0]);
    void *messages[RANKS];
    size_t bytes[RANKS];
    bool good = true;

    for (int r = 0; r < RANKS; r++)
        messages[r] = malloc(most);
    for (int round = 0; round < aps_layer_compressor_rounds(ranks->of[0]);
         round++) {
        const enum aps_message_kind kind =
            aps_layer_compressor_kind(ranks->of[0], round);
        const bool one = folded && kind != APS_MESSAGE_BYTES;

        for (int r = 0; r < RANKS; r++)
            good &= aps_layer_compressor_encode(ranks->of[r], gradients[r],
                                                messages[r], &bytes[r],
                                                NULL) == 0 &&
                    bytes[r] <= most;
        if (one)
            fold(kind, messages, bytes[0]);
        for (int r = 0; r < RANKS; r++)
            good &= aps_layer_compressor_decode(ranks->of[r], one ? 1 : RANKS,
                                                (const void *const *)messages,
                                                bytes, sums[r], NULL) == 0;
    }
    for (int r = 0; r < RANKS; r++) {
        free(messages[r]);
        good &= memcmp(sums[r], sums[0], sizeof sums[0]) == 0;
    }
    return good;
}

static void draw(void)
{
    uint32_t state = 1;

    for (int r = 0; r < RANKS; r++)
        for (int i = 0; i < COUNT; i++) {
            state = state * 1664525u + 1013904223u;
            gradients[r][i] = ldexpf((float)(int32_t)state, -31) *
                              ldexpf(1, -(int)(state % 7));
        }
}

/* Returns the greatest difference between `calls` times the gradients' sum, and
 * the results so far plus all error memories, in units of 2^-20. */
static double lost(const struct ranks *ranks, const double *results, int calls)
{
    double greatest = 0;

    for (int i = 0; i < COUNT; i++) {
        double sum = 0, kept = 0;

        for (int r = 0; r < RANKS; r++) {
            sum += (double)gradients[r][i];
            kept += (double)aps_layer_compressor_memory(ranks->of[r])[i];
        }
        greatest = fmax(greatest, fabs(calls * sum - results[i] - kept));
    }
    return ldexp(greatest, 20);
}

static void test_feedback(const char *rule)
{
    struct ranks ranks;
    static double results[COUNT];
    bool good = true;

    memset(results, 0, sizeof results);
    begin(rule, &ranks);
    for (int call = 0; call < 4; call++) {
        good &= reduce(&ranks, false);
        for (int i = 0; i < COUNT; i++)
            results[i] += (double)sums[0][i];
    }
    ok(good, "%s: all ranks decode equal sums", rule);
    ok(lost(&ranks, results, 4) < 64,
       "... results and error memories add up to the gradients (%g)",
       lost(&ranks, results, 4));
    end(&ranks);
}

static void test_folded(const char *rule)
{
    struct ranks ranks;
    static float all[COUNT];
    bool good;

    begin(rule, &ranks);
    good = reduce(&ranks, false);
    memcpy(all, sums[0], sizeof all);
    end(&ranks);
    begin(rule, &ranks);
    ok(good && reduce(&ranks, true) && memcmp(all, sums[0], sizeof all) == 0,
       "%s: the sum or maximum of floats replaces all messages", rule);
    end(&ranks);
}

static void test_without_feedback(void)
{
    struct ranks ranks;

    begin("compress: vote", &ranks);
    ok(reduce(&ranks, false) && !aps_layer_compressor_memory(ranks.of[0]),
       "vote: all ranks decode equal sums, without error memory");
    end(&ranks);
    begin("format: e8m23, compress: {topk: 1}, feedback: off", &ranks);
    ok(reduce(&ranks, false), "topk of all elements");
    for (int i = 0; i < COUNT; i++)
        if (sums[0][i] != gradients[0][i] + gradients[1][i] + gradients[2][i]) {
            ok(false, "... is the sum at %d", i);
            break;
        }
    end(&ranks);
}

/* A rank refuses its layer, after others have encoded theirs. */
static void test_restart(const char *rule)
{
    static char message[COUNT * sizeof(float)];
    struct ranks ranks;
    size_t bytes;

    begin(rule, &ranks);
    ok(reduce(&ranks, false) &&
           aps_layer_compressor_encode(ranks.of[0], gradients[0], message,
                                       &bytes, NULL) == 0,
       "%s: a call begins", rule);
    for (int r = 0; r < RANKS; r++)
        aps_layer_compressor_restart(ranks.of[r]);
    ok(reduce(&ranks, false), "... and another, after a restart of all ranks");
    end(&ranks);
}

static void test_bad(void)
{
    struct ranks ranks;
    struct aps_policy *policy;
    struct aps_layer_compressor *made;
    struct aps_layer_plan *plan = plan_of("format: e4m3", &policy);
    unsigned char message[4 * COUNT + 4096];
    const void *messages[RANKS] = {message, message, message};
    size_t bytes[RANKS];
    const float before = gradients[0][0];
    struct aps_error error;

    ok(aps_layer_compressor_create(plan, 0, 1, &made, &error) < 0 &&
           strstr(error.text, "does not compress"),
       "a plan without a compressor is refused");
    aps_layer_plan_destroy(plan);
    aps_policy_close(policy);
    plan = plan_of("format: e4m3, compress: {chunks: 0.5}", &policy);
    ok(aps_layer_compressor_create(plan, 0, 1, &made, &error) < 0 &&
           strstr(error.text, "no rounds"),
       "... and one with chunks");
    aps_layer_plan_destroy(plan);
    aps_policy_close(policy);
    begin("format: e8m23, compress: {topk: 0.1}", &ranks);
    ok(aps_layer_compressor_decode(ranks.of[0], RANKS, messages, bytes, sums[0],
                                   &error) < 0 &&
           strstr(error.text, "no message"),
       "a round begins with its message");
    gradients[0][0] = NAN;
    ok(aps_layer_compressor_encode(ranks.of[0], gradients[0], message,
                                   &bytes[0], &error) < 0 &&
           strstr(error.text, "not finite"),
       "a NaN is refused");
    gradients[0][0] = before;
    ok(aps_layer_compressor_encode(ranks.of[0], gradients[0], message,
                                   &bytes[0], &error) == 0 &&
           aps_layer_compressor_encode(ranks.of[0], gradients[0], message,
                                       &bytes[0], &error) < 0,
       "... the next message is not, but only one in a round");
    bytes[1] = bytes[2] = 3;
    ok(aps_layer_compressor_decode(ranks.of[0], RANKS, messages, bytes, sums[0],
                                   &error) < 0 &&
           strstr(error.text, "damaged"),
       "a message that is too short is damaged");
    end(&ranks);
    aps_layer_compressor_destroy(NULL);
}

int main(void)
{
    draw();
    test_bad();
    test_restart("format: e8m23, compress: {topk: 0.1}");
    test_restart("format: e8m23, compress: {powersgd: 2}");
    test_feedback("format: e8m23, compress: {topk: 0.1}");
    test_feedback("format: e5m10, scale: none, compress: {mstopk: 0.05}");
    test_feedback("format: e8m23, compress: {threshold: {value: 0.3, density: "
                  "0.2}}");
    test_feedback("format: e8m23, compress: {powersgd: 2}");
    test_feedback("compress: ternary, feedback: on");
    test_feedback("format: sign/64, feedback: on");
    test_folded("format: e8m23, compress: {powersgd: 2}");
    test_folded("compress: ternary");
    test_without_feedback();
    return done_testing();
}

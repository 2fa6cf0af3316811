/* SPDX-License-Identifier: BSD-3-Clause */
/* aps_policy.h as programs use it: plans, scales and round-off. The compressors
 * are in offline_compressors.c; tests/e2e/t-python.sh compares simulated jobs
 * with jobs. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aps_policy.h>

#include "tap/tap.h"

#define RULES "version: 1\nrules:\n"

static struct aps_policy *open_policy(const char *text)
{
    struct aps_policy *policy;
    struct aps_error error;

    if (aps_policy_open(text, NULL, &policy, &error) < 0)
        bail_out("%s: %s", text, error.text);
    return policy;
}

/* Makes the plan of a layer of `count` elements. */
static struct aps_layer_plan *plan_of(const struct aps_policy *policy,
                                      size_t count)
{
    struct aps_layer_request request = APS_LAYER_REQUEST_INIT;
    struct aps_layer_plan *made;

    request.count = count;
    if (aps_layer_plan_create(policy, &request, &made, NULL) < 0)
        bail_out("no plan");
    return made;
}

/* Makes a scaler of `ranks` ranks by the only rule of a policy. */
static struct aps_scaler *scaler_of(const char *text, int ranks)
{
    struct aps_policy *policy = open_policy(text);
    struct aps_layer_plan *plan = plan_of(policy, 4096);
    struct aps_scaler *scaler;

    if (aps_scaler_create(plan, ranks, &scaler, NULL) < 0)
        bail_out("no scaler");
    aps_layer_plan_destroy(plan);
    aps_policy_close(policy);
    return scaler;
}

/* --- errors ------------------------------------------------------------------- */

static void test_bad_policies(void)
{
    static const char table[] = "layer,name,count\n0,fc,4096\n";
    struct aps_policy *policy = NULL;
    struct aps_error error;

    errno = 0;
    ok(aps_policy_open(RULES "  - {format: e9m9}\n", NULL, &policy, &error) <
               0 &&
           errno == EINVAL && error.line == 3 && error.column == 14 &&
           strcmp(error.file, "policy") == 0 && !policy,
       "an error in a policy has its line and column");
    ok(aps_policy_open(RULES "  - {format: e4m3}\n", table, &policy, &error) <
               0 &&
           strstr(error.text, "names none"),
       "a table that the policy does not name is refused");
    ok(aps_policy_open("version: 1\ntable: a.csv\nrules: [{format: e4m3}]\n",
                       NULL, &policy, &error) < 0 &&
           strstr(error.text, "was not read"),
       "... and a table that it names is needed");
    ok(aps_policy_read("/nowhere.yaml", &policy, &error) < 0 &&
           strcmp(error.file, "/nowhere.yaml") == 0,
       "a file that cannot be read is an error with its path");
    aps_policy_close(NULL);
}

static void test_bad_requests(void)
{
    struct aps_policy *policy = open_policy(RULES "  - {format: e4m3}\n");
    struct aps_layer_request request = APS_LAYER_REQUEST_INIT;
    struct aps_layer_plan *plan = NULL;
    struct aps_scaler *scaler = NULL;
    struct aps_error error;

    ok(aps_layer_plan_create(policy, &request, &plan, &error) < 0 &&
           strstr(error.text, "no count"),
       "a request needs a count");
    request.count = 4096;
    request.name = "fc";
    ok(aps_layer_plan_create(policy, &request, &plan, &error) < 0 &&
           strstr(error.text, "'fc'"),
       "a name needs a layer table");
    request.name = NULL;
    request.size = 1;
    ok(aps_layer_plan_create(policy, &request, &plan, &error) < 0 &&
           strstr(error.text, "APS_LAYER_REQUEST_INIT"),
       "a request without its size is refused");
    plan = plan_of(policy, 10);
    ok(aps_scaler_create(plan, 4, &scaler, &error) < 0 && !scaler &&
           strstr(error.text, "min_count"),
       "a layer that MPI reduces has no scaler");
    aps_layer_plan_destroy(plan);
    aps_layer_plan_destroy(NULL);
    aps_policy_close(policy);
}

static void test_bad_simulations(void)
{
    static const struct {
        const char *rule, *cause;
    } table[] = {
        {"format: fp32", "leaves the layer to MPI"},
        {"format: e4m3, reduce: auto", "fastest"},
        {"format: e4m3, group: numa", "by hardware"},
        {"format: e4m3, feedback: on", "feedback"},
        {"format: e4m3, compress: {topk: 0.1}", "compresses"},
    };
    struct aps_layer_request request = APS_LAYER_REQUEST_INIT;
    static const float zeros[4096];
    const float *x[] = {zeros, zeros};
    static float out[4096];

    request.count = 4096;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[200];
        struct aps_policy *policy;
        struct aps_simulation *simulation;
        struct aps_error error = {.text = ""};

        snprintf(text, sizeof text, "steps: auto\n" RULES "  - {%s}\n",
                 table[i].rule);
        policy = open_policy(text);
        if (aps_simulation_create(policy, 2, 1, &simulation, NULL) < 0)
            bail_out("no simulation");
        errno = 0;
        ok(aps_simulation_allreduce(simulation, &request, x, out, &error) < 0 &&
               errno == ENOTSUP && strstr(error.text, table[i].cause),
           "not simulated: %s", table[i].rule);
        aps_simulation_destroy(simulation);
        aps_policy_close(policy);
    }
    aps_simulation_destroy(NULL);
}

/* --- plans -------------------------------------------------------------------- */

static void test_plans(void)
{
    struct aps_policy *policy;
    struct aps_layer_request request = APS_LAYER_REQUEST_INIT;
    struct aps_layer_plan *plan;
    struct aps_error error;
    char text[APS_LAYER_PLAN_MAX];

    if (aps_policy_open("version: 1\ntable: t.csv\nrules:\n"
                        "  - {layers: fc, format: fp32}\n"
                        "  - {epochs: 2-, format: e5m2, scale: aps}\n"
                        "  - {format: e4m3, scale: {backoff: {start: 64}}}\n"
                        "steps: {per_epoch: 10}\n",
                        "layer,name,count\n0,conv,8192\n1,fc,4096\n", &policy,
                        &error) < 0)
        bail_out("%s", error.text);
    request.name = "conv";
    if (aps_layer_plan_create(policy, &request, &plan, &error) < 0)
        bail_out("%s", error.text);
    ok(aps_layer_plan_rule(plan) == 2 && aps_layer_plan_is_reduced(plan) &&
           aps_layer_plan_format(plan) == aps_format_get("e4m3", NULL) &&
           aps_layer_plan_bytes(plan) == 8192,
       "the plan of a layer of the table");
    is(aps_layer_plan_describe(plan, text, sizeof text),
       "{format: e4m3, scale: {backoff: {start: 64, scope: model}}}",
       "... in words");
    aps_layer_plan_destroy(plan);
    request.epoch = 2;
    if (aps_layer_plan_create(policy, &request, &plan, &error) < 0)
        bail_out("%s", error.text);
    is(aps_layer_plan_describe(plan, text, sizeof text),
       "{format: e5m2, scale: aps}", "... in another epoch");
    aps_layer_plan_destroy(plan);
    request.name = "fc";
    if (aps_layer_plan_create(policy, &request, &plan, &error) < 0)
        bail_out("%s", error.text);
    ok(aps_layer_plan_rule(plan) == 0 && !aps_layer_plan_is_reduced(plan) &&
           aps_layer_plan_format(plan) == aps_format_get("fp32", NULL) &&
           aps_layer_plan_bytes(plan) == 4096 * sizeof(float),
       "a layer that stays in FP32");
    aps_layer_plan_destroy(plan);
    aps_policy_close(policy);
}

/* --- scales --------------------------------------------------------------------- */

/* Returns the exponents of a call with these values of two ranks. */
static int exponent_of(struct aps_scaler *scaler, const float *a,
                       const float *b, size_t n)
{
    struct aps_scaler_facts facts = APS_SCALER_FACTS_INIT;
    struct aps_scaler_facts second = APS_SCALER_FACTS_INIT;
    struct aps_error error;
    int exponent = 0, sum_exponent = 0;

    if (aps_scaler_measure(scaler, a, n, &facts, &error) < 0 ||
        aps_scaler_measure(scaler, b, n, &second, &error) < 0 ||
        aps_scaler_merge(&facts, &second, &error) < 0 ||
        aps_scaler_exponent(scaler, &facts, &exponent, &sum_exponent, &error) <
            0)
        bail_out("%s", error.text);
    return exponent;
}

static void test_stateless_scales(void)
{
    const float a[] = {0.25f, -3}, b[] = {0, 5};
    struct aps_scaler *scaler =
        scaler_of(RULES "  - {format: e4m3, scale: aps}\n", 2);
    const struct aps_format *e4m3 = aps_format_get("e4m3", NULL);
    struct aps_error error;
    int exponent, sum_exponent;

    aps_max_exponent(b, 2, 2, &exponent, NULL);
    ok(aps_scaler_asks(scaler) &&
           exponent_of(scaler, a, b, 2) == aps_scale_exponent(e4m3, exponent),
       "aps: the exponent of aps_scale_exponent");
    ok(aps_scaler_exponent(scaler, NULL, &exponent, &sum_exponent, &error) <
               0 &&
           strstr(error.text, "aps_scaler_measure"),
       "... which needs facts");
    aps_scaler_destroy(scaler);
    scaler = scaler_of(
        RULES "  - {format: e4m3, scale: aps-tight, accumulate: fp32}\n", 2);
    aps_scale_exponent_tight(e4m3, b, 2, &exponent, NULL);
    ok(exponent_of(scaler, b, b, 2) == exponent,
       "aps-tight: that of aps_scale_exponent_tight");
    aps_scaler_destroy(scaler);
    scaler = scaler_of(RULES "  - {format: e4m3, scale: {fixed: 1024}}\n", 2);
    ok(!aps_scaler_asks(scaler) &&
           aps_scaler_exponent(scaler, NULL, &exponent, &sum_exponent, NULL) ==
               0 &&
           exponent == 10 && sum_exponent == 10,
       "fixed: a power of two needs no facts");
    aps_scaler_destroy(scaler);
    scaler = scaler_of(RULES "  - {format: e4m3, scale: {fixed: 1000}}\n", 2);
    ok(aps_scaler_exponent(scaler, NULL, &exponent, &sum_exponent, &error) <
               0 &&
           strstr(error.text, "not a power of two"),
       "... and another factor has no exponent");
    aps_scaler_destroy(scaler);
    aps_scaler_destroy(NULL);
}

/* Compares ten calls of a scaler with those of one that is saved and loaded after
 * each. */
static void test_state(const char *rule)
{
    char text[200];
    struct aps_scaler *scaler;
    struct aps_scaler *other;
    unsigned char saved[16384];
    size_t bytes;
    bool equal = true;

    snprintf(text, sizeof text, RULES "  - {%s}\n", rule);
    scaler = scaler_of(text, 2);
    other = scaler_of(text, 2);
    for (int call = 0; call < 10; call++) {
        struct aps_scaler_record record = APS_SCALER_RECORD_INIT;
        const float a[] = {ldexpf(1.3f, -call), -2}, b[] = {0, 5.5f};
        const int first = exponent_of(scaler, a, b, 2);

        equal &= first == exponent_of(other, a, b, 2);
        record.in_max = b[1];
        record.sum_max = 3.5f;
        record.over = aps_scaler_overflows(scaler, record.in_max, first);
        aps_scaler_update(scaler, &record, NULL);
        aps_scaler_update(other, &record, NULL);
        bytes = aps_scaler_save(other, saved, sizeof saved);
        aps_scaler_destroy(other);
        other = scaler_of(text, 2);
        equal &= bytes <= sizeof saved &&
                 aps_scaler_load(other, saved, bytes, NULL) == 0;
    }
    ok(equal, "%s: a loaded state goes on", rule);
    aps_scaler_destroy(scaler);
    aps_scaler_destroy(other);
}

static void test_states(void)
{
    static const char *const rules[] = {
        "format: e4m3, scale: backoff",    "format: e4m3, scale: logmax",
        "format: e4m3, scale: underflow",  "format: e4m3, scale: unit",
        "format: flex16, scale: autoflex", "format: e4m3, scale: delayed",
        "format: e4m3, scale: dfxp",
    };
    struct aps_scaler *backoff =
        scaler_of(RULES "  - {format: e4m3, scale: backoff}\n", 2);
    struct aps_scaler *logmax =
        scaler_of(RULES "  - {format: e4m3, scale: logmax}\n", 2);
    struct aps_scaler_record record = APS_SCALER_RECORD_INIT;
    unsigned char saved[16384];
    struct aps_error error;
    int before = 0, after = 0, sum = 0;

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        test_state(rules[i]);
    aps_scaler_exponent(backoff, NULL, &before, &sum, NULL);
    record.in_max = 1;
    record.over = true;
    aps_scaler_update(backoff, &record, NULL);
    aps_scaler_exponent(backoff, NULL, &after, &sum, NULL);
    ok(before == 14 && after < before, "backoff: an overflow lowers the scale");
    ok(aps_scaler_load(logmax, saved,
                       aps_scaler_save(backoff, saved, sizeof saved),
                       &error) < 0 &&
           error.text[0] != '\0',
       "the state of another scale is refused");
    ok(aps_scaler_save(backoff, NULL, 0) > 0,
       "the size of a state can be asked for");
    aps_scaler_destroy(backoff);
    aps_scaler_destroy(logmax);
}

/* --- round-off -------------------------------------------------------------------- */

static void test_roundoff(void)
{
    const double reference[] = {1, 2, 4, 0, INFINITY, 8};
    const float value[] = {1.5f, 2, 0, 1, 1, INFINITY};
    struct aps_roundoff roundoff = APS_ROUNDOFF_INIT;

    ok(aps_roundoff_add(&roundoff, reference, value, 3, NULL) == 0 &&
           aps_roundoff_mean(&roundoff) == 0.5 &&
           fabs(aps_roundoff_l2(&roundoff) - sqrt(16.25 / 21)) < 1e-12 &&
           fabs(aps_roundoff_snr(&roundoff) + 10 * log10(16.25 / 21)) < 1e-9 &&
           roundoff.underflow == 1,
       "mean relative error, Euclidean error, SNR and underflow");
    ok(aps_roundoff_add(&roundoff, reference + 3, value + 3, 3, NULL) == 0 &&
           roundoff.compared == 4 && roundoff.skipped == 2 &&
           roundoff.overflow == 1 && roundoff.infinite == 1,
       "... zeros and INF are skipped, and overflow is counted");
    ok(aps_roundoff_add(&roundoff, NULL, value, 3, NULL) < 0 && errno == EINVAL,
       "... NULL is refused");
}

int main(void)
{
    test_bad_policies();
    test_bad_requests();
    test_bad_simulations();
    test_plans();
    test_stateless_scales();
    test_states();
    test_roundoff();
    return done_testing();
}

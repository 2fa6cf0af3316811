/* SPDX-License-Identifier: BSD-3-Clause */
/* Keywords with parameters of every kind, described by a table. */
#include "config.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grammar/grammar.h"
#include "tests/tap/tap.h"

enum { PLAIN, BACKOFF, MSTOPK, POWERSGD };
enum { START, WINDOW, SCOPE };
enum { DENSITY, FACTOR };
enum { RANK, WARM, PAYLOAD, GROUP };

static const char *const scope_words[] = {"model", "layer", NULL};
static const struct aps_keywords scopes = {.known = scope_words};

static const struct aps_parameter backoff[] = {
    {.name = "start",
     .kind = APS_PARAMETER_REAL,
     .above = true,
     .max = INFINITY,
     .otherwise = 16384},
    {.name = "window",
     .kind = APS_PARAMETER_WHOLE,
     .min = 1,
     .max = INT_MAX,
     .otherwise = 2000},
    {.name = "scope", .kind = APS_PARAMETER_WORD, .words = &scopes},
    {.name = NULL},
};
static const struct aps_parameter mstopk[] = {
    {.name = "density",
     .kind = APS_PARAMETER_REAL,
     .required = true,
     .above = true,
     .max = 1},
    {.name = "min_factor", .kind = APS_PARAMETER_REAL, .min = 0, .max = 2},
    {.name = NULL},
};
static const struct aps_parameter powersgd[] = {
    {.name = "rank",
     .kind = APS_PARAMETER_WHOLE,
     .min = 1,
     .max = 1024,
     .otherwise = 4},
    {.name = "warm", .kind = APS_PARAMETER_SWITCH, .otherwise = 1},
    {.name = "payload", .kind = APS_PARAMETER_FORMAT},
    {.name = "group",
     .kind = APS_PARAMETER_WORD_OR_WHOLE,
     .min = 1,
     .max = 99,
     .words = &scopes,
     .otherwise = 1},
    {.name = NULL},
};
static const struct aps_choice choices[] = {
    [PLAIN] = {NULL, NULL},
    [BACKOFF] = {backoff, NULL},
    [MSTOPK] = {mstopk, "way: {mstopk: 0.01}"},
    [POWERSGD] = {powersgd, NULL},
};
static const char *const words[] = {"plain", "backoff", "mstopk", "powersgd",
                                    NULL};
static const struct aps_keywords way_words = {.known = words};
static const struct aps_grammar grammar = {.words = &way_words,
                                           .choices = choices};

static struct aps_errors errors;

/* Reads `way: TEXT`. Returns -1 if it is refused. The nodes are freed afterwards. */
static int read_way(const char *text, struct aps_value *value)
{
    const struct aps_reader reader = {"p", &errors};
    struct aps_yaml_node *root;
    char line[256];
    int result;

    errors.count = 0;
    snprintf(line, sizeof line, "way: %s\n", text);
    if (aps_yaml_parse("p", line, strlen(line), &root, &errors) < 0)
        bail_out("'%s' is no YAML", line);
    result = aps_read_value(&reader, root->first, &grammar, value);
    aps_yaml_destroy(root);
    return result;
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

static void test_values(void)
{
    struct aps_value value;
    const struct aps_argument *got = value.arguments;

    ok(read_way("plain", &value) == 0 && value.word == PLAIN, "a plain word");
    ok(read_way("backoff", &value) == 0 && value.word == BACKOFF &&
           near(got[START].real, 16384) && got[WINDOW].whole == 2000 &&
           got[SCOPE].word == 0 && !got[START].key,
       "defaults of a word alone");
    ok(read_way("{backoff: {start: 2^14, window: 2Ki, scope: layer}}",
                &value) == 0 &&
           near(got[START].real, 16384) && got[WINDOW].whole == 2048 &&
           got[SCOPE].word == 1 && got[START].key,
       "all parameters");
    ok(read_way("{backoff: {window: 7}}", &value) == 0 &&
           near(got[START].real, 16384) && got[WINDOW].whole == 7,
       "some parameters");
    ok(read_way("{backoff: 0.25}", &value) == 0 && near(got[START].real, 0.25),
       "the first parameter without its name");
    ok(read_way("{mstopk: 1}", &value) == 0 && near(got[DENSITY].real, 1),
       "the most, of a parameter that is required");
    ok(read_way("{mstopk: {density: 1e-3, min-factor: 0}}", &value) == 0 &&
           near(got[DENSITY].real, 1e-3) && got[FACTOR].real == 0,
       "a least that is included, and a hyphen");
    ok(read_way("{powersgd: {warm: no, payload: bf16, group: 12}}", &value) ==
               0 &&
           got[RANK].whole == 4 && !got[WARM].on &&
           strcmp(got[PAYLOAD].format.name, "e8m7") == 0 &&
           got[GROUP].word == -1 && got[GROUP].whole == 12,
       "a switch, a format, a number that may be a word");
    ok(read_way("{powersgd: {group: model}}", &value) == 0 && got[WARM].on &&
           got[GROUP].word == 0 && !got[PAYLOAD].key,
       "a word that may be a number");
    ok(read_way("{powersgd: 1}", &value) == 0 && got[RANK].whole == 1,
       "a number that could be a switch is a number");
    ok(read_way("{powersgd: on}", &value) == 0 && got[RANK].whole == 4,
       "a word that is on has its defaults");
}

/* Parameters of all kinds except formats as plain numbers, given or not. */
static void test_numbers(void)
{
    static const struct {
        const char *text;
        const struct aps_parameter *parameters;
        double numbers[4];
    } cases[] = {
        {"backoff", backoff, {16384, 2000, 0}},
        {"{backoff: {start: 0.1, window: 7, scope: layer}}",
         backoff,
         {0.1, 7, 1}},
        {"{powersgd: {warm: no, group: 12}}", powersgd, {4, 0, 0, 12}},
        {"{powersgd: 3}", powersgd, {3, 1, 0, 0}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct aps_value value;
        bool right = read_way(cases[i].text, &value) == 0;

        for (int k = 0; right && cases[i].parameters[k].name; k++)
            right =
                aps_argument_number(&cases[i].parameters[k],
                                    &value.arguments[k]) == cases[i].numbers[k];
        ok(right, "as numbers: %s", cases[i].text);
    }
}

static void test_refused(void)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"mstopk", "p:1:6: 'mstopk' needs its density: way: {mstopk: 0.01}"},
        {"{mstopk: {min_factor: 1}}",
         "p:1:7: 'mstopk' needs its density: way: {mstopk: 0.01}"},
        {"{mstopk: 0}",
         "p:1:15: 'mstopk' must be a number above 0 and at most 1, not '0'"},
        {"{mstopk: {density: 2}}",
         "p:1:25: 'density' must be a number above 0 and at most 1, not '2'"},
        {"{mstopk: {density: 1, min_factor: -0.5}}",
         "p:1:40: 'min_factor' must be a number of at least 0 and at most 2, "
         "not '-0.5'"},
        {"{backoff: {start: 0}}",
         "p:1:24: 'start' must be a finite number above 0, not '0'"},
        {"{backoff: {start: 2^2000}}", "p:1:24: 'start' is too large: 2^2000; "
                                       "the largest number of FP32 is 3.4e+38"},
        {"{backoff: {window: 0}}",
         "p:1:25: 'window' must be at least 1, not 0"},
        {"{backoff: {scope: modle}}",
         "p:1:24: unknown scope 'modle'; did you mean 'model'?"},
        {"{powersgd: {rank: 2^11}}",
         "p:1:24: 'rank' is too large: 2^11; the most is 1024"},
        {"{powersgd: {warm: 2}}", "p:1:24: 'warm' must be on or off, not '2'"},
        {"{powersgd: off}",
         "p:1:17: 'powersgd' must be a whole number, not 'off'"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[sizeof(struct aps_error) + 32] = "";
        struct aps_value value;

        ok(read_way(cases[i].text, &value) < 0 && errors.count == 1,
           "refused: %s", cases[i].text);
        if (errors.count > 0)
            aps_error_format(&errors.list[0], text, sizeof text);
        is(text, cases[i].error, "... with its place and cause");
    }
}

int main(void)
{
    test_values();
    test_numbers();
    test_refused();
    return done_testing();
}

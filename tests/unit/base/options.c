/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/options.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap/tap.h"

#define SYNONYMS "(yes, true and 1 mean on; no, false and 0 mean off)"

static struct aps_options options;
static struct aps_errors errors;
static struct aps_errors warnings;

/* Reads the option with one variable (NULL: none) in the environment. */
static void read_one(const char *name, const char *value)
{
    clearenv();
    setenv("PATH", "/bin", 1);
    setenv("XAPSMPI_POLICY", "not ours", 1);
    if (name)
        setenv(name, value, 1);
    errors.count = 0;
    warnings.count = 0;
    aps_options_clear(&options);
    aps_options_read(&options, &errors, &warnings);
}

static bool are_defaults(void)
{
    return !options.policy && !options.log && options.discovery &&
           strcmp(options.discovery, "apsmpi-discovered") == 0 &&
           !options.pass_on_error && options.summary && options.enabled &&
           options.test_nodes == 0 && !options.test_cyclic &&
           options.test_patience == 0;
}

static void test_bad(void)
{
    static const struct {
        const char *name;
        const char *value;
        const char *text;
    } cases[] = {
        {"APSMPI_ON_ERROR", "go",
         "APSMPI_ON_ERROR='go' is wrong: the value must be stop|pass"},
        {"APSMPI_ON_ERROR", "1",
         "APSMPI_ON_ERROR='1' is wrong: the value must be stop|pass"},
        {"APSMPI_SUMMARY", "on ",
         "APSMPI_SUMMARY='on ' is wrong: the value must be "
         "on|off|json:FILE " SYNONYMS},
        {"APSMPI_SUMMARY", "json:",
         "APSMPI_SUMMARY='json:' is wrong: the value must be "
         "on|off|json:FILE " SYNONYMS},
        {"APSMPI_ENABLE", "2",
         "APSMPI_ENABLE='2' is wrong: the value must be on|off " SYNONYMS},
        {"APSMPI_WORLD", "y",
         "APSMPI_WORLD='y' is wrong: the value must be on|off " SYNONYMS},
        {"APSMPI_THREADS", "none",
         "APSMPI_THREADS='none' is wrong: the value must be "
         "hidden|shown|kept"},
        {"APSMPI_CPU", "sse",
         "APSMPI_CPU='sse' is wrong: the value must be plain|avx2|avx512"},
        {"APSMPI_STREAM", "4MB",
         "APSMPI_STREAM='4MB' is wrong: the value must be "
         "on|off|BYTES[Ki|Mi|Gi] " SYNONYMS},
        {"APSMPI_HANDOFF", "past",
         "APSMPI_HANDOFF='past' is wrong: the value must be "
         "auto|store|stream"},
        {"APSMPI_CUDA_AWARE", "maybe",
         "APSMPI_CUDA_AWARE='maybe' is wrong: the value must be "
         "on|off " SYNONYMS},
        {"APSMPI_CUDA_IPC", "none",
         "APSMPI_CUDA_IPC='none' is wrong: the value must be "
         "on|off " SYNONYMS},
        {"APSMPI_TEST_NODES", "0",
         "APSMPI_TEST_NODES='0' is wrong: the value must be N[:cyclic], N >= "
         "1"},
        {"APSMPI_TEST_NODES", "-1",
         "APSMPI_TEST_NODES='-1' is wrong: the value must be N[:cyclic], N >= "
         "1"},
        {"APSMPI_TEST_NODES", "+1",
         "APSMPI_TEST_NODES='+1' is wrong: the value must be N[:cyclic], N >= "
         "1"},
        {"APSMPI_TEST_NODES", " 1",
         "APSMPI_TEST_NODES=' 1' is wrong: the value must be N[:cyclic], N >= "
         "1"},
        {"APSMPI_TEST_NODES", "3x",
         "APSMPI_TEST_NODES='3x' is wrong: the value must be N[:cyclic], N >= "
         "1"},
        {"APSMPI_TEST_NODES", "3:",
         "APSMPI_TEST_NODES='3:' is wrong: the value must be N[:cyclic], N >= "
         "1"},
        {"APSMPI_TEST_NODES", "3:block",
         "APSMPI_TEST_NODES='3:block' is wrong: the value must be N[:cyclic], "
         "N >= 1"},
        {"APSMPI_TEST_NODES", ":cyclic",
         "APSMPI_TEST_NODES=':cyclic' is wrong: the value must be N[:cyclic], "
         "N >= 1"},
        {"APSMPI_TEST_NODES", "99999999999999999999",
         "APSMPI_TEST_NODES='99999999999999999999' is wrong: the value must be "
         "N[:cyclic], N >= 1"},
        {"APSMPI_TEST_NODES", "2147483648",
         "APSMPI_TEST_NODES='2147483648' is wrong: the value must be "
         "N[:cyclic], N >= 1"},
        {"APSMPI_TEST_PATIENCE", "0",
         "APSMPI_TEST_PATIENCE='0' is wrong: the value must be N, N >= 1"},
        {"APSMPI_TEST_PATIENCE", "1s",
         "APSMPI_TEST_PATIENCE='1s' is wrong: the value must be N, N >= 1"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        read_one(cases[i].name, cases[i].value);
        is(errors.count == 1 ? errors.list[0].text : NULL, cases[i].text,
           "bad: %s=%s", cases[i].name, cases[i].value);
        ok(are_defaults() && warnings.count == 0, "the default stands");
    }
}

static void test_unknown(void)
{
    static const struct {
        const char *name;
        const char *text;
    } cases[] = {
        {"APSMPI_POLCY",
         "the unknown variable APSMPI_POLCY is ignored; did you mean "
         "'APSMPI_POLICY'?"},
        {"APSMPI_policy",
         "the unknown variable APSMPI_policy is ignored; did you mean "
         "'APSMPI_POLICY'?"},
        {"APSMPI_TESTNODES",
         "the unknown variable APSMPI_TESTNODES is ignored; did you mean "
         "'APSMPI_TEST_NODES'?"},
        {"APSMPI_LOGS",
         "the unknown variable APSMPI_LOGS is ignored; did you mean "
         "'APSMPI_LOG'?"},
        {"APSMPI_ENABLED",
         "the unknown variable APSMPI_ENABLED is ignored; did you mean "
         "'APSMPI_ENABLE'?"},
        {"APSMPI_XYZ", "the unknown variable APSMPI_XYZ is ignored"},
        {"APSMPI_", "the unknown variable APSMPI_ is ignored"},
    };
    char name[301];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        read_one(cases[i].name, "x");
        is(warnings.count == 1 ? warnings.list[0].text : NULL, cases[i].text,
           "unknown: %s", cases[i].name);
        ok(are_defaults() && errors.count == 0, "no error, defaults");
    }
    memset(name, 'A', sizeof name - 1);
    memcpy(name, "APSMPI_", 7);
    name[sizeof name - 1] = '\0';
    read_one(name, "x");
    ok(warnings.count == 1, "unknown: a very long name");
    read_one("APSMPI_LAB_DIR", "x");
    ok(warnings.count == 0, "apsmpi-lab's own variables are known");
}

static void test_good(void)
{
    read_one(NULL, NULL);
    ok(are_defaults() && errors.count == 0 && warnings.count == 0, "defaults");
    read_one("APSMPI_POLICY", "p.yaml");
    is(options.policy, "p.yaml", "policy");
    read_one("APSMPI_POLICY", "");
    ok(are_defaults() && errors.count == 0, "an empty value counts as unset");
    read_one("APSMPI_ENABLE", "");
    ok(are_defaults() && errors.count == 0, "an empty switch counts as unset");
    read_one("APSMPI_LOG", "a=b.csv");
    is(options.log, "a=b.csv", "log, with = in its name");
    read_one("APSMPI_ON_ERROR", "pass");
    ok(options.pass_on_error, "on error: pass");
    read_one("APSMPI_ON_ERROR", "stop");
    ok(!options.pass_on_error && errors.count == 0, "on error: stop");
    read_one("APSMPI_SUMMARY", "off");
    ok(!options.summary, "summary: off");
    read_one("APSMPI_SUMMARY", "on");
    ok(options.summary, "summary: on");
    ok(!options.summary_file, "summary: in lines");
    read_one("APSMPI_SUMMARY", "json:on.json");
    is(options.summary_file, "on.json", "summary: a file");
    ok(options.summary && errors.count == 0, "... is a summary");
    read_one("APSMPI_ENABLE", "off");
    ok(!options.enabled, "enable: off");
    read_one("APSMPI_DISCOVERY", "off");
    ok(!options.discovery, "discovery: off");
    read_one("APSMPI_DISCOVERY", "mine");
    is(options.discovery, "mine", "discovery: a prefix");
    read_one("APSMPI_CPU", "plain");
    ok(are_defaults() && errors.count == 0, "cpu");
    read_one("APSMPI_CUDA", "/lib/plugin.so");
    is(options.cuda, "/lib/plugin.so", "the plugin");
    ok(options.cuda_aware == APS_AWARE_ASK, "MPI is asked");
    read_one("APSMPI_CUDA_AWARE", "yes");
    ok(options.cuda_aware == APS_AWARE_YES, "MPI is aware");
    read_one("APSMPI_CUDA_AWARE", "no");
    ok(options.cuda_aware == APS_AWARE_NO, "MPI is not aware");
    ok(options.cuda_ipc, "GPUs share memory");
    read_one("APSMPI_CUDA_IPC", "off");
    ok(!options.cuda_ipc, "GPUs share no memory");
    ok(options.threads == APS_THREADS_HIDDEN, "the level is hidden");
    read_one("APSMPI_THREADS", "Shown");
    ok(options.threads == APS_THREADS_SHOWN, "the level is shown");
    read_one("APSMPI_THREADS", "kept");
    ok(options.threads == APS_THREADS_KEPT, "the level is kept");
    read_one("APSMPI_TEST_NODES", "3");
    ok(options.test_nodes == 3 && !options.test_cyclic, "test nodes: 3");
    read_one("APSMPI_TEST_NODES", "3:cyclic");
    ok(options.test_nodes == 3 && options.test_cyclic, "test nodes: 3:cyclic");
}

/* Every switch accepts every word, in small and capital letters. */
static void test_switches(void)
{
    static const char *const words[][2] = {
        {"on", "off"}, {"yes", "no"}, {"true", "false"},
        {"1", "0"},    {"On", "OFF"}, {"YES", "No"},
    };
    static const char *const names[] = {
        "APSMPI_SUMMARY",    "APSMPI_ENABLE",   "APSMPI_WORLD",
        "APSMPI_CUDA_AWARE", "APSMPI_CUDA_IPC", "APSMPI_DISCOVERY",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (size_t w = 0; w < 2 * sizeof words / sizeof *words; w++) {
            const char *word = words[w / 2][w % 2];
            const bool is_on = w % 2 == 0;
            bool found[6];

            read_one(names[i], word);
            found[0] = options.summary;
            found[1] = options.enabled;
            found[2] = options.world;
            found[3] = options.cuda_aware == APS_AWARE_YES;
            found[4] = options.cuda_ipc;
            found[5] = options.discovery != NULL;
            ok(errors.count == 0 && found[i] == is_on, "switch: %s=%s",
               names[i], word);
        }
    }
    read_one("APSMPI_DISCOVERY", "yes");
    ok(are_defaults(), "discovery: on is the usual prefix");
    read_one("APSMPI_ON_ERROR", "PASS");
    ok(options.pass_on_error, "words in capitals");
    read_one("APSMPI_CPU", "Plain");
    ok(errors.count == 0, "... of every variable");
    read_one("APSMPI_TEST_NODES", "2:Cyclic");
    ok(options.test_cyclic, "... behind a number, too");
}

static void test_several(void)
{
    clearenv();
    setenv("APSMPI_ENABLE", "maybe", 1);
    setenv("APSMPI_SUMMARY", "maybe", 1);
    setenv("APSMPI_POLICY", "p", 1);
    setenv("APSMPI_POLICE", "p", 1);
    errors.count = warnings.count = 0;
    aps_options_clear(&options);
    aps_options_read(&options, &errors, &warnings);
    ok(errors.count == 2 && warnings.count == 1 && options.policy,
       "all errors at once, good values kept");
    clearenv();
    errors.count = warnings.count = 0;
    aps_options_clear(&options);
    aps_options_read(&options, &errors, &warnings);
    ok(are_defaults() && errors.count == 0, "no environment at all");
}

/* Returns the state of the variable `name` in this environment. */
static struct aps_option_state state_of(const char *name)
{
    struct aps_option_state state;

    for (size_t i = 0; aps_options_state(i, &state); i++)
        if (strcmp(state.name, name) == 0)
            return state;
    bail_out("there is no variable %s", name);
}

static void test_states(void)
{
    static const struct {
        const char *name, *set, *value;
        bool from_environment;
    } cases[] = {
        {"APSMPI_POLICY", NULL, NULL, false},
        {"APSMPI_POLICY", "p.yaml", "p.yaml", true},
        {"APSMPI_ENABLE", NULL, "on", false},
        {"APSMPI_ENABLE", "", "on", false},
        {"APSMPI_ENABLE", "NO", "off", true},
        {"APSMPI_ENABLE", "maybe", "on", false},
        {"APSMPI_CUDA_AWARE", NULL, NULL, false},
        {"APSMPI_CUDA_AWARE", "1", "on", true},
        {"APSMPI_SUMMARY", "json:a", "json:a", true},
        {"APSMPI_SUMMARY", "true", "on", true},
        {"APSMPI_DISCOVERY", NULL, "apsmpi-discovered", false},
        {"APSMPI_DISCOVERY", "on", "apsmpi-discovered", true},
        {"APSMPI_DISCOVERY", "0", "off", true},
        {"APSMPI_DISCOVERY", "mine", "mine", true},
        {"APSMPI_TEST_NODES", "3:cyclic", "3:cyclic", true},
        {"APSMPI_ON_ERROR", NULL, "stop", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct aps_option_state state;

        read_one(cases[i].set ? cases[i].name : NULL, cases[i].set);
        state = state_of(cases[i].name);
        is(state.value, cases[i].value, "state: %s=%s", cases[i].name,
           cases[i].set ? cases[i].set : "(unset)");
        ok(state.from_environment == cases[i].from_environment,
           "... and where it comes from");
    }
}

static void test_print(void)
{
    char *text = NULL;
    size_t size, lines = 0;
    FILE *stream = open_memstream(&text, &size);

    aps_options_print(stream);
    fclose(stream);
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    ok(lines == 18 && strstr(text, "APSMPI_POLICY") &&
           strstr(text, "APSMPI_TEST_NODES"),
       "help: a line a variable");
    free(text);
}

int main(void)
{
    test_bad();
    test_unknown();
    test_good();
    test_switches();
    test_several();
    test_states();
    test_print();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The policy at the end of a run whose formats were chosen while it ran: rules
 * of the layers, which the parser accepts, in place of {auto: ...}. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/chosen.h"
#include "tests/tap/tap.h"
#include "tests/unit/policy/policytext.h"

#define V "version: 1\n"
#define AUTO "format: {auto: [e3m2, e4m3, mx-e4m3fn], target: snr 20dB}"

/* Returns the text without comments, which must be a policy, or NULL. */
static char *chosen(const char *text, const char *table,
                    const struct aps_chosen_layer *layers, size_t count)
{
    static char kept[4096];
    struct aps_policy *policy = parse(text, table);
    const struct aps_policy_source source = {
        .path = (char *)"p.yaml", .text = (char *)text, .length = strlen(text)};
    char *written = NULL;
    size_t length;
    FILE *stream = open_memstream(&written, &length);
    struct aps_policy *again;

    if (!policy || !stream ||
        aps_chosen_write(stream, &source, policy, table ? "t.csv" : NULL, false,
                         layers, count) < 0)
        return NULL;
    fclose(stream);
    again = parse(written, table);
    ok(again && errors.warning_count == 0, "it is a policy");
    kept[0] = '\0';
    for (char *rest = written, *line; (line = strsep(&rest, "\n"));)
        if (strncmp(line, "  #", 3) != 0 && line[0])
            snprintf(kept + strlen(kept), sizeof kept - strlen(kept), "%s\n",
                     line);
    aps_policy_destroy(policy);
    aps_policy_destroy(again);
    free(written);
    return kept;
}

static void test_layers(void)
{
    static const struct aps_chosen_layer layers[] = {
        {1, 1, 3000, "b", 1, 0.05, 10, 40},  {1, 2, 3000, "c", 0, 0.05, 10, 40},
        {1, 3, 3000, "d", 0, 0.05, 10, 40},  {1, 4, 3000, NULL, -1, 0, 0, 0},
        {1, 6, 3000, NULL, 2, 0.05, 10, 40}, {1, 7, 3000, NULL, 0, 1, 10, 40},
    };

    is(chosen(V "steps: {calls: 9, per_epoch: 10}\nlog: \"a b.csv\"\nrules:\n"
                "  - {layers: first, format: fp32}\n"
                "  - {layers: 1-, name: rest, epochs: 2-, " AUTO
                ", scale: aps, reduce: {hierarchical: {group: 2}}}\n"
                "  - {format: e5m2}\n",
              NULL, layers, sizeof layers / sizeof *layers),
       V "steps: {calls: 9, per_epoch: 10}\nlog: \"a b.csv\"\nrules:\n"
         "  - {layers: first, format: fp32}\n"
         "  - {format: e3m2, name: rest-1, layers: [2-3, 7], epochs: 2-, "
         "scale: aps, reduce: {hierarchical: {group: 2}}}\n"
         "  - {format: e4m3, name: rest-2, layers: [1], epochs: 2-, scale: "
         "aps, reduce: {hierarchical: {group: 2}}}\n"
         "  - {format: mx-e4m3fn, name: rest-3, layers: [6], epochs: 2-, "
         "reduce: {hierarchical: {group: 2}}}\n"
         "  - {format: fp32, layers: 1-, name: rest, epochs: 2-}\n"
         "  - {format: e5m2}\n",
       "a rule for each format, and one for FP32, where the rule stood");
}

static void test_all_alike(void)
{
    static const struct aps_chosen_layer layers[] = {
        {0, 0, 3000, NULL, 1, 0.05, 10, 40},
        {0, 1, 3000, NULL, 1, 0.05, 10, 40},
    };

    is(chosen(V "rules:\n  - name: all\n    " AUTO "\n    scale: none\n", NULL,
              layers, 2),
       V "rules:\n  - {format: e4m3, name: all-1, layers: [0-1], scale: none}\n"
         "  - {format: fp32, name: all}\n",
       "layers that are all alike do not stand for those that were never met");
    is(chosen(V "rules:\n  - {layers: 0-1, " AUTO "}\n  - {layers: 5, "
                "format: {auto: [e5m2, fp32], target: err 0.1}}\n",
              NULL, layers, 2),
       V "rules:\n  - {format: e4m3, layers: [0-1]}\n"
         "  - {format: fp32, layers: 0-1}\n  - {layers: 5, format: "
         "{auto: [e5m2, fp32], target: \"err 0.1\"}}\n",
       "a rule of which no layer was met stays");
}

static void test_table(void)
{
    static const struct aps_chosen_layer layers[] = {
        {0, 0, 3000, NULL, 0, 0.05, 10, 40},
        {0, 2, 3000, NULL, 1, 0.05, 10, 40},
    };
    static const struct aps_chosen_layer alike[] = {
        {0, 0, 3000, NULL, 1, 0.05, 10, 40},
        {0, 2, 3000, NULL, 1, 0.05, 10, 40},
    };

    is(chosen(V "table: here/t.csv\nrules:\n  - {layers: 0-2, " AUTO "}\n",
              TABLE, layers, 2),
       V "table: t.csv\nrules:\n  - {format: e3m2, layers: [0]}\n"
         "  - {format: e4m3, layers: [2]}\n",
       "where a table tells that no layer is left, no rule is");
    is(chosen(V "table: t.csv\nrules:\n  - {layers: 0-2, " AUTO "}\n", TABLE,
              alike, 2),
       V "table: t.csv\nrules:\n  - {format: e4m3, layers: 0-2}\n",
       "... and one with the rule's own conditions where all are alike");
    is(chosen(V "layers: t.csv\nrules:\n  - {" AUTO "}\n", TABLE, layers, 2),
       V "table: t.csv\nrules:\n  - {format: e3m2, layers: [0]}\n"
         "  - {format: e4m3, layers: [2]}\n  - {format: fp32}\n",
       "others are in FP32");
}

static void test_counts(void)
{
    static const struct aps_chosen_layer layers[] = {
        {0, -1, 2000, NULL, 0, 0.05, 10, 40},
        {0, -1, 2500, NULL, 0, 0.05, 10, 40},
        {0, -1, 3000, NULL, -1, 0, 0, 0},
        {0, -1, 4000, NULL, 2, 0.05, 10, 40},
    };

    is(chosen(V "steps: none\nrules:\n  - {" AUTO
                ", min_count: 1500, max_count: 2^20, aps: on}\n",
              NULL, layers, 4),
       V "steps: none\nrules:\n"
         "  - {format: e3m2, min_count: 2000, max_count: 2500, aps: on}\n"
         "  - {format: mx-e4m3fn, min_count: 4000, max_count: 4000}\n"
         "  - {format: fp32, min_count: 1500, max_count: 2^20}\n",
       "without steps counts tell layers apart");
}

static void test_texts(void)
{
    static const struct aps_chosen_layer layer = {0,  0, 3000, "a\nb \"c\"",
                                                  -1, 0, 0,    0};

    is(chosen(V "x-note: [\"a: \\\"b\\\" \\\\\", '', '*c', {k: \"\\x01\"}]\n"
                "rules:\n  - {" AUTO "}\n",
              NULL, &layer, 1),
       V "x-note: [\"a: \\\"b\\\" \\\\\", \"\", \"*c\", {k: \"\\U00000001\"}]\n"
         "rules:\n  - {format: fp32}\n",
       "texts are quoted");
}

int main(void)
{
    test_layers();
    test_all_alike();
    test_table();
    test_counts();
    test_texts();
    return done_testing();
}

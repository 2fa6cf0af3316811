/* SPDX-License-Identifier: BSD-3-Clause */
/* What a policy is refused for: every message, with its line and column. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"
#include "tests/tap/tap.h"
#include "tests/unit/policytext.h"

struct bad {
    const char *what;
    const char *text;
    const char *errors;
};

static void refuse(const struct bad *cases, size_t count, const char *table)
{
    for (size_t i = 0; i < count; i++) {
        struct aps_policy *policy = NULL;

        ok(parse_bytes(cases[i].text, strlen(cases[i].text), table, &policy) <
                   0 &&
               !policy,
           "%s: refused", cases[i].what);
        is(all_errors(), cases[i].errors, "... with its place and cause");
        aps_policy_destroy(policy);
    }
}
#define REFUSE(cases, table)                                                   \
    refuse(cases, sizeof(cases) / sizeof(cases)[0], table)

static void test_bad_yaml(void)
{
    static const struct bad cases[] = {
        {"empty text", "", "1:1: nothing in it"},
        {"comments only", "# nothing\n\n", "1:1: nothing in it"},
        {"an empty document", "---\n",
         "2:1: a policy must be a mapping (key: value), not a single value"},
        {"a list", "- version: 1\n",
         "1:1: a policy must be a mapping (key: value), not a list"},
        {"a word", "policy\n",
         "1:1: a policy must be a mapping (key: value), not a single value"},
        {"a tab", "version: 1\nrules:\n\t- format: e5m2\n",
         "3:1: while scanning for the next token: found character that cannot "
         "start any token (a tab: indent with spaces)"},
        {"a tab behind UTF-8", "version: 1 # \xc3\xa4\xc3\xb6\n\trules: x\n",
         "2:1: while scanning for the next token: found character that cannot "
         "start any token (a tab: indent with spaces)"},
        {"an open bracket", "version: 1\nrules: [\n",
         "3:1: while parsing a flow node: did not find expected node content"},
        {"wrong indentation", "version: 1\n  rules: 2\n",
         "2:8: mapping values are not allowed in this context"},
        {"a pattern without quotes", RULE "format: e5m2\n    layers: *.bias\n",
         "4:14: while scanning an alias: did not find expected alphabetic or "
         "numeric character (quote a pattern that begins with '*')"},
        {"an alias", RULE "format: e5m2\n    layers: *bias\n",
         "4:13: aliases (*name) are not accepted; quote a pattern that begins "
         "with '*'"},
        {"an anchor", RULE "format: &a e5m2\n",
         "3:13: anchors (&name) are not accepted"},
        {"a merge key", RULE "&r\n    format: e5m2\n  - <<: *r\n",
         "3:5: anchors (&name) are not accepted\n"
         "5:5: unknown key '<<'; one of calls, layers, epochs, steps, "
         "min_count, max_count, format, scale, aps, reduce, group, node, "
         "accumulate\n"
         "5:5: the rule has no 'format'\n"
         "5:5: this rule is unreachable: the rule in line 3 matches "
         "everything\n"
         "5:9: aliases (*name) are not accepted; quote a pattern that begins "
         "with '*'"},
        {"a tag", "version: !!int 1\nrules:\n  - format: !x e5m2\n",
         "1:10: tags (!name) are not accepted\n"
         "3:13: tags (!name) are not accepted"},
        {"a tag and an anchor on collections",
         "version: 1\nrules: !!seq\n  - &a {format: e5m2}\n",
         "2:8: tags (!name) are not accepted\n"
         "3:5: anchors (&name) are not accepted"},
        {"two documents", TOP "  - format: e5m2\n---\nversion: 1\n",
         "4:1: a second document; a policy is one document"},
        {"a key that is a list", TOP "  - format: e5m2\n    [a]: b\n",
         "4:5: a key must be a single value"},
        {"bytes that are not UTF-8", "version: 1\n# \xff\n",
         "2:3: not UTF-8 text: invalid leading UTF-8 octet"},
        {"a control character", "version: 1\nlayers: \x01\n",
         "2:9: not UTF-8 text: control characters are not allowed"},
        {"an escaped NUL", RULE "format: \"e5m2\\0\"\n",
         "3:13: a value must not hold a NUL character"},
        {"a deep nest", "a: [[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]",
         "1:19: the YAML text is nested too deeply"},
    };

    REFUSE(cases, NULL);
}

#define NO_SIZE                                                                \
    "1:7: 'fuse' must be a whole number of bytes, KiB, MiB or GiB, or off, "   \
    "not "

static void test_bad_top(void)
{
    static const struct bad cases[] = {
        {"nothing but a key", "version: 1\n", "1:1: 'rules' is missing"},
        {"no version", "rules:\n  - format: e5m2\n",
         "1:1: 'version: 1' is missing: it says which policy language "
         "follows"},
        {"another version", "version: 2\nrules:\n  - format: e5m2\n",
         "1:10: unknown version 2; apsmpi " PACKAGE_VERSION " reads version 1"},
        {"a version with a point", "version: 1.0\nrules:\n  - format: e5m2\n",
         "1:10: 'version' must be a whole number, not '1.0'"},
        {"a version without a value", "version:\nrules:\n  - format: e5m2\n",
         "1:1: 'version' has no value"},
        {"rules that are a mapping", "version: 1\nrules: {format: e5m2}\n",
         "2:8: 'rules' must be a list (- ...)"},
        {"rules without a value", "version: 1\nrules:\n",
         "2:7: 'rules' must be a list (- ...)"},
        {"no rule", "version: 1\nrules: []\n", "2:8: 'rules' is an empty list"},
        {"an unknown key", "vresion: 1\n" TOP "  - format: e5m2\n",
         "1:1: unknown key 'vresion'; did you mean 'version'?"},
        {"a duplicate key", "version: 1\n" TOP "  - format: e5m2\n",
         "2:1: duplicate key 'version', first in line 1"},
        {"steps of another kind", "steps: 161\n" TOP "  - format: e5m2\n",
         "1:8: 'steps' must be auto or a mapping, {calls: N, per_epoch: N, "
         "order: backward}"},
        {"steps as a list", "steps: [auto]\n" TOP "  - format: e5m2\n",
         "1:8: 'steps' must be auto or a mapping, {calls: N, per_epoch: N, "
         "order: backward}"},
        {"numbers of steps",
         "steps: {calls: 0, per_epoch: -3, oder: x}\n" TOP "  - format: e5m2\n",
         "1:16: 'calls' must be at least 1\n"
         "1:30: 'per_epoch' must be a whole number, not '-3'\n"
         "1:34: unknown key 'oder'; did you mean 'order'?"},
        {"a number that is too large",
         "steps: {calls: 9223372036854775807}\n" TOP "  - format: e5m2\n",
         "1:16: 'calls' is too large: 9223372036854775807; the most is "
         "9223372036854775806"},
        {"an unknown order", "order: backwards\n" TOP "  - format: e5m2\n",
         "1:8: unknown order 'backwards'; did you mean 'backward'?"},
        {"an order in two places",
         "steps: {order: forward}\norder: backward\n" TOP "  - format: e5m2\n",
         "2:1: duplicate key 'order', first in line 1"},
        {"an unknown progress", "progress: threads\n" TOP "  - format: e5m2\n",
         "1:11: unknown progress 'threads'; did you mean 'thread'?"},
        {"a progress unlike any", "progress: on\n" TOP "  - format: e5m2\n",
         "1:11: unknown progress 'on'; one of calls, thread"},
        {"a progress that is a list",
         "progress: [thread]\n" TOP "  - format: e5m2\n",
         "1:11: 'progress' must be a single value, not a list"},
        {"a size without a value", "fuse:\n" TOP "  - format: e5m2\n",
         "1:1: 'fuse' has no value"},
        {"a size that is a list", "fuse: [4MiB]\n" TOP "  - format: e5m2\n",
         "1:7: 'fuse' must be a single value, not a list"},
        {"a negative size", "fuse: -4MiB\n" TOP "  - format: e5m2\n",
         NO_SIZE "'-4MiB'"},
        {"a size with a sign", "fuse: +4MiB\n" TOP "  - format: e5m2\n",
         NO_SIZE "'+4MiB'"},
        {"a fraction", "fuse: 1.5MiB\n" TOP "  - format: e5m2\n",
         NO_SIZE "'1.5MiB'"},
        {"a size with an exponent", "fuse: 4e6\n" TOP "  - format: e5m2\n",
         NO_SIZE "'4e6'"},
        {"a hexadecimal size", "fuse: 0x1000\n" TOP "  - format: e5m2\n",
         NO_SIZE "'0x1000'"},
        {"a unit without a number", "fuse: MiB\n" TOP "  - format: e5m2\n",
         NO_SIZE "'MiB'"},
        {"a size that is switched on", "fuse: on\n" TOP "  - format: e5m2\n",
         NO_SIZE "'on'"},
        {"two sizes", "fuse: 4MiB 1KiB\n" TOP "  - format: e5m2\n",
         NO_SIZE "'4MiB 1KiB'"},
        {"a decimal unit", "fuse: 4MB\n" TOP "  - format: e5m2\n",
         "1:8: unknown unit 'MB' of 'fuse'; did you mean 'MiB'?"},
        {"a unit in small letters", "fuse: '4  kib'\n" TOP "  - format: e5m2\n",
         "1:11: unknown unit 'kib' of 'fuse'; did you mean 'KiB'?"},
        {"a unit unlike any", "fuse: 4096bytes\n" TOP "  - format: e5m2\n",
         "1:11: unknown unit 'bytes' of 'fuse'; one of KiB, MiB, GiB"},
        {"a unit that is a letter", "fuse: 4M\n" TOP "  - format: e5m2\n",
         "1:8: unknown unit 'M' of 'fuse'; one of KiB, MiB, GiB"},
        {"a byte too many", "fuse: 1073741825\n" TOP "  - format: e5m2\n",
         "1:7: 'fuse' is too large: 1073741825; the most is 1 GiB"},
        {"more than a GiB", "fuse: 1048577 KiB\n" TOP "  - format: e5m2\n",
         "1:7: 'fuse' is too large: 1048577 KiB; the most is 1 GiB"},
        {"a size whose bytes overflow",
         "fuse: 17179869184GiB\n" TOP "  - format: e5m2\n",
         "1:7: 'fuse' is too large: 17179869184GiB; the most is 1 GiB"},
        {"a size beyond numbers",
         "fuse: 99999999999999999999\n" TOP "  - format: e5m2\n",
         "1:7: 'fuse' is too large: 99999999999999999999; the most is 1 GiB"},
        {"keys that are nearly right",
         "fuze: 4MiB\nprogres: calls\n" TOP "  - format: e5m2\n",
         "1:1: unknown key 'fuze'; did you mean 'fuse'?\n"
         "2:1: unknown key 'progres'; did you mean 'progress'?"},
        {"pcontrol that is neither on nor off",
         "pcontrol: 3\n" TOP "  - format: e5m2\n",
         "1:11: 'pcontrol' must be on or off, not '3'"},
        {"a log that is a name", "log: x.csv\n" TOP "  - format: e5m2\n",
         "1:6: 'log' (file, every) must be a mapping (key: value), not a "
         "single value"},
        {"a log without a file",
         "log: {every: 0, evry: 1}\n" TOP "  - format: e5m2\n",
         "1:1: 'log' has no 'file'\n"
         "1:14: 'every' must be at least 1\n"
         "1:17: unknown key 'evry'; did you mean 'every'?"},
        {"a log with an empty file",
         "log: {file: ''}\n" TOP "  - format: e5m2\n",
         "1:7: 'file' has no value"},
        {"a list where a value must be",
         "min_count: [5]\n" TOP "  - format: e5m2\n",
         "1:12: 'min_count' must be a single value, not a list"},
        {"a table that is a list", "layers: [a]\n" TOP "  - format: e5m2\n",
         "1:9: 'layers' must be a single value, not a list"},
        {"a table that nobody read", "layers: a.csv\n" TOP "  - format: e5m2\n",
         "1:9: layer table 'a.csv' was not read"},
    };

    REFUSE(cases, NULL);
}

static void test_bad_rules(void)
{
    static const struct bad cases[] = {
        {"a rule that is a word", RULE "e5m2\n",
         "3:5: a rule must be a mapping (key: value), not a single value"},
        {"an empty rule", RULE "{}\n", "3:5: the rule has no 'format'"},
        {"no format", RULE "aps: on\n", "3:5: the rule has no 'format'"},
        {"an unknown key", RULE "formt: e5m2\n",
         "3:5: unknown key 'formt'; did you mean 'format'?\n"
         "3:5: the rule has no 'format'"},
        {"a duplicate key", RULE "format: e5m2\n    format: e4m3\n",
         "4:5: duplicate key 'format', first in line 3"},
        {"keys of later versions",
         RULE "format: e5m2\n    rounding: stochastic\n    compress: x\n"
              "    feedback: on\n",
         "4:5: key 'rounding' is not in this version (" PACKAGE_VERSION ")\n"
         "5:5: key 'compress' is not in this version (" PACKAGE_VERSION ")\n"
         "6:5: key 'feedback' is not in this version (" PACKAGE_VERSION ")"},
        {"a format without a value", RULE "format:\n",
         "3:5: 'format' has no value"},
        {"too many exponent bits", RULE "format: e9m2\n",
         "3:13: format 'e9m2': exponent bits must be 1 to 8"},
        {"block formats",
         TOP "  - {min_count: 9999, format: bfp8/32}\n"
             "  - {min_count: 9998, format: mx-e4m3fn}\n"
             "  - {min_count: 9997, format: e4m3fn}\n"
             "  - {min_count: 9996, format: int8/64}\n"
             "  - {min_count: 9995, format: qsgd4/64}\n"
             "  - {min_count: 9994, format: ternary}\n"
             "  - {min_count: 9993, format: flex16}\n",
         "3:31: format 'bfp8/32' is not in this version (" PACKAGE_VERSION ")\n"
         "4:31: format 'mx-e4m3fn' is not in this version (" PACKAGE_VERSION
         ")\n"
         "5:31: format 'e4m3fn' is not in this version (" PACKAGE_VERSION ")\n"
         "6:31: format 'int8/64' is not in this version (" PACKAGE_VERSION ")\n"
         "7:31: format 'qsgd4/64' is not in this version (" PACKAGE_VERSION
         ")\n"
         "8:31: format 'ternary' is not in this version (" PACKAGE_VERSION ")\n"
         "9:31: format 'flex16' is not in this version (" PACKAGE_VERSION ")"},
        {"an unknown scale", RULE "format: e5m2\n    scale: aps_tight\n",
         "4:12: unknown scale 'aps_tight'; did you mean 'aps-tight'?"},
        {"a scale unlike any", RULE "format: e5m2\n    scale: big\n",
         "4:12: unknown scale 'big'; one of none, fixed, aps, aps-tight"},
        {"a scale of a later version",
         RULE "format: e5m2\n    scale: backoff\n",
         "4:12: scale 'backoff' is not in this version (" PACKAGE_VERSION ")"},
        {"a scale mapping of a later version",
         RULE "format: e5m2\n    scale: {logmax: 1}\n",
         "4:13: key 'logmax' is not in this version (" PACKAGE_VERSION ")"},
        {"fixed without its number", RULE "format: e5m2\n    scale: fixed\n",
         "4:12: 'fixed' needs its number: scale: {fixed: 1024}"},
        {"an empty scale", RULE "format: e5m2\n    scale: {}\n",
         "4:12: 'scale' is empty"},
        {"a fixed scale of 0", RULE "format: e5m2\n    scale: {fixed: 0}\n",
         "4:20: 'fixed' must be a finite number above 0, not '0'"},
        {"a negative fixed scale",
         RULE "format: e5m2\n    scale: {fixed: -2}\n",
         "4:20: 'fixed' must be a finite number above 0, not '-2'"},
        {"an infinite fixed scale",
         RULE "format: e5m2\n    scale: {fixed: inf}\n",
         "4:20: 'fixed' must be a finite number above 0, not 'inf'"},
        {"a fixed scale beyond floats",
         RULE "format: e5m2\n    scale: {fixed: 1e99}\n",
         "4:20: 'fixed' must be a finite number above 0, not '1e99'"},
        {"a fixed scale below floats",
         RULE "format: e5m2\n    scale: {fixed: 1e-99}\n",
         "4:20: 'fixed' must be a finite number above 0, not '1e-99'"},
        {"a fixed scale that is no number",
         RULE "format: e5m2\n    scale: {fixed: 1e}\n",
         "4:20: 'fixed' must be a finite number above 0, not '1e'"},
        {"a switch", RULE "format: e5m2\n    aps: maybe\n",
         "4:10: 'aps' must be on or off, not 'maybe'"},
        {"aps and scale", RULE "format: e5m2\n    aps: on\n    scale: aps\n",
         "5:5: 'aps' and 'scale' say the same thing: keep one"},
        {"scale and aps in one line",
         RULE "{format: e5m2, scale: aps, aps: on}\n",
         "3:32: 'aps' and 'scale' say the same thing: keep one"},
        {"an unknown reduction", RULE "format: e5m2\n    reduce: dirct\n",
         "4:13: unknown reduce 'dirct'; did you mean 'direct'?"},
        {"a reduction unlike any", RULE "format: e5m2\n    reduce: tree\n",
         "4:13: unknown reduce 'tree'; one of direct, hierarchical, ring, "
         "master, gather, auto"},
        {"a misspelt reduction is not held against its settings",
         RULE "format: e5m2\n    reduce: mastr\n    group: 16\n",
         "4:13: unknown reduce 'mastr'; did you mean 'master'?"},
        {"an unknown group", RULE "format: e5m2\n    group: packge\n",
         "4:12: unknown group 'packge'; did you mean 'package'?"},
        {"a group unlike any", RULE "format: e5m2\n    group: rack\n",
         "4:12: unknown group 'rack'; one of node, package, numa, l3, or a "
         "number"},
        {"a group of none", RULE "format: e5m2\n    group: 0\n",
         "4:12: 'group' must be at least 1"},
        {"a group that is too large",
         RULE "format: e5m2\n    group: 2147483648\n",
         "4:12: 'group' is too large: 2147483648; the most is 2147483647"},
        {"a group with a sign", RULE "format: e5m2\n    group: 4k\n",
         "4:12: 'group' must be a whole number, not '4k'"},
        {"an unknown node", RULE "format: e5m2\n    node: fp16\n",
         "4:11: unknown node 'fp16'; one of format, fp32"},
        {"an unknown accumulation", RULE "format: e5m2\n    accumulate: khan\n",
         "4:17: unknown accumulate 'khan'; did you mean 'kahan'?"},
        {"an accumulation unlike any",
         RULE "format: e5m2\n    accumulate: fp64\n",
         "4:17: unknown accumulate 'fp64'; one of fp32, format, kahan"},
        {"aps-tight where sums are cast",
         RULE "format: e5m2\n    accumulate: format\n    scale: aps-tight\n",
         "5:5: scale aps-tight contradicts accumulate: format (every sender "
         "would have its own scale); use aps"},
        {"aps-tight in a Kahan sum",
         RULE "format: e5m2\n    scale: aps-tight\n    accumulate: kahan\n",
         "4:5: scale aps-tight contradicts accumulate: kahan (every sender "
         "would have its own scale); use aps"},
        {"groups of a direct reduction",
         RULE "format: e5m2\n    reduce: direct\n    group: node\n"
              "    node: fp32\n",
         "5:5: 'group' contradicts reduce: direct; it goes with hierarchical, "
         "master or auto\n"
         "6:5: 'node' contradicts reduce: direct; it goes with hierarchical or "
         "auto"},
        {"all that a ring has not",
         RULE "format: e5m2\n    group: 4\n    node: format\n"
              "    reduce: ring\n    accumulate: kahan\n",
         "4:5: 'group' contradicts reduce: ring; it goes with hierarchical, "
         "master or auto\n"
         "5:5: 'node' contradicts reduce: ring; it goes with hierarchical or "
         "auto\n"
         "7:5: accumulate: kahan contradicts reduce: ring; it goes with "
         "direct, hierarchical or gather"},
        {"all that a gather has not",
         RULE "format: e5m2\n    reduce: gather\n    group: l3\n"
              "    node: fp32\n",
         "5:5: 'group' contradicts reduce: gather; it goes with hierarchical, "
         "master or auto\n"
         "6:5: 'node' contradicts reduce: gather; it goes with hierarchical or "
         "auto"},
        {"all that masters have not, tightly scaled",
         RULE "format: e5m2\n    reduce: master\n    group: 16\n"
              "    node: format\n    accumulate: kahan\n"
              "    scale: aps-tight\n",
         "6:5: 'node' contradicts reduce: master; it goes with hierarchical or "
         "auto\n"
         "7:5: accumulate: kahan contradicts reduce: master; it goes with "
         "direct, hierarchical or gather\n"
         "8:5: scale aps-tight contradicts accumulate: kahan (every sender "
         "would have its own scale); use aps"},
        {"a Kahan sum of whatever is fastest",
         RULE "{format: e5m2, reduce: auto, group: 2, accumulate: kahan}\n",
         "3:44: accumulate: kahan contradicts reduce: auto; it goes with "
         "direct, hierarchical or gather"},
        {"settings of fp32",
         RULE "format: fp32\n    scale: none\n    reduce: direct\n"
              "    accumulate: fp32\n",
         "4:5: 'scale' contradicts format: fp32, which leaves the call to MPI "
         "(e8m23 is the library's reduction of full floats)\n"
         "5:5: 'reduce' contradicts format: fp32, which leaves the call to MPI "
         "(e8m23 is the library's reduction of full floats)\n"
         "6:5: 'accumulate' contradicts format: fp32, which leaves the call to "
         "MPI (e8m23 is the library's reduction of full floats)"},
        {"aps of fp32", RULE "format: fp32\n    aps: off\n",
         "4:5: 'aps' contradicts format: fp32, which leaves the call to MPI "
         "(e8m23 is the library's reduction of full floats)"},
        {"e1m0, scaled tightly by default", RULE "format: e1m0\n",
         "3:13: format e1m0 has no finite value but zero, which scale "
         "aps-tight needs"},
        {"e1m0, scaled tightly", RULE "scale: aps-tight\n    format: e1m0\n",
         "3:12: format e1m0 has no finite value but zero, which scale "
         "aps-tight needs"},
        {"counts the wrong way round",
         RULE "format: e5m2\n    min_count: 5000\n    max_count: 4000\n",
         "5:16: max_count 4000 is below the rule's min_count 5000: it can "
         "never match"},
        {"a count below the policy's",
         RULE "format: e5m2\n    max_count: 1000\n",
         "4:16: max_count 1000 is below the policy's min_count 1024: the rule "
         "can never match"},
        {"a count that is a size", RULE "format: e5m2\n    min_count: 4K\n",
         "4:16: 'min_count' must be a whole number, not '4K'"},
        {"rules behind the one that matches all",
         RULE
         "format: e5m2\n  - format: e4m3\n  - format: e4m3\n    steps: 1\n",
         "4:5: this rule is unreachable: the rule in line 3 matches "
         "everything\n"
         "5:5: this rule is unreachable: the rule in line 3 matches "
         "everything"},
        {"a misspelt condition does not make the rest unreachable",
         RULE "format: e5m2\n    step: 5\n  - format: e4m3\n",
         "4:5: unknown key 'step'; did you mean 'steps'?"},
    };

    REFUSE(cases, NULL);
}

static void test_bad_calls(void)
{
    static const struct bad cases[] = {
        {"calls without a value", RULE "calls:\n    format: e5m2\n",
         "3:5: 'calls' has no value"},
        {"no call", RULE "calls: []\n    format: e5m2\n",
         "3:12: 'calls' is an empty list"},
        {"calls that are a mapping",
         RULE "calls: {reduce: on}\n    format: e5m2\n",
         "3:12: 'calls' must be a value or a list, not a mapping"},
        {"a list of lists",
         RULE "calls: [reduce, [reduce]]\n    format: e5m2\n",
         "3:21: items of 'calls' must be single values, not a list"},
        {"an empty item", RULE "calls: reduce,\n    format: e5m2\n",
         "3:19: 'calls' holds an empty item"},
        {"unknown calls",
         RULE "calls: [allredce, reduce-scatter, bcast]\n    format: e5m2\n",
         "3:13: unknown calls 'allredce'; did you mean 'allreduce'?\n"
         "3:23: unknown calls 'reduce-scatter'; did you mean "
         "'reduce_scatter'?\n"
         "3:39: unknown calls 'bcast'; one of allreduce, reduce_scatter, "
         "allgather, reduce"},
        {"a call twice",
         RULE "calls: reduce, allgather, reduce\n"
              "    format: e5m2\n",
         "3:31: 'calls' names 'reduce' twice"},
        {"misspelt calls are not held against settings",
         RULE "calls: [allgather, redce]\n    format: e5m2\n    layers: 0\n"
              "    reduce: ring\n    group: 2\n    accumulate: kahan\n",
         "3:24: unknown calls 'redce'; did you mean 'reduce'?"},
        {"layers of other calls",
         RULE "calls: [reduce, allgather]\n    layers: 0-3\n"
              "    format: fp32\n",
         "4:5: 'layers' contradicts calls: allgather, reduce; it goes with "
         "allreduce"},
        {"a way for other calls",
         RULE "calls: reduce\n    format: e5m2\n    reduce: direct\n"
              "    group: 4\n    node: fp32\n",
         "5:5: 'reduce' contradicts calls: reduce; it goes with allreduce\n"
         "6:5: 'group' contradicts calls: reduce; it goes with allreduce\n"
         "7:5: 'node' contradicts calls: reduce; it goes with allreduce"},
        {"sums of an allgather",
         TOP "  - {calls: allgather, max_count: 9999, format: e5m2, "
             "accumulate: format}\n"
             "  - {calls: allgather, format: e5m2, accumulate: kahan}\n",
         "3:55: accumulate: format contradicts calls: allgather; it goes with "
         "allreduce, reduce_scatter or reduce\n"
         "4:38: accumulate: kahan contradicts calls: allgather; it goes with "
         "allreduce, reduce_scatter or reduce"},
        {"a Kahan sum in a ring, for other calls too",
         RULE "calls: [allreduce, reduce]\n    format: e5m2\n"
              "    reduce: ring\n    accumulate: kahan\n",
         "6:5: accumulate: kahan contradicts reduce: ring; it goes with "
         "direct, hierarchical or gather"},
        {"settings of fp32, for other calls",
         RULE "calls: reduce\n    format: fp32\n    reduce: direct\n",
         "5:5: 'reduce' contradicts format: fp32, which leaves the call to MPI "
         "(e8m23 is the library's reduction of full floats)"},
        {"the same calls again",
         RULE "{format: e5m2, calls: [reduce, allgather]}\n"
              "  - {format: e4m3, calls: [allgather, reduce_scatter]}\n"
              "  - {format: e5m2, calls: [reduce_scatter, reduce]}\n"
              "  - {format: e5m2, calls: reduce, steps: 5}\n"
              "  - {format: e5m2, calls: allreduce}\n"
              "  - {format: e5m2}\n"
              "  - {format: e5m2, calls: [reduce, allreduce]}\n",
         "5:5: this rule is unreachable: the rules up to line 4 match all its "
         "calls\n"
         "6:5: this rule is unreachable: the rules up to line 3 match all its "
         "calls\n"
         "8:5: this rule is unreachable: the rule in line 7 matches "
         "everything\n"
         "9:5: this rule is unreachable: the rules up to line 7 match all its "
         "calls"},
        {"layers limit no other calls",
         RULE "{format: e5m2, layers: 0, calls: [allreduce, reduce]}\n"
              "  - {format: e4m3, calls: reduce}\n"
              "  - {format: e4m3}\n",
         "4:5: this rule is unreachable: the rules up to line 3 match all its "
         "calls"},
        {"a wrong rule for other calls covers nothing",
         RULE "{format: e5m2, calls: redce}\n  - {format: e4m3}\n"
              "  - {format: e4m3, calls: [reduce]}\n",
         "3:27: unknown calls 'redce'; did you mean 'reduce'?"},
    };

    REFUSE(cases, NULL);
}

static void test_bad_conditions(void)
{
    static const struct bad cases[] = {
        {"epochs without their length", RULE "format: e5m2\n    epochs: 0-3\n",
         "4:5: 'epochs' needs the length of an epoch (steps: {per_epoch: N} "
         "beside 'rules')"},
        {"an epoch with a wrong length says one thing",
         "steps: {per_epoch: x}\n" RULE "format: e5m2\n    epochs: 0-3\n",
         "1:20: 'per_epoch' must be a whole number, not 'x'"},
        {"backward epochs", EPOCH_RULE "epochs: 9-3\n    format: e5m2\n",
         "4:13: epochs '9-3' runs backwards"},
        {"epochs that are words",
         EPOCH_RULE "epochs: first\n    format: e5m2\n",
         "4:13: epochs 'first' is not a number or a range (N, A-B or A-)"},
        {"the column of an item",
         EPOCH_RULE "epochs: 1, 2,  x , 5-4\n    format: e5m2\n",
         "4:20: epochs 'x' is not a number or a range (N, A-B or A-)\n"
         "4:24: epochs '5-4' runs backwards"},
        {"the column of an item in quotes",
         EPOCH_RULE "epochs: '1, x'\n    format: e5m2\n",
         "4:17: epochs 'x' is not a number or a range (N, A-B or A-)"},
        {"the column of an item with escapes",
         EPOCH_RULE "epochs: \"\\x31, x\"\n    format: e5m2\n",
         "4:13: epochs 'x' is not a number or a range (N, A-B or A-)"},
        {"empty items", EPOCH_RULE "epochs: 1,,2,\n    format: e5m2\n",
         "4:15: 'epochs' holds an empty item\n"
         "4:18: 'epochs' holds an empty item"},
        {"an empty list", EPOCH_RULE "epochs: []\n    format: e5m2\n",
         "4:13: 'epochs' is an empty list"},
        {"no epochs", EPOCH_RULE "epochs:\n    format: e5m2\n",
         "4:5: 'epochs' has no value"},
        {"items that are lists",
         EPOCH_RULE "epochs: [0-3, [5], {a: b}, '']\n    format: e5m2\n",
         "4:19: items of 'epochs' must be single values, not a list\n"
         "4:24: items of 'epochs' must be single values, not a mapping\n"
         "4:32: 'epochs' holds an empty item"},
        {"epochs that are a mapping",
         EPOCH_RULE "epochs: {from: 3}\n    format: e5m2\n",
         "4:13: 'epochs' must be a value or a list, not a mapping"},
        {"steps that are no range", RULE "steps: 3+\n    format: e5m2\n",
         "3:12: steps '3+' is not a number or a range (N, A-B or A-)"},
        {"a step beyond numbers",
         RULE "steps: 99999999999999999999-\n    format: e5m2\n",
         "3:12: steps '99999999999999999999-' is too large"},
        {"backward layers", RULE "layers: 9-3\n    format: e5m2\n",
         "3:13: layers '9-3' runs backwards"},
        {"layers from the last on", RULE "layers: last-3\n    format: e5m2\n",
         "3:13: layers 'last-3' runs backwards"},
        {"layers down to the first", RULE "layers: 3-first\n    format: e5m2\n",
         "3:13: layers '3-first' runs backwards"},
        {"a layer beyond numbers",
         RULE "layers: 99999999999999999999\n    format: e5m2\n",
         "3:13: layer '99999999999999999999' is too large"},
        {"names without a table",
         RULE "layers: [fc.weight, lst]\n    format: e5m2\n",
         "3:14: layer name 'fc.weight' needs a layer table (layers: FILE "
         "beside 'rules')\n"
         "3:25: layer name 'lst' needs a layer table (layers: FILE beside "
         "'rules'); did you mean 'last'?"},
        {"a layer beyond the calls of a step",
         "steps: {calls: 4}\n" RULE "layers: 2-4\n    format: e5m2\n",
         "4:13: layer 4 is beyond the last: a step has 4 layers (0-3)"},
    };

    REFUSE(cases, NULL);
}

static void test_bad_names(void)
{
    static const struct bad cases[] = {
        {"no such name", NAMED_RULE "layers: fc.wieght\n    format: e5m2\n",
         "4:13: no layer of the table is named 'fc.wieght'; did you mean "
         "'fc.weight'?"},
        {"a name unlike any",
         NAMED_RULE "layers: embedding\n    format: e5m2\n",
         "4:13: no layer of the table is named 'embedding'"},
        {"no match", NAMED_RULE "layers: layer4.*\n    format: e5m2\n",
         "4:13: no layer of the table matches 'layer4.*'"},
        {"an index beyond the table",
         NAMED_RULE "layers: 0, 5, 3-7, 5-last, 6-\n    format: e5m2\n",
         "4:16: layer 5 is beyond the last: a step has 5 layers (0-4)\n"
         "4:19: layer 7 is beyond the last: a step has 5 layers (0-4)\n"
         "4:24: layer 5 is beyond the last: a step has 5 layers (0-4)\n"
         "4:32: layer 6 is beyond the last: a step has 5 layers (0-4)"},
        {"more calls than layers",
         "steps: {calls: 6}\n" NAMED_RULE "format: e5m2\n",
         "1:1: a step of 6 calls has more calls than the table has layers (5): "
         "each call carries one layer or more"},
    };

    REFUSE(cases, TABLE);
}

/* Names and indices are not held against a policy whose table is bad. */
static void test_bad_table(void)
{
    static const char text[] =
        NAMED_RULE "layers: fc.weight, 7\n    formt: e5m2\n";
    struct aps_policy *policy = NULL;

    ok(parse_bytes(text, strlen(text), "layer,name,count\n0,a,0\n", &policy) <
           0,
       "a bad table: refused");
    is(all_errors(),
       "t.csv:2:5: count must be above 0\n"
       "4:5: the rule has no 'format'\n"
       "5:5: unknown key 'formt'; did you mean 'format'?",
       "... with the table's errors under its own name");
}

static void test_many_errors(void)
{
    size_t size = 1000 * 32;
    char *text = calloc(1, size + sizeof TOP);
    struct aps_policy *policy = NULL;

    if (!text)
        bail_out("out of memory");
    strcpy(text, TOP);
    for (int i = 0; i < 1000; i++)
        strcat(text, "  - {format: e9m9}\n");
    ok(parse_bytes(text, strlen(text), NULL, &policy) < 0 &&
           errors.count == 1000,
       "all errors are counted, though not all are kept");
    free(text);
}

int main(void)
{
    test_bad_yaml();
    test_bad_top();
    test_bad_rules();
    test_bad_calls();
    test_bad_conditions();
    test_bad_names();
    test_bad_table();
    test_many_errors();
    return done_testing();
}

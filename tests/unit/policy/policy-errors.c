/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors in the YAML and at the top of a policy: every message, with its line
 * and column. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"
#include "tests/tap/tap.h"
#include "tests/unit/policy/policyerrors.h"

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
         "3:1: found character that cannot start any token (a tab: indent with "
         "spaces)"},
        {"a tab behind UTF-8", "version: 1 # \xc3\xa4\xc3\xb6\n\trules: x\n",
         "2:1: found character that cannot start any token (a tab: indent with "
         "spaces)"},
        {"an open bracket", "version: 1\nrules: [\n",
         "2:8: this bracket is not closed"},
        {"an open bracket without a newline", "version: 1\nrules: [{a: b",
         "2:9: this brace is not closed"},
        {"an open brace before another rule",
         RULE "{format: e5m2\n  - {format: e4m3}\n",
         "4:5: did not find expected ',' or '}'; the brace in line 3, column 5 "
         "is still open"},
        {"a brace inside a brace that is closed",
         RULE "{reduce: {master: 4}, format: e5m2\n",
         "3:5: this brace is not closed"},
        {"an open quote", RULE "{name: 'a, format: e5m2}\n# end\n",
         "3:12: this quote is not closed"},
        {"a comma that is missing", RULE "{format: 'e5m2' scale: aps}\n",
         "3:21: did not find expected ',' or '}'; the brace in line 3, column "
         "5 is still open"},
        {"a key without a colon", "version: 1\nrules\n",
         "2:1: could not find expected ':'"},
        {"wrong indentation of a key", "version: 1\nlog:\n   a: b\n  c: d\n",
         "4:3: did not find expected key"},
        {"wrong indentation", "version: 1\n  rules: 2\n",
         "2:8: mapping values are not allowed in this context"},
        {"a pattern without quotes", RULE "format: e5m2\n    layers: *.bias\n",
         "4:14: did not find expected alphabetic or numeric character (quote "
         "a pattern that begins with '*')"},
        {"an alias", RULE "format: e5m2\n    layers: *bias\n",
         "4:13: aliases (*name) are not accepted; repeat the keys, or quote a "
         "pattern that begins with '*'"},
        {"an anchor", RULE "format: &a e5m2\n",
         "3:13: anchors (&name) are not accepted; repeat the keys"},
        {"a merge key", RULE "&r\n    format: e5m2\n  - <<: *r\n",
         "3:5: anchors (&name) are not accepted; repeat the keys\n"
         "5:5: unknown key '<<'; YAML's merge is not accepted: repeat the "
         "keys\n"
         "5:5: the rule has no 'format'\n"
         "5:9: aliases (*name) are not accepted; repeat the keys, or quote a "
         "pattern that begins with '*'"},
        {"a tag", "version: !!int 1\nrules:\n  - format: !x e5m2\n",
         "1:10: tags (!name) are not accepted\n"
         "3:13: tags (!name) are not accepted"},
        {"a tag and an anchor on collections",
         "version: 1\nrules: !!seq\n  - &a {format: e5m2}\n",
         "2:8: tags (!name) are not accepted\n"
         "3:5: anchors (&name) are not accepted; repeat the keys"},
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

#define NO_THREADS                                                             \
    "1:10: 'threads' must be a whole number from 1 to 64, or auto, not "

static void test_bad_top(void)
{
    static const struct bad cases[] = {
        {"nothing but a key", "version: 1\n",
         "1:1: 'rules' is missing, and so is 'shadow', with which a policy "
         "needs "
         "none"},
        {"no version", "rules:\n  - format: e5m2\n",
         "1:1: 'version: 1' is missing: it says which policy language "
         "follows"},
        {"another version", "version: 2\nrules:\n  - format: e5m2\n",
         "1:10: this policy is written in version 2 of the language; "
         "apsmpi " PACKAGE_VERSION " reads version 1"},
        {"another version, and much that we do not know",
         "version: 20\nfoo: &a bar\nrules:\n  - *a\n  - {formt: *a}\n"
         "---\nmore: !x y\n",
         "1:10: this policy is written in version 20 of the language; "
         "apsmpi " PACKAGE_VERSION " reads version 1"},
        {"a newer library",
         "version: 1\nneeds: 99.0\nfoo: bar\nrules:\n  - {formt: e5m2}\n",
         "2:8: this policy needs apsmpi 99.0 or newer; this is "
         "apsmpi " PACKAGE_VERSION},
        {"a need that is not a version",
         "version: 1\nneeds: new\nrules:\n  - {format: e5m2}\n",
         "2:8: 'needs' must be a version of apsmpi such as " PACKAGE_VERSION
         ", not 'new'"},
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
         "1:8: 'steps' must be auto, none or a mapping, {calls: N, per_epoch: "
         "N, "
         "order: backward}"},
        {"steps as a list", "steps: [auto]\n" TOP "  - format: e5m2\n",
         "1:8: 'steps' must be auto, none or a mapping, {calls: N, per_epoch: "
         "N, "
         "order: backward}"},
        {"numbers of steps",
         "steps: {calls: 0, per_epoch: -3, oder: x}\n" TOP "  - format: e5m2\n",
         "1:16: 'calls' must be at least 1, not 0\n"
         "1:30: 'per_epoch' must be at least 1, not -3\n"
         "1:34: unknown key 'oder'; did you mean 'order'?"},
        {"a number that is too large",
         "steps: {calls: 9223372036854775807}\n" TOP "  - format: e5m2\n",
         "1:16: 'calls' is too large: 9223372036854775807; the most is "
         "9223372036854775806"},
        {"an unknown order", "order: backwards\n" TOP "  - format: e5m2\n",
         "1:8: unknown order 'backwards'; did you mean 'backward'?"},
        {"an order in two places",
         "steps: {order: forward}\norder: backward\n" TOP "  - format: e5m2\n",
         "2:1: 'order' is in 'steps' too (line 1); keep only that one"},
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
        {"no thread", "threads: 0\n" TOP "  - format: e5m2\n",
         NO_THREADS "'0'"},
        {"a thread too many", "threads: 65\n" TOP "  - format: e5m2\n",
         NO_THREADS "'65'"},
        {"a negative number of threads",
         "threads: -1\n" TOP "  - format: e5m2\n", NO_THREADS "'-1'"},
        {"a fraction of threads", "threads: 1.5\n" TOP "  - format: e5m2\n",
         NO_THREADS "'1.5'"},
        {"threads with a unit", "threads: 1Ki\n" TOP "  - format: e5m2\n",
         NO_THREADS "'1Ki'"},
        {"threads in words", "threads: many\n" TOP "  - format: e5m2\n",
         NO_THREADS "'many'"},
        {"threads beyond numbers",
         "threads: 99999999999999999999\n" TOP "  - format: e5m2\n",
         NO_THREADS "'99999999999999999999'"},
        {"a list of threads", "threads: [2]\n" TOP "  - format: e5m2\n",
         "1:10: 'threads' must be a single value, not a list"},
        {"keys that are nearly right",
         "fuze: 4MiB\nprogres: calls\n" TOP "  - format: e5m2\n",
         "1:1: unknown key 'fuze'; did you mean 'fuse'?\n"
         "2:1: unknown key 'progres'; did you mean 'progress'?"},
        {"operations of another kind",
         "operations: all\n" TOP "  - format: e5m2\n",
         "1:13: unknown operations 'all'; did you mean 'probe'?"},
        {"pcontrol that is neither on nor off",
         "pcontrol: 3\n" TOP "  - format: e5m2\n",
         "1:11: 'pcontrol' must be on or off, not '3'"},
        {"a log without a file",
         "log: {every: 0, evry: 1}\n" TOP "  - format: e5m2\n",
         "1:1: 'log' has no 'file'\n"
         "1:14: 'every' must be at least 1, not 0\n"
         "1:17: unknown key 'evry'; did you mean 'every'?"},
        {"a log with an empty file",
         "log: {file: ''}\n" TOP "  - format: e5m2\n",
         "1:7: 'file' has no value"},
        {"a list where a value must be",
         "min_count: [5]\n" TOP "  - format: e5m2\n",
         "1:12: 'min_count' must be a single value, not a list"},
        {"a table that is a list", "table: [a]\n" TOP "  - format: e5m2\n",
         "1:8: 'table' must be a single value, not a list"},
        {"two tables", "layers: a.csv\ntable: b.csv\n" TOP "  - format: e5m2\n",
         "1:1: 'layers' at the top is 'table' by its old name: keep 'table'\n"
         "2:8: layer table 'b.csv' was not read"},
        {"a table that nobody read", "layers: a.csv\n" TOP "  - format: e5m2\n",
         "1:9: layer table 'a.csv' was not read"},
    };

    REFUSE(cases, NULL);
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
    test_many_errors();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors in the conditions of a rule, and in layer tables. */
#include "config.h"

#include <string.h>

#include "policy/policy.h"
#include "tests/tap/tap.h"
#include "tests/unit/policy/policyerrors.h"

static void test_bad_conditions(void)
{
    static const struct bad cases[] = {
        {"epochs without their length", RULE "format: e5m2\n    epochs: 0-3\n",
         "4:5: 'epochs' needs the length of an epoch (steps: {per_epoch: N} "
         "next to 'rules')"},
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
        {"steps that are not a range", RULE "steps: 3+\n    format: e5m2\n",
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
         "3:14: layer name 'fc.weight' needs a layer table (table: FILE next "
         "to 'rules')\n"
         "3:25: layer name 'lst' needs a layer table (table: FILE next to "
         "'rules'); did you mean 'last'?"},
        {"a layer beyond the calls of a step",
         "steps: {calls: 4}\n" RULE "layers: 2-4\n    format: e5m2\n",
         "4:13: layer 4 is beyond the last: a step has 4 layers (0-3)"},
        {"a layer beyond the call of a step",
         "steps: {calls: 1}\n" RULE "layers: 2\n    format: e5m2\n",
         "4:13: layer 2 is beyond the last: a step has 1 layer (0-0)"},
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

/* If a policy's table is bad, its names and indices are not reported. */
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

int main(void)
{
    test_bad_conditions();
    test_bad_names();
    test_bad_table();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors in a rule: settings and calls. */
#include "config.h"

#include <stdio.h>

#include "policy/policy.h"
#include "tests/tap/tap.h"
#include "tests/unit/policy/policyerrors.h"

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
        {"roundings that are none",
         RULE "{max_count: 2000, format: e5m2, rounding: correlate}\n"
              "  - {max_count: 3000, format: e5m2,\n"
              "     rounding: {stochastic: {seed: -1}}}\n"
              "  - {format: e5m2, rounding: {nearest: {seed: 1}}}\n",
         "3:47: unknown rounding 'correlate'; did you mean 'correlated'?\n"
         "5:36: 'seed' must be at least 0, not -1\n"
         "6:41: 'nearest' takes no parameters"},
        {"names that are none",
         RULE "{name: 'a b', max_count: 2000, format: e5m2}\n"
              "  - {name: [x], max_count: 2000, format: e5m2}\n"
              "  - {name: 17, max_count: 3000, format: e5m2}\n"
              "  - {name: '', format: e5m2}\n",
         "3:14: 'name' may hold letters, digits, '-', '_' and '.' only: 'a b'\n"
         "4:12: 'name' must be a single value, not a list\n"
         "5:12: 'name' must hold a letter: '17' looks like a number\n"
         "6:6: 'name' has no value"},
        {"types that are none",
         RULE "{types: [float, half], format: e5m2}\n"
              "  - {types: int, format: e5m2}\n",
         "3:21: unknown types 'half'; did you mean 'fp16'?\n"
         "4:13: unknown types 'int'; one of float, bf16, fp16, double"},
        {"a name of two rules",
         RULE "{name: a, max_count: 2000, format: e5m2}\n"
              "  - {name: b, max_count: 3000, format: e5m2}\n"
              "  - {name: a, format: e5m2}\n",
         "5:12: the rule in line 3 has the name 'a', too"},
        {"a format without a value", RULE "format:\n",
         "3:5: 'format' has no value"},
        {"too many exponent bits", RULE "format: e12m2\n",
         "3:13: format 'e12m2': exponent bits must be 1 to 11"},
        {"a compressor is not a format",
         TOP "  - {min_count: 9994, format: ternary}\n",
         "3:31: unknown format 'ternary'; TernGrad is a compressor: compress: "
         "ternary"},
        {"a scale of blocks that scale themselves",
         TOP "  - {min_count: 9999, format: bfp7/64, scale: aps}\n"
             "  - {min_count: 9998, format: mx-e4m3fn, aps: on}\n"
             "  - {min_count: 9997, format: nvfp4, scale: {fixed: 4}}\n",
         "3:47: format bfp7/64 scales each block of 64 values by itself: leave "
         "'scale' out\n"
         "4:47: format mx-e4m3fn scales each block of 32 values by itself: "
         "leave 'aps' out\n"
         "5:45: format nvfp4 scales each block of 16 values by itself: leave "
         "'scale' out"},
        {"blocks of partial sums that are cut",
         RULE "format: e4m3\n    accumulate: {format: bfp7/576}\n",
         "4:26: partial sums in bfp7/576 have blocks of 576 values: slices in "
         "e4m3 begin elsewhere, at multiples of 64"},
        {"blocks that rarely end at a multiple of 64",
         RULE "format: bfp7/1000\n",
         "3:13: format 'bfp7/1000': blocks of 1000 values end at a multiple of "
         "64 values only every 8000: it must be at most 4096 (take a multiple "
         "of 64, or of 32)"},
        {"an unknown scale", RULE "format: e5m2\n    scale: aps_tigt\n",
         "4:12: unknown scale 'aps_tigt'; did you mean 'aps-tight'?"},
        {"a scale unlike any", RULE "format: e5m2\n    scale: big\n",
         "4:12: unknown scale 'big'; one of none, fixed, aps, aps-tight, "
         "backoff, logmax, underflow, unit, autoflex, delayed, dfxp"},
        {"fixed without its number", RULE "format: e5m2\n    scale: fixed\n",
         "4:12: 'fixed' needs its factor: scale: {fixed: 1024}"},
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
         "4:20: 'fixed' is too large: 1e99; the largest number of FP32 is "
         "3.4e+38"},
        {"a fixed scale below floats",
         RULE "format: e5m2\n    scale: {fixed: 1e-99}\n",
         "4:20: 'fixed' is too small: 1e-99; the smallest number of FP32 is "
         "1.4e-45"},
        {"a fixed scale that is not a number",
         RULE "format: e5m2\n    scale: {fixed: 1e}\n",
         "4:20: 'fixed' must be a finite number above 0, not '1e'; numbers are "
         "written as 0.5, 1e-3 or 2^14"},
        {"a switch", RULE "format: e5m2\n    aps: maybe\n",
         "4:10: 'aps' must be on or off, not 'maybe'"},
        {"aps and scale", RULE "format: e5m2\n    aps: on\n    scale: aps\n",
         "5:5: 'aps' and 'scale' have the same meaning; remove one of them"},
        {"scale and aps in one line",
         RULE "{format: e5m2, scale: aps, aps: on}\n",
         "3:32: 'aps' and 'scale' have the same meaning; remove one of them"},
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
         "4:12: 'group' must be at least 1, not 0"},
        {"a group that is too large",
         RULE "format: e5m2\n    group: 2147483648\n",
         "4:12: 'group' is too large: 2147483648; the most is 2147483647"},
        {"a group with a sign", RULE "format: e5m2\n    group: 4k\n",
         "4:12: 'group' must be a whole number, not '4k'; did you mean '4Ki'?"},
        {"an unknown node", RULE "format: e5m2\n    node: fp16\n",
         "4:11: unknown node 'fp16'; one of format, fp32"},
        {"an unknown accumulation", RULE "format: e5m2\n    accumulate: khan\n",
         "4:17: unknown accumulate 'khan'; did you mean 'kahan'?"},
        {"an accumulation unlike any",
         RULE "format: e5m2\n    accumulate: fp64\n",
         "4:17: unknown accumulate 'fp64'; without it a rank adds elements of "
         "double in FP64, and formats of up to e11m52 keep more bits of the "
         "sum than FP32"},
        {"aps-tight where sums are cast",
         RULE "format: e5m2\n    accumulate: format\n    scale: aps-tight\n",
         "5:5: scale aps-tight cannot be combined with accumulate: format "
         "(every sender would have its own scale); use aps"},
        {"aps-tight in a Kahan sum",
         RULE "format: e5m2\n    scale: aps-tight\n    accumulate: kahan\n",
         "4:5: scale aps-tight cannot be combined with accumulate: kahan "
         "(every sender would have its own scale); use aps"},
        {"groups of a direct reduction",
         RULE "format: e5m2\n    reduce: direct\n    group: node\n"
              "    node: fp32\n",
         "5:5: 'group' cannot be combined with reduce: direct; use it with "
         "hierarchical, master or auto\n"
         "6:5: 'node' cannot be combined with reduce: direct; use it with "
         "hierarchical or auto"},
        {"all that a ring has not",
         RULE "format: e5m2\n    group: 4\n    node: format\n"
              "    reduce: ring\n    accumulate: kahan\n",
         "4:5: 'group' cannot be combined with reduce: ring; use it with "
         "hierarchical, master or auto\n"
         "5:5: 'node' cannot be combined with reduce: ring; use it with "
         "hierarchical or auto\n"
         "7:5: accumulate: kahan cannot be combined with reduce: ring; use it "
         "with direct, hierarchical or gather"},
        {"all that a gather has not",
         RULE "format: e5m2\n    reduce: gather\n    group: l3\n"
              "    node: fp32\n",
         "5:5: 'group' cannot be combined with reduce: gather; use it with "
         "hierarchical, master or auto\n"
         "6:5: 'node' cannot be combined with reduce: gather; use it with "
         "hierarchical or auto"},
        {"all that masters have not, tightly scaled",
         RULE "format: e5m2\n    reduce: master\n    group: 16\n"
              "    node: format\n    accumulate: kahan\n"
              "    scale: aps-tight\n",
         "6:5: 'node' cannot be combined with reduce: master; use it with "
         "hierarchical or auto\n"
         "7:5: accumulate: kahan cannot be combined with reduce: master; use "
         "it with direct, hierarchical or gather\n"
         "8:5: scale aps-tight cannot be combined with accumulate: kahan "
         "(every sender would have its own scale); use aps"},
        {"a Kahan sum of whatever is fastest",
         RULE "{format: e5m2, reduce: auto, group: 2, accumulate: kahan}\n",
         "3:44: accumulate: kahan cannot be combined with reduce: auto; use it "
         "with direct, hierarchical or gather"},
        {"settings of fp32",
         RULE "format: fp32\n    scale: none\n    reduce: direct\n"
              "    accumulate: fp32\n",
         "4:5: 'scale' cannot be combined with format: fp32, which leaves the "
         "call to MPI (e8m23 is the library's FP32 reduction)\n"
         "5:5: 'reduce' cannot be combined with format: fp32, which leaves the "
         "call to MPI (e8m23 is the library's FP32 reduction)\n"
         "6:5: 'accumulate' cannot be combined with format: fp32, which leaves "
         "the call to MPI (e8m23 is the library's FP32 reduction)"},
        {"aps of fp32", RULE "format: fp32\n    aps: off\n",
         "4:5: 'aps' cannot be combined with format: fp32, which leaves the "
         "call to MPI (e8m23 is the library's FP32 reduction)"},
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
         "can never match; give min_count next to 'rules' to rewrite such "
         "layers, too"},
        {"a count that is a size", RULE "format: e5m2\n    min_count: 4K\n",
         "4:16: 'min_count' must be a whole number, not '4K'; did you mean "
         "'4Ki'?"},
        {"rules after the one that matches all",
         RULE
         "format: e5m2\n  - format: e4m3\n  - format: e4m3\n    steps: 1\n",
         "4:5: this rule is unreachable: the rule in line 3 matches "
         "everything\n"
         "5:5: this rule is unreachable: the rule in line 3 matches "
         "everything"},
        {"other errors are reported without those",
         RULE "format: e5m2\n  - format: e4m3\n  - format: e4m53\n",
         "5:13: format 'e4m53': mantissa bits must be 0 to 52"},
        {"a misspelt condition does not make the rest unreachable",
         RULE "format: e5m2\n    step: 5\n  - format: e4m3\n",
         "4:5: unknown key 'step'; did you mean 'steps'?"},
    };

    REFUSE(cases, NULL);
}

/* Keywords with parameters, in all their wrong forms. */
static void test_bad_parameters(void)
{
    static const struct bad cases[] = {
        {"two words", RULE "{format: e5m2, scale: {aps: on, fixed: 3}}\n",
         "3:37: 'scale' takes one word, and 'aps' precedes 'fixed'; write "
         "parameters in braces after the word: scale: {aps: {...}}"},
        {"a word that is switched off",
         RULE "{format: e5m2, scale: {aps: off}}\n",
         "3:33: 'aps' cannot be switched off here: name another word"},
        {"a value of a word without parameters",
         RULE "{format: e5m2, scale: {aps: 3}}\n",
         "3:33: 'aps' must be on or off, not '3'"},
        {"a parameter of a word without parameters",
         RULE "{format: e5m2, scale: {aps: {start: 3}}}\n",
         "3:34: 'aps' takes no parameters"},
        {"parameters that are a list",
         RULE "{format: e5m2, reduce: {master: [3]}}\n",
         "3:37: the parameters of 'master' must be a mapping (key: value), not "
         "a list"},
        {"an unknown parameter",
         RULE "{format: e5m2, reduce: {master: {groop: 3}}}\n",
         "3:38: unknown parameter 'groop'; did you mean 'group'?"},
        {"a parameter twice",
         RULE "{format: e5m2, reduce: {master: {group: 3, group: 4}}}\n",
         "3:48: duplicate key 'group', first in line 3"},
        {"a parameter out of bounds",
         RULE "{format: e5m2, reduce: {auto: {group: 0, node: fp8}}}\n",
         "3:43: 'group' must be at least 1, not 0\n"
         "3:52: unknown node 'fp8'; one of format, fp32"},
        {"a parameter in two places",
         RULE "{format: e5m2, reduce: {master: {group: 3}}, group: 4}\n",
         "3:50: 'group' is in the rule and in 'reduce'; remove one of them"},
        {"a parameter of another word",
         RULE "{format: e5m2, reduce: {ring: {group: 3}}}\n",
         "3:36: 'ring' takes no parameters"},
        {"a missing parameter", RULE "{format: e5m2, scale: {fixed: {}}}\n",
         "3:28: 'fixed' needs its factor: scale: {fixed: 1024}"},
        {"a word alone that needs a parameter",
         RULE "{format: e5m2, scale: {fixed}}\n",
         "3:28: 'fixed' needs its factor: scale: {fixed: 1024}"},
        {"a list", RULE "{format: e5m2, scale: [aps]}\n",
         "3:27: 'scale' must be a single value, not a list"},
        {"a mapping of others' keys only",
         RULE "{format: e5m2, scale: {x-a: 1}}\n", "3:27: 'scale' is empty"},
        {"sums in another format",
         RULE "{format: e5m2, reduce: ring, accumulate: {format: e8m7}}\n",
         "3:34: a format of sums that is not the rule's cannot be combined "
         "with reduce: ring; use it with direct, hierarchical or gather"},
        {"sums in a saturating format",
         RULE "{format: e4m3, accumulate: {format: e5m2-sat}}\n",
         "3:41: format 'e5m2-sat' does not saturate sums: what overflows would "
         "arrive as INF or NaN. Leave out '-sat'; scales with a state have "
         "on_overflow: saturate, as in scale: {backoff: {on_overflow: "
         "saturate}}"},
        {"chunks of nothing, of a part, of too much",
         RULE "{format: e5m2, max_count: 2000, accumulate: {chunk: 0}}\n"
              "  - {format: e5m2, max_count: 3000, accumulate: {chunk: 1.5}}\n"
              "  - {format: e5m2, max_count: 4000, accumulate: {chunk: 3Gi}}\n"
              "  - {format: e5m2, max_count: 5000, accumulate: {chunk: 64k}}\n"
              "  - {format: e5m2, accumulate: {chunk: }}\n",
         "3:57: 'chunk' must be at least 2, not 0\n"
         "4:57: 'chunk' must be a whole number, not '1.5'\n"
         "5:57: 'chunk' is too large: 3Gi; the most is 2147483647\n"
         "6:57: 'chunk' must be a whole number, not '64k'; did you mean "
         "'64Ki'?\n"
         "7:33: 'chunk' has no value"},
        {"chunks of a Kahan sum",
         RULE "{format: e5m2, accumulate: {chunk: 64, kahan: on}}\n",
         "3:33: 'chunk' cannot be combined with 'kahan'; remove one of them"},
        {"chunks without their size",
         RULE "{format: e5m2, accumulate: chunk}\n",
         "3:32: unknown accumulate 'chunk'; write accumulate: {chunk: 64}"},
        {"misspelt chunks",
         RULE "{format: e5m2, max_count: 2000, accumulate: {chnk: 64}}\n"
              "  - {format: e5m2, accumulate: {format: on, chnk: 64}}\n",
         "3:50: unknown parameter 'chnk'; did you mean 'chunk'?\n"
         "4:45: unknown parameter 'chnk'; did you mean 'chunk'?"},
        {"chunks where partial sums travel",
         RULE "{format: e5m2, reduce: ring, accumulate: {chunk: 8}}\n",
         "3:34: a sum in chunks cannot be combined with reduce: ring; use it "
         "with direct, hierarchical or gather"},
        {"chunks of an allgather",
         RULE "{calls: allgather, format: e5m2, accumulate: {chunk: 8}}\n",
         "3:38: accumulate: format cannot be combined with calls: allgather; "
         "use it with allreduce, reduce_scatter or reduce"},
        {"chunks of differing scales",
         RULE "{format: e5m2, scale: aps-tight, accumulate: {chunk: 8}}\n",
         "3:20: scale aps-tight cannot be combined with accumulate: format "
         "(every sender would have its own scale); use aps"},
        {"sums in no format",
         RULE "{format: e5m2, accumulate: {format: e9m7, khan: on}}\n",
         "3:41: format 'e9m7': wider than FP32, for rules with types: double\n"
         "3:47: unknown parameter 'khan'; did you mean 'kahan'?"},
    };

    REFUSE(cases, NULL);
}

static void test_bad_formats(void)
{
    static const struct bad cases[] = {
        {"capitals",
         RULE "{format: FP16, max_count: 2000}\n"
              "  - {format: E5M2}\n",
         "3:14: unknown format 'FP16'; did you mean 'fp16'? (small letters)\n"
         "4:14: unknown format 'E5M2'; did you mean 'e5m2'? (small letters)"},
        {"eight bits of some kind", RULE "{format: fp8}\n",
         "3:14: unknown format 'fp8'; fp8 is e4m3 or e5m2"},
        {"no format", RULE "{format: none}\n",
         "3:14: unknown format 'none'; 'native' leaves the call to MPI"},
        {"a misspelt name", RULE "{format: natve}\n",
         "3:14: unknown format 'natve'; did you mean 'native'?"},
        {"a saturating format", RULE "{format: e4m3-sat}\n",
         "3:14: format 'e4m3-sat' does not saturate sums: what overflows would "
         "arrive as INF or NaN. Leave out '-sat'; scales with a state have "
         "on_overflow: saturate, as in scale: {backoff: {on_overflow: "
         "saturate}}"},
        {"settings of native", RULE "{format: native, accumulate: fp32}\n",
         "3:22: 'accumulate' cannot be combined with format: native, which "
         "leaves the call to MPI (e8m23 is the library's FP32 reduction)"},
        {"bytes as a count",
         RULE "{format: e5m2, min_count: 64KiB, max_count: 1M}\n",
         "3:31: 'min_count' must be a whole number and no number of bytes, not "
         "'64KiB'; did you mean '64Ki'?\n"
         "3:49: 'max_count' must be a whole number, not '1M'; did you mean "
         "'1Mi'?"},
        {"a count beyond numbers",
         RULE "{format: e5m2, max_count: 9999999999Gi}\n",
         "3:31: 'max_count' is too large: 9999999999Gi; the most is "
         "9223372036854775806"},
        {"a power beyond numbers", RULE "{format: e5m2, max_count: 2^63}\n",
         "3:31: 'max_count' is too large: 2^63; the most is "
         "9223372036854775806"},
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
         RULE "calls: [allredce, reduce-scater, alltoall]\n    format: e5m2\n",
         "3:13: unknown calls 'allredce'; did you mean 'allreduce'?\n"
         "3:23: unknown calls 'reduce-scater'; did you mean "
         "'reduce_scatter'?\n"
         "3:38: unknown calls 'alltoall'; one of allreduce, reduce_scatter, "
         "allgather, reduce, bcast"},
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
         "4:5: 'layers' cannot be combined with calls: allgather, reduce; use "
         "it with allreduce"},
        {"a way for other calls",
         RULE "calls: reduce\n    format: e5m2\n    reduce: direct\n"
              "    group: 4\n    node: fp32\n",
         "5:5: reduce: direct cannot be combined with calls: reduce; use it "
         "with "
         "allreduce\n"
         "6:5: 'group' cannot be combined with calls: reduce; use it with "
         "allreduce\n"
         "7:5: 'node' cannot be combined with calls: reduce; use it with "
         "allreduce"},
        {"sums of an allgather",
         TOP "  - {calls: allgather, max_count: 9999, format: e5m2, "
             "accumulate: format}\n"
             "  - {calls: allgather, format: e5m2, accumulate: kahan}\n",
         "3:55: accumulate: format cannot be combined with calls: allgather; "
         "use it with allreduce, reduce_scatter or reduce\n"
         "4:38: accumulate: kahan cannot be combined with calls: allgather; "
         "use it with allreduce, reduce_scatter or reduce"},
        {"a Kahan sum in a ring, for other calls too",
         RULE "calls: [allreduce, reduce]\n    format: e5m2\n"
              "    reduce: ring\n    accumulate: kahan\n",
         "6:5: accumulate: kahan cannot be combined with reduce: ring; use it "
         "with direct, hierarchical or gather"},
        {"settings of fp32, for other calls",
         RULE "calls: reduce\n    format: fp32\n    reduce: direct\n",
         "5:5: 'reduce' cannot be combined with format: fp32, which leaves the "
         "call to MPI (e8m23 is the library's FP32 reduction)"},
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

int main(void)
{
    test_bad_rules();
    test_bad_parameters();
    test_bad_formats();
    test_bad_calls();
    return done_testing();
}

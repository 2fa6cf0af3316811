/* SPDX-License-Identifier: BSD-3-Clause */
/* Compressors: the meaning of their keywords in a policy, and their errors. */
#include "config.h"

#include <stdio.h>

#include "policy/policy.h"
#include "tests/tap/tap.h"
#include "tests/unit/policy/policyerrors.h"

#define STEPS "version: 1\nsteps: auto\nrules:\n  - "
#define SHAPES                                                                 \
    "layer,name,count,shape\n"                                                 \
    "0,conv,9408,64x3x7x7\n"                                                   \
    "1,bias,2048,2048\n"                                                       \
    "2,fc,20480,\n"

struct meaning {
    const char *rule; /* without its braces */
    struct aps_compressor compressor;
    bool feedback;
    const char *format;
};

static void test_meanings(void)
{
    static const struct meaning meanings[] = {
        {"compress: powersgd",
         {APS_COMPRESSOR_POWERSGD, {4, 1, 2, 0}},
         true,
         "e8m23"},
        {"compress: {powersgd: 2}",
         {APS_COMPRESSOR_POWERSGD, {2, 1, 2, 0}},
         true,
         "e8m23"},
        {"format: fp32, compress: {powersgd: {rank: 1, warm: off, "
         "min_ratio: 1.5, seed: 7}}, feedback: off",
         {APS_COMPRESSOR_POWERSGD, {1, 0, 1.5, 7}},
         false,
         "e8m23"},
        {"format: bf16, scale: none, compress: {powersgd: {rank: 1Ki}}",
         {APS_COMPRESSOR_POWERSGD, {1024, 1, 2, 0}},
         true,
         "e8m7"},
        {"compress: {mstopk+powersgd: {density: 0.2, rank: 1}}",
         {APS_COMPRESSOR_MSTOPK_POWERSGD, {1, 1, 2, 0, 0.2}},
         true,
         "e8m23"},
        {"compress: mstopk", {APS_COMPRESSOR_MSTOPK, {0.01}}, true, "e8m23"},
        {"format: e4m3, compress: {mstopk: {density: 0.001, seed: 3}}",
         {APS_COMPRESSOR_MSTOPK, {0.001, 3}},
         true,
         "e4m3"},
        {"compress: {topk: 1}, reduce: gather, feedback: off",
         {APS_COMPRESSOR_TOPK, {1}},
         false,
         "e8m23"},
        {"compress: {threshold: {value: 2^-10}}",
         {APS_COMPRESSOR_THRESHOLD, {0.01, 0x1p-10}},
         true,
         "e8m23"},
        {"compress: {threshold: 0.5}",
         {APS_COMPRESSOR_THRESHOLD, {0.01, 0.5}},
         true,
         "e8m23"},
        {"compress: ternary",
         {APS_COMPRESSOR_TERNARY, {2.5, 0}},
         false,
         "e8m23"},
        {"format: e8m23, scale: none, reduce: gather, feedback: on, "
         "compress: {ternary: {clip: 0, seed: 9}}",
         {APS_COMPRESSOR_TERNARY, {0, 9}},
         true,
         "e8m23"},
        {"format: fp32, reduce: direct, compress: {ternary: 1}",
         {APS_COMPRESSOR_TERNARY, {1, 0}},
         false,
         "e8m23"},
        {"compress: chunks",
         {APS_COMPRESSOR_CHUNKS, {0.1, 1024}},
         true,
         "e8m23"},
        {"format: e4m3, aps: on, reduce: ring, feedback: off, "
         "compress: {chunks: {density: 1, size: 32Ki}}",
         {APS_COMPRESSOR_CHUNKS, {1, 32768}},
         false,
         "e4m3"},
        {"compress: vote", {APS_COMPRESSOR_VOTE, {0}}, false, "e8m23"},
        {"reduce: gather, compress: {vote: {value: 1}}",
         {APS_COMPRESSOR_VOTE, {1}},
         false,
         "e8m23"},
        {"format: e3m0, feedback: on",
         {APS_COMPRESSOR_NONE, {0}},
         true,
         "e3m0"},
        {"format: e5m2, compress: none, feedback: off",
         {APS_COMPRESSOR_NONE, {0}},
         false,
         "e5m2"},
    };

    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        const struct meaning *meaning = &meanings[i];
        char text[512];
        struct aps_policy *policy;
        struct aps_plan plan;

        snprintf(text, sizeof text, STEPS "{%s}\n", meaning->rule);
        policy = parse(text, NULL);
        if (!ok(policy != NULL, "%s", meaning->rule))
            continue;
        resolve(policy, 0, 0, 5000, 0, 0, &plan);
        ok(plan.rewrite &&
               aps_compressor_equal(&plan.compressor, &meaning->compressor) &&
               plan.feedback == meaning->feedback,
           "... and it is what it says");
        is(plan.format.name, meaning->format, "... in its format");
        ok(aps_policy_steps(policy)->kind ==
               (aps_plan_remembers(&plan) ? APS_STEPS_AUTO : APS_STEPS_NONE),
           "... steps are looked for where something is remembered");
        aps_policy_destroy(policy);
    }
}

static void test_reductions(void)
{
    static const struct {
        const char *rule;
        enum aps_reduce_kind reduce;
    } rules[] = {
        {"compress: mstopk", APS_REDUCE_GATHER},
        {"compress: topk, reduce: direct", APS_REDUCE_DIRECT},
        {"compress: mstopk, reduce: hierarchical, group: 2",
         APS_REDUCE_HIERARCHICAL},
        {"compress: chunks", APS_REDUCE_HIERARCHICAL},
        {"compress: chunks, format: e4m3", APS_REDUCE_DIRECT},
        {"compress: vote", APS_REDUCE_DIRECT},
        {"compress: ternary", APS_REDUCE_DIRECT},
        {"compress: ternary, reduce: gather", APS_REDUCE_GATHER},
        {"compress: ternary, reduce: hierarchical, group: 2",
         APS_REDUCE_HIERARCHICAL},
    };

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        char text[256];
        struct aps_policy *policy;
        struct aps_plan plan;

        snprintf(text, sizeof text, STEPS "{%s}\n", rules[i].rule);
        policy = parse(text, NULL);
        if (!ok(policy != NULL, "%s", rules[i].rule))
            continue;
        resolve(policy, 0, 0, 5000, 0, 0, &plan);
        ok(plan.reduce == rules[i].reduce, "... goes by %s",
           aps_reduce_name(rules[i].reduce));
        aps_policy_destroy(policy);
    }
}

static void is_matrix(const struct aps_policy *policy, long layer, size_t count,
                      size_t rows, size_t columns, bool taken)
{
    struct aps_plan plan;

    resolve(policy, layer, 3, count, 0, 0, &plan);
    ok(plan.matrix.rows == rows && plan.matrix.columns == columns &&
           plan.matrix.count == count,
       "%zu elements, layer %ld, are a matrix of %zu x %zu", count, layer, rows,
       columns);
    ok(aps_plan_compresses(&plan) == taken, "... which is %scompressed",
       taken ? "" : "not ");
}

static void test_shapes(void)
{
    struct aps_policy *policy =
        parse("version: 1\ntable: t.csv\nmin_count: 1\nrules:\n"
              "  - {format: e5m2, compress: {powersgd: 4}}\n",
              SHAPES);

    if (!ok(policy != NULL, "a table with shapes"))
        return;
    is_matrix(policy, 0, 9408, 64, 147, true);
    is_matrix(policy, 1, 2048, 1, 2048, false);
    is_matrix(policy, 2, 20480, 144, 144, true);
    is_matrix(policy, -1, 16, 4, 4, false);
    aps_policy_destroy(policy);
}

static void test_errors(void)
{
    static const struct bad cases[] = {
        {"no rank", STEPS "{compress: {powersgd: 0}}\n",
         "4:27: 'powersgd' must be at least 1, not 0"},
        {"parameters as explain prints them",
         STEPS "{compress: powersgd rank 4}\n",
         "4:16: unknown compress 'powersgd rank 4'; write parameters in "
         "braces: compress: {powersgd: {rank: 4}}"},
        {"several of them", STEPS "{compress: \"powersgd rank 4, warm off\"}\n",
         "4:16: unknown compress 'powersgd rank 4, warm off'; write parameters "
         "in braces: compress: {powersgd: {...}}"},
        {"a parameter that there is not", STEPS "{compress: mstopk foo 3}\n",
         "4:16: unknown compress 'mstopk foo 3'; write parameters in braces: "
         "compress: {mstopk: {...}}"},
        {"a word with blanks",
         STEPS "{compress: mstopk + powersgd}\n"
               "  - {compress: {powersgd +mstopk: {rank: 2}}}\n",
         "4:16: unknown compress 'mstopk + powersgd'; did you mean "
         "'mstopk+powersgd'?\n"
         "5:17: unknown compress 'powersgd +mstopk'; did you mean "
         "'mstopk+powersgd'?"},
        {"a compressor as a key", STEPS "{powersgd: 4, format: e5m2}\n",
         "4:6: unknown key 'powersgd'; it is a compressor: compress: "
         "{powersgd: "
         "{...}}"},
        {"an unknown compressor", STEPS "{compress: {powersdg: 4}}\n",
         "4:17: unknown compress 'powersdg'; did you mean 'powersgd'?"},
        {"an unknown parameter", STEPS "{compress: {powersgd: {rnk: 4}}}\n",
         "4:28: unknown parameter 'rnk'; did you mean 'rank'?"},
        {"no steps", RULE "{format: e5m2, compress: powersgd}\n",
         "3:20: compress: powersgd keeps state of each layer, and only steps "
         "tell layers apart; write 'steps: auto' or a layer table ('table: "
         "FILE') next to 'rules'"},
        {"native", STEPS "{format: native, compress: powersgd}\n",
         "4:22: 'compress' cannot be combined with format: native, which "
         "leaves the call to MPI (e8m23 is the library's FP32 reduction)"},
        {"other calls",
         STEPS "{calls: [allreduce, allgather],"
               " compress: powersgd}\n",
         "4:37: compress: powersgd cannot be combined with calls: allgather; "
         "use it with allreduce"},
        {"a choice of reductions", STEPS "{reduce: auto, compress: powersgd}\n",
         "4:6: reduce: auto cannot be combined with compress: powersgd; name "
         "the reduction for its messages"},
        {"a scale with a state",
         STEPS "{format: e4m3, scale: backoff, compress: powersgd}\n",
         "4:20: scale backoff cannot be combined with compress: powersgd, "
         "whose messages are no gradients; use none, fixed, aps or aps-tight"},
        {"densities that are none",
         STEPS "{layers: 0, compress: {mstopk: 0}}\n"
               "  - {layers: 1, compress: {topk: {density: 2}}}\n"
               "  - {compress: threshold}\n",
         "4:36: 'mstopk' must be a number above 0 and at most 1, not '0'\n"
         "5:44: 'density' must be a number above 0 and at most 1, not '2'\n"
         "6:16: 'threshold' needs its value: compress: {threshold: {value: "
         "1e-3}}"},
        {"a reduction", STEPS "{compress: mstopk, reduce: ring}\n",
         "4:24: reduce: ring cannot be combined with compress: mstopk; use it "
         "with gather, direct or hierarchical"},
        {"what travels inside a group",
         STEPS "{compress: topk, reduce: {hierarchical: {node: fp32}}}\n"
               "  - {compress: topk, reduce: hierarchical, node: format}\n",
         "4:46: 'node' cannot be combined with compress: topk, which sends "
         "FP32 inside a group; leave it out\n"
         "5:44: 'node' cannot be combined with compress: topk, which sends "
         "FP32 inside a group; leave it out"},
        {"chunks of nothing",
         STEPS "{layers: 0, compress: {chunks: {size: 0}}}\n"
               "  - {compress: {chunks: 2}}\n",
         "4:43: 'size' must be at least 1, not 0\n"
         "5:25: 'chunks' must be a number above 0 and at most 1, not '2'"},
        {"chunks that are rounded at every hop",
         STEPS "{format: e4m3, compress: chunks, reduce: ring}\n",
         "4:38: 'feedback' of a format needs reduce: direct, not ring"},
        {"a vote that is to be remembered",
         STEPS "{compress: vote, feedback: on}\n",
         "4:22: 'feedback' cannot be combined with compress: vote, which loses "
         "magnitudes without bounds: use format: sign/64 with 'feedback: on' "
         "instead"},
        {"a vote in a format", STEPS "{format: e4m3, compress: {vote: -1}}\n",
         "4:37: 'vote' must be a finite number of at least 0, not '-1'"},
        {"a scale that is agreed",
         STEPS "{format: e4m3, compress: mstopk, aps: on}\n",
         "4:38: scale aps cannot be combined with compress: mstopk, whose "
         "messages differ from rank to rank; use none, fixed or aps-tight"},
        {"a reduction of digits", STEPS "{compress: ternary, reduce: ring}\n",
         "4:25: reduce: ring cannot be combined with compress: ternary; use it "
         "with direct, gather or hierarchical"},
        {"what digits travel as inside a group",
         STEPS "{compress: ternary, reduce: hierarchical, node: fp32}\n",
         "4:47: 'node' cannot be combined with compress: ternary, which sends "
         "integers inside a group; leave it out"},
        {"a vote of groups", STEPS "{compress: vote, reduce: hierarchical}\n",
         "4:22: reduce: hierarchical cannot be combined with compress: vote; "
         "use it with direct or gather"},
        {"a choice of reductions of digits",
         STEPS "{compress: ternary, reduce: auto}\n",
         "4:25: reduce: auto cannot be combined with compress: ternary; name "
         "the reduction for its messages"},
        {"a clip that is none", STEPS "{compress: {ternary: -1}}\n",
         "4:26: 'ternary' must be a number of at least 0 and at most 10000, "
         "not "
         "'-1'"},
        {"integers in a format",
         STEPS "{format: e4m3, aps: on, compress: ternary}\n"
               "  - {scale: {fixed: 2}, rounding: stochastic, "
               "compress: ternary}\n",
         "4:6: 'format' cannot be combined with compress: ternary, whose "
         "messages are integers; leave it out\n"
         "4:20: 'aps' cannot be combined with compress: ternary, whose "
         "messages are integers; leave it out\n"
         "5:6: 'scale' cannot be combined with compress: ternary, whose "
         "messages are integers; leave it out\n"
         "5:25: 'rounding' cannot be combined with compress: ternary, whose "
         "messages are integers; leave it out"},
        {"feedback without steps", RULE "{format: e5m2, feedback: on}\n",
         "3:20: 'feedback' keeps state of each layer, and only steps tell "
         "layers apart; write 'steps: auto' or a layer table ('table: FILE') "
         "next to 'rules'"},
        {"feedback of partial sums",
         STEPS "{format: e5m2, reduce: ring, feedback: on,"
               " accumulate: format}\n",
         "4:20: 'feedback' of a format needs reduce: direct, not ring\n"
         "4:34: 'feedback' cannot be combined with accumulate: format: partial "
         "sums have no residuals"},
    };

    REFUSE(cases, NULL);
}

/* Mistakes of authors who know the papers, or another library's manual. */
static void test_mistakes(void)
{
    static const struct bad cases[] = {
        {"no number", STEPS "{compress: {mstopk: 1%}}\n",
         "4:25: 'mstopk' must be a number above 0 and at most 1, not '1%'; "
         "numbers are written as 0.5, 1e-3 or 2^14"},
        {"a number of elements", STEPS "{compress: {topk: {k: 100}}}\n",
         "4:24: unknown parameter 'k'; one of density"},
        {"half a rank", STEPS "{compress: {powersgd: 1.5}}\n",
         "4:27: 'powersgd' must be a whole number, not '1.5'"},
        {"a rank beyond all", STEPS "{compress: {powersgd: 4096}}\n",
         "4:27: 'powersgd' is too large: 4096; the most is 1024"},
        {"a step to begin with",
         STEPS "{compress: {powersgd: {rank: 4, start: 1000}}}\n",
         "4:37: unknown parameter 'start'; one of rank, warm, min_ratio, seed"},
        {"a density of a rank", STEPS "{compress: {mstopk+powersgd: 0.1}}\n",
         "4:34: 'mstopk+powersgd' must be a whole number, not '0.1'"},
        {"two compressors", STEPS "{compress: [powersgd, mstopk]}\n",
         "4:16: 'compress' must be a single value, not a list"},
        {"two in one", STEPS "{compress: {powersgd: 4, mstopk: 0.1}}\n",
         "4:30: 'compress' takes one word, and 'powersgd' precedes 'mstopk'; "
         "write parameters in braces after the word: compress: {powersgd: "
         "{...}}"},
        {"the wrong way round", STEPS "{compress: powersgd+mstopk}\n",
         "4:16: unknown compress 'powersgd+mstopk'; did you mean "
         "'mstopk+powersgd'?"},
        {"large letters", STEPS "{compress: PowerSGD}\n",
         "4:16: unknown compress 'PowerSGD'; did you mean 'powersgd'? (small "
         "letters)"},
        {"a parameter beside the compressor",
         STEPS "{compress: powersgd, rank: 4}\n",
         "4:26: unknown key 'rank'; one of name, calls, types, communicators, "
         "layers, epochs, "
         "steps, "
         "min_count, max_count, format, scale, aps, reduce, group, node, "
         "accumulate, rounding, compress, feedback, shadow"},
        {"a format is not a compressor", STEPS "{compress: qsgd}\n",
         "4:16: unknown compress 'qsgd'; QSGD is a format: format: qsgd7/512"},
        {"compressors are not formats",
         STEPS "{layers: 0, format: ternary}\n"
               "  - {format: topk}\n",
         "4:25: unknown format 'ternary'; TernGrad is a compressor: compress: "
         "ternary\n"
         "5:14: unknown format 'topk'; elements are selected by a compressor: "
         "compress: {topk: 0.01}"},
        {"a threshold of nothing",
         STEPS "{compress: {threshold: {value: 0}}}\n",
         "4:36: 'value' must be a finite number above 0, not '0'"},
        {"feedback by half", STEPS "{compress: mstopk, feedback: maybe}\n",
         "4:34: 'feedback' must be on or off, not 'maybe'"},
        {"feedback without a format", STEPS "{feedback: on}\n",
         "4:5: the rule has no 'format'"},
        {"feedback of MPI's own sums", STEPS "{format: fp32, feedback: on}\n",
         "4:20: 'feedback' cannot be combined with format: fp32, which leaves "
         "the call to MPI (e8m23 is the library's FP32 reduction)"},
        {"feedback of other calls",
         STEPS "{format: e5m2, calls: [reduce_scatter], feedback: on}\n",
         "4:45: 'feedback' cannot be combined with calls: reduce_scatter; use "
         "it with allreduce"},
        {"feedback in groups",
         STEPS "{format: e5m2, reduce: hierarchical, feedback: on}\n",
         "4:20: 'feedback' of a format needs reduce: direct, not hierarchical"},
        {"sums that nobody makes",
         STEPS "{layers: 0, compress: topk, accumulate: kahan}\n"
               "  - {layers: 1, compress: topk, accumulate: format}\n"
               "  - {compress: ternary, accumulate: {chunk: 4}}\n",
         "4:33: 'accumulate' cannot be combined with compress: topk, whose "
         "messages are added up in FP32; leave it out\n"
         "5:33: 'accumulate' cannot be combined with compress: topk, whose "
         "messages are added up in FP32; leave it out\n"
         "6:25: 'accumulate' cannot be combined with compress: ternary, whose "
         "messages are added up exactly; leave it out"},
    };

    REFUSE(cases, NULL);
}

/* Shapes come from the table. */
static void test_bad_shapes(void)
{
    static const struct bad cases[] = {
        {"a shape of another product",
         "version: 1\ntable: t.csv\nrules:\n  - {compress: powersgd}\n",
         "t.csv:2:10: shape 64x3x7x7 has another number of elements than the "
         "count, 9400"},
    };

    REFUSE(cases, "layer,name,count,shape\n0,c,9400,64x3x7x7\n");
}

int main(void)
{
    test_meanings();
    test_shapes();
    test_reductions();
    test_errors();
    test_mistakes();
    test_bad_shapes();
    return done_testing();
}

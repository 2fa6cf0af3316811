/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The policy: rules over layers, epochs, steps and counts, resolved to a plan.
 *
 * A policy is parsed from a text, not from a file: the file need only exist
 * where rank 0 runs, which broadcasts the text. A struct aps_policy is
 * immutable after parsing and may be shared by threads.
 */
#ifndef APS_POLICY_POLICY_H
#define APS_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "number/format.h"
#include "base/error.h"
#include "compress/compressor.h"
#include "text/layer_table.h"
#include "scale/scale.h"

enum aps_reduce_kind {
    APS_REDUCE_DIRECT,
    APS_REDUCE_HIERARCHICAL,
    APS_REDUCE_RING,   /* hop by hop, slice by slice */
    APS_REDUCE_MASTER, /* members to their master, a ring of masters */
    APS_REDUCE_GATHER, /* everything to everyone, summed by each */
    APS_REDUCE_AUTO,   /* the fastest as measured, native MPI included */
    APS_REDUCE_KINDS
};

/* APS_REDUCE_AUTO keeps native unless it takes at least so many percent of the
 * fastest reduction's time, and so many microseconds, longer than that: a small gain
 * is not worth the rounding. The microseconds are what a short reduction takes longer
 * between the program's other work than in trials, which warm each other's caches: on
 * an EPYC of 2 cores 1 Ki floats by a ring 11 us instead of 5, by native MPI 7 instead
 * of 5 (tests/bench/allreduce --cold 8). */
#define APS_AUTO_GAIN_PERCENT 10
#define APS_AUTO_GAIN_US 3

enum aps_group_kind {
    APS_GROUP_NODE,
    APS_GROUP_PACKAGE,
    APS_GROUP_NUMA,
    APS_GROUP_L3,
    APS_GROUP_NUMBER /* group_size ranks each: of a node at most; of master
                        consecutive ranks, wherever they run */
};

enum aps_node_kind {
    APS_NODE_FORMAT, /* every contribution is rounded, inside a node too */
    APS_NODE_FP32    /* sums inside a group stay FP32, exact */
};

enum aps_accumulate_kind {
    APS_ACCUMULATE_FP32,
    APS_ACCUMULATE_FORMAT, /* every partial sum is rounded */
    APS_ACCUMULATE_KAHAN   /* so is its compensation, in Kahan's sum */
};

/* What the program calls: a rule names the calls that it is for. Large-count
 * variants are the same call, and so are nonblocking ones, and persistent ones of an
 * all-reduce. */
enum aps_call_kind {
    APS_CALL_ALLREDUCE,
    APS_CALL_REDUCE_SCATTER, /* MPI_Reduce_scatter_block too */
    APS_CALL_ALLGATHER,
    APS_CALL_REDUCE,
    APS_CALL_BCAST,
    APS_CALL_KINDS
};

/* What carries a nonblocking call on: the program's own calls of MPI, or a
 * progress thread of the library. */
enum aps_progress_kind { APS_PROGRESS_CALLS, APS_PROGRESS_THREAD };

/*
 * What happens to one layer at one step. `rewrite` false leaves the call to
 * MPI: no rule matched (rule -1), or the rule says fp32.
 */
struct aps_plan {
    bool rewrite;
    int rule; /* index of the rule in the file, from 0; -1: none matched */
    struct aps_format format;
    struct aps_scale scale;
    enum aps_reduce_kind reduce;
    enum aps_group_kind group;
    int group_size; /* of APS_GROUP_NUMBER */
    enum aps_node_kind node;
    enum aps_accumulate_kind accumulate;
    int chunk; /* of APS_ACCUMULATE_FORMAT: so many contributions are added up
                  by themselves, and then to the total; 0: one sum */
    struct aps_format sums; /* of partial sums, unless they are FP32: the format
                               itself or another */
    enum aps_rounding rounding; /* to the format: nearest, stochastic or
                                   correlated */
    uint32_t seed;              /* of the last two */
    /* Unless none, what travels is not the layer's values: then format, scale and
     * rounding say how that travels, and how layers do that it does not take
     * (aps_plan_compresses). */
    struct aps_compressor compressor;
    bool feedback; /* what a call leaves out is added to the layer's next one */
    struct aps_matrix matrix; /* the layer as one; of resolved plans */
    /* Of an all-reduce that is left to MPI: what its inputs are measured with all
     * the same; NULL: with nothing. It belongs to the policy. */
    const struct aps_shadow *shadow;
    /* Of an all-reduce: its format is chosen while the program runs, and this plan
     * is FP32 by a reduction of the library; NULL: it is not. It belongs to the
     * policy. */
    const struct aps_auto_format *auto_format;
};

/* Candidates: plans that rewrite, in the order of the policy, without what depends
 * on the layer (aps_policy_candidate). */
#define APS_SHADOW_MAX 16
struct aps_shadow {
    size_t count;
    struct aps_plan *plans; /* [count] */
};

/* What each layer keeps, whose format is chosen while the program runs. */
enum aps_target_kind {
    APS_TARGET_SNR, /* a signal-to-noise ratio in dB; its errors are relative ones
                       in the Euclidean norm */
    APS_TARGET_ERR /* a mean relative error */
};

struct aps_auto_format {
    struct aps_shadow
        formats; /* in the order of the policy; its plans are owned */
    enum aps_target_kind target;
    double stated;  /* the target as the policy has it */
    double most;    /* the greatest error that meets it, ... */
    double allowed; /* ... and meets it with the margin */
    double margin;  /* dB */
    long every;     /* steps between two measurements of a layer */
};

/* Does something else travel than values that nobody remembers: by a compressor,
 * or by a format with feedback? */
static inline bool aps_plan_is_compressed(const struct aps_plan *plan)
{
    return plan->compressor.kind != APS_COMPRESSOR_NONE || plan->feedback;
}

/* Of such a layer? A format with feedback takes all. */
static inline bool aps_plan_takes(const struct aps_plan *plan,
                                  const struct aps_matrix *matrix)
{
    if (plan->compressor.kind == APS_COMPRESSOR_NONE)
        return plan->feedback;
    return aps_compressor_ops_of(&plan->compressor)
        ->takes(&plan->compressor, matrix);
}

/* Does the compressor take the layer that the plan was resolved for? */
static inline bool aps_plan_compresses(const struct aps_plan *plan)
{
    return plan->rewrite && aps_plan_takes(plan, &plan->matrix);
}

/* Is something of each layer remembered from step to step, beside its scale's
 * state? Then layers must be told apart. */
static inline bool aps_plan_remembers(const struct aps_plan *plan)
{
    const struct aps_compressor_ops *ops =
        aps_compressor_ops_of(&plan->compressor);

    return plan->feedback || (ops->keeps && ops->keeps(&plan->compressor));
}

/* Where a layer stands when its plan is asked for. */
struct aps_plan_key {
    enum aps_call_kind call; /* all but an all-reduce have layer -1 */
    long layer;              /* index; -1 when the policy needs no step */
    long layers;      /* layers of a step, for `last`; 0 when not known */
    const char *name; /* from the layer table, or NULL */
    size_t count;     /* elements */
    long epoch;
    long step;
};

/* Of an all-reduce that carries layer i of the table, in step 0. */
struct aps_plan_key aps_plan_key_of(const struct aps_layers *table, size_t i);

enum aps_steps_kind {
    APS_STEPS_NONE,  /* no rule names layers, epochs or steps */
    APS_STEPS_AUTO,  /* detect the period */
    APS_STEPS_CALLS, /* stated: steps: {calls: N} */
    APS_STEPS_TABLE  /* a layer table says which calls make a step */
};

struct aps_policy_steps {
    enum aps_steps_kind kind;
    long calls;     /* as stated, beside a table too; 0: not stated */
    long per_epoch; /* steps of an epoch, 0: not stated */
    bool backward;  /* layers are reduced last first */
    bool none;      /* the policy says so: nothing but a rule's condition makes
                       the library look for steps */
};

struct aps_policy_log {
    const char *file; /* NULL: no log */
    long every;       /* sample steps 0, every, 2*every ...; default 100 */
    bool stated;      /* the policy says `every` */
};

/* What libapsgemm.so does with the matrix products of a program. */
struct aps_policy_gemm {
    bool rewrite; /* false: format fp32, products are left to the BLAS */
    struct aps_format format;      /* of inputs and products; in blocks of A */
    struct aps_format format_b;    /* of B: the same, or in blocks as long */
    struct aps_format accumulator; /* of partial sums and results */
    bool kahan;
    int chunk; /* terms of a chunk of the sum over k; 0: one sum */
};

struct aps_policy; /* opaque: rules are private to src/policy */

/*
 * Texts of a policy and of the layer table it names. All members are owned
 * (malloc) and freed by aps_policy_source_clear; layers_path and layers_text
 * are NULL when it names none.
 */
struct aps_policy_source {
    char *path;
    char *text; /* NUL-terminated */
    size_t length;
    char *layers_path;
    char *layers_text;
    size_t layers_length;
    char *shadow; /* candidates, instead of those of the policy (APSMPI_SHADOW);
                     NULL: none */
    const char *shadow_name; /* of these, for messages; NULL: APS_SHADOW_PATH */
};

/*
 * Read the file at `path` and the layer table that it names (relative to the
 * policy's directory). Missing, unreadable, too large (16 MiB), empty or
 * binary files are errors; errors of YAML or meaning are left to
 * aps_policy_parse, except where they hide the name of the table, and where the
 * table cannot be read: then they are reported, too. 0 or -1.
 */
int aps_policy_source_read(const char *path, struct aps_policy_source *source,
                           struct aps_errors *errors);
void aps_policy_source_clear(struct aps_policy_source *source);

/* The same of a policy that says no more than these candidates, which messages call
 * `name`. 0, or -1: out of memory. */
#define APS_SHADOW_PATH "APSMPI_SHADOW"
int aps_policy_source_shadow(const char *candidates, const char *name,
                             struct aps_policy_source *source);

/*
 * Parse a source. All errors are reported at once, sorted by place, each with
 * the nearest name for an unknown one; -1 if there was any. Warnings do not make
 * it fail. On success
 * *policy is a new object for aps_policy_destroy. The source is not kept.
 */
int aps_policy_parse(const struct aps_policy_source *source,
                     struct aps_policy **policy, struct aps_errors *errors);
void aps_policy_destroy(struct aps_policy *policy); /* NULL: nothing */

const struct aps_policy_steps *aps_policy_steps(const struct aps_policy *);
const struct aps_policy_log *aps_policy_log(const struct aps_policy *);

/* The section `gemm`, or NULL. A policy that has one may do without rules. */
const struct aps_policy_gemm *aps_policy_gemm(const struct aps_policy *);

/* Calls of fewer elements are not gradients: they are neither numbered nor
 * matched. Layers of fewer elements, inside larger calls, are numbered, and not
 * matched either. */
#define APS_MIN_COUNT ((size_t)1024) /* where the policy does not say */
size_t aps_policy_min_count(const struct aps_policy *);

/* What carries nonblocking calls on. */
enum aps_progress_kind aps_policy_progress(const struct aps_policy *);

/* Consecutive nonblocking all-reduces go together until they have so many bytes
 * of FP32; 0: each goes alone. */
size_t aps_policy_fuse(const struct aps_policy *);

/* Does MPI_Pcontrol switch the rewriting and mark epochs? */
bool aps_policy_pcontrol(const struct aps_policy *);

/* The layer table, or NULL. */
const struct aps_layers *aps_policy_layers(const struct aps_policy *);

/* Is there a rule for that call of the program? */
bool aps_policy_names(const struct aps_policy *policy, enum aps_call_kind call);

/* Do plans of such calls depend on the step itself (a rule with `steps:`)?
 * Otherwise they change with the epoch only. */
bool aps_policy_by_step(const struct aps_policy *policy,
                        enum aps_call_kind call);

/*
 * The first rule that matches `place`, as a plan. No allocation, no failure.
 * Calls other than an all-reduce have a single algorithm each, whatever the rule
 * says of all-reduces: `reduce` direct and no groups; an allgather accumulates nothing.
 */
void aps_policy_resolve(const struct aps_policy *policy,
                        const struct aps_plan_key *place,
                        struct aps_plan *plan);

/* What a rule plans for the all-reduce of a layer of the table; -1: no rule. */
void aps_policy_layer_plan(const struct aps_policy *policy, int rule,
                           size_t layer, struct aps_plan *plan);

/* Are any layers left to MPI and measured with candidates? */
bool aps_policy_shadows(const struct aps_policy *policy);

/* The candidates of a rule's layers, or, of -1, of those that no rule matches. */
const struct aps_shadow *aps_policy_shadow(const struct aps_policy *policy,
                                           int rule);

/* Candidate i of the layer at `place`, whose plan has that `shadow`, as if a rule
 * said so. */
void aps_policy_candidate(const struct aps_policy *policy,
                          const struct aps_plan_key *place,
                          const struct aps_shadow *shadow, size_t i,
                          struct aps_plan *plan);

/* The same of format i of plan->auto_format, a resolved plan; -1: none, the call is
 * left to MPI. `reduce: auto` stays. */
void aps_policy_choose(const struct aps_policy *policy,
                       const struct aps_plan_key *place, int i,
                       struct aps_plan *plan);

/* Are formats chosen while the program runs? */
bool aps_policy_chooses(const struct aps_policy *policy);

/* "snr 20dB", "err 0.1". Writes at most `size` bytes, returns `buffer`. */
char *aps_auto_format_target(const struct aps_auto_format *formats,
                             char *buffer, size_t size);

/* The share of the program's time that measuring candidates may take. */
double aps_policy_budget(const struct aps_policy *policy);

/*
 * The first epoch after `epoch`, the first step after `step`, at which a rule
 * for such calls starts or stops to match; -1: none. Between them plans stay as
 * they are.
 */
long aps_policy_next_epoch(const struct aps_policy *policy,
                           enum aps_call_kind call, long epoch);
long aps_policy_next_step(const struct aps_policy *policy,
                          enum aps_call_kind call, long step);

/* The rules, for people to read: how many, where rule 0, 1 ... stands in the
 * file (line and column), its name (NULL: it has none), the calls that it is for
 * (1 << enum aps_call_kind), what it plans, and when it matches such a call:
 * "layers 0-52, 60; epochs 30-", or "always" (writes at most `size` bytes,
 * returns `buffer`). */
size_t aps_policy_rules(const struct aps_policy *policy);
int aps_policy_rule_line(const struct aps_policy *policy, int rule);
int aps_policy_rule_column(const struct aps_policy *policy, int rule);
const char *aps_policy_rule_name(const struct aps_policy *policy,
                                 int rule); /* of -1: NULL */
const struct aps_plan *aps_policy_rule_plan(const struct aps_policy *policy,
                                            int rule);
unsigned aps_policy_rule_calls(const struct aps_policy *policy, int rule);
char *aps_policy_rule_when(const struct aps_policy *policy, int rule,
                           enum aps_call_kind call, char *buffer, size_t size);

/* Can an all-reduce of so many values, in some layer and at some time, be the
 * rule's: are they no fewer than min_count, no others than its conditions name, and
 * is there no rule in front of it that always takes them? */
bool aps_policy_rule_takes(const struct aps_policy *policy, int rule,
                           size_t count);

/* The least and the greatest (SIZE_MAX: there is none) of these counts, between
 * which rules in front of it may take some; false: the rule takes none. */
bool aps_policy_rule_counts(const struct aps_policy *policy, int rule,
                            size_t *least, size_t *most);

/* Names as a policy and the log spell them: "aps-tight", "direct", "numa". */
const char *aps_reduce_name(enum aps_reduce_kind kind);
const char *aps_group_name(enum aps_group_kind kind);
const char *aps_node_name(enum aps_node_kind kind);
const char *aps_call_name(enum aps_call_kind kind);
const char *aps_progress_name(enum aps_progress_kind kind);
const char *aps_accumulate_name(enum aps_accumulate_kind kind);

/* How a plan accumulates: "fp32", "format", "kahan", "format chunk 64", and with
 * sums in another format "e8m7", "e8m7 kahan", "e8m7 chunk 64". Writes at most
 * `size` bytes, returns `buffer`. */
#define APS_ACCUMULATE_TEXT_MAX 80
char *aps_plan_accumulate(const struct aps_plan *plan, char *buffer,
                          size_t size);

#endif

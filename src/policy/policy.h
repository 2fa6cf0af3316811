/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policy: rules over layers, epochs, steps and counts, which give each layer a
 * plan.
 *
 * A policy is parsed from a text, not from a file: only rank 0 needs the file,
 * and broadcasts the text. A struct aps_policy does not change after parsing,
 * and threads may share it.
 */
#ifndef APS_POLICY_POLICY_H
#define APS_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/element.h"
#include "number/format.h"
#include "base/error.h"
#include "compress/compressor.h"
#include "text/layer_table.h"
#include "text/ranges.h"
#include "scale/scale.h"

enum aps_reduce_kind {
    APS_REDUCE_DIRECT,
    APS_REDUCE_HIERARCHICAL,
    APS_REDUCE_RING,   /* slices travel from rank to rank */
    APS_REDUCE_MASTER, /* members send to their master; the masters form a
                          ring */
    APS_REDUCE_GATHER, /* each rank sends all its values to all ranks, and each
                          rank sums */
    APS_REDUCE_AUTO,   /* the fastest by measurement, native MPI included */
    APS_REDUCE_KINDS
};

/* APS_REDUCE_AUTO chooses native MPI unless MPI takes longer than the fastest
 * reduction by at least this percentage of that reduction's time and by at
 * least these microseconds, because a small gain does not justify rounding. The
 * microseconds are the time that a short reduction takes longer between the
 * program's other work than in trials, which keep each other's caches warm: 1 Ki
 * floats took 33 us instead of 12 by `hierarchical`, and 24 us instead of 17 by
 * native MPI (make bench-mpis, MPICH 4.0). */
#define APS_AUTO_GAIN_PERCENT 10
#define APS_AUTO_GAIN_US 5

enum aps_group_kind {
    APS_GROUP_NODE,
    APS_GROUP_PACKAGE,
    APS_GROUP_NUMA,
    APS_GROUP_L3,
    APS_GROUP_NUMBER /* groups of group_size ranks: at most that many ranks on
                        one node, or, with `master`, consecutive ranks on any
                        nodes */
};

enum aps_node_kind {
    APS_NODE_FORMAT, /* each contribution is rounded, inside a node too */
    APS_NODE_FP32    /* sums inside a group are FP32 */
};

enum aps_accumulate_kind {
    APS_ACCUMULATE_FP32,
    APS_ACCUMULATE_FORMAT, /* each partial sum is rounded */
    APS_ACCUMULATE_KAHAN   /* the compensation of Kahan's sum is rounded too */
};

/* Calls of the program, for which a rule can be. Large-count and nonblocking
 * variants belong to the same kind, and persistent ones of an all-reduce do. */
enum aps_call_kind {
    APS_CALL_ALLREDUCE,
    APS_CALL_REDUCE_SCATTER, /* and MPI_Reduce_scatter_block */
    APS_CALL_ALLGATHER,
    APS_CALL_REDUCE,
    APS_CALL_BCAST,
    APS_CALL_KINDS
};

/* Driver of nonblocking calls: the program's own MPI calls, or a progress
 * thread of the library. */
enum aps_progress_kind { APS_PROGRESS_CALLS, APS_PROGRESS_THREAD };

/*
 * Treatment of one layer at one step. If `rewrite` is false, the call goes to
 * MPI: no rule matched (`rule` is -1), or the rule has format fp32.
 */
struct aps_plan {
    bool rewrite;
    int rule; /* index of the rule in the file, from 0; -1: no rule matched */
    struct aps_format format;
    struct aps_scale scale;
    enum aps_reduce_kind reduce;
    enum aps_group_kind group;
    int group_size; /* for APS_GROUP_NUMBER */
    enum aps_node_kind node;
    enum aps_accumulate_kind accumulate;
    int chunk; /* for APS_ACCUMULATE_FORMAT: contributions that are summed
                  separately before they are added to the total; 0: one sum */
    struct aps_format sums;     /* format of partial sums that are not FP32 */
    enum aps_rounding rounding; /* nearest, stochastic or correlated */
    uint32_t seed;              /* seed of stochastic and correlated rounding */
    /* A compressor (unless the kind is NONE) sends other data than the values
     * of the layers that it takes (aps_plan_compresses). Format, scale and
     * rounding apply to these data, and to the values of all other layers. */
    struct aps_compressor compressor;
    bool feedback; /* the residual of a call is added to the layer's next
                      call */
    struct aps_matrix matrix; /* the layer as a matrix; set in resolved plans */
    /* For an all-reduce that goes to MPI: the candidates that are measured on
     * its inputs, or NULL. Owned by the policy. */
    const struct aps_shadow *shadow;
    /* For an all-reduce whose format is chosen while the program runs, in a
     * plan that reduces FP32 by the library: the formats; otherwise NULL. Owned
     * by the policy. */
    const struct aps_auto_format *auto_format;
};

/* Candidates: plans with `rewrite`, in the order of the policy, without the
 * settings that depend on the layer (aps_policy_candidate). */
#define APS_SHADOW_MAX 16
struct aps_shadow {
    size_t count;
    struct aps_plan *plans; /* [count] */
};

/* Bound that each layer meets if its format is chosen while the program
 * runs. */
enum aps_target_kind {
    APS_TARGET_SNR, /* signal-to-noise ratio in dB; errors are relative, in the
                       Euclidean norm */
    APS_TARGET_ERR  /* mean relative error */
};

struct aps_auto_format {
    struct aps_shadow
        formats; /* in the order of the policy; the plans are owned */
    enum aps_target_kind target;
    double stated;  /* target as written in the policy */
    double most;    /* greatest error that meets the target */
    double allowed; /* greatest error that meets it with the margin */
    double margin;  /* in dB */
    long every;     /* steps between two measurements of a layer */
};

/* True if calls send other data than encoded values, or have feedback. */
static inline bool aps_plan_is_compressed(const struct aps_plan *plan)
{
    return plan->compressor.kind != APS_COMPRESSOR_NONE || plan->feedback;
}

/* True if a compressor or feedback applies to such a layer; feedback applies to
 * all. */
static inline bool aps_plan_takes(const struct aps_plan *plan,
                                  const struct aps_matrix *matrix)
{
    if (plan->compressor.kind == APS_COMPRESSOR_NONE)
        return plan->feedback;
    return aps_compressor_takes(&plan->compressor, matrix);
}

/* True if the compressor takes the layer that the plan was resolved for. */
static inline bool aps_plan_compresses(const struct aps_plan *plan)
{
    return plan->rewrite && aps_plan_takes(plan, &plan->matrix);
}

/* True if each layer has state from step to step, apart from the state of its
 * scale. Layers must then be distinguished. */
static inline bool aps_plan_remembers(const struct aps_plan *plan)
{
    return plan->feedback || aps_compressor_keeps(&plan->compressor);
}

/* Layer and time for which a plan is resolved. */
struct aps_plan_key {
    enum aps_call_kind call; /* other calls than an all-reduce have layer -1 */
    enum aps_element element;
    int ranks;        /* size of the communicator; 0: not known, and conditions
                         on it are met */
    long layer;       /* index; -1 if the policy needs no step */
    long layers;      /* layers of a step, for `last`; 0: not known */
    const char *name; /* from the layer table, or NULL */
    size_t count;     /* elements */
    long epoch;
    long step;
};

/* Returns the key of an all-reduce that carries layer i of the table, in step
 * 0. */
struct aps_plan_key aps_plan_key_of(const struct aps_layers *table, size_t i);

enum aps_steps_kind {
    APS_STEPS_NONE,  /* no rule names layers, epochs or steps */
    APS_STEPS_AUTO,  /* the library detects the period */
    APS_STEPS_CALLS, /* stated: steps: {calls: N} */
    APS_STEPS_TABLE  /* a layer table defines the calls of a step */
};

struct aps_policy_steps {
    enum aps_steps_kind kind;
    long calls;     /* as stated, also with a table; 0: not stated */
    long per_epoch; /* steps of an epoch; 0: not stated */
    bool backward;  /* the last layer is reduced first */
    bool any;       /* the order of the calls of a step may change */
    bool none;      /* `steps: none`: the library looks for steps only if a
                       rule's condition needs them */
};

struct aps_policy_log {
    const char *file; /* NULL: no log */
    long every;       /* steps 0, every, 2*every ... are sampled; default 100 */
    bool stated;      /* the policy has `every` */
};

/* Effect of libapsgemm.so on the matrix products of a program: a rule, whose
 * conditions must all hold, and those that follow if they do not. */
struct aps_policy_gemm {
    bool by_dimension, by_product;
    struct aps_ranges dimensions; /* one of m, n and k is in them */
    struct aps_ranges products;   /* numbers of the process' products, from 0 */
    bool rewrite; /* false: format fp32; the BLAS computes all products */
    struct aps_format format;      /* format of inputs and products, or of A's
                                      blocks */
    struct aps_format format_b;    /* that of B: equal, or with blocks of equal
                                      length */
    struct aps_format accumulator; /* format of partial sums and results */
    bool kahan;
    int chunk; /* terms of a chunk of the sum over k; 0: one sum */
    enum aps_rounding rounding; /* rounding of inputs, nearest or stochastic, */
    uint32_t seed;              /* and its seed */
    struct aps_policy_gemm *next; /* owned; NULL: no rule, as format fp32 */
};

struct aps_policy; /* opaque; see source/object.h */

/*
 * Texts of a policy and of the layer table that it names. All members but
 * shadow_name are owned (malloc) and freed by aps_policy_source_clear.
 * layers_path and layers_text are NULL if it names no table.
 */
struct aps_policy_source {
    char *path;
    char *text; /* NUL-terminated */
    size_t length;
    char *layers_path;
    char *layers_text;
    size_t layers_length;
    char *shadow; /* candidates (APSMPI_SHADOW) that replace the policy's; NULL:
                     none */
    const char *shadow_name; /* their name in messages; NULL: APS_SHADOW_PATH */
};

/*
 * Reads the file at `path` and the layer table that it names, relative to the
 * policy's directory. A missing, unreadable, too large (policy: 1 MiB, table:
 * 16 MiB), empty or binary file is an error. Errors of YAML or of meaning are left to
 * aps_policy_parse, unless they hide the name of the table, or the table cannot
 * be read. Returns 0 or -1.
 */
int aps_policy_source_read(const char *path, struct aps_policy_source *source,
                           struct aps_errors *errors);
void aps_policy_source_clear(struct aps_policy_source *source);

/* Makes the source of a policy that has only these candidates, which messages
 * call `name`. Returns 0, or -1 if memory is missing. */
#define APS_SHADOW_PATH "APSMPI_SHADOW"
int aps_policy_source_shadow(const char *candidates, const char *name,
                             struct aps_policy_source *source);

/*
 * Parses a source. Reports all errors, sorted by line and column, with the
 * nearest name for an unknown one. Returns 0 with *policy, which the caller
 * destroys, or -1 after an error; warnings are not errors. Keeps nothing of the
 * source.
 */
int aps_policy_parse(const struct aps_policy_source *source,
                     struct aps_policy **policy, struct aps_errors *errors);
void aps_policy_destroy(struct aps_policy *policy); /* NULL is allowed */

const struct aps_policy_steps *aps_policy_steps(const struct aps_policy *);
const struct aps_policy_log *aps_policy_log(const struct aps_policy *);

/* Returns the first rule of the section `gemm`, or NULL. A policy with the section
 * needs no rules. */
const struct aps_policy_gemm *aps_policy_gemm(const struct aps_policy *);

/* Calls with fewer elements are not gradients: they have no number, and no rule
 * matches them. Smaller layers inside larger calls have a number, and no rule
 * matches them. */
#define APS_MIN_COUNT ((size_t)1024) /* default */
size_t aps_policy_min_count(const struct aps_policy *);

/* Returns the driver of nonblocking calls. */
enum aps_progress_kind aps_policy_progress(const struct aps_policy *);

/* Returns the bytes of FP32 up to which consecutive nonblocking all-reduces
 * form a batch; 0: each is reduced alone. */
size_t aps_policy_fuse(const struct aps_policy *);

/* Returns the number of threads of a rank that share long vectors, or
 * APS_THREADS_AUTO: the cores of the rank's binding, divided among the ranks
 * that have it. */
#define APS_THREADS_AUTO 0
int aps_policy_threads(const struct aps_policy *);

/* True if MPI_Pcontrol switches the rewriting and marks epochs. */
bool aps_policy_pcontrol(const struct aps_policy *);

/* Returns the layer table, or NULL. */
const struct aps_layers *aps_policy_layers(const struct aps_policy *);

/* True if a rule is for that call of the program. */
bool aps_policy_names(const struct aps_policy *policy, enum aps_call_kind call);

/* Gives the elements of all layers of the table that type. */
void aps_policy_set_type(struct aps_policy *policy, enum aps_element element);

/* Returns the types that rules are for: 1 << enum aps_element for each. `policy` may
 * be NULL, or have no rules: the types of a rule that names none. */
unsigned aps_policy_elements(const struct aps_policy *policy);

/* True if the library treats operations of the program that prove to add 16-bit
 * values as MPI_SUM. `policy` may be NULL. */
bool aps_policy_probes(const struct aps_policy *policy);

/* True if a rule has `reduce: auto`. `policy` may be NULL. */
bool aps_policy_measures(const struct aps_policy *policy);

/* True if plans of such calls depend on the step (a rule has `steps`).
 * Otherwise they change only with the epoch. */
bool aps_policy_by_step(const struct aps_policy *policy,
                        enum aps_call_kind call);

/*
 * Sets *plan to that of the first rule that matches `place`. Cannot fail. Calls
 * other than an all-reduce have `reduce` direct and no groups, whatever the
 * rule says; an allgather has no accumulation.
 */
void aps_policy_resolve(const struct aps_policy *policy,
                        const struct aps_plan_key *place,
                        struct aps_plan *plan);

/* Sets *plan to that of a rule (-1: none) for an all-reduce of the table's
 * layer. */
void aps_policy_layer_plan(const struct aps_policy *policy, int rule,
                           size_t layer, struct aps_plan *plan);

/* True if candidates are measured on any layers, which go to MPI. */
bool aps_policy_shadows(const struct aps_policy *policy);

/* Returns the candidates of the rule's layers; -1: of the layers without a
 * rule. */
const struct aps_shadow *aps_policy_shadow(const struct aps_policy *policy,
                                           int rule);

/* Sets *plan to candidate i for the layer at `place`, whose plan has that
 * `shadow`, as a rule with these settings would plan it. */
void aps_policy_candidate(const struct aps_policy *policy,
                          const struct aps_plan_key *place,
                          const struct aps_shadow *shadow, size_t i,
                          struct aps_plan *plan);

/* Replaces the resolved *plan by that of format i of plan->auto_format; -1: the
 * call goes to MPI. `reduce: auto` stays. */
void aps_policy_choose(const struct aps_policy *policy,
                       const struct aps_plan_key *place, int i,
                       struct aps_plan *plan);

/* True if formats are chosen while the program runs. */
bool aps_policy_chooses(const struct aps_policy *policy);

/* Writes "snr 20dB" or "err 0.1", at most `size` bytes. Returns `buffer`. */
char *aps_auto_format_target(const struct aps_auto_format *formats,
                             char *buffer, size_t size);

/* Returns the share of the program's time that measuring candidates may
 * take. */
double aps_policy_budget(const struct aps_policy *policy);

/*
 * Return the first epoch after `epoch`, or step after `step`, at which a rule
 * for such calls starts or stops to match; -1: none. Plans do not change before
 * it.
 */
long aps_policy_next_epoch(const struct aps_policy *policy,
                           enum aps_call_kind call, long epoch);
long aps_policy_next_step(const struct aps_policy *policy,
                          enum aps_call_kind call, long step);

/* Rules, to be shown: their number; line and column of rule 0, 1 ... in the
 * file; its name, or NULL; its calls (1 << enum aps_call_kind); its plan; and
 * the conditions under which it matches such a call: "layers 0-52, 60; epochs
 * 30-", or "always" (at most `size` bytes; returns `buffer`). */
size_t aps_policy_rules(const struct aps_policy *policy);
int aps_policy_rule_line(const struct aps_policy *policy, int rule);
int aps_policy_rule_column(const struct aps_policy *policy, int rule);
const char *aps_policy_rule_name(const struct aps_policy *policy,
                                 int rule); /* NULL for -1 */
const struct aps_plan *aps_policy_rule_plan(const struct aps_policy *policy,
                                            int rule);
unsigned aps_policy_rule_calls(const struct aps_policy *policy, int rule);
char *aps_policy_rule_when(const struct aps_policy *policy, int rule,
                           enum aps_call_kind call, char *buffer, size_t size);

/* True if the rule can match an all-reduce of `count` values, in some layer at
 * some time: the count is within min_count and the rule's own bounds, and no
 * earlier rule always matches it. */
bool aps_policy_rule_takes(const struct aps_policy *policy, int rule,
                           size_t count);

/* Sets the least and the greatest (SIZE_MAX: no bound) of these counts; earlier
 * rules may take counts between them. False if the rule takes no count. */
bool aps_policy_rule_counts(const struct aps_policy *policy, int rule,
                            size_t *least, size_t *most);

/* Names as in a policy and in the log: "aps-tight", "direct", "numa". */
const char *aps_reduce_name(enum aps_reduce_kind kind);
const char *aps_group_name(enum aps_group_kind kind);
const char *aps_node_name(enum aps_node_kind kind);
const char *aps_call_name(enum aps_call_kind kind);
const char *aps_progress_name(enum aps_progress_kind kind);
const char *aps_accumulate_name(enum aps_accumulate_kind kind);

/* Writes how a plan accumulates: "fp32", "format", "kahan", "format chunk 64",
 * and with sums in another format "e8m7", "e8m7 kahan", "e8m7 chunk 64". Writes
 * at most `size` bytes. Returns `buffer`. */
#define APS_ACCUMULATE_TEXT_MAX 80
char *aps_plan_accumulate(const struct aps_plan *plan, char *buffer,
                          size_t size);

#endif

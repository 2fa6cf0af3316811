/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scales: what a layer is multiplied by before the cast. All but `fixed` are
 * powers of two, and a scale exponent is the power. Exponents are pure
 * functions of numbers that all ranks know, or that travel in a block's header,
 * and are computed on exact values (frexp), never through log2f.
 *
 * A scale is a row of APS_SCALES, a file that fills its ops, and a test; its
 * parameters in a policy are a row of grammar/tables.c. Others ask for what its
 * ops say, never for its kind.
 */
#ifndef APS_SCALE_SCALE_H
#define APS_SCALE_SCALE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/ops.h"
#include "number/format.h"

/* The kind, the ops, and the word of a policy and of the log. */
#define APS_SCALES(ROW)                                                        \
    ROW(NONE, none, "none")                                                    \
    ROW(FIXED, fixed, "fixed") /* multiply by a constant */                    \
    ROW(APS, aps, "aps")       /* the paper's, N = ranks of the stage */       \
    ROW(APS_TIGHT, aps_tight, "aps-tight") /* each block by its own maximum */ \
    ROW(BACKOFF, backoff, "backoff") /* less after an overflow, more later */  \
    ROW(LOGMAX, logmax, "logmax")    /* of log-normally distributed maxima */  \
    ROW(UNDERFLOW, underflow, "underflow") /* so that few values become 0 */   \
    ROW(UNIT, unit, "unit") /* a deviation of 1 at the beginning */            \
    ROW(AUTOFLEX, autoflex, "autoflex") /* by maxima and their deviation */    \
    ROW(DELAYED, delayed, "delayed")    /* by the greatest of many calls */    \
    ROW(DFXP, dfxp, "dfxp")             /* a step up or down at a time */

#define APS_SCALE_KIND(kind, ops, word) APS_SCALE_##kind,
enum aps_scale_kind { APS_SCALES(APS_SCALE_KIND) APS_SCALE_KINDS };
#undef APS_SCALE_KIND

/* A scale of a plan. All zeros: none. */
#define APS_SCALE_PARAMETERS 8
struct aps_scale {
    enum aps_scale_kind kind;
    /* In the order of the scale's parameters in grammar/tables.c: numbers; 0 or
     * 1 of a switch; the index of a word. 0 beyond the last. */
    double parameters[APS_SCALE_PARAMETERS];
};

/* What becomes of a call in which a finite value is scaled beyond the format's
 * largest: of scales that choose the exponent before they see the data. */
enum aps_overflow {
    APS_OVERFLOW_REDO,     /* its chunk is reduced again, scaled by APS */
    APS_OVERFLOW_INF,      /* the value arrives as INF, or as NaN */
    APS_OVERFLOW_SATURATE, /* the value arrives as the largest one */
    APS_OVERFLOW_ZERO      /* the whole layer arrives as zeros */
};
#define APS_OVERFLOW_KINDS (APS_OVERFLOW_ZERO + 1)

/* Who shares a state: the calls of a layer, or all layers of a rule. */
enum aps_scale_scope { APS_SCOPE_LAYER, APS_SCOPE_MODEL };

/*
 * What all ranks know of a call when it is complete; of `scope: model`, of all
 * calls of a step together. Magnitudes are of finite values, 0 for none.
 */
struct aps_scale_record {
    float in_max;   /* greatest of all values that a rank cast first */
    float sum_max;  /* greatest of all sums before they were cast */
    bool over;      /* a finite value was rounded beyond the largest one */
    bool nonfinite; /* there was an INF or a NaN */
};

/* Of the finite values of all ranks, added in rank order. */
struct aps_scale_moments {
    double max; /* greatest magnitude */
    double n, sum, sum_squares;
    double nonzero, sum_log, sum_log_squares; /* of ln|x|, x not 0: of
                                                 APS_QUESTION_LOG_MOMENTS */
};

/* What a state has to learn, by a message, before the data of a call. */
enum aps_scale_question {
    APS_QUESTION_NONE,
    APS_QUESTION_MAX,       /* of aps_scale_moments, max alone */
    APS_QUESTION_MOMENTS,   /* all but what is of ln|x| */
    APS_QUESTION_LOGARITHMS /* all of it */
};

/* The exponents of a call. */
struct aps_scale_prediction {
    int exponent;     /* of what the ranks cast first */
    int sum_exponent; /* of sums */
};

struct aps_scale_ops {
    /*
     * Does the exponent follow from a state, before the data is seen? Bytes of
     * the state, plain memory without pointers, and zeros are a state that has
     * seen nothing. NULL: the scale keeps no state. All that follows depends on
     * the arguments alone, which are equal on all ranks; `ranks` is how many
     * contributions a sum has.
     *
     * A call asks `question`, passes the answer to `learn` if there is one,
     * takes `predict`, and at its end gives `update` the record.
     */
    size_t (*state_bytes)(const struct aps_scale *scale);
    enum aps_scale_question (*question)(const struct aps_scale *scale,
                                        const void *state);
    void (*learn)(const struct aps_scale *scale, void *state,
                  const struct aps_format *format, int ranks,
                  const struct aps_scale_moments *moments);
    struct aps_scale_prediction (*predict)(const struct aps_scale *scale,
                                           const void *state,
                                           const struct aps_format *format,
                                           int ranks);
    void (*update)(const struct aps_scale *scale, void *state,
                   const struct aps_format *format, int ranks,
                   const struct aps_scale_record *record);

    /* What the policy lets the scale fall to. NULL: anything. */
    double (*least)(const struct aps_scale *scale);

    /* The parameter that takes the layer's value of the layer table's column
     * `scale`, or -1. NULL: none. */
    int (*table)(const struct aps_scale *scale);

    /* Of scales with a state: which parameters say what becomes of an overflow
     * (enum aps_overflow) and whose the state is (enum aps_scale_scope); -1: a
     * layer's. */
    int on_overflow;
    int scope;

    /* Do the ranks of a stage agree on one exponent before the data, so that a
     * message of exponents precedes them? What they agree on is the MAX of
     * aps_scale_max_exponent. */
    bool agreed;

    /* Must the magnitude of a block be known when it is encoded? With a state it
     * must, in any case: for the record. */
    bool needs_magnitude;

    /* Has each block an exponent of its own, so that what is decoded depends on
     * where blocks begin? Then it needs the magnitude, and the exponent lets no
     * finite value of the block overflow. */
    bool per_block;

    /* The exponent of a stage whose ranks have agreed on max_exponent,
     * APS_EXPONENT_ZERO for zeros. Of scales that are agreed. */
    int (*stage_exponent)(const struct aps_scale *scale,
                          const struct aps_format *format, int max_exponent);

    /* The exponent of a block whose greatest finite magnitude is max, 0 for
     * zeros. Of scales per block. */
    int (*block_exponent)(const struct aps_scale *scale,
                          const struct aps_format *format, float max);

    /* What values are multiplied by, a float above 0, where the policy says it;
     * exponents then are 0. NULL: 2^exponent. */
    double (*value)(const struct aps_scale *scale);

    /* How a person reads it; at most `size` bytes. NULL: the name. */
    void (*describe)(const struct aps_scale *scale, char *buffer, size_t size);

    /* Of scales with a state, what they do at the first call and later, in
     * sentences; at most `size` bytes. */
    void (*behave)(const struct aps_scale *scale,
                   const struct aps_format *format, char *buffer, size_t size);

    /* Why the scale can hardly work with that format, which does not scale its
     * blocks itself, as a sentence without its stop; false where nothing is
     * known against it. NULL: never is. */
    bool (*doubt)(const struct aps_scale *scale,
                  const struct aps_format *format, char *buffer, size_t size);
};

#define APS_SCALE_OPS(kind, ops, word)                                         \
    extern const struct aps_scale_ops aps_scale_ops_##ops;
APS_SCALES(APS_SCALE_OPS)
#undef APS_SCALE_OPS

/* By kind; the names end with NULL. */
extern const struct aps_scale_ops *const aps_scales[APS_SCALE_KINDS];
extern const char *const aps_scale_names[APS_SCALE_KINDS + 1];

static inline const struct aps_scale_ops *
aps_scale_ops_of(const struct aps_scale *scale)
{
    return aps_scales[scale->kind];
}

const char *aps_scale_name(const struct aps_scale *scale);

/* The same kind with the same parameters? */
bool aps_scale_equal(const struct aps_scale *a, const struct aps_scale *b);

/* The name, and the value if the policy says it: "fixed 1024". Returns
 * `buffer`. */
char *aps_scale_describe(const struct aps_scale *scale, char *buffer,
                         size_t size);

/*
 * Scales with a state (state_bytes): 0 for those without. The state is zeros
 * when it is new; predictions are within -400 ... 400.
 */
size_t aps_scale_state_bytes(const struct aps_scale *scale);
enum aps_scale_question aps_scale_question(const struct aps_scale *scale,
                                           const void *state);
void aps_scale_learn(const struct aps_scale *scale, void *state,
                     const struct aps_format *format, int ranks,
                     const struct aps_scale_moments *moments);
struct aps_scale_prediction aps_scale_predict(const struct aps_scale *scale,
                                              const void *state,
                                              const struct aps_format *format,
                                              int ranks);
/* Is the next call's scale the least that the policy lets it fall to, so that no
 * overflow makes it less? Then *least is that. */
bool aps_scale_is_min(const struct aps_scale *scale, const void *state,
                      const struct aps_format *format, int ranks,
                      double *least);

/* What held only zeros, an INF or a NaN changes nothing. */
void aps_scale_update(const struct aps_scale *scale, void *state,
                      const struct aps_format *format, int ranks,
                      const struct aps_scale_record *record);

/* What the question asks of x[n], which a rank contributes; the rest is 0. In
 * the order of the elements, whatever the CPU. */
struct aps_scale_moments aps_scale_moments_of(const float *x, size_t n,
                                              enum aps_scale_question question);

/* Add a rank's moments to those of the ranks before it. */
void aps_scale_moments_add(struct aps_scale_moments *sum,
                           const struct aps_scale_moments *term);

/* Of a scale with a state, its parameters. */
enum aps_overflow aps_scale_on_overflow(const struct aps_scale *scale);
enum aps_scale_scope aps_scale_scope(const struct aps_scale *scale);

/*
 * May a finite value of magnitude `max` be rounded beyond the format's largest
 * finite one, where it is multiplied by 2^exponent? Exactly those values that
 * the codec counts as overflows (aps_encode_stats), or, where rounding draws
 * random bits, that it counts for some of them. CPD's quirks (E = 1) are left
 * out; of flexN, -2^(N-1) is counted as its opposite is. Not of formats whose
 * blocks scale themselves.
 */
bool aps_scale_overflows(const struct aps_format *format, float max,
                         int exponent, enum aps_rounding rounding);

/* The parameter, as an index, that takes what the layer table's column `scale`
 * has for the layer; -1: none. */
int aps_scale_table(const struct aps_scale *scale);

/* The exponent of a stage; 0 where the scale is not agreed. */
int aps_scale_stage_exponent(const struct aps_scale *scale,
                             const struct aps_format *format, int max_exponent);

/* The exponent of a block of a stage: the stage's unless scales are per block.
 * `magnitude` is zeros unless the scale needs it. */
int aps_scale_block_exponent(const struct aps_scale *scale,
                             const struct aps_format *format,
                             struct aps_magnitude magnitude,
                             int stage_exponent);

/* How a codec multiplies a block of that exponent; not bounded. */
struct aps_scaling aps_scale_scaling(const struct aps_scale *scale,
                                     int exponent);

/* What the values of a block of that exponent are multiplied by. */
double aps_scale_value(const struct aps_scale *scale, int exponent);

#endif

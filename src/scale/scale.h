/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scales: the factors of a layer before the cast. All except `fixed` are powers
 * of two, and a scale exponent is the power. Exponents are pure functions of
 * numbers that all ranks know, or that travel in a block's header, and are
 * computed on exact values (frexp), never by log2f.
 *
 * A scale is a row of APS_SCALES, a file that fills its ops, and a test; its
 * parameters in a policy are a row of grammar/tables.c. Other code calls its
 * ops, and never tests its kind.
 */
#ifndef APS_SCALE_SCALE_H
#define APS_SCALE_SCALE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/ops.h"
#include "number/format.h"

/* The kind, the ops, and the word in policies and in the log. */
#define APS_SCALES(ROW)                                                        \
    ROW(NONE, none, "none")                                                    \
    ROW(FIXED, fixed, "fixed") /* multiply by a constant */                    \
    ROW(APS, aps, "aps")       /* the paper's, N = ranks of the stage */       \
    ROW(APS_TIGHT, aps_tight, "aps-tight") /* each block by its own maximum */ \
    ROW(BACKOFF, backoff, "backoff") /* less after an overflow, more later */  \
    ROW(LOGMAX, logmax, "logmax")    /* by log-normally distributed maxima */  \
    ROW(UNDERFLOW, underflow, "underflow") /* few values become 0 */           \
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

/* Effect of a finite value that is scaled beyond the format's largest one, for
 * scales that choose the exponent before they see the data. */
enum aps_overflow {
    APS_OVERFLOW_REDO,     /* its chunk is reduced again, scaled by APS */
    APS_OVERFLOW_INF,      /* the value arrives as INF, or as NaN */
    APS_OVERFLOW_SATURATE, /* the value arrives as the largest one */
    APS_OVERFLOW_ZERO      /* the whole layer arrives as zeros */
};
#define APS_OVERFLOW_KINDS (APS_OVERFLOW_ZERO + 1)

/* The owner of a state: the calls of a layer, or all layers of a rule. */
enum aps_scale_scope { APS_SCOPE_LAYER, APS_SCOPE_MODEL };

/* Facts of a complete call that all ranks know; with `scope: model`, of all
 * calls of a step together. Magnitudes are of finite values, 0 for none. */
struct aps_scale_record {
    float in_max;   /* greatest of all contributions */
    float sum_max;  /* greatest of all sums before they were cast */
    bool over;      /* a finite value was rounded beyond the largest one */
    bool nonfinite; /* there was an INF or a NaN */
};

/* Moments of the finite values of all ranks, added in rank order. */
struct aps_scale_moments {
    double max; /* greatest magnitude */
    double n, sum, sum_squares;
    double nonzero, sum_log,
        sum_log_squares; /* sums of ln|x|, x not 0; only for
                                                 APS_QUESTION_LOGARITHMS */
};

/* The moments that a state needs, by a message, before the data of a call. */
enum aps_scale_question {
    APS_QUESTION_NONE,
    APS_QUESTION_MAX,       /* only max */
    APS_QUESTION_MOMENTS,   /* all except those of ln|x| */
    APS_QUESTION_LOGARITHMS /* all */
};

/* The exponents of a call. */
struct aps_scale_prediction {
    int exponent;     /* contributions */
    int sum_exponent; /* sums */
};

struct aps_scale_ops {
    /*
     * The bytes of the state from which the exponent follows, before the data
     * is seen: plain memory without pointers, zeros when it is new. 0: the
     * scale has no state. The results of the functions below depend
     * only on their arguments, which are equal on all ranks; `ranks` is the
     * number of contributions in a sum.
     *
     * A call asks `question`, passes the answer to `learn` if there is one,
     * uses `predict`, and at its end gives the record to `update`.
     */
    size_t state_bytes;
    size_t call_bytes; /* more for each call of a history, parameter 0 */
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

    int least; /* index of the parameter that bounds the scale; 0: none */

    /* Index of the parameter that the layer table's column `scale` sets, or -1;
     * may be NULL. */
    int (*table)(const struct aps_scale *scale);

    /* For scales with a state: indices of the parameters for the effect of an
     * overflow (enum aps_overflow) and the owner of the state (enum
     * aps_scale_scope); -1: the layer. */
    int on_overflow;
    int scope;

    /* True if the ranks of a stage agree on one exponent before the data, by a
     * message of exponents: the MAX of aps_scale_max_exponent, and
     * aps_scale_aps makes it theirs. */
    bool agreed;

    /* True if each block has an exponent of its own, from its magnitude
     * (aps_scale_aps_tight), so that decoded values depend on the cuts between
     * blocks. It lets no finite value of the block overflow. */
    bool per_block;

    /* Returns the factor of values, a float above 0, if the policy gives it;
     * exponents then are 0. May be NULL: the factor is 2^exponent. */
    double (*value)(const struct aps_scale *scale);

    /* Describes the scale for people; at most `size` bytes. May be NULL: by the
     * name. */
    void (*describe)(const struct aps_scale *scale, char *buffer, size_t size);

    /* For scales with a state: describes the first call and later ones, in
     * sentences; at most `size` bytes. */
    void (*behave)(const struct aps_scale *scale,
                   const struct aps_format *format, char *buffer, size_t size);

    /* True if the scale can hardly work with that format, whose blocks do not
     * scale themselves: `buffer` gets the reason, as a sentence without its
     * full stop. May be NULL: it always works. */
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

/* True if codes depend on the bounds of blocks: each has a scale, a marker or
 * random bits of its own. */
static inline bool aps_scale_binds_blocks(const struct aps_scale *scale,
                                          const struct aps_format *format,
                                          enum aps_rounding rounding)
{
    return aps_scale_ops_of(scale)->per_block ||
           rounding != APS_ROUND_NEAREST || format->marks ||
           format->piece_bytes > 0;
}

const char *aps_scale_name(const struct aps_scale *scale);

/* True if the kinds and all parameters are equal. */
bool aps_scale_equal(const struct aps_scale *a, const struct aps_scale *b);

/* Describes a scale by its name, and its value if the policy gives it: "fixed
 * 1024". Returns `buffer`. */
char *aps_scale_describe(const struct aps_scale *scale, char *buffer,
                         size_t size);

/* Returns the bytes of a state, 0 for scales without one. A new state is zeros;
 * predictions are within -400 ... 400. */
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
/* True if the next call's scale is the policy's lower bound, so that an
 * overflow cannot reduce it; *least is the bound. */
bool aps_scale_is_min(const struct aps_scale *scale, const void *state,
                      const struct aps_format *format, int ranks,
                      double *least);

/* Adds a record to another one: the greater magnitudes, and all flags. */
void aps_scale_record_add(struct aps_scale_record *record,
                          const struct aps_scale_record *other);

/* A call that held only zeros, an INF or a NaN changes nothing. */
void aps_scale_update(const struct aps_scale *scale, void *state,
                      const struct aps_format *format, int ranks,
                      const struct aps_scale_record *record);

/* Returns the moments that the question asks for, of x[n], which a rank
 * contributes; the others are 0. Added in the order of the elements, whatever
 * the CPU. */
struct aps_scale_moments aps_scale_moments_of(const float *x, size_t n,
                                              enum aps_scale_question question);

/* Adds a rank's moments to the sum over the ranks before it. */
void aps_scale_moments_add(struct aps_scale_moments *sum,
                           const struct aps_scale_moments *term);

/* Parameters of a scale with a state. */
enum aps_overflow aps_scale_on_overflow(const struct aps_scale *scale);
enum aps_scale_scope aps_scale_scope(const struct aps_scale *scale);

/*
 * True if a finite value of magnitude `max`, multiplied by 2^exponent, may be
 * rounded beyond the format's largest finite value. These are exactly the
 * values that the codec counts as overflows (aps_encode_stats), or, if the
 * rounding draws random bits, that it may count. CPD's quirks (E = 1) are
 * ignored; in flexN, -2^(N-1) counts like its opposite. Not for formats whose
 * blocks scale themselves.
 */
bool aps_scale_overflows(const struct aps_format *format, float max,
                         int exponent, enum aps_rounding rounding);

/* Returns the index of the parameter that the layer table's column `scale`
 * sets, or -1. */
int aps_scale_table(const struct aps_scale *scale);

/* Returns the exponent of a stage; 0 if the scale is not agreed. */
int aps_scale_stage_exponent(const struct aps_scale *scale,
                             const struct aps_format *format, int max_exponent);

/* Returns the exponent of a block of a stage: the stage's unless scales are per
 * block. `magnitude` is zeros unless the scale needs it. */
int aps_scale_block_exponent(const struct aps_scale *scale,
                             const struct aps_format *format,
                             struct aps_magnitude magnitude,
                             int stage_exponent);

/* Returns the codec's scaling of a block with that exponent; not bounded. */
struct aps_scaling aps_scale_scaling(const struct aps_scale *scale,
                                     int exponent);

/* Returns the factor of the values of a block with that exponent. */
double aps_scale_value(const struct aps_scale *scale, int exponent);

#endif

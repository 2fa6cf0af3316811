/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libaps: what a policy does, in one process and without MPI. Plans of layers,
 * the state of a scale, a compressor, statistics of round-off, and a simulated
 * job. All of them run the code of libapsmpi.so, so that they give its bits.
 *
 * Objects are opaque, belong to the caller, and share no state. One thread at a
 * time may use an object, except a policy and a plan, which do not change.
 * Functions that can fail return 0, or -1 with errno set, and fill an optional
 * struct aps_error (aps.h); out arguments are written only on success. A
 * destructor accepts NULL.
 */
#ifndef APS_POLICY_H
#define APS_POLICY_H

#include "aps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- policies and plans --------------------------------------------------- */

struct aps_policy;
struct aps_layer_plan;

/*
 * Reads a policy (apsmpi-policy(5)) from a text, which ends with a NUL. `table`
 * is the text of the layer table that the policy names, or NULL. Fails with
 * EINVAL for an error in the text, whose line, column and cause are in `error`,
 * for a table that the policy does not name, and without one that it names.
 */
APS_API int aps_policy_open(const char *text, const char *table,
                            struct aps_policy **policy,
                            struct aps_error *error);

/* Reads a policy's file, and the layer table that it names. Has the errors of
 * aps_policy_open, with the paths of the files. */
APS_API int aps_policy_read(const char *path, struct aps_policy **policy,
                            struct aps_error *error);
APS_API void aps_policy_close(struct aps_policy *policy);

/* A layer at a time, for which a plan is found. */
struct aps_layer_request {
    size_t size;      /* size of this struct, in bytes */
    size_t count;     /* elements; 0: those of the layer `name` */
    const char *name; /* name in the layer table, or NULL */
    int64_t layer;    /* index in the step, from 0; -1: not known */
    int64_t epoch;
    int64_t step;
    int32_t ranks; /* ranks of the communicator; 0: not known */
    int32_t reserved;
};
#define APS_LAYER_REQUEST_INIT                                                 \
    {                                                                          \
        sizeof(struct aps_layer_request), 0, NULL, -1, 0, 0, 0, 0              \
    }

/*
 * Finds what the policy does with an all-reduce of that layer, of elements of
 * the type float. The policy must outlive the plan. Fails with EINVAL for a name
 * that is not in the policy's table, a count that is not that of the table, no
 * count, and negative numbers, and with ENOMEM.
 */
APS_API int aps_layer_plan_create(const struct aps_policy *policy,
                                  const struct aps_layer_request *request,
                                  struct aps_layer_plan **plan,
                                  struct aps_error *error);
APS_API void aps_layer_plan_destroy(struct aps_layer_plan *plan);

/* Returns the index of the rule that matches, from 0, or -1 if none does. */
APS_API int aps_layer_plan_rule(const struct aps_layer_plan *plan);

/* True if the library reduces the layer. Otherwise MPI does, in FP32. */
APS_API bool aps_layer_plan_is_reduced(const struct aps_layer_plan *plan);

/* Returns the format in which values travel: fp32 if MPI reduces the layer. */
APS_API const struct aps_format *
aps_layer_plan_format(const struct aps_layer_plan *plan);

/* Returns the bytes that a rank sends for the layer, the mean of the way to the
 * sum and of the way back, as `apsmpi explain` prints them. */
APS_API size_t aps_layer_plan_bytes(const struct aps_layer_plan *plan);

/* Writes the plan as the mapping of a rule, such as "{format: e4m3, scale:
 * aps}", at most `size` bytes with the final NUL; APS_LAYER_PLAN_MAX are enough.
 * Returns `buffer`. */
#define APS_LAYER_PLAN_MAX 1024
APS_API char *aps_layer_plan_describe(const struct aps_layer_plan *plan,
                                      char *buffer, size_t size);

/* --- scales --------------------------------------------------------------- */

/* The scale of a plan, with its state. */
struct aps_scaler;

/* Facts of a call's values before they are rounded, on which the ranks agree:
 * each measures its own, and merges those of all ranks in rank order. */
struct aps_scaler_facts {
    size_t size;          /* size of this struct, in bytes */
    int32_t max_exponent; /* aps_max_exponent; APS_EXPONENT_ZERO: zeros */
    int32_t reserved;
    double max;                               /* greatest finite magnitude */
    double n, sum, sum_squares;               /* moments of the finite values */
    double nonzero, sum_log, sum_log_squares; /* sums of ln|x|, x not 0 */
};
#define APS_SCALER_FACTS_INIT                                                  \
    {                                                                          \
        sizeof(struct aps_scaler_facts), APS_EXPONENT_ZERO, 0, 0, 0, 0, 0, 0,  \
            0, 0                                                               \
    }

/* Facts of a call's result, equal on all ranks, from which a state learns. */
struct aps_scaler_record {
    size_t size;    /* size of this struct, in bytes */
    float in_max;   /* greatest finite magnitude of all contributions */
    float sum_max;  /* greatest of all sums, before they are rounded */
    bool over;      /* a finite value overflowed (aps_scaler_overflows) */
    bool nonfinite; /* there was an INF or a NaN */
    bool reserved[6];
};
#define APS_SCALER_RECORD_INIT                                                 \
    {                                                                          \
        sizeof(struct aps_scaler_record), 0, 0, false, false,                  \
        {                                                                      \
            false                                                              \
        }                                                                      \
    }

/* Creates the scale of a plan, which it copies, for sums of `ranks` ranks, 1 or
 * more. Fails with EINVAL if the plan leaves the layer to MPI. */
APS_API int aps_scaler_create(const struct aps_layer_plan *plan, int ranks,
                              struct aps_scaler **scaler,
                              struct aps_error *error);
APS_API void aps_scaler_destroy(struct aps_scaler *scaler);

/* True if the next exponent depends on facts of its call's values. Without
 * them no message precedes the data. */
APS_API bool aps_scaler_asks(const struct aps_scaler *scaler);

/* Adds the facts of x[n] that the next call needs to *facts. */
APS_API int aps_scaler_measure(const struct aps_scaler *scaler, const float *x,
                               size_t n, struct aps_scaler_facts *facts,
                               struct aps_error *error);

/* Adds the facts *term of the next rank to *facts. */
APS_API int aps_scaler_merge(struct aps_scaler_facts *facts,
                             const struct aps_scaler_facts *term,
                             struct aps_error *error);

/*
 * Gets the exponents of a call: `exponent` of contributions, `sum_exponent` of
 * sums, for aps_cast_options.scale_exponent. `facts` may be NULL if
 * aps_scaler_asks is false. The facts of aps-tight are those of one block, and
 * need not be agreed. Fails with EINVAL without facts that are needed, and for
 * scale: fixed whose factor is not a power of two.
 */
APS_API int aps_scaler_exponent(struct aps_scaler *scaler,
                                const struct aps_scaler_facts *facts,
                                int *exponent, int *sum_exponent,
                                struct aps_error *error);

/* True if a finite value of magnitude `max`, times 2^exponent, is rounded beyond
 * the plan's format, or may be, if the rounding draws random bits. */
APS_API bool aps_scaler_overflows(const struct aps_scaler *scaler, float max,
                                  int exponent);

/* Ends a call: the state learns from its record. A call of zeros, or with an
 * INF or a NaN, changes nothing. */
APS_API int aps_scaler_update(struct aps_scaler *scaler,
                              const struct aps_scaler_record *record,
                              struct aps_error *error);

/* Writes the state to bytes[size], if they suffice, and returns the bytes that
 * it takes. aps_scaler_load reads it, in a process with the same version of the
 * library, to a scaler of an equal scale; otherwise it fails with EINVAL. */
APS_API size_t aps_scaler_save(const struct aps_scaler *scaler, void *bytes,
                               size_t size);
APS_API int aps_scaler_load(struct aps_scaler *scaler, const void *bytes,
                            size_t size, struct aps_error *error);

/* --- compressors ----------------------------------------------------------- */

/*
 * A rank's compressor of one layer, with its error memory. A call has one or two
 * rounds. In each the rank encodes a message and decodes those of all ranks:
 *
 *     topk, mstopk, threshold   the selected elements
 *     vote                      signs, and their mean magnitude
 *     ternary                   the scaler; then digits
 *     powersgd                  the factor P; then Q
 *     none, with feedback       the values, in a format in blocks, as sign/B
 *
 * Messages consist of bytes, as on the wire of the library, or of floats of
 * which the caller may pass the sum (powersgd) or the maximum (ternary's scaler)
 * over the ranks in place of all messages. All ranks decode the same bits.
 */
struct aps_layer_compressor;

enum aps_message_kind {
    APS_MESSAGE_BYTES,      /* messages of all ranks */
    APS_MESSAGE_FLOATS_SUM, /* messages of all ranks, or their sum */
    APS_MESSAGE_FLOATS_MAX  /* messages of all ranks, or their maximum */
};

/*
 * Creates the compressor of a plan, which it copies, on rank `rank` of `ranks`.
 * Selected elements are sent in the plan's format and with its scale, which
 * must not keep a state. Fails with EINVAL for a plan that does not compress its
 * layer, and for compressors without this interface (chunks, mstopk+powersgd),
 * and with ENOMEM.
 */
APS_API int aps_layer_compressor_create(const struct aps_layer_plan *plan,
                                        int rank, int ranks,
                                        struct aps_layer_compressor **made,
                                        struct aps_error *error);
APS_API void
aps_layer_compressor_destroy(struct aps_layer_compressor *compressor);

/* Return the rounds of a call, the kind of the messages of a round, from 0, and
 * the most bytes of a message. */
APS_API int
aps_layer_compressor_rounds(const struct aps_layer_compressor *compressor);
APS_API enum aps_message_kind
aps_layer_compressor_kind(const struct aps_layer_compressor *compressor,
                          int round);
APS_API size_t
aps_layer_compressor_bytes(const struct aps_layer_compressor *compressor);

/*
 * Begins the next round: encodes x[count], the layer, to `message`, and gets its
 * bytes. Only the first round of a call reads x. Fails with EINVAL out of turn,
 * and if a value of the layer is not finite: the library then reduces the layer
 * in FP32, and its error memory stays as it was.
 */
APS_API int aps_layer_compressor_encode(struct aps_layer_compressor *compressor,
                                        const float *x, void *message,
                                        size_t *bytes, struct aps_error *error);

/*
 * Ends the round: reads the messages of all ranks, in rank order, or one if
 * `count` is 1. In the last round y[count] becomes the sum over the ranks, and
 * the error memory what this rank's messages have left out; in others y may be
 * NULL. Fails with EINVAL out of turn, and for a message that no rank encodes
 * so; a new call then begins, with the old error memory.
 */
APS_API int aps_layer_compressor_decode(struct aps_layer_compressor *compressor,
                                        int count, const void *const messages[],
                                        const size_t bytes[], float *y,
                                        struct aps_error *error);

/* Gives up a call that has begun, if any: the next encode begins another, with
 * the old error memory, and PowerSGD with a random Q. After an error on a rank,
 * call it on all ranks. */
APS_API void
aps_layer_compressor_restart(struct aps_layer_compressor *compressor);

/* Returns the error memory, as many floats as the layer has, or NULL without
 * feedback. The program may read and write it between calls. */
APS_API float *
aps_layer_compressor_memory(struct aps_layer_compressor *compressor);

/* --- round-off ------------------------------------------------------------- */

/* Sums over the elements that were compared. */
struct aps_roundoff {
    size_t size;      /* size of this struct, in bytes */
    size_t compared;  /* elements with a finite reference other than 0 */
    size_t skipped;   /* other elements, which are not in the errors */
    size_t underflow; /* reference not 0, value 0 */
    size_t overflow;  /* reference finite, value INF or NaN */
    size_t nonfinite; /* value INF or NaN */
    size_t infinite;  /* reference INF or NaN */
    double sum_relative;
    double max_relative;
    double sum_error2;
    double sum_reference2;
};
#define APS_ROUNDOFF_INIT                                                      \
    {                                                                          \
        sizeof(struct aps_roundoff), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0              \
    }

/* Adds the elements of value[n], compared with reference[n], rounded to float. */
APS_API int aps_roundoff_add(struct aps_roundoff *roundoff,
                             const double *reference, const float *value,
                             size_t n, struct aps_error *error);

/* Return the mean relative error (Eq. 5 of the APS paper), the relative error in
 * the Euclidean norm, and the signal-to-noise ratio in dB. */
APS_API double aps_roundoff_mean(const struct aps_roundoff *roundoff);
APS_API double aps_roundoff_l2(const struct aps_roundoff *roundoff);
APS_API double aps_roundoff_snr(const struct aps_roundoff *roundoff);

/* --- a simulated job -------------------------------------------------------- */

/*
 * A job of nodes * ranks_per_node ranks in one process, which follow each other
 * on the nodes. Its all-reduces give the bits that the job's MPI_Allreduce of
 * floats on MPI_COMM_WORLD gives, scales with a state included.
 */
struct aps_simulation;

/* The policy must outlive the simulation. */
APS_API int aps_simulation_create(const struct aps_policy *policy, int nodes,
                                  int ranks_per_node,
                                  struct aps_simulation **simulation,
                                  struct aps_error *error);
APS_API void aps_simulation_destroy(struct aps_simulation *simulation);

/*
 * out[request->count] = the sum of x[0], x[1] ... of all ranks, which `out` must
 * not overlap. If request->step is -1, it becomes the number of earlier such calls
 * of the layer. Without steps in the policy, calls are numbered by their sizes, as
 * a job numbers them. Fails with EINVAL like aps_layer_plan_create, and with
 * ENOTSUP for a layer that MPI reduces, whose order of additions is not known, and
 * for compressors, feedback, `reduce: auto`, `format: {auto: ...}` and groups of
 * hardware.
 */
APS_API int aps_simulation_allreduce(struct aps_simulation *simulation,
                                     const struct aps_layer_request *request,
                                     const float *const x[], float *out,
                                     struct aps_error *error);

#ifdef __cplusplus
}
#endif

#endif

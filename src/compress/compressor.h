/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compressors: what travels in place of a layer's values where eight bits are
 * too many. A compressor is a row of APS_COMPRESSORS, a file here that fills its
 * ops, a file of pmpi/compressed/ with its messages, and a test; its parameters in
 * a policy are a row of rules/compressors.c. Others ask for what its ops say,
 * never for its kind.
 */
#ifndef APS_COMPRESS_COMPRESSOR_H
#define APS_COMPRESS_COMPRESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aps.h"
#include "compress/matrix.h"

/* The kind, the ops, and the word of a policy and of the log. */
#define APS_COMPRESSORS(ROW)                                                   \
    ROW(NONE, none, "none")                                                    \
    ROW(POWERSGD, powersgd, "powersgd")    /* two factors of low rank */       \
    ROW(MSTOPK, mstopk, "mstopk")          /* about the largest elements */    \
    ROW(TOPK, topk, "topk")                /* the largest elements */          \
    ROW(THRESHOLD, threshold, "threshold") /* elements from a magnitude on */  \
    ROW(MSTOPK_POWERSGD, mstopk_powersgd, "mstopk+powersgd") /* both */        \
    ROW(TERNARY, ternary, "ternary") /* -1, 0, 1 times a scaler */             \
    ROW(CHUNKS, chunks, "chunks")    /* chunks of the greatest norms */        \
    ROW(VOTE, vote, "vote")          /* the sign that most ranks have */

#define APS_COMPRESSOR_KIND(kind, ops, word) APS_COMPRESSOR_##kind,
enum aps_compressor_kind {
    APS_COMPRESSORS(APS_COMPRESSOR_KIND) APS_COMPRESSOR_KINDS
};
#undef APS_COMPRESSOR_KIND

/* A compressor of a plan. All zeros: none. */
#define APS_COMPRESSOR_PARAMETERS 8
struct aps_compressor {
    enum aps_compressor_kind kind;
    /* In the order of the compressor's parameters in rules/compressors.c. */
    double parameters[APS_COMPRESSOR_PARAMETERS];
};

enum aps_powersgd_parameter {
    APS_POWERSGD_RANK,
    APS_POWERSGD_WARM,      /* Q goes on from call to call */
    APS_POWERSGD_MIN_RATIO, /* layers that it does not make so much smaller are
                               not compressed */
    APS_POWERSGD_SEED,
    APS_MSTOPK_POWERSGD_DENSITY /* of mstopk+powersgd: of the elements whose matrix
                                   is factored */
};

/* Of all that send some of the elements: the share of a layer's elements that they
 * send, at most. */
enum aps_selecting_parameter {
    APS_SELECTING_DENSITY,
    APS_MSTOPK_SEED = 1,
    APS_THRESHOLD_VALUE = 1
};

enum aps_ternary_parameter {
    APS_TERNARY_CLIP, /* in standard deviations; 0: not at all */
    APS_TERNARY_SEED
};

enum aps_vote_parameter {
    APS_VOTE_VALUE /* the magnitude of a rank's elements; 0: their mean */
};

enum aps_chunks_parameter {
    APS_CHUNKS_DENSITY, /* of a layer's chunks: the share that is sent */
    APS_CHUNKS_SIZE     /* elements of a chunk */
};

struct aps_bracket; /* compress/bracket.h */

struct aps_compressor_ops {
    /* Is a layer of that shape compressed? Otherwise it is reduced as if the rule
     * had no compressor. */
    bool (*takes)(const struct aps_compressor *compressor,
                  const struct aps_matrix *matrix);

    /* Floats that go through a reduction in place of the values of a layer that it
     * takes. NULL: none do. */
    size_t (*floats)(const struct aps_compressor *compressor,
                     const struct aps_matrix *matrix);

    /*
     * Of those that send some of the elements: how many of `count` at most; and
     * which, `k` of them at most (compress/select.h), by a draw that is the same
     * on all ranks. Returns how many. Less than k are sent where the layer is
     * zeros, and where the number varies.
     */
    size_t (*most)(const struct aps_compressor *compressor, size_t count);
    size_t (*select)(const struct aps_compressor *compressor,
                     const struct aps_bracket *bracket, size_t k,
                     const struct aps_cast_options *draw, uint32_t *indices);
    bool varies;

    /* Of those that send whole chunks (compress/chunks.h): elements of a chunk of
     * `count`, and how many of the chunks are sent. */
    size_t (*chunk)(const struct aps_compressor *compressor, size_t count,
                    size_t *keep);

    /* Of those that draw: the job's seed. NULL: 0. */
    uint64_t (*seed)(const struct aps_compressor *compressor);

    /* Are its messages integers alone? Then format, scale and rounding do not
     * apply, and owners of slices can add them up exactly: it goes with `reduce:
     * direct`, and gives the same bits as with `gather`. */
    bool integers;
    /* Of these: do sums of groups of ranks travel as well, by `reduce:
     * hierarchical`, with the same bits? */
    bool nests;
    /* Of these: bytes of what a rank sends of n elements, and of the sums of so many
     * ranks; and what a person reads of both. */
    size_t (*integer_bytes)(size_t n);
    size_t (*sum_bytes)(int ranks, size_t n);
    const char *integer_text, *sum_text;
    /* Is what it leaves out without bounds? Then nothing is remembered. */
    bool forgets;

    /* Does it go on from what a layer's last call has left? NULL: no. */
    bool (*keeps)(const struct aps_compressor *compressor);

    /* Is what was left out remembered where the rule does not say? */
    bool feedback;

    /* How a person reads it, in one short word or two; at most `size` bytes. */
    void (*describe)(const struct aps_compressor *compressor, char *buffer,
                     size_t size);
};

#define APS_COMPRESSOR_OPS(kind, ops, word)                                    \
    extern const struct aps_compressor_ops aps_compressor_ops_##ops;
APS_COMPRESSORS(APS_COMPRESSOR_OPS)
#undef APS_COMPRESSOR_OPS

/* By kind; the names end with NULL. */
extern const struct aps_compressor_ops
    *const aps_compressors[APS_COMPRESSOR_KINDS];
extern const char *const aps_compressor_names[APS_COMPRESSOR_KINDS + 1];

static inline const struct aps_compressor_ops *
aps_compressor_ops_of(const struct aps_compressor *compressor)
{
    return aps_compressors[compressor->kind];
}

const char *aps_compressor_name(const struct aps_compressor *compressor);

/* The same kind with the same parameters? */
bool aps_compressor_equal(const struct aps_compressor *a,
                          const struct aps_compressor *b);

/* "powersgd rank 4": how a person reads it. Returns `buffer`. */
#define APS_COMPRESSOR_TEXT_MAX 48
char *aps_compressor_describe(const struct aps_compressor *compressor,
                              char *buffer, size_t size);

#endif

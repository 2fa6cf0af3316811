/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compressors: send other data than a layer's values, because eight bits a
 * value are too many. A compressor is a row of APS_COMPRESSORS, a file here
 * that fills its ops, a file of pmpi/compressed/ with its messages, and a test;
 * its parameters in a policy are a row of rules/compressors.c. Other code reads
 * its ops, never its kind.
 */
#ifndef APS_COMPRESS_COMPRESSOR_H
#define APS_COMPRESS_COMPRESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aps.h"
#include "compress/matrix.h"

/* The kind, the ops, and the word in policies and in the log. */
#define APS_COMPRESSORS(ROW)                                                   \
    ROW(NONE, none, "none")                                                    \
    ROW(POWERSGD, powersgd, "powersgd")    /* two factors of low rank */       \
    ROW(MSTOPK, mstopk, "mstopk")          /* large elements, about k */       \
    ROW(TOPK, topk, "topk")                /* the largest elements */          \
    ROW(THRESHOLD, threshold, "threshold") /* elements of a magnitude */       \
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
    APS_POWERSGD_WARM,      /* Q is used again in the next call */
    APS_POWERSGD_MIN_RATIO, /* layers that it reduces by less than this factor
                               are not compressed */
    APS_POWERSGD_SEED,
    APS_MSTOPK_POWERSGD_DENSITY /* mstopk+powersgd: share of the elements in the
                                   factored matrix */
};

/* For all compressors that send some of the elements: the largest share of a
 * layer's elements that they send. */
enum aps_selecting_parameter {
    APS_SELECTING_DENSITY,
    APS_MSTOPK_SEED = 1,
    APS_THRESHOLD_VALUE = 1
};

enum aps_ternary_parameter {
    APS_TERNARY_CLIP, /* in standard deviations; 0: no clipping */
    APS_TERNARY_SEED
};

enum aps_vote_parameter {
    APS_VOTE_VALUE /* magnitude of a rank's elements; 0: their mean */
};

enum aps_chunks_parameter {
    APS_CHUNKS_DENSITY, /* share of a layer's chunks that is sent */
    APS_CHUNKS_SIZE     /* elements of a chunk */
};

struct aps_bracket; /* compress/bracket.h */

struct aps_compressor_ops {
    /* True if a layer of that shape is compressed. May be NULL: any shape with
     * as many elements as aps_compressor_takes allows. */
    bool (*takes)(const struct aps_compressor *compressor,
                  const struct aps_matrix *matrix);

    /* Returns the floats that go through a reduction instead of the values of a
     * compressed layer. May be NULL: none do. */
    size_t (*floats)(const struct aps_compressor *compressor,
                     const struct aps_matrix *matrix);

    /*
     * For compressors that send some of the elements. `most` returns the
     * largest number of elements of `count` that are sent. `select` selects at
     * most `k` of them (compress/select.h), by a draw that is the same on all
     * ranks, and returns their number. It is less than k if the layer is zeros,
     * and if the number varies.
     */
    size_t (*most)(const struct aps_compressor *compressor, size_t count);
    size_t (*select)(const struct aps_compressor *compressor,
                     const struct aps_bracket *bracket, size_t k,
                     const struct aps_cast_options *draw, uint32_t *indices);
    bool varies;

    /* For compressors that send whole chunks (compress/chunks.h): returns the
     * elements of a chunk of `count`, and gets the number of chunks that are
     * sent. */
    size_t (*chunk)(const struct aps_compressor *compressor, size_t count,
                    size_t *keep);

    /* For compressors that draw: index of the parameter with the job's seed. */
    int seed;

    /* True if its messages consist only of integers. Then format, scale and
     * rounding do not apply, and owners of slices can add them exactly: it
     * supports `reduce: direct`, with the same bits as `gather`. */
    bool integers;
    /* For these: true if sums of groups of ranks are also sent, by `reduce:
     * hierarchical`, with the same bits. */
    bool nests;
    /* For these: bytes that a rank sends of n elements, bytes of sums over
     * `ranks` ranks, and descriptions of both for people. */
    size_t (*integer_bytes)(size_t n);
    size_t (*sum_bytes)(int ranks, size_t n);
    const char *integer_text, *sum_text;
    /* True if its residual has no bounds. Then it has no error memory. */
    bool forgets;

    /* Index of the parameter that is not 0 if it uses state of the layer's last
     * call; 0: it never does. */
    int keeps;

    /* True if it has an error memory unless the rule says otherwise. */
    bool feedback;

    /* Describes it for people, in one short word or two; at most `size` bytes.
     * May be NULL: by its name and the parameter `described`. */
    int described;
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

/* True if a layer of that shape is compressed. Otherwise it is reduced as if the
 * rule had no compressor. */
bool aps_compressor_takes(const struct aps_compressor *compressor,
                          const struct aps_matrix *matrix);

/* True if it uses state of the layer's last call. */
bool aps_compressor_keeps(const struct aps_compressor *compressor);

/* Returns the job's seed, or 0 if the compressor does not draw. */
uint64_t aps_compressor_seed(const struct aps_compressor *compressor);

/* True if the kinds and all parameters are equal. */
bool aps_compressor_equal(const struct aps_compressor *a,
                          const struct aps_compressor *b);

/* Describes a compressor for people: "powersgd rank 4". Returns `buffer`. */
#define APS_COMPRESSOR_TEXT_MAX 48
char *aps_compressor_describe(const struct aps_compressor *compressor,
                              char *buffer, size_t size);

#endif

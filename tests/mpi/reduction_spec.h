/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways to reduce: a rule of a policy, the groups that it makes, and the length
 * of its chunks.
 */
#ifndef APS_TEST_WAY_H
#define APS_TEST_WAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define RANKS_MAX 16

/* SCALE_OWN: the format's blocks have their own scales, and the rule has no scale. */
enum scale { SCALE_NONE, SCALE_FIXED, SCALE_APS, SCALE_TIGHT, SCALE_OWN };

enum reduce {
    REDUCE_DIRECT,
    REDUCE_HIERARCHICAL,
    REDUCE_RING,
    REDUCE_MASTER,
    REDUCE_GATHER
};

enum accumulate { ACCUMULATE_FP32, ACCUMULATE_FORMAT, ACCUMULATE_KAHAN };

/* A rule of a policy, without its conditions. */
struct way {
    const char *format; /* "eEmM", "eEmMfn"; with SCALE_OWN, one in blocks */
    enum scale scale;
    float fixed; /* factor of SCALE_FIXED */
    enum reduce reduce;
    int group; /* ranks of a group, 0: node */
    bool node_fp32;
    enum accumulate accumulate;
    const char *sums; /* format of partial sums; NULL: `format` */
    int chunk;        /* ranks of a chunk, of ACCUMULATE_FORMAT; 0: no chunks */
    /* A scale with a state, as in a policy, in place of `scale`; or NULL. It
     * has no reference: a call's result is that of another scale. */
    const char *history;
};

/* True if the policy language accepts the way. */
bool way_is_allowed(const struct way *way);

bool way_equals(const struct way *a, const struct way *b);

/* Writes "e5m2, scale aps, ring, accumulate format" to `text`, and returns it. */
const char *way_name(const struct way *way, char *text, size_t size);

/* Prints the rule, for the layers first-last (first < 0: for all). */
void way_print_rule(FILE *stream, const struct way *way, long first, long last);

/* Ranks by group, in the order of the groups' first ranks. */
struct groups {
    int count;
    int smallest;
    int largest;
    int sizes[RANKS_MAX];
    int members[RANKS_MAX][RANKS_MAX];
};

/*
 * Groups the ranks by APSMPI_TEST_NODES and the way. `direct` and `gather` have
 * one group of all ranks, `ring` a group for each rank.
 */
void way_groups(const struct way *way, int ranks, struct groups *groups);

/* Elements of a chunk of `hierarchical`: between groups, before the format's
 * width changes it; in a single group of `owners` owners, as FP32; and the most
 * elements of one owner. */
#define HIERARCHICAL_CHUNK 65536
size_t hierarchical_chunk_fp32(size_t owners);
#define HIERARCHICAL_SLICE 65536

/* Returns the elements of a chunk. */
size_t way_chunk(const struct way *way, int ranks);

#endif

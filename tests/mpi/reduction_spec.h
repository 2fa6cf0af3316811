/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways to reduce: what a rule of a policy says, whom it groups, and how long
 * its chunks are.
 */
#ifndef APS_TEST_WAY_H
#define APS_TEST_WAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define RANKS_MAX 16

/* SCALE_OWN: the format's blocks scale themselves, and the rule says nothing. */
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
    float fixed; /* of SCALE_FIXED */
    enum reduce reduce;
    int group; /* ranks, 0: node */
    bool node_fp32;
    enum accumulate accumulate;
    const char *sums; /* format of partial sums; NULL: `format` */
    int chunk;        /* ranks of a chunk, of ACCUMULATE_FORMAT; 0: no chunks */
    /* A scale with a state, as a policy has it, in place of `scale`; or NULL. It
     * has no reference: what a call gives is that of another scale. */
    const char *history;
};

/* Does the policy language take it? */
bool way_is_allowed(const struct way *way);

bool way_equals(const struct way *a, const struct way *b);

/* "e5m2, scale aps, ring, accumulate format"; writes to `text`, returns it. */
const char *way_name(const struct way *way, char *text, size_t size);

/* The rule, for the layers first-last (first < 0: for all). */
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
 * As APSMPI_TEST_NODES and the way say. `direct` and `gather` have one group of
 * all ranks, `ring` a group for each.
 */
void way_groups(const struct way *way, int ranks, struct groups *groups);

/* Elements of a chunk of `hierarchical`: between groups, before they depend on the
 * format's width; of FP32 values in a single group of so many owners; and of one of
 * its owners, at most. */
#define HIERARCHICAL_CHUNK 65536
size_t hierarchical_chunk_fp32(size_t owners);
#define HIERARCHICAL_SLICE 65536

/* Elements of a chunk. */
size_t way_chunk(const struct way *way, int ranks);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a reduction has to give, computed on one rank from the inputs of all,
 * one value at a time, in doubles: nothing here is shared with the code under
 * test but the rules of DESIGN.md and of the headers of pmpi/ (order of sums,
 * slices, chunks).
 */
#ifndef APS_TEST_REFERENCE_H
#define APS_TEST_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define RANKS_MAX 16

enum scale { SCALE_NONE, SCALE_FIXED, SCALE_APS, SCALE_TIGHT };

/* One way to reduce: a rule of a policy, without its conditions. */
struct way {
    const char *format; /* "eEmM" */
    enum scale scale;
    float fixed;       /* of SCALE_FIXED */
    bool hierarchical; /* or direct */
    int group;         /* ranks, 0: node */
    bool node_fp32;
    bool round_sums; /* accumulate: format */
};

/* Does the policy language take it? */
bool way_is_allowed(const struct way *way);

bool way_equals(const struct way *a, const struct way *b);

/* "e5m2, aps, hierarchical by 2"; writes to `text` and returns it. */
const char *way_name(const struct way *way, char *text, size_t size);

/* The rule, for the layers first-last (first < 0: for all). */
void way_print_rule(FILE *stream, const struct way *way, long first, long last);

/* Ranks by group, in the order of the groups' first ranks. */
struct groups {
    int count;
    int smallest;
    int sizes[RANKS_MAX];
    int members[RANKS_MAX][RANKS_MAX];
};

/* As APSMPI_TEST_NODES and the way say; `direct` has one group. */
void way_groups(const struct way *way, int ranks, struct groups *groups);

/* The FP32 sum in rank order inside groups, then of the groups. */
void reference_exact(const struct way *way, int ranks, size_t n,
                     float *const in[], float *out);

/* The reduction with all its roundings. */
void reference_reduce(const struct way *way, int ranks, size_t n,
                      float *const in[], float *out);

/* Same bits; all NaN are alike. */
bool same_float(float a, float b);

/* The first i where they differ, or n. */
size_t first_difference(size_t n, const float *a, const float *b);

#endif

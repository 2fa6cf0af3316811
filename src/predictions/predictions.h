/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The times that `apsmpi explain` predicts of a policy's all-reduces on a
 * cluster: layer by layer where the policy has a layer table, of some counts
 * where it has none.
 */
#ifndef APS_PREDICTIONS_PREDICTIONS_H
#define APS_PREDICTIONS_PREDICTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "predictions/cluster.h"
#include "cli/schedule.h"
#include "policy/policy.h"
#include "predict/native.h"
#include "predict/predict.h"
#include "predict/variance.h"

/* One or more all-reduces, in seconds. */
struct aps_predicted {
    double seconds; /* native's, where the calls are left to MPI */
    double native[APS_NATIVE_KINDS];
    double mpich; /* native, as MPICH chooses */
    enum aps_bound bound;
    double longest;             /* of what `bound` and `taken` are of */
    enum aps_reduce_kind taken; /* aps_predict_taken */
    /* All-reduces that a compressor takes: their times are unknown, and they are
     * left out of `seconds` and of what is native, but for this: all of it, as
     * FP32 by MPI. */
    size_t compressed;
    double whole[APS_NATIVE_KINDS];
    double whole_mpich;
};

/* Of `count` values under a plan, or NULL: left to MPI. `group` is 0 for the
 * plan's own. */
struct aps_predicted aps_predicted_of(struct aps_cluster *cluster,
                                      const struct aps_plan *plan, size_t count,
                                      int group);
void aps_predicted_add(struct aps_predicted *sum,
                       const struct aps_predicted *one);

/* The formats that a rule chooses from while the program runs, or none. */
const struct aps_shadow *aps_predicted_formats(const struct aps_policy *policy,
                                               int rule);

/* Of a layer of the table under a rule (-1: none) with one of these formats; NULL:
 * with none, in FP32 by MPI, or what the rule says where it chooses nothing. */
struct aps_predicted aps_predicted_layer(struct aps_cluster *cluster,
                                         const struct aps_policy *policy,
                                         int rule, size_t layer,
                                         const struct aps_plan *format,
                                         int group);

/* Of `count` values under a rule, without a layer table; in FP32 where the rule
 * chooses formats. */
struct aps_predicted aps_predicted_rule(struct aps_cluster *cluster,
                                        const struct aps_policy *policy,
                                        int rule, size_t count);

/* The counts that are shown of a rule for all-reduces, without a layer table: those
 * of the cluster that the rule takes; where the user named none and it takes none of
 * them, one that it takes. How many. */
int aps_predicted_counts(const struct aps_cluster *cluster,
                         const struct aps_policy *policy, int rule,
                         size_t counts[APS_CLUSTER_COUNTS]);

/* Why all-reduces of a count that the user named are left to MPI, without a layer
 * table; NULL: a rule takes them. */
const char *aps_predicted_left(const struct aps_policy *policy, size_t count);

/* Why there is no row at all, where there is no layer table; or NULL. */
const char *aps_predicted_nothing(const struct aps_policy *policy);

/* What else is to be said of a rule, with one of the formats that it chooses from or
 * NULL: of its largest layer (0: of none) and of all its layers in a span. */
struct aps_advice {
    size_t least_count; /* aps_predict_least_count, of those of the rule */
    size_t least;       /* that the rule takes */
    size_t most;        /* SIZE_MAX: there is none */
    double most_rate;   /* aps_predict_most_rate, with the count `largest` */
    size_t largest;
    int group;      /* 0: there are no groups */
    int best_group; /* the group with which the layers take least */
    double seconds; /* with `group` */
    double best_seconds;
    struct aps_variance_sum sum; /* zeros: partial sums are FP32 */
    int sum_bits;                /* mantissa bits of the sum's format */
    int bits;                    /* that it needs */
    double retained;             /* variance */
};
bool aps_advice_of(struct aps_cluster *cluster, const struct aps_policy *policy,
                   const struct aps_schedule *schedule, long span, int rule,
                   const struct aps_plan *format, struct aps_advice *advice);

#endif

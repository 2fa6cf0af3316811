/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times that `apsmpi explain` predicts for a policy's all-reduces on a cluster:
 * of each layer if the policy has a layer table, otherwise of some counts.
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

/* Time of one or more all-reduces, in seconds. */
struct aps_predicted {
    double seconds; /* native's time for calls that go to MPI */
    double native[APS_NATIVE_KINDS];
    double mpich; /* native, with MPICH's choice of algorithm */
    enum aps_bound bound;
    double longest;             /* time of the call that `bound` and `taken`
                                   describe */
    enum aps_reduce_kind taken; /* aps_predict_taken */
    /* Number of all-reduces that a compressor takes. Their times are unknown,
     * and are not part of `seconds`, `native` and `mpich`; `whole` and
     * `whole_mpich` are the times of all calls by MPI. */
    size_t compressed;
    double whole[APS_NATIVE_KINDS];
    double whole_mpich;
};

/* Returns the time of `count` values of that type under a plan; NULL: the call goes to
 * MPI, which is taken to need as long as for floats of as many bytes. `group` 0 means
 * the plan's own. */
struct aps_predicted aps_predicted_of(struct aps_cluster *cluster,
                                      const struct aps_plan *plan,
                                      enum aps_element element, size_t count,
                                      int group);
void aps_predicted_add(struct aps_predicted *sum,
                       const struct aps_predicted *one);

/* Returns the formats that a rule chooses from while the program runs, or
 * NULL. */
const struct aps_shadow *aps_predicted_formats(const struct aps_policy *policy,
                                               int rule);

/* Returns the time of a layer of the table under a rule (-1: none) with one of
 * these formats. `format` NULL means FP32 by MPI if the rule chooses formats,
 * and otherwise the rule's plan. */
struct aps_predicted aps_predicted_layer(struct aps_cluster *cluster,
                                         const struct aps_policy *policy,
                                         int rule, size_t layer,
                                         const struct aps_plan *format,
                                         int group);

/* Returns the time of `count` values under a rule, without a layer table; in
 * FP32 if the rule chooses formats. */
struct aps_predicted aps_predicted_rule(struct aps_cluster *cluster,
                                        const struct aps_policy *policy,
                                        int rule, size_t count);

/* Sets the counts that are shown for a rule, without a layer table: those of
 * the cluster that the rule takes, or, if the user named none and it takes
 * none, one that it takes. Returns their number. */
int aps_predicted_counts(const struct aps_cluster *cluster,
                         const struct aps_policy *policy, int rule,
                         size_t counts[APS_CLUSTER_COUNTS]);

/* Returns the reason why all-reduces of a count that the user named go to MPI,
 * without a layer table; NULL: a rule takes them. */
const char *aps_predicted_left(const struct aps_policy *policy, size_t count);

/* Returns the reason why there is no row, without a layer table; or NULL. */
const char *aps_predicted_nothing(const struct aps_policy *policy);

/* Advice on a rule, for one of the formats that it chooses from or for its own
 * (NULL): on its largest layer, and on all its layers in a span. */
struct aps_advice {
    size_t least_count; /* aps_predict_least_count, among the rule's counts */
    size_t least;       /* least count that the rule takes */
    size_t most;        /* greatest one; SIZE_MAX: no bound */
    double most_rate;   /* aps_predict_most_rate for the count `largest` */
    size_t largest;
    bool wide;      /* values are doubles */
    int group;      /* 0: no groups */
    int best_group; /* group with the least time of all layers */
    double seconds; /* with `group` */
    double best_seconds;
    struct aps_variance_sum sum; /* zeros: partial sums are FP32 */
    int sum_bits;                /* mantissa bits of the sum's format */
    int bits;                    /* mantissa bits that the sum needs */
    double retained;             /* variance retention ratio */
};
bool aps_advice_of(struct aps_cluster *cluster, const struct aps_policy *policy,
                   const struct aps_schedule *schedule, long span, int rule,
                   const struct aps_plan *format, struct aps_advice *advice);

#endif

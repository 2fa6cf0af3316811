/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which steps are sampled, where samples may cost a share of a program's time.
 *
 * A sample is taken when its cost has been earned: when the share of the time so
 * far covers what all samples have cost, and one more. What a pause of the program
 * earns (a validation, a checkpoint) is not spent at once: from one sample to the next
 * there are at least as many steps as earn an average sample, so that samples are
 * spread over the run. Calls are in classes, which count their steps by themselves;
 * each has an equal part of the share.
 *
 * Pure arithmetic: on numbers that all ranks have agreed on it is the same on all
 * of them.
 */
#ifndef APS_STEPS_SAMPLE_BUDGET_H
#define APS_STEPS_SAMPLE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#define APS_SAMPLE_BUDGET_CLASS_BITS 8
#define APS_SAMPLE_BUDGET_CLASSES (1 << APS_SAMPLE_BUDGET_CLASS_BITS)

/* {.share = S}: none so far. */
struct aps_sample_budget {
    double share; /* of the time without samples, above 0 */
    int classes;  /* that have been seen */
    struct aps_sample_budget_class {
        bool seen;
        long first;   /* number of the first call */
        long sampled; /* number of the step that was sampled last, or -1 */
        long next;    /* number of the next one to be */
        long samples; /* steps that have been sampled */
        double cost;  /* of the last sampled step, in seconds */
        double spent; /* on all */
    } list[APS_SAMPLE_BUDGET_CLASSES];
};

/* The class of calls of `count` elements, where no step tells them apart: calls of a
 * class are numbered together (steps.h), too. */
size_t aps_sample_budget_class(size_t count);

/* Is step `number` of the class sampled? */
bool aps_sample_budget_is_due(struct aps_sample_budget *budget, size_t class,
                              long number);

/*
 * A call of step `number` has been sampled, which took `cost` seconds more.
 * `elapsed` seconds have gone by since the first call, samples included.
 */
void aps_sample_budget_end(struct aps_sample_budget *budget, size_t class,
                           long number, double cost, double elapsed);

/* A call of step `number` was to be sampled, and could not: the next few steps are
 * not; what is owed for others of its class stays. */
void aps_sample_budget_postpone(struct aps_sample_budget *budget, size_t class,
                                long number);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects the steps that are sampled, if samples may cost a share of a
 * program's time.
 *
 * A sample is taken when its cost has been earned: when the share of the time
 * so far covers the costs of all samples, and of one more. The earnings of a
 * pause of the program (a validation, a checkpoint) are not spent at once: from
 * one sample to the next there are at least as many steps as earn an average
 * sample, so that samples are spread over the run. Calls are in classes, each
 * of which counts its own steps; each has an equal part of the share.
 *
 * Pure arithmetic: on numbers that all ranks have agreed on it is the same on
 * all of them.
 */
#ifndef APS_STEPS_SAMPLE_BUDGET_H
#define APS_STEPS_SAMPLE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#define APS_SAMPLE_BUDGET_CLASS_BITS 8
#define APS_SAMPLE_BUDGET_LAYERS (1 << APS_SAMPLE_BUDGET_CLASS_BITS)
#define APS_SAMPLE_BUDGET_CLASSES (APS_SAMPLE_BUDGET_LAYERS + 1)

/* {.share = S}: no samples so far. */
struct aps_sample_budget {
    double share; /* share of the time without samples, above 0 */
    int classes;  /* classes seen */
    struct aps_sample_budget_class {
        bool seen;
        long first;   /* number of the first call */
        long sampled; /* number of the last sampled step, or -1 */
        long next;    /* number of the next step to be sampled */
        long samples; /* steps that have been sampled */
        double cost;  /* cost of the last sampled step, in seconds */
        double spent; /* cost of all samples, in seconds */
    } list[APS_SAMPLE_BUDGET_CLASSES];
};

/* Returns the class of a call without a layer, below APS_SAMPLE_BUDGET_LAYERS, which
 * is the class of calls with a layer. Calls of a class are also numbered together
 * (steps.h). */
size_t aps_sample_budget_class(size_t count);

/* True if step `number` of the class is sampled. */
bool aps_sample_budget_is_due(struct aps_sample_budget *budget, size_t class,
                              long number);

/* Call this when a call of step `number` has been sampled, which took `cost`
 * seconds more. `elapsed` is the time since the first call, samples included,
 * in seconds. */
void aps_sample_budget_end(struct aps_sample_budget *budget, size_t class,
                           long number, double cost, double elapsed);

/* Call this when a call of step `number` could not be sampled. Postpones the
 * next sample of the class by a few steps, and keeps the debt of its other
 * samples. */
void aps_sample_budget_postpone(struct aps_sample_budget *budget, size_t class,
                                long number);

#endif

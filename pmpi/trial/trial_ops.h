/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two kinds of trials, as rows of struct aps_trial_ops, and what they work
 * on: the subject of one trial, and the state of a communicator's trials.
 */
#ifndef APS_PMPI_TRIAL_TRIAL_OPS_H
#define APS_PMPI_TRIAL_TRIAL_OPS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "comm/communicator.h"
#include "layer/layer.h"
#include "policy/choice.h"
#include "steps/sample_budget.h"

/* Maximum number of plans: the candidates of a rule, and perhaps the rule's own
 * plan before them. */
#define APS_TRIAL_PLANS_MAX (APS_SHADOW_MAX + 1)

enum aps_trial_kind { APS_TRIAL_SHADOW, APS_TRIAL_FORMAT, APS_TRIAL_KINDS };

/* Memory of the trials of one kind, kept from trial to trial. {0} is empty. */
struct aps_trial_memory {
    /* Carried state of each plan, kept like that of rewritten calls. */
    struct aps_carried_state kept[APS_TRIAL_PLANS_MAX];
    bool warned_plans[APS_TRIAL_PLANS_MAX]; /* plans for which "cannot run here"
                                               was printed */
    float *out;                             /* [room]: result of a plan */
    size_t room;
    bool lost; /* true once it was reported that memory was missing */
};

/* Candidates (shadow.c). */
struct aps_shadows {
    struct aps_sample_budget budget;
    int64_t begin; /* CLOCK_MONOTONIC at the first call, in nanoseconds; 0: none
                      yet */
    bool starts;   /* true if nonblocking calls have candidates, too */
};

/* Chosen formats (format.c). All fields are the same on all ranks, since they
 * follow from the order of the calls and from decisions that the ranks have
 * agreed on. Only the records' `past`, from which rank 0 decides, is not. */
#define APS_FORMAT_BUCKET_BITS 8
struct aps_formats {
    struct aps_format_record *buckets[1 << APS_FORMAT_BUCKET_BITS];
    long generation; /* generation of the steps of all records */
    int count;       /* number of records */
};

struct aps_trials {
    struct aps_trial_memory memory[APS_TRIAL_KINDS];
    struct aps_shadows shadows;
    struct aps_formats formats;
    atomic_size_t copied; /* bytes of copies that wait in the queue */
};

/* A layer whose inputs are measured. */
struct aps_subject {
    struct aps_context *context;
    const struct aps_trial_ops *ops;
    struct aps_trial_memory *memory;
    const struct aps_shadow *plans;
    const char *function;   /* function that the program called */
    struct aps_layer layer; /* the layer, with its inputs in host memory; NULL
                               if they could not be copied */
    int ready;              /* on rank 0: 1 if the reference was computed */
    /* Output on rank 0, for each plan; the errors are left to the row. */
    struct aps_trial results[APS_TRIAL_PLANS_MAX];
    struct aps_measure measures[APS_TRIAL_PLANS_MAX];
};

struct aps_trial_ops {
    enum aps_trial_kind kind;
    const char *what; /* prefix of messages: "shadow" */

    /* Counters: layers measured, the time for them, and the memory. */
    atomic_ullong *measured, *ns, *bytes;

    /* For layers of this kind, what aps_trial_is_due and aps_trial_may_be_due
     * return. may_be_due is NULL if nonblocking calls with such layers are
     * queued themselves. */
    bool (*is_due)(struct aps_context *context, const struct aps_layer *layer);
    bool (*may_be_due)(struct aps_context *context,
                       const struct aps_layer *layer);

    /* Local. Makes what `settle` needs of the layer. Returns false if memory is
     * missing. May be NULL. */
    bool (*equip)(struct aps_subject *subject);

    /* Local. Called if a rank lacks memory or inputs. Puts the trial off. */
    void (*lose)(struct aps_subject *subject);

    /* Local, before the plans. Reports about the inputs. May be NULL. */
    void (*begin)(struct aps_subject *subject);

    /* COLLECTIVE over the context's communicator, after the plans, which took
     * `taken` nanoseconds on this rank. The ranks agree on what follows from
     * the trial. After an MPI error context->failed is set. */
    void (*settle)(struct aps_subject *subject, int64_t taken);
};

extern const struct aps_trial_ops aps_trial_shadow;
extern const struct aps_trial_ops aps_trial_format;

#endif

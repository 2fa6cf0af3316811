/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `reduce: auto`: measures in the program's first calls which reduction is the
 * fastest on this communicator. Native MPI is one of the algorithms.
 *
 * Layers are classed by rule, by the kind of call, by size (powers of two), and by
 * the granule that reductions are prepared for (pipeline_sizes.h), since a rule may
 * choose formats itself. Other calls than all-reduces have two algorithms, native
 * and direct. The first calls of a class try each algorithm in turn, a few
 * times each. Then the ranks take the MAX over the ranks of the best times of
 * each algorithm, and the class settles on the fastest algorithm for the rest
 * of the job. Without a clear gain it settles on native. Classes do not depend
 * on whether buffers are in host memory or GPU memory, since the ranks do not
 * agree on that.
 */
#ifndef APS_PMPI_COMM_AUTOTUNE_H
#define APS_PMPI_COMM_AUTOTUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "comm/resources.h"

/* Algorithms that a class may settle on. */
enum aps_autotune_algorithm {
    APS_AUTOTUNE_NATIVE,
    APS_AUTOTUNE_HIERARCHICAL,
    APS_AUTOTUNE_DIRECT,
    APS_AUTOTUNE_RING,
    APS_AUTOTUNE_ALGORITHMS
};

struct aps_autotune_class {
    int rule;
    enum aps_call_kind call;
    enum aps_element element;
    int size;       /* counts from 2^size to 2^(size + 1) - 1 */
    size_t granule; /* aps_pipeline_granule of the format */
    int trials;     /* number of trials so far */
    bool settled;
    enum aps_autotune_algorithm chosen; /* algorithm, if `settled` */
    int candidates;                     /* number of algorithms that can run
                                           here */
    enum aps_autotune_algorithm list[APS_AUTOTUNE_ALGORITHMS];
    int best
        [APS_AUTOTUNE_ALGORITHMS]; /* [candidates], in the order of `list`: best
                                      times, in 0.1 us */
};

#define APS_AUTOTUNE_CLASSES 64

/* Classes of one communicator; {0} has none. */
struct aps_autotune {
    struct aps_autotune_class classes[APS_AUTOTUNE_CLASSES];
    int count;
    bool classes_full_reported; /* true once it was reported that all classes
                                   are in use */
};

/* Local, the same on all ranks. Applies the choice to the plan of a layer of
 * key->count elements, whose `reduce` is auto. If the layer's class has settled,
 * the plan gets the chosen reduction, or is not rewritten. Otherwise the plan
 * remains auto. */
void aps_autotune_apply(const struct aps_autotune *choice,
                        const struct aps_plan_key *key, struct aps_plan *plan);

/* COLLECTIVE over the resources. Begins the next trial for such a layer: `plan`
 * gets the reduction of the algorithm that the caller runs, and remains auto if
 * that is native. Returns NULL if all
 * classes are in use; the layer then passes through. *rc: an MPI error code. */
struct aps_autotune_class *aps_autotune_begin(
    struct aps_autotune *choice, struct aps_comm_resources *resources,
    const struct aps_plan_key *key, struct aps_plan *plan, int *rc);

/* COLLECTIVE over the resources. Ends a trial of `nanoseconds` on this rank. True
 * if the class has settled with this trial; `text` is then a message about the
 * choice. *rc is an MPI error code, after which the class does not settle. */
bool aps_autotune_end(struct aps_autotune_class *class,
                      struct aps_comm_resources *resources, int64_t nanoseconds,
                      char *text, size_t size, int *rc);

#endif

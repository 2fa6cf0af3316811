/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `reduce: auto`: finds out with the program's first calls which reduction is
 * the fastest on this communicator. Native MPI is one of the candidates.
 *
 * Layers are classed by rule, by size (powers of two), and, since a rule may choose
 * formats itself, by what reductions are prepared for (pipeline_sizes.h). The first
 * calls of a class try every candidate in turn, a few times each. Then the ranks
 * take, for each candidate, the MAX over the ranks of their best times, and the
 * class settles on the fastest candidate for the rest of the job. Without a clear
 * gain it settles on native. Where the buffers are, in the host's memory or a GPU's,
 * makes no class, since the ranks do not agree on it.
 */
#ifndef APS_PMPI_COMM_AUTOTUNE_H
#define APS_PMPI_COMM_AUTOTUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "comm/resources.h"

/* What a class may settle on. */
enum aps_autotune_algorithm {
    APS_AUTOTUNE_NATIVE,
    APS_AUTOTUNE_HIERARCHICAL,
    APS_AUTOTUNE_DIRECT,
    APS_AUTOTUNE_RING,
    APS_AUTOTUNE_ALGORITHMS
};

struct aps_autotune_class {
    int rule;
    int size;       /* counts from 2^size to 2^(size + 1) - 1 */
    size_t granule; /* aps_pipeline_granule of the format */
    int trials;     /* made so far */
    bool settled;
    enum aps_autotune_algorithm chosen; /* once settled */
    int candidates;                     /* how many can run here */
    enum aps_autotune_algorithm list[APS_AUTOTUNE_ALGORITHMS];
    int best
        [APS_AUTOTUNE_ALGORITHMS]; /* [candidates], as in `list`; in 0.1 us */
};

#define APS_AUTOTUNE_CLASSES 64

/* The classes of one communicator; {0} has none. */
struct aps_autotune {
    struct aps_autotune_class classes[APS_AUTOTUNE_CLASSES];
    int count;
    bool classes_full_reported; /* that there is no room for another is said */
};

/*
 * Apply the choice to the plan of a layer of `count` elements, which says auto.
 * If the layer's class has settled, the plan gets the chosen reduction, or is
 * not rewritten. Otherwise the plan remains auto. Local; the same result on all
 * ranks.
 */
void aps_autotune_apply(const struct aps_autotune *choice, size_t count,
                        struct aps_plan *plan);

/*
 * COLLECTIVE over the resources. Begin the next trial for such a layer: the
 * caller runs *candidate, and `plan` gets the reduction of *candidate unless
 * that is native. Waits until all ranks have come. NULL: there is no room for
 * another class, and the layer passes through.
 */
struct aps_autotune_class *
aps_autotune_begin(struct aps_autotune *choice,
                   struct aps_comm_resources *resources, size_t count,
                   struct aps_plan *plan,
                   enum aps_autotune_algorithm *candidate, int *rc);

/*
 * COLLECTIVE over the resources. End a trial, which took so many nanoseconds on
 * this rank. True if the class has settled with this trial, and MPI has not failed
 * on this rank; `text` is then a message about the choice. *rc is an MPI error code;
 * after an error, of any rank, the class settles for native on all of them.
 */
bool aps_autotune_end(struct aps_autotune_class *class,
                      struct aps_comm_resources *resources, int64_t nanoseconds,
                      char *text, size_t size, int *rc);

#endif

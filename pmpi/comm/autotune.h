/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `reduce: auto`: which reduction is fastest here, native MPI among them, found
 * out with the program's own first calls.
 *
 * Layers are classed by rule and by size (powers of two). The first calls of a
 * class try every candidate in turn, a few times each; then the ranks agree on
 * the greatest of their best times, and the class is settled for good. Without
 * a clear gain it stays native.
 */
#ifndef APS_PMPI_COMM_AUTOTUNE_H
#define APS_PMPI_COMM_AUTOTUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "comm/resources.h"

/* What a class may end up with; the first is MPI's own. */
enum aps_candidate {
    APS_CANDIDATE_NATIVE,
    APS_CANDIDATE_HIERARCHICAL,
    APS_CANDIDATE_DIRECT,
    APS_CANDIDATE_RING,
    APS_CANDIDATES
};

struct aps_autotune_class {
    int rule;
    int size;   /* counts from 2^size to 2^(size + 1) - 1 */
    int trials; /* made so far */
    bool settled;
    enum aps_candidate chosen; /* once settled */
    int candidates;            /* how many can run here */
    enum aps_candidate list[APS_CANDIDATES];
    int best[APS_CANDIDATES]; /* by place in the list: 0.1 us */
};

#define APS_AUTOTUNE_CLASSES 64

/* Of one communicator; starts as zero bytes. */
struct aps_autotune {
    struct aps_autotune_class classes[APS_AUTOTUNE_CLASSES];
    int count;
};

/*
 * What is settled for a layer of `count` elements whose plan says auto: the
 * plan gets its reduction, or is not to be rewritten. Otherwise it stays auto.
 * Local, and the same on all ranks.
 */
void aps_autotune_apply(const struct aps_autotune *choice, size_t count,
                        struct aps_plan *plan);

/*
 * COLLECTIVE over the resources. The trial that is next for such a layer:
 * *candidate is to be run, and `plan` gets its reduction unless that is native.
 * Returns when all ranks are there. NULL: there is no room for another class,
 * and the layer is native's.
 */
struct aps_autotune_class *
aps_autotune_begin(struct aps_autotune *choice,
                   struct aps_comm_resources *resources, size_t count,
                   struct aps_plan *plan, enum aps_candidate *candidate);

/*
 * COLLECTIVE over the resources. The trial took so long here. True when it
 * settled the class; then `text` says how, for people. *rc is an MPI error
 * code.
 */
bool aps_autotune_end(struct aps_autotune_class *class,
                      struct aps_comm_resources *resources, int64_t nanoseconds,
                      char *text, size_t size, int *rc);

#endif

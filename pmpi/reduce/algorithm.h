/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Algorithm of a reduction: created once for a virtual communicator, then run
 * for each call. The object of every algorithm begins with a struct
 * aps_algorithm.
 */
#ifndef APS_PMPI_REDUCE_ALGORITHM_H
#define APS_PMPI_REDUCE_ALGORITHM_H

#include <stdbool.h>
#include <stddef.h>

#include "device/device.h"
#include "block/block.h"
#include "cut/chunk.h"
#include "group/topology.h"

struct aps_algorithm;

struct aps_algorithm_ops {
    /*
     * COLLECTIVE. Reduces `count` vectors, at most APS_VECTORS_MAX, each to the
     * result that it would have alone. A single vector is in the memory of
     * `wire`; several may each be in a memory of their own. Returns an MPI error
     * code.
     */
    int (*run)(struct aps_algorithm *algorithm, const struct aps_plan *plan,
               const struct aps_wire *wire, int count,
               struct aps_vector vectors[], struct aps_cost *cost);
    /* Local, the same on all ranks. True if the plan keeps all values and sums
     * in FP32, so that its scale scales nothing. The
     * member is NULL if no plan does. */
    bool (*is_exact)(const struct aps_algorithm *algorithm,
                     const struct aps_plan *plan);
    /* Local. Returns the groups by which the algorithm reduces. The member is
     * NULL if it has no groups. */
    const struct aps_groups *(*groups)(const struct aps_algorithm *algorithm);
    /* Local; may be called while a communicator is freed. */
    void (*destroy)(struct aps_algorithm *algorithm);
};

struct aps_algorithm {
    const struct aps_algorithm_ops *ops;
};

/* Parameters of an algorithm's creation. */
struct aps_algorithm_params {
    const struct aps_vcomm *vcomm; /* not owned; outlives the object */
    struct aps_grouping grouping;
    enum aps_devices devices; /* the same on all ranks */
    bool divides; /* some rank divides vectors over threads; the same on all */
    size_t longest; /* most elements of all vectors of a call together */
    size_t granule; /* largest granule of a format (aps_pipeline_granule) */
};

/*
 * COLLECTIVE over the ranks of params->vcomm. Creates an algorithm. Returns
 * MPI_SUCCESS; -1 if the algorithm cannot run here, perhaps on some ranks only,
 * with a cause on the ranks that know it and "" on the others; or an MPI error
 * code.
 */
typedef int aps_algorithm_create_fn(const struct aps_algorithm_params *params,
                                    struct aps_algorithm **algorithm,
                                    char *cause, size_t size);

#endif

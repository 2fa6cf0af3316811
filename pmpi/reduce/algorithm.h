/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One way to reduce: made once for a virtual communicator, then run. The object
 * of every algorithm begins with a struct aps_algorithm.
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
     * COLLECTIVE. Reduce `count` vectors, APS_VECTORS_MAX at most, each to what
     * it would be alone. If it is one, the memory of `wire` is the layer's;
     * else the host's. An MPI error code.
     */
    int (*run)(struct aps_algorithm *algorithm, const struct aps_plan *plan,
               const struct aps_wire *wire, int count,
               struct aps_vector vectors[], struct aps_cost *cost);
    /* Local, and the same on all ranks. Does a plan leave all values and sums FP32,
     * so that its scale scales nothing? NULL: no plan does. */
    bool (*is_exact)(const struct aps_algorithm *algorithm,
                     const struct aps_plan *plan);
    /* Local. The groups that it reduces by. NULL: it has none. */
    const struct aps_groups *(*groups)(const struct aps_algorithm *algorithm);
    /* Local; may be called while a communicator is freed. */
    void (*destroy)(struct aps_algorithm *algorithm);
};

struct aps_algorithm {
    const struct aps_algorithm_ops *ops;
};

/* Where it is to run. */
struct aps_algorithm_params {
    const struct aps_vcomm *vcomm; /* not owned; outlives the object */
    struct aps_grouping grouping;
    enum aps_devices devices; /* the same on all ranks */
    size_t longest; /* elements of all vectors of a call together, at most */
    size_t granule; /* of formats, at most: aps_pipeline_granule */
};

/*
 * COLLECTIVE over the site's ranks. Returns MPI_SUCCESS; -1 if the algorithm cannot
 * run here, perhaps on some ranks only, with a cause on the ranks that know it and ""
 * on the others; or an MPI error code.
 */
typedef int aps_algorithm_create_fn(const struct aps_algorithm_params *site,
                                    struct aps_algorithm **algorithm,
                                    char *cause, size_t size);

#endif

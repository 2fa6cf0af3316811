/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions: runs plans on a virtual communicator. The groups, shared memory
 * and scratch of a plan are created when a plan first needs them.
 */
#ifndef APS_PMPI_REDUCE_REDUCTION_H
#define APS_PMPI_REDUCE_REDUCTION_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/policy.h"
#include "message/vcomm.h"
#include "block/block.h"
#include "cut/chunk.h"
#include "group/topology.h"

struct aps_reductions; /* opaque */

/*
 * Local. Creates reductions for `vcomm`, which is not owned and outlives them.
 * test_nodes and test_cyclic are as in struct aps_grouping. Returns NULL if out
 * of memory.
 */
struct aps_reductions *aps_reductions_create(const struct aps_vcomm *vcomm,
                                             int test_nodes, bool test_cyclic);

/* Local; safe inside an attribute's delete callback. NULL is allowed. */
void aps_reductions_destroy(struct aps_reductions *reductions);

/*
 * COLLECTIVE over vcomm, whose nodes are known if the plan groups by them.
 * Prepares `plan` for vectors of up to n elements together; cheap if it was
 * prepared before.
 *
 * Returns MPI_SUCCESS on all ranks; -1 on all ranks with the same `cause`; or an MPI
 * error code. After -1 the
 * function returns -1 again for the same request, until the same plan is ready
 * for longer vectors. For vectors of a smaller size class it tries again.
 */
int aps_reductions_prepare(struct aps_reductions *reductions,
                           const struct aps_plan *plan, size_t n, char *cause,
                           size_t size);

/* Local, the same on all ranks. True if a plan, prepared for n elements, keeps
 * all values and sums in FP32, so that its scale scales nothing. */
bool aps_reductions_are_exact(const struct aps_reductions *reductions,
                              const struct aps_plan *plan, size_t n);

/* Local, the same on all ranks. Returns the groups of a plan that was prepared
 * for some vectors and reduces by groups, or NULL if it has none. The groups
 * stay at the same address as long as the reductions exist. */
const struct aps_groups *
aps_reductions_groups(const struct aps_reductions *reductions,
                      const struct aps_plan *plan);

/*
 * COLLECTIVE over vcomm. Reduces `count` vectors, at most APS_VECTORS_MAX, by a
 * prepared plan. All ranks get the same bits, and each layer gets the bits that
 * it would get alone. A wide format takes doubles, whatever `memory` of the vectors
 * says. Returns an MPI error code.
 */
int aps_reductions_run(struct aps_reductions *reductions,
                       const struct aps_plan *plan, int count,
                       struct aps_vector vectors[], struct aps_cost *cost);

/*
 * Returns the number of the next vector that a call of that kind reduces or
 * gathers, counted from 0. It is the same on all ranks if all of them make the
 * same calls of the kind in the same order. Random bits depend on it (struct
 * aps_block). Vectors of all-reduces are numbered by their place in the program
 * (struct aps_vector).
 */
uint64_t aps_reductions_number(struct aps_reductions *reductions,
                               enum aps_call_kind call);

#endif

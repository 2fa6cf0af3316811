/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions: run plans on a virtual communicator. What a plan needs (groups,
 * shared memory, scratch) is made the first time that a plan asks for it.
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
 * Local. For `vcomm`, which is not owned and outlives them. test_nodes and
 * test_cyclic are as in struct aps_grouping. NULL: out of memory.
 */
struct aps_reductions *aps_reductions_create(const struct aps_vcomm *vcomm,
                                             int test_nodes, bool test_cyclic);

/* Local: safe inside an attribute's delete callback. NULL: nothing. */
void aps_reductions_destroy(struct aps_reductions *reductions);

/*
 * COLLECTIVE over vcomm, whose nodes are known if the plan groups by them. Get
 * ready for `plan` and vectors of up to n elements together: cheap when it was
 * done before. Returns MPI_SUCCESS on all ranks; -1 on all ranks: then `cause` says
 * why, on rank 0 always and on the ranks that found out; or an MPI error code. It is
 * -1 again whenever the same is asked for, until the same is ready for longer vectors;
 * for vectors of a smaller size class it is tried again.
 */
int aps_reductions_prepare(struct aps_reductions *reductions,
                           const struct aps_plan *plan, size_t n, char *cause,
                           size_t size);

/* Local, and the same on all ranks. Does a plan, which is prepared for n elements,
 * leave all values and sums FP32, so that its scale scales nothing? */
bool aps_reductions_are_exact(const struct aps_reductions *reductions,
                              const struct aps_plan *plan, size_t n);

/* Local, and the same on all ranks. The groups of a plan that has been prepared for
 * some vectors and reduces by groups; they stay where they are as long as the
 * reductions. NULL: it has none. */
const struct aps_groups *
aps_reductions_groups(const struct aps_reductions *reductions,
                      const struct aps_plan *plan);

/*
 * COLLECTIVE over vcomm. Reduce `count` vectors, APS_VECTORS_MAX at most, by a
 * plan that is prepared. The same bits arrive on every rank, and each layer gets
 * those that it would get alone. An MPI error code.
 */
int aps_reductions_run(struct aps_reductions *reductions,
                       const struct aps_plan *plan, int count,
                       struct aps_vector vectors[], struct aps_cost *cost);

/*
 * The number of the next vector that a call of that kind reduces or gathers, which
 * counts from 0: the same on all ranks, if all come here for the same calls of the
 * kind in the same order. Random bits depend on it (struct aps_block). Vectors of
 * all-reduces are numbered by their place in the program (struct aps_vector).
 */
uint64_t aps_reductions_number(struct aps_reductions *reductions,
                               enum aps_call_kind call);

#endif

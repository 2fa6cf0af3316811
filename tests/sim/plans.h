/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reductions of the tables, as plans, and functions that run them.
 */
#ifndef APS_SIM_PLANS_H
#define APS_SIM_PLANS_H

#include <stddef.h>

#include "pmpi/reduce/reduction.h"

/* Plans for e5m2 with scale: aps. */
struct aps_plan plan_direct(void);
struct aps_plan plan_hierarchical(void); /* group: node */
struct aps_plan plan_ring(enum aps_accumulate_kind accumulate);
struct aps_plan plan_master(int group_size); /* accumulate: format */

/* Returns the name in Table 9 and in the times: "direct", "ring", "master 16". */
const char *plan_name(const struct aps_plan *plan, char *buffer, size_t size);

/* COLLECTIVE over MPI_COMM_WORLD. Returns the resources of plans; plan_end
 * frees them. A failure ends the simulation. */
struct aps_reductions *plan_begin(void);
void plan_end(struct aps_reductions *reductions);

/* Returns the communicator of plans, between plan_begin and plan_end. */
const struct aps_vcomm *plan_vcomm(void);

/* COLLECTIVE over MPI_COMM_WORLD. Reduce in[n] to out[n] by a plan; a failure
 * ends the simulation. Call plan_prepare first; its time does not count. */
void plan_prepare(struct aps_reductions *reductions,
                  const struct aps_plan *plan);
void plan_reduce(struct aps_reductions *reductions, const struct aps_plan *plan,
                 const float *in, float *out, size_t n);

/*
 * Reads rank `rank`'s gradients from the file (gradients.py): GRADIENTS_VALUES
 * FP32 values, repeated until `x` is full. A failure ends the simulation.
 */
#define GRADIENTS_RANKS 256
#define GRADIENTS_VALUES 512
void gradients_read(const char *path, int rank, float *x, size_t n);

#endif

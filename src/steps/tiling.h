/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the layers of calls whose sizes vary from step to step, for example
 * because a framework fuses tensors into buffers: each call carries a run of
 * consecutive layers, and each step carries all of them.
 */
#ifndef APS_STEPS_TILING_H
#define APS_STEPS_TILING_H

#include <stddef.h>

/*
 * Finds the coarsest layers that explain all calls. A step has T elements, T as
 * small as possible, such that a call ends at the end of every step and there
 * are at least three whole steps. A layer ends wherever a call of any step
 * ends. `counts` are the elements of `calls` calls, in order, the first of
 * which begins a step. Writes at most `most` layers to `layers`, in the order
 * of the calls. Returns their number, or 0 if there is no such T, if there are
 * more layers than `most`, or if memory is short.
 */
long aps_tiling_find(const size_t *counts, long calls, size_t *layers,
                     long most);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layers behind calls whose sizes vary from step to step, as where a
 * framework fuses tensors into buffers: each call carries a run of layers that
 * follow each other, and each step carries all of them.
 */
#ifndef APS_STEPS_TILING_H
#define APS_STEPS_TILING_H

#include <stddef.h>

/*
 * The coarsest layers that explain all calls: a step has T elements, T as small as
 * it can be, such that a call ends wherever a step does, there are three whole
 * steps at least, and layers end wherever a call of any step does. `counts` are
 * the elements of `calls` calls, in order, the first of which begins a step. At
 * most `most` layers are written to `layers`, in the order of the calls. Returns
 * their number, or 0: there is no such T, or there are more layers than `most`,
 * or memory is short.
 */
long aps_tiling_find(const size_t *counts, long calls, size_t *layers,
                     long most);

#endif

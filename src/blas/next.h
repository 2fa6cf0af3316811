/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The function that a hook replaces.
 */
#ifndef APS_GEMM_NEXT_H
#define APS_GEMM_NEXT_H

typedef void (*aps_next_fn)(void);

/*
 * Returns the definition of `name` that `caller`, an address in the code that
 * called the hook `self`, would have reached without this library. It is the
 * next one in the program's global scope, or, for an object opened with
 * RTLD_LOCAL as Python opens numpy, one among that object's own dependencies.
 * If there is none, which no linked caller meets, the process ends with a message.
 */
aps_next_fn aps_next_find(const char *name, aps_next_fn self,
                          const void *caller);

#endif

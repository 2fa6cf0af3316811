/* SPDX-License-Identifier: BSD-3-Clause */
/* The arrays of verbs.h in the memory of the fake device. */
#ifndef APS_TESTS_CUDA_PLACED_H
#define APS_TESTS_CUDA_PLACED_H

#include "fake.h"
#include "verbs.h"

/* Places the arrays `shift` floats after a boundary. */
void arrays_place(const char *format, size_t n, size_t shift,
                  enum fake_kind kind, CUcontext context, struct arrays *a);
void arrays_remove(struct arrays *a, size_t shift);

#endif

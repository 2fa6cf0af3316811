/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shapes that a policy lacks. A compressor of low rank takes a layer without a shape
 * as a square matrix, whose rows are not those of the program.
 */
#ifndef APS_SOURCE_SHAPES_H
#define APS_SOURCE_SHAPES_H

#include "base/error.h"
#include "policy/policy.h"

/* Adds a warning for each rule whose compressor takes layers without shapes.
 * `path` is that of the policy, for the message. */
void aps_shapes_check(const struct aps_policy *policy, const char *path,
                      struct aps_errors *errors);

#endif

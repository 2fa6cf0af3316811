/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plan as text of a policy.
 */
#ifndef APS_GRAMMAR_PLAN_TEXT_H
#define APS_GRAMMAR_PLAN_TEXT_H

#include <stddef.h>

#include "policy/policy.h"

/*
 * Writes the keys of a rule that plans the same all-reduce, as a mapping:
 * "{format: e4m3, scale: {fixed: {factor: 16}}, feedback: on}". Defaults are
 * left out, except `scale`. The plan rewrites and is not resolved: values of
 * the layer table are not in it. Writes at most `size` bytes; APS_PLAN_TEXT_MAX
 * are enough. Returns `buffer`.
 */
#define APS_PLAN_TEXT_MAX 640
char *aps_plan_text(const struct aps_plan *plan, char *buffer, size_t size);

#endif

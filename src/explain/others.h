/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules of a policy for calls other than all-reduces, for `apsmpi explain`.
 */
#ifndef APS_EXPLAIN_OTHERS_H
#define APS_EXPLAIN_OTHERS_H

#include <stdio.h>

#include "policy/policy.h"

/* An empty line, a table of these rules, and a paragraph for each kind of call
 * that says what travels; or nothing where there is no such rule. */
void aps_others_print(const struct aps_policy *policy, FILE *stream);

#endif

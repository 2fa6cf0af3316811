/* SPDX-License-Identifier: BSD-3-Clause */
/* Explains how the library knows the layers of a policy's program. */
#ifndef APS_EXPLAIN_LAYERS_H
#define APS_EXPLAIN_LAYERS_H

#include "policy/policy.h"

/* Prints a note if sizes alone tell layers apart. */
void aps_layers_note(const struct aps_policy *policy);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

/* Nothing is agreed on, measured or multiplied. */
const struct aps_scale_ops aps_scale_ops_none = {.agreed = false};

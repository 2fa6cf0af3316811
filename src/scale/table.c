/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "scale/scale.h"

#define OPS(kind, ops, word) [APS_SCALE_##kind] = &aps_scale_ops_##ops,
const struct aps_scale_ops *const aps_scales[APS_SCALE_KINDS] = {
    APS_SCALES(OPS)};

#define NAME(kind, ops, word) [APS_SCALE_##kind] = (word),
const char *const aps_scale_names[APS_SCALE_KINDS + 1] = {
    APS_SCALES(NAME)[APS_SCALE_KINDS] = NULL};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The codec of formats wider than FP32, whose values are doubles: its functions are
 * encode, decode and decode_add, in FP64. Values are rounded to nearest even, once
 * and unscaled. NaN becomes the canonical one of its sign; decode_add gives the
 * positive one. e11m52 keeps all other values.
 */
#ifndef APS_FLOAT_WIDE_H
#define APS_FLOAT_WIDE_H

#include "base/cpu.h"
#include "kernel/ops.h"

/* Fills the codec of a wide format. */
void aps_wide_codec_init(const struct aps_format *format, enum aps_cpu cpu,
                         struct aps_codec *codec);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of scales share. */
#ifndef APS_TESTS_UNIT_SCALE_SCALES_H
#define APS_TESTS_UNIT_SCALE_SCALES_H

#include <stdint.h>

#include "number/format.h"

/* 32 bits, the same sequence in every run. */
uint32_t scales_random(void);

/* A positive finite float, all exponents alike. */
float scales_random_float(void);

/* The format eEmM. */
void scales_parse(int exponent_bits, int mantissa_bits,
                  struct aps_format *format);

#endif

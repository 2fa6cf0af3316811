/* SPDX-License-Identifier: BSD-3-Clause */
/* Code shared by the tests of scales. */
#ifndef APS_TESTS_UNIT_SCALE_SCALES_H
#define APS_TESTS_UNIT_SCALE_SCALES_H

#include <stdint.h>

#include "number/format.h"

/* Returns 32 random bits, the same sequence in every run. */
uint32_t scales_random(void);

/* Returns a positive finite float; all exponents are equally frequent. */
float scales_random_float(void);

void scales_parse(int exponent_bits, int mantissa_bits,
                  struct aps_format *format);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "roundoff/binades.h"

#include <stdint.h>
#include <stdio.h>

#include "number/bits.h"

#define EXPONENT_BIAS 127
#define MANTISSA_BITS 23
#define MANTISSA ((UINT32_C(1) << MANTISSA_BITS) - 1)
#define FIELD_MAX 255 /* INF and NaN */

void aps_binades_add(struct aps_binades *binades, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t bits = aps_float_bits(x[i]) & ~(UINT32_C(1) << 31);
        const uint32_t mantissa = bits & MANTISSA;
        const int field = (int)(bits >> MANTISSA_BITS);

        if (bits == 0)
            binades->zeros++;
        else if (field == FIELD_MAX && mantissa == 0)
            binades->infinite++;
        else if (field == FIELD_MAX)
            binades->nan++;
        else if (field == 0) /* the mantissa in units of 2^-149 */
            binades->counts[31 - __builtin_clz(mantissa)]++;
        else
            binades->counts[field - EXPONENT_BIAS - APS_BINADE_MIN]++;
    }
}

char *aps_binades_format(const struct aps_binades *binades,
                         char text[APS_BINADES_TEXT])
{
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < APS_BINADES; i++)
        if (binades->counts[i] > 0)
            used += (size_t)snprintf(text + used, APS_BINADES_TEXT - used,
                                     "%s%d:%zu", used > 0 ? " " : "",
                                     APS_BINADE_MIN + i, binades->counts[i]);
    return text;
}

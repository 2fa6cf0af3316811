/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/real.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/print.h"

/* Result for numbers that are too small for a double: not 0. */
#define REAL_MIN 0x1p-1074

/* Returns NAN if `text` is not a plain decimal number. */
static double real_parse_decimal(const char *text)
{
    locale_t before;
    double number;
    char *end;

    /* strtod also takes blanks, hexadecimal, "inf" and "nan". */
    if (text[strspn(text, "0123456789.eE+-")] != '\0')
        return NAN;
    before = aps_print_begin();
    errno = 0;
    number = strtod(text, &end);
    aps_print_end(before);
    if (*end != '\0' || end == text)
        return NAN;
    return number == 0 && errno == ERANGE ? REAL_MIN : number;
}

double aps_real_parse(const char *text)
{
    const bool below = strncmp(text, "2^-", 3) == 0;
    uintmax_t exponent;

    if (strncmp(text, "2^", 2) != 0)
        return real_parse_decimal(text);
    text += below ? 3 : 2;
    if (aps_digits_parse(text, strlen(text), 1023, &exponent) < 0) {
        if (errno != ERANGE)
            return NAN;
        return below ? REAL_MIN : INFINITY;
    }
    return ldexp(1, below ? -(int)exponent : (int)exponent);
}

char *aps_real_format(double number, char buffer[APS_REAL_TEXT_MAX])
{
    const locale_t before = aps_print_begin();

    for (int digits = 15; digits <= 17; digits++) {
        aps_print(buffer, APS_REAL_TEXT_MAX, "%.*g", digits, number);
        if (strtod(buffer, NULL) == number)
            break;
    }
    aps_print_end(before);
    return buffer;
}

char *aps_real_round(double number, int digits, char buffer[APS_REAL_TEXT_MAX])
{
    aps_print(buffer, APS_REAL_TEXT_MAX, "%.*g", digits, number);
    return buffer;
}

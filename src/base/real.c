/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/real.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"

/* Result for numbers that are too small for a double: not 0. */
#define REAL_MIN 0x1p-1074

/* strtod in the C locale: a program that has called setlocale must not get
 * another decimal point than the other ranks. Returns NAN if `text` is not a
 * plain decimal number. */
static double real_parse_decimal(const char *text)
{
    locale_t plain, before;
    double number;
    char *end;

    /* strtod also takes blanks, hexadecimal, "inf" and "nan". */
    if (text[strspn(text, "0123456789.eE+-")] != '\0')
        return NAN;
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return NAN;
    before = uselocale(plain);
    errno = 0;
    number = strtod(text, &end);
    uselocale(before);
    freelocale(plain);
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

/* Replaces the locale's decimal point, whatever it is. */
static char *real_put_point(char *text)
{
    const char *point = localeconv()->decimal_point;
    char *found = strstr(text, point);

    if (found) {
        const char *rest = found + strlen(point);

        *found = '.';
        memmove(found + 1, rest, strlen(rest) + 1);
    }
    return text;
}

char *aps_real_format(double number, char buffer[APS_REAL_TEXT_MAX])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buffer, APS_REAL_TEXT_MAX, "%.*g", digits, number);
        if (strtod(buffer, NULL) == number)
            break;
    }
    return real_put_point(buffer);
}

char *aps_real_round(double number, int digits, char buffer[APS_REAL_TEXT_MAX])
{
    snprintf(buffer, APS_REAL_TEXT_MAX, "%.*g", digits, number);
    return real_put_point(buffer);
}

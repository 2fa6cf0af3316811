/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/digits.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

int aps_digits_parse(const char *text, size_t length, uintmax_t max,
                     uintmax_t *number)
{
    uintmax_t value = 0;
    bool too_large = false;

    if (length == 0) {
        errno = EINVAL;
        return -1;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned digit;

        if (text[i] < '0' || text[i] > '9') {
            errno = EINVAL;
            return -1;
        }
        digit = (unsigned)(text[i] - '0');
        if (digit > max || value > (max - digit) / 10)
            too_large = true; /* go on: "99999x" is not a number */
        else
            value = value * 10 + digit;
    }
    if (too_large) {
        errno = ERANGE;
        return -1;
    }
    *number = value;
    return 0;
}

/* Unit i is 1024 to the i + 1. */
static const char *const units[] = {"Ki", "Mi", "Gi"};
#define UNITS (sizeof units / sizeof units[0])

/* Returns the N of "2^N", or -1. */
static int digits_power_of(const char *text)
{
    uintmax_t exponent;

    if (strncmp(text, "2^", 2) != 0 ||
        aps_digits_parse(text + 2, strlen(text + 2), 1023, &exponent) < 0)
        return -1;
    return (int)exponent;
}

int aps_whole_parse(const char *text, uintmax_t max, uintmax_t *number)
{
    const size_t digits = strspn(text, "0123456789");
    const char *unit = text + digits + strspn(text + digits, " ");
    const int power = digits_power_of(text);
    int shift = 0;

    if (power >= 0) {
        if (power > 62 || (uintmax_t)1 << power > max) {
            errno = ERANGE;
            return -1;
        }
        *number = (uintmax_t)1 << power;
        return 0;
    }
    for (size_t i = 0; digits > 0 && i < UNITS; i++) {
        if (strcmp(unit, units[i]) == 0)
            shift = 10 * ((int)i + 1);
    }
    if (aps_digits_parse(text, shift > 0 ? digits : strlen(text), max >> shift,
                         number) < 0)
        return -1;
    *number <<= shift;
    return 0;
}

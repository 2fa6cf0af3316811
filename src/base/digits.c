/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/digits.h"

#include <errno.h>
#include <stdbool.h>

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
            too_large = true; /* go on: "99999x" is no number at all */
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

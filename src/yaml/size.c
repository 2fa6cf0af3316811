/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "yaml/size.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/digits.h"
#include "base/nearest.h"
#include "base/switch.h"

/* Unit i is 1024 to the i + 1. */
static const char *const units[] = {"KiB", "MiB", "GiB", NULL};

static int too_large(const struct aps_reader *reader,
                     const struct aps_yaml_node *key, size_t max)
{
    char most[32];

    aps_reader_error(reader, key->value,
                     "'%s' is too large: %.80s; the most is %s", key->text,
                     key->value->text, aps_size_format(max, most, sizeof most));
    return -1;
}

static int no_size(const struct aps_reader *reader,
                   const struct aps_yaml_node *key)
{
    aps_reader_error(reader, key->value,
                     "'%s' must be a whole number of bytes, KiB, MiB or GiB, "
                     "or off, not '%.80s'",
                     key->text, key->value->text);
    return -1;
}

static int no_unit(const struct aps_reader *reader,
                   const struct aps_yaml_node *key, const char *unit)
{
    const struct aps_yaml_node *value = key->value;
    const char *nearest = aps_nearest_name(unit, units);
    char hint[APS_HINT_MAX];

    aps_errors_add(reader->errors, reader->path, value->line,
                   aps_yaml_column(value, (size_t)(unit - value->text)),
                   "unknown unit '%.80s' of '%s'%s", unit, key->text,
                   nearest ? aps_nearest_hint(nearest, hint)
                           : "; one of KiB, MiB, GiB");
    return -1;
}

/* Returns the exponent of 2 that the unit means, or -1. */
static int shift_of(const char *unit)
{
    if (unit[0] == '\0')
        return 0;
    for (int i = 0; units[i]; i++) {
        if (strcmp(unit, units[i]) == 0)
            return 10 * (i + 1);
    }
    return -1;
}

int aps_read_size(const struct aps_reader *reader,
                  const struct aps_yaml_node *key, size_t max, size_t *size)
{
    const char *text = aps_read_text(reader, key);
    const char *unit;
    size_t digits;
    uintmax_t number;
    int shift;
    bool on;

    if (!text)
        return -1;
    if (aps_switch_parse(text, &on) == 0 && !on) {
        *size = 0;
        return 0;
    }
    digits = strspn(text, "0123456789");
    unit = text + digits + strspn(text + digits, " ");
    /* Signs, points and exponents are not misspelt units. */
    if (digits == 0 || unit[strspn(unit, "abcdefghijklmnopqrstuvwxyz"
                                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ")] != '\0')
        return no_size(reader, key);
    shift = shift_of(unit);
    if (shift < 0)
        return no_unit(reader, key, unit);
    if (aps_digits_parse(text, digits, max >> shift, &number) < 0)
        return errno == ERANGE ? too_large(reader, key, max)
                               : no_size(reader, key);
    *size = (size_t)number << shift;
    return 0;
}

char *aps_size_format(size_t size, char *buffer, size_t length)
{
    int unit = -1;

    while (size > 0 && size % 1024 == 0 && units[unit + 1]) {
        size /= 1024;
        unit++;
    }
    snprintf(buffer, length, "%zu %s", size, unit < 0 ? "bytes" : units[unit]);
    return buffer;
}

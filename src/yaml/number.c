/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "yaml/number.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/digits.h"
#include "base/real.h"

/* Messages quote at most this much of a wrong value. */
#define QUOTE "'%.80s'"

/* Units of base/digits.h. */
static const char *const units[] = {"Ki", "Mi", "Gi"};

/* Units that people write for Ki, Mi or Gi, and units of bytes. */
static const struct {
    const char *unit;
    int meant; /* index in `units` */
    bool bytes;
} near[] = {
    {"k", 0, false},  {"K", 0, false},  {"ki", 0, false}, {"m", 1, false},
    {"M", 1, false},  {"mi", 1, false}, {"g", 2, false},  {"G", 2, false},
    {"gi", 2, false}, {"KiB", 0, true}, {"MiB", 1, true}, {"GiB", 2, true},
    {"KB", 0, true},  {"kB", 0, true},  {"MB", 1, true},  {"GB", 2, true},
};

static int no_number(const struct aps_reader *reader,
                     const struct aps_yaml_node *key, long min,
                     const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    const char *unit = text + digits + strspn(text + digits, " ");
    uintmax_t below;

    if (text[0] == '-' &&
        (aps_whole_parse(text + 1, UINTMAX_MAX, &below) == 0 ||
         errno == ERANGE)) {
        aps_reader_error(reader, key->value,
                         "'%s' must be at least %ld, not %.80s", key->text, min,
                         text);
        return -1;
    }
    for (size_t i = 0; digits > 0 && i < sizeof near / sizeof near[0]; i++) {
        if (strcmp(unit, near[i].unit) != 0)
            continue;
        aps_reader_error(
            reader, key->value,
            "'%s' must be a whole number%s, not " QUOTE
            "; did you mean '%.*s%s'?",
            key->text, near[i].bytes ? " and no number of bytes" : "", text,
            digits > 80 ? 80 : (int)digits, text, units[near[i].meant]);
        return -1;
    }
    aps_reader_error(reader, key->value,
                     "'%s' must be a whole number, not " QUOTE, key->text,
                     text);
    return -1;
}

int aps_read_number(const struct aps_reader *reader,
                    const struct aps_yaml_node *key, long min, long max,
                    long *number)
{
    const char *text = aps_read_text(reader, key);
    uintmax_t value;

    if (!text)
        return -1;
    if (aps_whole_parse(text, (uintmax_t)max, &value) < 0) {
        if (errno != ERANGE)
            return no_number(reader, key, min, text);
        aps_reader_error(reader, key->value,
                         "'%s' is too large: %.80s; the most is %ld", key->text,
                         text, max);
        return -1;
    }
    if (value < (uintmax_t)min) {
        aps_reader_error(reader, key->value,
                         "'%s' must be at least %ld, not %.80s", key->text, min,
                         text);
        return -1;
    }
    *number = (long)value;
    return 0;
}

/* Reports a number that FP32, or even a double, cannot hold. True if it did. */
static bool refuse_range(const struct aps_reader *reader,
                         const struct aps_yaml_node *key, double value,
                         const char *text)
{
    const bool large = value > (double)FLT_MAX;

    if (!large && !(value > 0 && value < (double)FLT_TRUE_MIN))
        return false;
    aps_reader_error(reader, key->value,
                     "'%s' is too %s: %.80s; the %s number of FP32 is %.2g",
                     key->text, large ? "large" : "small", text,
                     large ? "largest" : "smallest",
                     (double)(large ? FLT_MAX : FLT_TRUE_MIN));
    return true;
}

int aps_read_real(const struct aps_reader *reader,
                  const struct aps_yaml_node *key,
                  const struct aps_real_bounds *bounds, double *number)
{
    const char *text = aps_read_text(reader, key);
    const char *hint = "";
    double value;

    if (!text)
        return -1;
    value = aps_real_parse(text);
    if (isnan(value) && strpbrk(text, "0123456789"))
        hint = "; numbers are written as 0.5, 1e-3 or 2^14";
    if (bounds->max >= (double)FLT_MAX &&
        refuse_range(reader, key, value, text))
        return -1;
    if (!isfinite((float)value) || (value != 0 && (float)value == 0) ||
        value < bounds->min || value > bounds->max ||
        (bounds->above && value == bounds->min)) {
        if (bounds->max >= (double)FLT_MAX)
            aps_reader_error(reader, key->value,
                             "'%s' must be a finite number %s %g, not " QUOTE
                             "%s",
                             key->text, bounds->above ? "above" : "of at least",
                             bounds->min, text, hint);
        else
            aps_reader_error(
                reader, key->value,
                "'%s' must be a number %s %g and at most %g, not " QUOTE "%s",
                key->text, bounds->above ? "above" : "of at least", bounds->min,
                bounds->max, text, hint);
        return -1;
    }
    *number = value;
    return 0;
}

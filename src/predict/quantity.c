/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "predict/quantity.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/print.h"
#include "base/real.h"

const char aps_quantity_rates[] = "a number and bit, kbit, mbit, gbit or tbit "
                                  "(a second), or MB/s or GB/s, as in 25gbit";
const char aps_quantity_times[] = "a number and s, ms, us or ns, as in 2us";

struct unit {
    const char *name;
    double factor;
    bool any_case;
};

/* Each list ends with an empty name. */
static const struct unit rates[] = {
    {"bit", 1 / 8., true},
    {"kbit", 1e3 / 8, true},
    {"mbit", 1e6 / 8, true},
    {"gbit", 1e9 / 8, true},
    {"tbit", 1e12 / 8, true},
    {"bit/s", 1 / 8., true},
    {"kbit/s", 1e3 / 8, true},
    {"mbit/s", 1e6 / 8, true},
    {"gbit/s", 1e9 / 8, true},
    {"tbit/s", 1e12 / 8, true},
    {"B/s", 1, false},
    {"kB/s", 1e3, false},
    {"MB/s", 1e6, false},
    {"GB/s", 1e9, false},
    {"", 0, false},
};
static const struct unit times[] = {
    {"ns", 1e-9, false}, {"us", 1e-6, false}, {"ms", 1e-3, false},
    {"s", 1, false},     {"", 0, false},
};

static bool is_unit(const char *text, const struct unit *unit)
{
    return (unit->any_case ? strcasecmp(text, unit->name)
                           : strcmp(text, unit->name)) == 0;
}

static double parse(const char *text, const struct unit *units)
{
    const size_t digits = strspn(text, "0123456789.");
    const char *name = text + digits + strspn(text + digits, " ");
    char number[64];

    if (digits == 0 || digits >= sizeof number)
        return NAN;
    memcpy(number, text, digits);
    number[digits] = '\0';
    for (; units->name[0] != '\0'; units++)
        if (is_unit(name, units))
            return aps_real_parse(number) * units->factor;
    return NAN;
}

double aps_quantity_rate(const char *text)
{
    const double rate = parse(text, rates);

    return rate > 0 && rate < INFINITY ? rate : NAN;
}

double aps_quantity_time(const char *text)
{
    const double seconds = parse(text, times);

    return seconds >= 0 && seconds < INFINITY ? seconds : NAN;
}

/* Writes the value with the greatest unit that does not exceed it, or the
 * least. */
static char *format(double value, const struct unit *units, const char *suffix,
                    char *buffer, size_t size)
{
    const struct unit *unit = units;

    while (unit[1].name[0] != '\0' && unit[1].factor > unit->factor &&
           value >= unit[1].factor * 0.9995)
        unit++;
    aps_print(buffer, size, "%.*g %s%s", value / unit->factor >= 1000 ? 4 : 3,
              value / unit->factor, unit->name, suffix);
    return buffer;
}

char *aps_quantity_format_rate(double rate, char *buffer, size_t size)
{
    static const struct unit shown[] = {{"bit", 1 / 8., false},
                                        {"kbit", 1e3 / 8, false},
                                        {"Mbit", 1e6 / 8, false},
                                        {"Gbit", 1e9 / 8, false},
                                        {"", 0, false}};

    return format(rate, shown, "/s", buffer, size);
}

char *aps_quantity_format_time(double seconds, char *buffer, size_t size)
{
    return format(seconds, times, "", buffer, size);
}

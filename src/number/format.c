/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "number/format.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

#define EXPONENT_BITS_MAX 8
#define MANTISSA_BITS_MAX 23

static const struct {
    const char *name;
    const char *means;
} aliases[] = {
    {"fp32", "e8m23"},
    {"tf32", "e8m10"},
    {"fp16", "e5m10"},
    {"bf16", "e8m7"},
};

/* The OCP formats without INF: OFP8 1.0 and MX 1.0. */
static const struct {
    const char *name;
    enum aps_format_kind kind;
} ocp[] = {
    {"e4m3fn", APS_FORMAT_NAN},
    {"e3m2fn", APS_FORMAT_FINITE},
    {"e2m3fn", APS_FORMAT_FINITE},
    {"e2m1fn", APS_FORMAT_FINITE},
};

/*
 * Read a decimal number without leading zeros and step over it. False if there
 * is none. Numbers beyond 999 stay there: they are out of every range.
 */
static bool parse_bits(const char **s, int *bits)
{
    const char *p = *s;
    int value = 0;

    if (*p < '0' || *p > '9' || (p[0] == '0' && p[1] >= '0' && p[1] <= '9'))
        return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (value <= 99)
            value = 10 * value + (*p - '0');
    }
    *s = p;
    *bits = value;
    return true;
}

/* Write a number of at most two digits and step over it. */
static void print_bits(char **s, int bits)
{
    if (bits >= 10)
        *(*s)++ = (char)('0' + bits / 10);
    *(*s)++ = (char)('0' + bits % 10);
}

static void print_text(char **s, const char *text)
{
    while (*text)
        *(*s)++ = *text++;
}

static void format_init(struct aps_format *format, int exponent_bits,
                        int mantissa_bits, enum aps_format_kind kind,
                        bool saturate)
{
    struct aps_format result = {
        .layout = APS_FORMAT_LAYOUT,
        .exponent_bits = exponent_bits,
        .mantissa_bits = mantissa_bits,
        .width = 1 + exponent_bits + mantissa_bits,
        .bias = (1 << (exponent_bits - 1)) - 1,
        .kind = kind,
        .saturate = saturate || kind == APS_FORMAT_FINITE,
        .block = 1,
    };
    char *s = result.name;

    *s++ = 'e';
    print_bits(&s, exponent_bits);
    *s++ = 'm';
    print_bits(&s, mantissa_bits);
    if (kind != APS_FORMAT_IEEE)
        print_text(&s, "fn");
    if (saturate && kind != APS_FORMAT_FINITE)
        print_text(&s, "-sat");
    *format = result;
}

/* The format, less the suffix, that `length` bytes at `name` stand for. */
static const char *find_alias(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (strlen(aliases[i].name) == length &&
            strncmp(name, aliases[i].name, length) == 0)
            return aliases[i].means;
    }
    return NULL;
}

/* The kind of "eEmMfn"; false if OCP has no such format. */
static bool find_ocp(const char *name, size_t length,
                     enum aps_format_kind *kind)
{
    for (size_t i = 0; i < sizeof ocp / sizeof *ocp; i++) {
        if (strlen(ocp[i].name) == length &&
            strncmp(name, ocp[i].name, length) == 0) {
            *kind = ocp[i].kind;
            return true;
        }
    }
    return false;
}

int aps_format_parse(const char *name, struct aps_format *format,
                     struct aps_error *error)
{
    static const char suffix[] = "-sat";

    if (!name)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "format: the name is NULL");
    if (!*name)
        return aps_error_set(error, EINVAL, NULL, 0, 0, "format: empty name");

    size_t length = strlen(name);
    bool saturate = length >= strlen(suffix) &&
                    strcmp(name + length - strlen(suffix), suffix) == 0;
    if (saturate)
        length -= strlen(suffix);

    const char *s = find_alias(name, length);
    const char *end = s ? s + strlen(s) : name + length;
    enum aps_format_kind kind = APS_FORMAT_IEEE;
    int exponent_bits, mantissa_bits;

    if (!s)
        s = name;
    if (*s++ != 'e' || !parse_bits(&s, &exponent_bits) || *s++ != 'm' ||
        !parse_bits(&s, &mantissa_bits) ||
        (s != end && (end - s != 2 || strncmp(s, "fn", 2) != 0)))
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "format '%s': not a format; formats are eEmM "
                             "(e5m2, e4m3, ...), fp32, tf32, fp16, bf16 and "
                             "e4m3fn, e3m2fn, e2m3fn, e2m1fn",
                             name);
    if (exponent_bits < 1 || exponent_bits > EXPONENT_BITS_MAX)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "format '%s': exponent bits must be 1 to %d", name,
                             EXPONENT_BITS_MAX);
    if (mantissa_bits > MANTISSA_BITS_MAX)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "format '%s': mantissa bits must be 0 to %d", name,
                             MANTISSA_BITS_MAX);
    if (s != end && !find_ocp(name, length, &kind))
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "format '%s': the formats without INF are e4m3fn, "
                             "e3m2fn, e2m3fn and e2m1fn",
                             name);

    format_init(format, exponent_bits, mantissa_bits, kind, saturate);
    return 0;
}

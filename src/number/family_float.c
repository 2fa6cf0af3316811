/* SPDX-License-Identifier: BSD-3-Clause */
/* eEmM, its aliases, and the OCP formats without INF. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "number/bits.h"
#include "number/cast.h"
#include "number/family.h"

#define EXPONENT_BITS_MAX 8
#define MANTISSA_BITS_MAX 23
#define WIDE_EXPONENT_BITS_MAX 11
#define WIDE_MANTISSA_BITS_MAX 52

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

static void float_init(struct aps_format *format, int exponent_bits,
                       int mantissa_bits, enum aps_format_kind kind,
                       bool saturate)
{
    const int bias = (1 << (exponent_bits - 1)) - 1;
    struct aps_format result = {
        .exponent_bits = exponent_bits,
        .mantissa_bits = mantissa_bits,
        .width = 1 + exponent_bits + mantissa_bits,
        .bias = bias,
        .upper = bias,
        .kind = kind,
        .saturate = saturate || kind == APS_FORMAT_FINITE,
        .has_inf = kind == APS_FORMAT_IEEE,
        .has_nan = kind == APS_FORMAT_NAN ||
                   (kind == APS_FORMAT_IEEE && mantissa_bits > 0),
        .block = 1,
        .wide = exponent_bits > EXPONENT_BITS_MAX ||
                mantissa_bits > MANTISSA_BITS_MAX,
    };

    snprintf(result.name, sizeof result.name, "e%dm%d%s%s", exponent_bits,
             mantissa_bits, kind == APS_FORMAT_IEEE ? "" : "fn",
             saturate && kind != APS_FORMAT_FINITE ? "-sat" : "");
    result.marks = result.saturate || mantissa_bits == 0;
    if (result.wide)
        result.max = (float)((2 - aps_double_pow2(-mantissa_bits)) *
                             aps_double_pow2(bias));
    else
        result.max = aps_float_from_bits(
            aps_cast_decode(&result, aps_cast_limit(&result) - 1));
    *format = result;
}

/* Returns the format, without the suffix, that the alias of `length` bytes at
 * `name` stands for. */
static const char *find_alias(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (strlen(aliases[i].name) == length &&
            strncmp(name, aliases[i].name, length) == 0)
            return aliases[i].means;
    }
    return NULL;
}

/* Gets the kind of "eEmMfn". Returns false if OCP has no such format. */
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

static int float_parse(const char *name, struct aps_format *format,
                       struct aps_error *error)
{
    static const char suffix[] = "-sat";
    size_t length = strlen(name);
    bool saturate = length >= strlen(suffix) &&
                    strcmp(name + length - strlen(suffix), suffix) == 0;
    if (saturate)
        length -= strlen(suffix);

    const char *s = find_alias(name, length);
    const char *end = s ? s + strlen(s) : name + length;
    enum aps_format_kind kind = APS_FORMAT_IEEE;
    const int exponent_max =
        format->wide ? WIDE_EXPONENT_BITS_MAX : EXPONENT_BITS_MAX;
    const int mantissa_max =
        format->wide ? WIDE_MANTISSA_BITS_MAX : MANTISSA_BITS_MAX;
    int exponent_bits, mantissa_bits;

    if (!s)
        s = name;
    if (*s++ != 'e' || !aps_name_number(&s, &exponent_bits) || *s++ != 'm' ||
        !aps_name_number(&s, &mantissa_bits) ||
        (s != end && (end - s != 2 || strncmp(s, "fn", 2) != 0)))
        return 0;
    if (exponent_bits < 1 || exponent_bits > exponent_max)
        return aps_name_error(error, name, "exponent bits must be 1 to %d",
                              exponent_max);
    if (mantissa_bits > mantissa_max)
        return aps_name_error(error, name, "mantissa bits must be 0 to %d",
                              mantissa_max);
    if (s != end && !find_ocp(name, length, &kind))
        return aps_name_error(error, name,
                              "the formats without INF are e4m3fn, e3m2fn, "
                              "e2m3fn and e2m1fn");
    float_init(format, exponent_bits, mantissa_bits, kind, saturate);
    if (format->wide && (exponent_bits == 1 || mantissa_bits == 0 || saturate))
        return aps_name_error(
            error, name,
            "formats wider than FP32 have 2 exponent bits and "
            "1 mantissa bit at least, and no '-sat'");
    return 1;
}

static uint32_t float_encode(const struct aps_format *format, uint32_t bits)
{
    return aps_cast_encode(format, bits, 0);
}

static uint32_t float_decode(const struct aps_format *format, uint32_t code)
{
    return aps_cast_decode(format, code);
}

const struct aps_family_ops aps_family_float = {
    .names = "eEmM (e5m2, e4m3, ...), fp32, tf32, fp16, bf16, e4m3fn, e3m2fn, "
             "e2m3fn, e2m1fn",
    .parse = float_parse,
    .encode = float_encode,
    .decode = float_decode,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The formats that programs hold: one object for each canonical name, made on
 * first use and never freed, and what can be asked of it.
 */
#include "config.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "number/bits.h"
#include "number/format.h"

struct interned_format {
    struct aps_format format;
    const struct interned_format *next;
};

/* The newest first; members are never changed once they are in the list. */
static _Atomic(const struct interned_format *) interned_list;

static const struct aps_format *
interned_find(const struct interned_format *list, const char *name)
{
    for (; list; list = list->next) {
        if (strcmp(list->format.name, name) == 0)
            return &list->format;
    }
    return NULL;
}

/* The object of that format; a thread that comes second takes the first one's.
 */
static const struct aps_format *interned_add(const struct aps_format *format,
                                             struct aps_error *error)
{
    const struct interned_format *list = atomic_load(&interned_list);
    const struct aps_format *found = interned_find(list, format->name);
    struct interned_format *own;

    if (found)
        return found;
    own = malloc(sizeof *own);
    if (!own) {
        aps_error_set(error, ENOMEM, NULL, 0, 0, "format '%s': out of memory",
                      format->name);
        return NULL;
    }
    own->format = *format;
    do {
        found = interned_find(list, format->name);
        if (found) {
            free(own);
            return found;
        }
        own->next = list;
    } while (!atomic_compare_exchange_weak(&interned_list, &list, own));
    return &own->format;
}

const struct aps_format *aps_format_get(const char *name,
                                        struct aps_error *error)
{
    struct aps_format format;

    if (aps_format_parse(name, &format, error) < 0)
        return NULL;
    return interned_add(&format, error);
}

const char *aps_format_name(const struct aps_format *format)
{
    return format->name;
}

int aps_format_exponent_bits(const struct aps_format *format)
{
    return format->exponent_bits;
}

int aps_format_mantissa_bits(const struct aps_format *format)
{
    return format->mantissa_bits;
}

int aps_format_width(const struct aps_format *format)
{
    return format->width;
}

int aps_format_bias(const struct aps_format *format)
{
    return format->bias;
}

int aps_format_block(const struct aps_format *format)
{
    return format->block;
}

bool aps_format_has_inf(const struct aps_format *format)
{
    return format->has_inf;
}

bool aps_format_has_nan(const struct aps_format *format)
{
    return format->has_nan;
}

bool aps_format_saturates(const struct aps_format *format)
{
    return format->saturate;
}

float aps_format_max(const struct aps_format *format)
{
    return format->max;
}

double aps_format_min_normal(const struct aps_format *format)
{
    return aps_double_pow2(1 - format->bias);
}

double aps_format_min_positive(const struct aps_format *format)
{
    if (aps_format_max(format) == 0)
        return 0;
    if (format->levels > 0)
        return 1. / format->levels;
    return aps_double_pow2(1 - format->bias - format->mantissa_bits);
}

/* ceil(n * width / 8), or SIZE_MAX: eight values are `width` bytes. */
static size_t interned_code_bytes(size_t width, size_t n)
{
    size_t bytes;

    if (__builtin_mul_overflow(n / 8, width, &bytes) ||
        __builtin_add_overflow(bytes, (n % 8 * width + 7) / 8, &bytes))
        return SIZE_MAX;
    return bytes;
}

size_t aps_packed_bytes(const struct aps_format *format, size_t n)
{
    size_t width = (size_t)format->width, block = (size_t)format->block;
    size_t scale = (size_t)format->scale_bytes, rest = n % block, bytes;

    if (block == 1)
        return interned_code_bytes(width, n);
    if (n == 0)
        return 0;
    if (__builtin_mul_overflow(
            n / block, scale + interned_code_bytes(width, block), &bytes) ||
        __builtin_add_overflow(
            bytes, rest > 0 ? scale + interned_code_bytes(width, rest) : 0,
            &bytes) ||
        __builtin_add_overflow(bytes, (size_t)format->piece_bytes, &bytes))
        return SIZE_MAX;
    return bytes;
}

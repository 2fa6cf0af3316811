/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Families of number formats. A family is a row of APS_FAMILIES and a file here
 * that reads its names and says what its formats can hold; how arrays are
 * encoded is another file and row (kernel/table.h). Others ask for a format's
 * properties (format.h), never for its family.
 */
#ifndef APS_NUMBER_FAMILY_H
#define APS_NUMBER_FAMILY_H

#include "number/format.h"

struct aps_family_ops {
    /* For messages: "eEmM (e5m2, e4m3, ...)". */
    const char *names;

    /*
     * Read the name of a format. 1 and the format, all but its layout; 0 if the
     * name is not one of this family; -1 with errno EINVAL and the reason if
     * only the numbers in it are wrong.
     */
    int (*parse)(const char *name, struct aps_format *format,
                 struct aps_error *error);

    /* The code of one float and the value of a code, by their bit patterns, as
     * aps_encode and aps_decode have it. NULL of formats in blocks, whose
     * values have no codes of their own. */
    uint32_t (*encode)(const struct aps_format *format, uint32_t bits);
    uint32_t (*decode)(const struct aps_format *format, uint32_t code);
};

#define APS_FAMILY_OPS(family, ops)                                            \
    extern const struct aps_family_ops aps_family_##ops;
APS_FAMILIES(APS_FAMILY_OPS)
#undef APS_FAMILY_OPS

extern const struct aps_family_ops *const aps_families[APS_FAMILY_KINDS];

/* Read a decimal number without leading zeros and step over it. False if there
 * is none. Numbers beyond 99999 are 99999 or more: they are out of every
 * range. */
bool aps_name_number(const char **s, int *number);

/* EINVAL: "format 'NAME': ", and the reason. -1. */
int aps_name_error(struct aps_error *error, const char *name,
                   const char *reason, ...)
    __attribute__((format(printf, 3, 4)));

/* A block of so many values: *format's. -1 if no format may have it. */
int aps_name_block(struct aps_error *error, const char *name, int block,
                   struct aps_format *format);

/* Bits that are no float's exponent: values are integers of `bits` bits times
 * 2^(1 - bias - bits). */
void aps_format_fixed(struct aps_format *format, int bits, int bias);

#endif

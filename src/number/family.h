/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Families of number formats. A family is a row of APS_FAMILIES and a file here
 * that parses its names and describes its formats; another file and row
 * (kernel/table.h) encode arrays. Other code reads a format's properties
 * (format.h), never its family.
 */
#ifndef APS_NUMBER_FAMILY_H
#define APS_NUMBER_FAMILY_H

#include "number/format.h"

struct aps_family_ops {
    /* For messages: "eEmM (e5m2, e4m3, ...)". */
    const char *names;

    /* Parses the name of a format, a wide one only if format->wide. Returns 1 and
     * the format, all but its layout; 0 if the name does not belong to this family;
     * -1 with errno EINVAL and the reason if only the numbers in it are wrong. */
    int (*parse)(const char *name, struct aps_format *format,
                 struct aps_error *error);

    /* Convert the bit pattern of one float to its code and back, like
     * aps_encode and aps_decode. NULL for formats in blocks, whose values have
     * no codes of their own. */
    uint32_t (*encode)(const struct aps_format *format, uint32_t bits);
    uint32_t (*decode)(const struct aps_format *format, uint32_t code);
};

#define APS_FAMILY_OPS(family, ops)                                            \
    extern const struct aps_family_ops aps_family_##ops;
APS_FAMILIES(APS_FAMILY_OPS)
#undef APS_FAMILY_OPS

extern const struct aps_family_ops *const aps_families[APS_FAMILY_KINDS];

/* Parses a decimal number without leading zeros and steps over it. Returns
 * false if there is none. Numbers beyond 99999 are 99999 or more, which is out
 * of every range. */
bool aps_name_number(const char **s, int *number);

/* Sets EINVAL and "format 'NAME': " with the reason. Returns -1. */
int aps_name_error(struct aps_error *error, const char *name,
                   const char *reason, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets the number of values in a block of *format. Returns -1 if it is not
 * allowed. */
int aps_name_block(struct aps_error *error, const char *name, int block,
                   struct aps_format *format);

/* Sets the members of fixed point: values are integers of `bits` bits times
 * 2^(1 - bias - bits). */
void aps_format_fixed(struct aps_format *format, int bits, int bias);

#endif

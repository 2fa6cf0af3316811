/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structs that a program fills, which begin with their size as the program's
 * compiler knew it: a program that was built with an older aps.h gets the
 * defaults for later members. A program that was built with a newer aps.h is
 * refused if it uses members that this library does not know.
 */
#ifndef APS_NUMBER_STRUCT_VERSION_H
#define APS_NUMBER_STRUCT_VERSION_H

#include <stddef.h>

#include "aps.h"

/* Description of a struct. */
struct aps_struct_version {
    const char *name;     /* "aps_cast_options" */
    const char *init;     /* name of its initialiser, "APS_CAST_OPTIONS_INIT" */
    size_t first;         /* bytes in the first version of aps.h */
    size_t size;          /* bytes in this version */
    const void *defaults; /* values of the initialiser in this version */
};

/*
 * Copies the program's struct at `given` to `to`, a struct of `kind->size`
 * bytes without padding at its end: members that the program does not have get
 * their defaults, and `to` has its own size. Returns 0, or -1 with EINVAL for a
 * size that no version had, for a size above every version, and for bytes
 * beyond `kind->size` that are not zero.
 */
int aps_struct_version_read(const char *who,
                            const struct aps_struct_version *kind,
                            const void *given, void *to,
                            struct aps_error *error);

#endif

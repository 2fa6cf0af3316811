/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structs that a program fills, which begin with their size as the program's
 * compiler knew it: a program that was built with an older aps.h gets the
 * defaults for what came later, one that was built with a newer aps.h is
 * refused if it asks for what this library does not know.
 */
#ifndef APS_NUMBER_STRUCT_VERSION_H
#define APS_NUMBER_STRUCT_VERSION_H

#include <stddef.h>

#include "aps.h"

/* What a struct of a program can be. */
struct aps_struct_version {
    const char *name;     /* "aps_cast_options": its initialiser is called
                             APS_CAST_OPTIONS_INIT */
    const char *init;     /* that name */
    size_t first;         /* size in the first version of aps.h */
    size_t size;          /* size here */
    const void *defaults; /* what the initialiser says here */
};

/*
 * Copy the program's struct at `given` to `to`, a struct of `kind->size` bytes
 * without padding at its end: members that the program does not have get their
 * defaults, and `to` has its own size. 0, or -1 with EINVAL for a size that no
 * version had or that is larger than any could have, and for bytes beyond
 * `kind->size` that are not zero.
 */
int aps_struct_version_read(const char *who,
                            const struct aps_struct_version *kind,
                            const void *given, void *to,
                            struct aps_error *error);

#endif

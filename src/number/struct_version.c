/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "number/struct_version.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

/* No version of a struct will be larger: a larger size was never set, and a
 * read of that length could leave the program's memory. */
#define GIVEN_MAX 1024

int aps_struct_version_read(const char *who,
                            const struct aps_struct_version *kind,
                            const void *given, void *to,
                            struct aps_error *error)
{
    const unsigned char *bytes = given;
    size_t size;

    memcpy(&size, given, sizeof size);
    if (size < kind->first || size > GIVEN_MAX)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: struct %s begins with the size %zu, which "
                             "none has; initialise it with %s",
                             who, kind->name, size, kind->init);
    for (size_t i = kind->size; i < size; i++) {
        if (bytes[i] != 0)
            return aps_error_set(error, EINVAL, NULL, 0, 0,
                                 "%s: struct %s sets byte %zu, which this "
                                 "version (" PACKAGE_VERSION ") does not know; "
                                 "a newer libaps does",
                                 who, kind->name, i);
    }
    memcpy(to, kind->defaults, kind->size);
    memcpy(to, given, size < kind->size ? size : kind->size);
    memcpy(to, &kind->size, sizeof kind->size);
    return 0;
}

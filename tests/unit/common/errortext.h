/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The errors or warnings of one reading as a text to compare.
 */
#ifndef APS_TESTS_UNIT_COMMON_ERRORTEXT_H
#define APS_TESTS_UNIT_COMMON_ERRORTEXT_H

#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* Returns list[0..count), one a line, as `format` writes them, without
 * `prefix`. The text is valid until the next call. */
static inline const char *
error_lines(const struct aps_error list[], size_t count,
            char *(*format)(const struct aps_error *, char *, size_t),
            const char *prefix)
{
    static char text[8192];
    const size_t length = strlen(prefix);
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && used < sizeof text; i++) {
        char line[sizeof(struct aps_error) + 32];
        const char *at = format(&list[i], line, sizeof line);

        if (strncmp(at, prefix, length) == 0)
            at += length;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                 i > 0 ? "\n" : "", at);
    }
    return text;
}

#endif

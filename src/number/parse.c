/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of formats: every family is asked in turn. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "number/family.h"
#include "number/format.h"

/* All families, in one sentence. */
static int format_none(const char *name, struct aps_error *error)
{
    char names[300] = "";
    size_t used = 0;

    for (int i = 0; i < APS_FAMILY_KINDS && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                 i == 0                      ? ""
                                 : i == APS_FAMILY_KINDS - 1 ? " and "
                                                             : ", ",
                                 aps_families[i]->names);
    return aps_name_error(error, name, "not a format; formats are %s", names);
}

int aps_format_parse(const char *name, struct aps_format *format,
                     struct aps_error *error)
{
    if (!name)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "format: the name is NULL");
    if (!*name)
        return aps_error_set(error, EINVAL, NULL, 0, 0, "format: empty name");
    for (int i = 0; i < APS_FAMILY_KINDS; i++) {
        struct aps_format result;
        const int parsed = aps_families[i]->parse(name, &result, error);

        if (parsed < 0)
            return -1;
        if (parsed > 0) {
            result.layout = APS_FORMAT_LAYOUT;
            result.family = (enum aps_family)i;
            *format = result;
            return 0;
        }
    }
    return format_none(name, error);
}

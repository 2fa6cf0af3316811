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
    char names[400] = "";
    size_t used = 0;

    for (int i = 0; i < APS_FAMILY_KINDS && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                 i == 0                      ? ""
                                 : i == APS_FAMILY_KINDS - 1 ? " and "
                                                             : ", ",
                                 aps_families[i]->names);
    return aps_name_error(error, name, "not a format; formats are %s", names);
}

static int parse_family(const char *name, struct aps_format *format,
                        struct aps_error *error)
{
    for (int i = 0; i < APS_FAMILY_KINDS; i++) {
        struct aps_format result;
        const int parsed = aps_families[i]->parse(name, &result, error);

        if (parsed < 0)
            return -1;
        if (parsed > 0) {
            result.layout = APS_FORMAT_LAYOUT;
            result.family = (enum aps_family)i;
            *format = result;
            return 1;
        }
    }
    return 0;
}

/* -1 with the error if the name is that of a format which clips by itself, with
 * the suffix of one that saturates. */
static int refuse_suffix(const char *name, struct aps_error *error)
{
    static const char suffix[] = "-sat";
    const size_t length = strlen(name);
    char base[APS_FORMAT_NAME];
    struct aps_format format;

    if (length < strlen(suffix) || length - strlen(suffix) >= sizeof base ||
        strcmp(name + length - strlen(suffix), suffix) != 0)
        return 0;
    snprintf(base, sizeof base, "%.*s", (int)(length - strlen(suffix)), name);
    if (parse_family(base, &format, NULL) <= 0 ||
        format.family == APS_FAMILY_FLOAT)
        return 0;
    return aps_name_error(error, name, "leave out '-sat': %s",
                          format.family == APS_FAMILY_BFP || format.levels > 0
                              ? "no value is beyond the range of its block"
                              : "what is beyond the range is clipped in any "
                                "case");
}

int aps_format_parse(const char *name, struct aps_format *format,
                     struct aps_error *error)
{
    int parsed;

    if (!name)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "format: the name is NULL");
    if (!*name)
        return aps_error_set(error, EINVAL, NULL, 0, 0, "format: empty name");
    if (refuse_suffix(name, error) < 0)
        return -1;
    parsed = parse_family(name, format, error);
    if (parsed == 0)
        return format_none(name, error);
    return parsed > 0 ? 0 : -1;
}

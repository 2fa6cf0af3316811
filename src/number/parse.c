/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses names of formats by asking every family in turn. A program gets one
 * object for each canonical name, made on first use and never freed.
 */
#include "config.h"

#include "number/parse.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "number/family.h"

/* Sets the error that lists all families in one sentence. */
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

static int parse_family(const char *name, bool wide, struct aps_format *format,
                        struct aps_error *error)
{
    for (int i = 0; i < APS_FAMILY_KINDS; i++) {
        struct aps_format result = {.wide = wide};
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

/* Returns -1 with the error if the name is one of a format that clips by
 * itself, with the suffix of a format that saturates. */
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
    if (parse_family(base, false, &format, NULL) <= 0 ||
        format.family == APS_FAMILY_FLOAT)
        return 0;
    return aps_name_error(error, name, "leave out '-sat': %s",
                          format.family == APS_FAMILY_BFP || format.levels > 0
                              ? "no value is beyond the range of its block"
                              : "what is beyond the range is clipped in any "
                                "case");
}

static int format_parse(const char *name, bool wide, struct aps_format *format,
                        struct aps_error *error)
{
    struct aps_format other;
    int parsed;

    if (!name)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "format: the name is NULL");
    if (!*name)
        return aps_error_set(error, EINVAL, NULL, 0, 0, "format: empty name");
    if (refuse_suffix(name, error) < 0)
        return -1;
    parsed = parse_family(name, wide, format, error);
    if (parsed < 0 && !wide && parse_family(name, true, &other, NULL) > 0)
        return aps_name_error(error, name,
                              "wider than FP32, for rules with types: double");
    if (parsed == 0)
        return format_none(name, error);
    return parsed > 0 ? 0 : -1;
}

int aps_format_parse(const char *name, struct aps_format *format,
                     struct aps_error *error)
{
    return format_parse(name, false, format, error);
}

int aps_format_parse_wide(const char *name, struct aps_format *format,
                          struct aps_error *error)
{
    return format_parse(name, true, format, error);
}

struct interned_format {
    struct aps_format format;
    const struct interned_format *next;
};

/* The newest first; members of the list never change. */
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

/* Returns the object of that format. If two threads add it, both get the first
 * one's object. */
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

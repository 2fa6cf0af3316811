/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "roundoff/event.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void aps_event_add(char *line, size_t size, const char *key, const char *value)
{
    const bool quoted = value[0] == '\0' || strpbrk(value, " \t\"\\");
    size_t used = strlen(line);

    snprintf(line + used, size - used, " %s=%s", key, quoted ? "\"" : "");
    used = strlen(line);
    for (; *value && used + 4 < size; value++) {
        if (*value == '"' || *value == '\\')
            line[used++] = '\\';
        line[used++] = *value;
    }
    line[used] = '\0';
    if (quoted)
        snprintf(line + used, size - used, "\"");
}

void aps_event_add_number(char *line, size_t size, const char *key,
                          long long number)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", number);
    aps_event_add(line, size, key, text);
}

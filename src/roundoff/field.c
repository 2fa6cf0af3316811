/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "roundoff/field.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

/* Copies, with every `doubled` character twice (0: none), into `room` bytes
 * without a NUL. Returns the number of bytes written. */
static size_t field_copy(const char *text, char doubled, char *field,
                         size_t room)
{
    uint32_t character;
    size_t used = 0;

    while (*text) {
        const size_t found = aps_utf8_next(text, &character);
        const size_t length = found > 0 ? found : 1;
        const bool twice = doubled && *text == doubled;

        if (used + length + twice > room)
            break;
        if (twice)
            field[used++] = doubled;
        if (found == 0)
            field[used] = '?';
        else if (*text == '\n' || *text == '\r')
            field[used] = ' ';
        else
            memcpy(field + used, text, length);
        used += length;
        text += length;
    }
    return used;
}

size_t aps_field_clean(const char *text, char *field, size_t size)
{
    const size_t used = field_copy(text, '\0', field, size - 1);

    field[used] = '\0';
    return used;
}

void aps_field_quote(const char *text, char *field, size_t size)
{
    size_t used;

    if (!text || !strpbrk(text, ",\"#\r\n")) {
        (void)aps_field_clean(text ? text : "", field, size);
        return;
    }
    field[0] = '"';
    used = 1 + field_copy(text, '"', field + 1, size - 3);
    field[used++] = '"';
    field[used] = '\0';
}

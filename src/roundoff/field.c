/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "roundoff/field.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Returns the bytes of the UTF-8 character at `text`, or 0 if there is none:
 * RFC 3629, without surrogates, overlong forms, and numbers above U+10FFFF. */
static size_t field_character(const unsigned char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = text[0];
    const size_t length = first < 0x80             ? 1
                          : (first & 0xe0) == 0xc0 ? 2
                          : (first & 0xf0) == 0xe0 ? 3
                          : (first & 0xf8) == 0xf0 ? 4
                                                   : 0;
    uint32_t code = first & (0x7fu >> length);

    if (length < 2)
        return length;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) /* also for a NUL */
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    if (code < least[length] || code > 0x10ffff ||
        (code >= 0xd800 && code <= 0xdfff))
        return 0;
    return length;
}

/* Copies, with every `doubled` character twice (0: none), into `room` bytes
 * without a NUL. Returns the number of bytes written. */
static size_t field_copy(const char *text, char doubled, char *field,
                         size_t room)
{
    size_t used = 0;

    while (*text) {
        const size_t found = field_character((const unsigned char *)text);
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

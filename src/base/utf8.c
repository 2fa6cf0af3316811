/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/utf8.h"

size_t aps_utf8_next(const char *text, uint32_t *character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)text;
    size_t length = bytes[0] < 0x80    ? 1
                    : bytes[0] < 0xc2  ? 0
                    : bytes[0] < 0xe0  ? 2
                    : bytes[0] < 0xf0  ? 3
                    : bytes[0] <= 0xf4 ? 4
                                       : 0;
    uint32_t value = length > 1 ? bytes[0] & (0x7fu >> length) : bytes[0];

    /* A text that ends too early has a NUL there. */
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (bytes[i] & 0x3fu);
    }
    if (length == 0 || value < least[length] || value > 0x10ffff ||
        (value >= 0xd800 && value <= 0xdfff))
        return 0;
    *character = value;
    return length;
}

bool aps_utf8_is_plain(uint32_t character)
{
    return character >= ' ' && (character < 0x7f || character >= 0xa0) &&
           character != 0x2028 && character != 0x2029 && character != 0xfeff &&
           character != 0xfffe && character != 0xffff;
}

void aps_utf8_clean(char *text)
{
    uint32_t character;

    while (*text) {
        const size_t length = aps_utf8_next(text, &character);

        if (length > 0 && aps_utf8_is_plain(character))
            text += length;
        else
            *text++ = '?';
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Characters in UTF-8, and other bytes. */
#include "config.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

#include "tests/tap/tap.h"

int main(void)
{
    static const struct {
        const char *text;
        uint32_t character; /* 0: the text is not UTF-8 */
        bool plain;
    } cases[] = {
        {"\xff", 0, false},
        {"\x80", 0, false},
        {"\xc0\x80", 0, false},
        {"\xc3", 0, false},
        {"\xc3(", 0, false},
        {"\xe0\x80\x80", 0, false},
        {"\xed\xa0\x80", 0, false},
        {"\xf4\x90\x80\x80", 0, false},
        {"a", 'a', true},
        {"\xc3\xa9", 0xe9, true},
        {"\n", '\n', false},
        {"\xc2\x85", 0x85, false},
        {"\x7f", 0x7f, false},
        {"\xe2\x80\xa8", 0x2028, false},
        {"\xef\xbb\xbf", 0xfeff, false},
        {"\xf0\x9f\x98\x80", 0x1f600, true},
    };
    char text[] = "a\xff\xc3\xa9\xc2\x85"
                  "b\xe2\x80";

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t character = 0;
        const size_t length = aps_utf8_next(cases[i].text, &character);

        ok(character == cases[i].character &&
               length == (character ? strlen(cases[i].text) : 0),
           "case %zu: %06x", i, (unsigned)cases[i].character);
        ok(length == 0 || aps_utf8_is_plain(character) == cases[i].plain,
           "... as YAML takes it");
    }
    aps_utf8_clean(text);
    is(text, "a?\xc3\xa9??b??", "other bytes are replaced");
    return done_testing();
}

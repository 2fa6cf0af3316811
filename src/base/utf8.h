/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UTF-8, the only encoding of policies (YAML): names that are written into a
 * policy must be UTF-8.
 */
#ifndef APS_BASE_UTF8_H
#define APS_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the first character of `text`, which is not empty. Returns its number
 * of bytes with *character, or 0 if the text does not begin with a character in
 * UTF-8. */
size_t aps_utf8_next(const char *text, uint32_t *character);

/* True if YAML takes the character as it is inside quotes: not a control
 * character, a line break, a byte order mark or a noncharacter. */
bool aps_utf8_is_plain(uint32_t character);

/* Replaces bytes of `text` that are not plain characters by question marks. */
void aps_utf8_clean(char *text);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "text/glob.h"

#include <stddef.h>
#include <string.h>

bool aps_glob_is(const char *text)
{
    return strpbrk(text, "*?[\\") != NULL;
}

/* Reads one byte of a set, and skips a backslash before it. */
static unsigned char set_byte(const char **at)
{
    if (**at == '\\' && (*at)[1] != '\0')
        (*at)++;
    return (unsigned char)*(*at)++;
}

/* Matches `c` against the set after `[` at `at`. Returns the text after the
 * `]`, or NULL if there is none. */
static const char *match_set(const char *at, unsigned char c, bool *match)
{
    bool inverse = *at == '!' || *at == '^';
    bool found = false;

    if (inverse)
        at++;
    /* A `]` in the first place is a member, as in the shell. */
    for (bool first = true; first || *at != ']'; first = false) {
        unsigned char low, high;

        if (*at == '\0')
            return NULL;
        low = high = set_byte(&at);
        if (at[0] == '-' && at[1] != ']' && at[1] != '\0') {
            at++;
            high = set_byte(&at);
        }
        if (low <= c && c <= high)
            found = true;
    }
    *match = found != inverse;
    return at + 1;
}

/* Matches one byte against one element of the pattern (no star); *after is the
 * pattern after the element. */
static bool match_one(const char *pattern, char c, const char **after)
{
    bool match;

    if (*pattern == '?') {
        *after = pattern + 1;
        return true;
    }
    if (*pattern == '[') {
        *after = match_set(pattern + 1, (unsigned char)c, &match);
        if (*after)
            return match;
    }
    if (*pattern == '\\' && pattern[1] != '\0')
        pattern++;
    *after = pattern + 1;
    return *pattern == c;
}

bool aps_glob_match(const char *pattern, const char *name)
{
    /* Where to continue after a mismatch. Only the last star matters, because
     * an earlier one that took more could not help. */
    const char *star = NULL, *taken = NULL;

    while (*name != '\0') {
        const char *after;

        if (*pattern == '*') {
            star = ++pattern;
            taken = name;
        } else if (*pattern != '\0' && match_one(pattern, *name, &after)) {
            pattern = after;
            name++;
        } else if (star) {
            pattern = star;
            name = ++taken;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

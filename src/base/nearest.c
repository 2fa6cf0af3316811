/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

/* ASCII only, because tolower depends on the program's locale. */
static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static char hyphen(char c)
{
    return (char)(c == '_' ? '-' : c);
}

bool aps_same_word(const char *a, const char *b)
{
    while (*a && hyphen(*a) == hyphen(*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

bool aps_name_is_ignored(const char *name)
{
    return name[0] == 'x' && (name[1] == '-' || name[1] == '_');
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Both words are at most APS_NEAREST_MAX long. */
static size_t distance(const char *a, size_t length_a, const char *b,
                       size_t length_b)
{
    /* Rows i, i-1 and i-2 of the usual table. */
    size_t rows[3][APS_NEAREST_MAX + 1];
    size_t *row = rows[0], *above = rows[1], *two_above = rows[2];

    for (size_t j = 0; j <= length_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t *recycled = two_above;

        two_above = above;
        above = row;
        row = recycled;
        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            size_t differ = lower(a[i - 1]) != lower(b[j - 1]);

            row[j] =
                least(above[j - 1] + differ, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return row[length_b];
}

void aps_nearest_offer(struct aps_nearest *nearest, const char *name)
{
    size_t word_length = strlen(nearest->word);
    size_t name_length = strlen(name);
    size_t longer = word_length > name_length ? word_length : name_length;
    size_t limit = longer < 6 ? 1 : longer / 3;
    size_t found;

    /* A word of one letter is one replacement away from every other. */
    if (longer > APS_NEAREST_MAX || word_length < 2)
        return;
    if (longer - least(word_length, name_length) > limit)
        return;
    found = distance(nearest->word, word_length, name, name_length);
    if (found > limit || (nearest->best && found >= nearest->distance))
        return;
    nearest->best = name;
    nearest->distance = found;
}

const char *aps_nearest_name(const char *word, const char *const *names)
{
    struct aps_nearest nearest = {.word = word};

    for (; *names; names++)
        aps_nearest_offer(&nearest, *names);
    return nearest.best;
}

const char *aps_nearest_hint(const char *name, char hint[APS_HINT_MAX])
{
    if (name)
        snprintf(hint, APS_HINT_MAX, "; did you mean '%s'?", name);
    else
        hint[0] = '\0';
    return hint;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "Did you mean ...?": finds the valid name that is nearest to the text.
 *
 * The distance is Damerau-Levenshtein's in its restricted form (insert, delete,
 * replace, swap two neighbours), letters compared without case. A name is near
 * if at most a third of the longer of the two words differs, or one letter; a
 * hint at a more distant name would be wrong too often.
 */
#ifndef APS_BASE_NEAREST_H
#define APS_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* Longer words get no hint; this is above the longest layer names. */
#define APS_NEAREST_MAX 128

/* True if both have the same letters; a hyphen equals an underscore. */
bool aps_same_word(const char *a, const char *b);

/* True if the name is one of a key or column for other programs, x-... or
 * x_... */
bool aps_name_is_ignored(const char *name);

/* A search: begin with {.word = word}, offer every name, read `best`. */
struct aps_nearest {
    const char *word;
    const char *best; /* the nearest so far; NULL: none is near enough */
    size_t distance;  /* distance of best */
};

/* The first of several equally near names wins. */
void aps_nearest_offer(struct aps_nearest *nearest, const char *name);

/* Returns the nearest of a NULL-terminated list, or NULL. */
const char *aps_nearest_name(const char *word, const char *const *names);

/* Writes "; did you mean 'NAME'?", or "" if name is NULL, to `hint`, to be
 * appended to a message. Returns `hint`. */
#define APS_HINT_MAX (APS_NEAREST_MAX + 32)
const char *aps_nearest_hint(const char *name, char hint[APS_HINT_MAX]);

#endif

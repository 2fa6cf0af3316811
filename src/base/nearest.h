/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "Did you mean ...?": of the names that would have been right, the one nearest
 * to what was written.
 *
 * The distance is Damerau-Levenshtein's in its restricted form (insert, delete,
 * replace, swap two neighbours), letters compared without case. A name is near
 * when at most a third of the longer of the two words differs, one letter at
 * least; further ones would be guesses, and no hint is better than a wrong one.
 */
#ifndef APS_BASE_NEAREST_H
#define APS_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* Longer words get no hint; the longest layer names stay below. */
#define APS_NEAREST_MAX 128

/* The same letters, where a hyphen and an underscore are the same one. */
bool aps_same_word(const char *a, const char *b);

/* Is it the name of a key or column for others, x-... or x_...? */
bool aps_name_is_ignored(const char *name);

/* A search under way: {.word = word}, offer every name, read `best`. */
struct aps_nearest {
    const char *word;
    const char *best; /* the nearest so far, NULL: none near enough */
    size_t distance;  /* of best */
};

/* The first of several equally near names wins. */
void aps_nearest_offer(struct aps_nearest *nearest, const char *name);

/* The nearest of a NULL-terminated list, or NULL. */
const char *aps_nearest_name(const char *word, const char *const *names);

/*
 * "; did you mean 'NAME'?", or "" when name is NULL, to be appended to a
 * message. Writes to `hint` and returns it.
 */
#define APS_HINT_MAX (APS_NEAREST_MAX + 32)
const char *aps_nearest_hint(const char *name, char hint[APS_HINT_MAX]);

#endif

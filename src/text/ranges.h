/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of whole numbers >= 0 as sorted ranges: the layers, epochs and steps of
 * a rule.
 */
#ifndef APS_TEXT_RANGES_H
#define APS_TEXT_RANGES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* A closed range: first and last belong to it. */
#define APS_RANGE_OPEN LONG_MAX /* as `last`: no end */
struct aps_range {
    long first;
    long last;
};

/* {.count = 0} is the empty set. */
struct aps_ranges {
    size_t count;
    size_t capacity;
    struct aps_range *list; /* owned */
};

/* Parses "N", "A-B" or "A-" (no end). Returns 0, or -1 with the reason in
 * *why, a constant text that follows the quoted range in a message: "runs
 * backwards". */
int aps_range_parse(const char *text, struct aps_range *range,
                    const char **why);

/* Formats "5", "3-9", "3-" or "all". Writes at most `size` bytes, returns
 * `buffer`. */
char *aps_range_format(const struct aps_range *range, char *buffer,
                       size_t size);

/* Appends a range. Returns 0, or -1 with errno ENOMEM. Call aps_ranges_sort
 * afterwards. */
int aps_ranges_add(struct aps_ranges *ranges, long first, long last);

/* Sorts the ranges, and merges those that overlap or touch. The functions below
 * need this. */
void aps_ranges_sort(struct aps_ranges *ranges);

bool aps_ranges_contain(const struct aps_ranges *ranges, long number);

/* Returns the first number after `number` at which a range starts or has just
 * ended, or -1 if there is none. */
long aps_ranges_next(const struct aps_ranges *ranges, long number);

/* Formats "0-4, 9, 12-", cut with "..." if it does not fit. Returns
 * `buffer`. */
char *aps_ranges_format(const struct aps_ranges *ranges, char *buffer,
                        size_t size);

void aps_ranges_clear(struct aps_ranges *ranges); /* leaves the empty set */

#endif

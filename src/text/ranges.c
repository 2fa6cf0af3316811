/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "text/ranges.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"

/* Parses one end of a range. LONG_MAX is reserved for "no end". */
static int parse_end(const char *text, size_t length, long *end,
                     const char **why)
{
    uintmax_t number;

    if (aps_digits_parse(text, length, LONG_MAX - 1, &number) < 0) {
        *why = errno == ERANGE ? "is too large"
                               : "is not a number or a range (N, A-B or A-)";
        return -1;
    }
    *end = (long)number;
    return 0;
}

int aps_range_parse(const char *text, struct aps_range *range, const char **why)
{
    size_t length = strlen(text);
    const char *dash = strchr(text, '-');
    size_t left = dash ? (size_t)(dash - text) : length;
    struct aps_range parsed;

    if (parse_end(text, left, &parsed.first, why) < 0)
        return -1;
    parsed.last = parsed.first;
    if (dash && dash[1] == '\0')
        parsed.last = APS_RANGE_OPEN;
    else if (dash &&
             parse_end(dash + 1, length - left - 1, &parsed.last, why) < 0)
        return -1;
    if (parsed.last < parsed.first) {
        *why = "runs backwards";
        return -1;
    }
    *range = parsed;
    return 0;
}

char *aps_range_format(const struct aps_range *range, char *buffer, size_t size)
{
    if (range->first == 0 && range->last == APS_RANGE_OPEN)
        snprintf(buffer, size, "all");
    else if (range->last == APS_RANGE_OPEN)
        snprintf(buffer, size, "%ld-", range->first);
    else if (range->first == range->last)
        snprintf(buffer, size, "%ld", range->first);
    else
        snprintf(buffer, size, "%ld-%ld", range->first, range->last);
    return buffer;
}

int aps_ranges_add(struct aps_ranges *ranges, long first, long last)
{
    /* A pattern adds its layers one by one, and most are neighbours. */
    if (ranges->count > 0 && first > 0 &&
        ranges->list[ranges->count - 1].last == first - 1) {
        ranges->list[ranges->count - 1].last = last;
        return 0;
    }
    if (ranges->count == ranges->capacity) {
        size_t capacity = ranges->capacity ? 2 * ranges->capacity : 4;
        struct aps_range *list = NULL;

        if (capacity <= SIZE_MAX / sizeof *list)
            list = realloc(ranges->list, capacity * sizeof *list);
        if (!list) {
            errno = ENOMEM;
            return -1;
        }
        ranges->list = list;
        ranges->capacity = capacity;
    }
    ranges->list[ranges->count++] = (struct aps_range){first, last};
    return 0;
}

static int by_first(const void *a, const void *b)
{
    long x = ((const struct aps_range *)a)->first;
    long y = ((const struct aps_range *)b)->first;

    return (x > y) - (x < y);
}

void aps_ranges_sort(struct aps_ranges *ranges)
{
    size_t kept = 0;

    if (ranges->count == 0)
        return;
    qsort(ranges->list, ranges->count, sizeof *ranges->list, by_first);
    for (size_t i = 1; i < ranges->count; i++) {
        struct aps_range *before = &ranges->list[kept];
        const struct aps_range *range = &ranges->list[i];

        if (before->last == APS_RANGE_OPEN ||
            range->first <= before->last + 1) {
            if (range->last > before->last)
                before->last = range->last;
        } else {
            ranges->list[++kept] = *range;
        }
    }
    ranges->count = kept + 1;
}

/* Returns the index of the first range that ends at `number` or later, or
 * `count`. */
static size_t search(const struct aps_ranges *ranges, long number)
{
    size_t low = 0, high = ranges->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ranges->list[middle].last < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool aps_ranges_contain(const struct aps_ranges *ranges, long number)
{
    size_t at = search(ranges, number);

    return at < ranges->count && ranges->list[at].first <= number;
}

long aps_ranges_next(const struct aps_ranges *ranges, long number)
{
    size_t at = search(ranges, number);

    if (at == ranges->count)
        return -1;
    if (ranges->list[at].first > number)
        return ranges->list[at].first;
    if (ranges->list[at].last == APS_RANGE_OPEN)
        return -1;
    return ranges->list[at].last + 1;
}

char *aps_ranges_format(const struct aps_ranges *ranges, char *buffer,
                        size_t size)
{
    size_t used = 0;

    if (size > 0)
        buffer[0] = '\0';
    for (size_t i = 0; i < ranges->count; i++) {
        const char *comma = i > 0 ? ", " : "";
        /* Bytes that must stay free for the mark of an omission. */
        size_t reserve = i + 1 < ranges->count ? sizeof ", ..." : 1;
        char text[2 * 3 * sizeof(long) + 2];
        size_t length;

        aps_range_format(&ranges->list[i], text, sizeof text);
        length = strlen(comma) + strlen(text);
        if (length + reserve > size - used) {
            snprintf(buffer + used, size - used, "%s...", comma);
            break;
        }
        snprintf(buffer + used, size - used, "%s%s", comma, text);
        used += length;
    }
    return buffer;
}

void aps_ranges_clear(struct aps_ranges *ranges)
{
    free(ranges->list);
    *ranges = (struct aps_ranges){.count = 0};
}

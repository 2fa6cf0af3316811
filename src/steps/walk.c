/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "steps/walk.h"

/* Returns the place after the last layer of the network that begins there. */
static long walk_end(const struct aps_walk *walk, long begin)
{
    return (long)walk->layers->list[begin].end;
}

long aps_walk_layer(const struct aps_walk *walk, bool first, long place)
{
    const struct aps_layer_row *row = &walk->layers->list[place];

    if (first)
        return walk->layers->first[place];
    return walk->backward ? (long)(row->begin + row->end) - 1 - place : place;
}

size_t aps_walk_count(const struct aps_walk *walk, long place)
{
    return walk->layers->list[aps_walk_layer(walk, walk->first, place)].count;
}

/* Returns the number of whole consecutive layers from `cursor` on that add up
 * to `count`, or 0. */
static long walk_tiles(const struct aps_walk *walk, long cursor, long end,
                       size_t count)
{
    size_t sum = 0;

    for (long i = cursor; i < end; i++) {
        sum += aps_walk_count(walk, i);
        if (sum == count)
            return i - cursor + 1;
        if (sum > count)
            return 0;
    }
    return 0;
}

/* Runs walk_tiles from *cursor, or from after layers that are too small
 * to be numbered, because calls of their own may have reduced those. *cursor
 * moves to the first layer of the call, or to the end if only small layers are
 * left. */
static long walk_find(struct aps_walk *walk, long *cursor, long end,
                      size_t count)
{
    for (; *cursor < end; ++*cursor) {
        long tiles = walk_tiles(walk, *cursor, end, count);

        for (long i = *cursor; i < *cursor + tiles; i++)
            walk->carried |= aps_walk_count(walk, i) < walk->min_count;
        if (tiles > 0 || aps_walk_count(walk, *cursor) >= walk->min_count)
            return tiles;
    }
    return 0;
}

long aps_walk_begin(struct aps_walk *walk, size_t count, long *cursor)
{
    const long layers = (long)walk->layers->count;
    long begin = walk->begin;

    walk->carried = false;
    do {
        const long end = walk_end(walk, begin);
        long tiles;

        *cursor = begin;
        tiles = walk_find(walk, cursor, end, count);
        if (tiles > 0) {
            walk->begin = begin;
            return tiles;
        }
        begin = end % layers;
    } while (begin != walk->begin);
    return 0;
}

/* Returns the first layer from `i` on that calls have carried, or `end`. */
static long walk_skip(const struct aps_walk *walk, long i, long end)
{
    while (i < end && !walk->carried &&
           aps_walk_count(walk, i) < walk->min_count)
        i++;
    return i;
}

/* Finds another network that begins like the current step and goes on with the
 * call: networks with equal first layers differ only now. */
static long walk_change(struct aps_walk *walk, size_t count, long *cursor)
{
    const long layers = (long)walk->layers->count;
    const long now = *cursor;
    long begin = walk_end(walk, walk->begin) % layers;

    for (; begin != walk->begin; begin = walk_end(walk, begin) % layers) {
        const long end = walk_end(walk, begin);
        long same = walk->begin, tiles;

        *cursor = begin;
        while ((same = walk_skip(walk, same, now)) < now) {
            *cursor = walk_skip(walk, *cursor, end);
            if (*cursor == end ||
                aps_walk_count(walk, *cursor) != aps_walk_count(walk, same))
                break;
            same++;
            ++*cursor;
        }
        if (same < now)
            continue;
        tiles = walk_find(walk, cursor, end, count);
        if (tiles > 0) {
            walk->begin = begin;
            return tiles;
        }
    }
    *cursor = now;
    return 0;
}

long aps_walk_continue(struct aps_walk *walk, size_t count, long *cursor)
{
    const long end = walk_end(walk, walk->begin), now = *cursor;
    const long tiles = walk_find(walk, cursor, end, count);

    if (tiles > 0 || *cursor == end)
        return tiles;
    *cursor = now;
    return walk_change(walk, count, cursor);
}

bool aps_walk_is_over(const struct aps_walk *walk, long cursor)
{
    return cursor == walk_end(walk, walk->begin);
}

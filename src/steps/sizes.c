/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "steps/sizes.h"

#include <stdlib.h>

struct sized {
    size_t count;
    long layer;
    size_t come; /* layers of this size that have come; of the first one only */
};

struct aps_sizes {
    size_t layers;
    struct sized list[]; /* by size, and by layer among equal ones */
};

struct aps_sizes *aps_sizes_create(size_t most)
{
    return calloc(1, sizeof(struct aps_sizes) + most * sizeof(struct sized));
}

void aps_sizes_destroy(struct aps_sizes *sizes)
{
    free(sizes);
}

static int sizes_compare(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;

    if (x->count != y->count)
        return (x->count > y->count) - (x->count < y->count);
    return (x->layer > y->layer) - (x->layer < y->layer);
}

void aps_sizes_set(struct aps_sizes *sizes, const size_t *counts, size_t layers)
{
    sizes->layers = layers;
    for (size_t i = 0; i < layers; i++)
        sizes->list[i] = (struct sized){.count = counts[i], .layer = (long)i};
    qsort(sizes->list, layers, sizeof *sizes->list, sizes_compare);
}

static int sizes_compare_counts(const void *a, const void *b)
{
    const size_t *x = a, *y = b;

    return (*x < *y) - (*x > *y);
}

void aps_sizes_sort(size_t *counts, size_t layers)
{
    qsort(counts, layers, sizeof *counts, sizes_compare_counts);
}

void aps_sizes_begin(struct aps_sizes *sizes)
{
    for (size_t i = 0; i < sizes->layers; i++)
        sizes->list[i].come = 0;
}

/* Returns the place of the first layer that has at least `count` elements. */
static size_t sizes_find(const struct aps_sizes *sizes, size_t count)
{
    size_t low = 0, high = sizes->layers;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (sizes->list[middle].count < count)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool aps_sizes_has(const struct aps_sizes *sizes, size_t count)
{
    const size_t first = sizes_find(sizes, count);

    return first < sizes->layers && sizes->list[first].count == count;
}

long aps_sizes_take(struct aps_sizes *sizes, size_t count)
{
    const size_t first = sizes_find(sizes, count);
    size_t next;

    if (first == sizes->layers)
        return -1;
    next = first + sizes->list[first].come;
    if (next >= sizes->layers || sizes->list[next].count != count)
        return -1;
    sizes->list[first].come++;
    return sizes->list[next].layer;
}

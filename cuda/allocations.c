/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cuda/allocations.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct entry {
    struct aps_cuda_allocations known;
    struct entry *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries;

/* With the mutex held: returns the link to the entry, or to the end. */
static struct entry **allocations_find(const void *address)
{
    struct entry **link = &entries;

    while (*link && (uintptr_t)address - (uintptr_t)(*link)->known.base >=
                        (*link)->known.bytes)
        link = &(*link)->next;
    return link;
}

bool aps_cuda_allocations_last(const struct aps_cuda_allocations *known)
{
    return aps_cuda_buffer_of(known->base) == known->buffer;
}

int aps_cuda_allocations_add(struct aps_cuda_allocations known)
{
    struct entry *entry = malloc(sizeof *entry);

    if (!entry)
        return -1;
    entry->known = known;
    pthread_mutex_lock(&mutex);
    entry->next = entries;
    entries = entry;
    pthread_mutex_unlock(&mutex);
    return 0;
}

bool aps_cuda_allocations_find(const void *address,
                               struct aps_cuda_allocations *known)
{
    const struct entry *entry;

    pthread_mutex_lock(&mutex);
    entry = *allocations_find(address);
    if (entry)
        *known = entry->known;
    pthread_mutex_unlock(&mutex);
    return entry != NULL;
}

bool aps_cuda_allocations_remove(const void *address,
                                 struct aps_cuda_allocations *known)
{
    struct entry **link, *entry;

    pthread_mutex_lock(&mutex);
    link = allocations_find(address);
    entry = *link;
    if (entry) {
        *known = entry->known;
        *link = entry->next;
    }
    pthread_mutex_unlock(&mutex);
    free(entry);
    return entry != NULL;
}

bool aps_cuda_allocations_reach(const struct aps_cuda_visit *visit,
                                const void *address)
{
    struct aps_cuda_allocations known;

    return aps_cuda_allocations_find(address, &known)
               ? known.context == visit->context
               : aps_cuda_is_home(visit, address);
}

enum aps_cuda_where aps_cuda_allocations_enter(const void *pointer,
                                               struct aps_cuda_visit *visit)
{
    struct aps_cuda_allocations known;

    if (aps_cuda_allocations_find(pointer, &known))
        return aps_cuda_enter_again(known.context, pointer, known.buffer,
                                    visit);
    return aps_cuda_enter(pointer, visit);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "device/pinned_pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/device.h"

/* Largest number of bytes that the pool keeps, in use or idle. Buffers beyond
 * that are freed after use. */
#define KEPT_BYTES_MAX ((size_t)512 << 20)

/* Number of takes after which an unused idle buffer may be replaced by another
 * one. Unpinning a buffer may wait for all work of the GPU. Until then buffers
 * beyond KEPT_BYTES_MAX are pageable. */
#define PATIENCE 64

struct buffer {
    struct buffer *next;
    size_t size; /* in bytes, with this header */
    bool kept;
    /* value of `takes` when it was given back */
    unsigned long given;
    const struct aps_memory *pinned_by; /* NULL: pageable memory */
    _Alignas(256) unsigned char bytes[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct buffer *idle; /* the most recently used buffer is first */
static size_t kept_bytes;   /* size of all kept buffers */
static size_t idle_bytes;   /* size of the idle buffers */
static unsigned long takes; /* number of takes so far */

/* A buffer is not used for less than 1 / LENT_PART of its size. */
#define LENT_PART 8

static void pool_destroy(struct buffer *list)
{
    while (list) {
        struct buffer *next = list->next;

        if (list->pinned_by)
            list->pinned_by->unpin(list);
        free(list);
        list = next;
    }
}

/* Returns the shortest idle buffer that is long enough, or NULL. */
static struct buffer *pool_reuse(size_t size)
{
    struct buffer **best = NULL, *found = NULL;

    pthread_mutex_lock(&lock);
    takes++;
    for (struct buffer **link = &idle; *link; link = &(*link)->next)
        if ((*link)->size >= size && (*link)->size / LENT_PART <= size &&
            (!best || (*link)->size < (*best)->size))
            best = link;
    if (best) {
        found = *best;
        *best = found->next;
        idle_bytes -= found->size;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* Removes the buffer that was unused for longest. The caller holds the lock,
 * and idle buffers exist. */
static struct buffer *pool_forget_last(void)
{
    struct buffer **link = &idle, *last;

    while ((*link)->next)
        link = &(*link)->next;
    last = *link;
    *link = NULL;
    kept_bytes -= last->size;
    idle_bytes -= last->size;
    return last;
}

/* Returns the size of the idle buffers that may be replaced, which are the last
 * ones. The caller holds the lock. */
static size_t pool_spare_bytes(void)
{
    size_t bytes = 0;

    for (const struct buffer *buffer = idle; buffer; buffer = buffer->next) {
        if (takes - buffer->given > PATIENCE)
            bytes += buffer->size;
    }
    return bytes;
}

/* Makes room to keep `size` bytes by destroying idle buffers. Returns false,
 * without destroying any, if those that may be replaced are not enough. */
static bool pool_reserve(size_t size)
{
    struct buffer *forgotten = NULL;
    bool room;

    pthread_mutex_lock(&lock);
    room = size <= KEPT_BYTES_MAX &&
           kept_bytes - pool_spare_bytes() <= KEPT_BYTES_MAX - size;
    while (room && kept_bytes > KEPT_BYTES_MAX - size) {
        struct buffer *last = pool_forget_last();

        last->next = forgotten;
        forgotten = last;
    }
    if (room)
        kept_bytes += size;
    pthread_mutex_unlock(&lock);
    pool_destroy(forgotten);
    return room;
}

static void pool_forget_all(void)
{
    struct buffer *list;

    pthread_mutex_lock(&lock);
    list = idle;
    idle = NULL;
    kept_bytes -= idle_bytes;
    idle_bytes = 0;
    pthread_mutex_unlock(&lock);
    pool_destroy(list);
}

/* Makes a buffer of whole pages: pages are pinned, and no other memory may
 * share them. */
static struct buffer *pool_create(size_t size, size_t page, const void *near)
{
    const struct aps_memory *backend = aps_device_open();
    struct buffer *new = aligned_alloc(page, size);

    if (!new) {
        pool_forget_all();
        new = aligned_alloc(page, size);
    }
    if (!new)
        return NULL;
    *new = (struct buffer){.size = size, .kept = pool_reserve(size)};
    if (new->kept && backend->pin && backend->pin(new, size, near) == 0)
        new->pinned_by = backend;
    return new;
}

void *aps_pinned_pool_take(size_t bytes, const void *near)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t size =
        (sizeof(struct buffer) + bytes + page - 1) / page * page;
    struct buffer *buffer = pool_reuse(size);

    if (!buffer)
        buffer = pool_create(size, page, near);
    return buffer ? buffer->bytes : NULL;
}

void aps_pinned_pool_give(void *memory)
{
    struct buffer *buffer;

    if (!memory)
        return;
    buffer = (void *)((unsigned char *)memory - offsetof(struct buffer, bytes));
    if (!buffer->kept) {
        free(buffer);
        return;
    }
    pthread_mutex_lock(&lock);
    buffer->next = idle;
    buffer->given = takes;
    idle = buffer;
    idle_bytes += buffer->size;
    pthread_mutex_unlock(&lock);
}

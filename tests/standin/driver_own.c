/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the stand-in for CUDA's driver that CUDA's driver does not have:
 * memory that the plugin's stand-in allocates and shares with other processes,
 * and copies that fail on purpose.
 */
#define _GNU_SOURCE
#include "driver.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "driver_state.h"

static atomic_long copies_left = -1; /* copies until all fail; < 0: never */

void *standin_alias(const void *device)
{
    return standin_bytes(device, 1);
}

void *standin_bytes(const void *device, size_t bytes)
{
    const struct allocation *found =
        driver_find_locked((uintptr_t)device, bytes);

    return found ? found->alias + ((uintptr_t)device - found->base) : NULL;
}

void standin_fail_after(long times)
{
    atomic_store(&copies_left, times);
}

bool standin_may_copy(void)
{
    const long left = atomic_load(&copies_left);

    if (left > 0)
        atomic_fetch_sub(&copies_left, 1);
    return left != 0;
}

static atomic_long waits, kernels;

struct standin_counts standin_counts(void)
{
    return (struct standin_counts){atomic_load(&waits), atomic_load(&kernels)};
}

void standin_count(long more_waits, long more_kernels)
{
    atomic_fetch_add(&waits, more_waits);
    atomic_fetch_add(&kernels, more_kernels);
}

void standin_misuse(const char *what)
{
    fprintf(stderr, "standin: %s\n", what);
    abort();
}

/* Returns the context of device memory. */
static struct context *context_of(const void *near)
{
    const struct allocation *found = driver_find_locked((uintptr_t)near, 1);

    if (!found)
        standin_misuse("near: this is not in a device's memory");
    return found->context;
}

void *standin_allocate(const void *near, size_t bytes)
{
    struct allocation *new;
    int fd;

    if (bytes == 0)
        standin_misuse("allocate: no bytes");
    new = driver_create(bytes, context_of(near), &fd);
    if (!new)
        return NULL;
    new->fd = fd;
    return (void *)new->base;
}

void standin_release(void *memory)
{
    struct allocation *found = driver_delist((uintptr_t)memory, true, false);

    if (!found)
        standin_misuse("release: this was not allocated");
    if (atomic_load(&found->shared->openings) > 0)
        standin_misuse("release: another process has it open");
    driver_destroy(found);
}

void standin_offer(const void *memory, struct standin_token *token)
{
    const struct allocation *found = driver_find_locked((uintptr_t)memory, 1);

    if (!found || found->fd < 0 || found->opener != 0)
        standin_misuse("offer: this was not allocated");
    *token = (struct standin_token){
        .magic = STANDIN_TOKEN,
        .pid = getpid(),
        .fd = found->fd,
        .bytes = found->bytes,
        .offset = (uintptr_t)memory - found->base,
    };
}

void *standin_open(const struct standin_token *token, const void *near,
                   const char **cause)
{
    struct context *context = context_of(near);
    struct allocation *new = NULL;
    char path[64];
    int fd;

    if (token->magic != STANDIN_TOKEN)
        standin_misuse("open: this is not a token");
    if (token->pid == getpid()) {
        *cause = "it is this process's own memory";
        return NULL;
    }
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)token->pid, token->fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0)
        new = driver_enlist(fd, token->bytes, context);
    if (!new) {
        if (fd >= 0)
            close(fd);
        *cause = "the other process's memory cannot be mapped";
        return NULL;
    }
    atomic_fetch_add(&new->shared->openings, 1);
    new->fd = fd;
    new->opened = new->base + token->offset;
    new->opener = getpid();
    return (void *)new->opened;
}

void standin_close(void *opened)
{
    struct allocation *found = driver_delist((uintptr_t)opened, true, true);

    if (!found)
        standin_misuse("close: this was not opened");
    atomic_fetch_sub(&found->shared->openings, 1);
    driver_destroy(found);
}

/* A process that ends has no open memory left. */
__attribute__((destructor)) static void end(void)
{
    for (struct allocation *a = driver_allocations; a; a = a->next)
        if (a->opener == getpid())
            atomic_fetch_sub(&a->shared->openings, 1);
}

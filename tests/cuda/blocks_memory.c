/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of a device for wire bytes: tried, allocated, locked, and shared with
 * other processes; on the fake device (fake.h).
 */
#include "config.h"

#include "blocks_help.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/ipc.h"
#include "tap/tap.h"

/* As in cuda/allocate.c. */
#define KEPT_MAX ((size_t)160 << 20)

/* --- a trial ------------------------------------------------------------- */

static void test_try(void)
{
    CUcontext context = fake_context_create(0);
    float *near = fake_allocate(FAKE_DEVICE, context, 4);
    unsigned char *memory = get_memory(near, 4096);
    unsigned long before = failures(), failed = 0;
    bool told = true;
    int result = -1;

    fake_context_set(NULL);
    ok(verbs->device->probe(memory, cause, sizeof cause) == 0 && kept(NULL),
       "a trial");
    for (unsigned long k = 1; k < 100; k++) {
        verbs->device->release(memory);
        fake_context_recreate(context);
        memory = get_memory(near, 4096);
        cause[0] = '\0';
        fake_fail(k, cudaErrorNoKernelImageForDevice, false);
        result = verbs->device->probe(memory, cause, sizeof cause);
        failed += result < 0;
        told &= (result < 0) == fake_failed() && (result == 0 || cause[0]);
        if (!fake_failed())
            break;
    }
    fake_fail(0, cudaSuccess, false);
    ok(told && result == 0 && failed > 10 && kept(NULL),
       "... that fails at any of %lu calls says why", failed);
    ok(failures() == before, "... and does not count as a failure");
    verbs->device->release(memory);
    fake_free(near);
}

/* --- the plugin's memory -------------------------------------------------- */

static void test_allocate(void)
{
    CUcontext context = fake_context_primary(0);
    float *near = fake_allocate(FAKE_DEVICE, context, 4);
    unsigned long before = failures();
    static const size_t sizes[] = {0, 1, 100, 3000000};
    unsigned char *memory;
    bool aligned = true;

    fake_context_set(NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memory = get_memory(near, sizes[i]);
        aligned = aligned && (uintptr_t)memory % 256 == 0;
        verbs->device->release(memory);
    }
    ok(aligned && kept(NULL), "memory at a multiple of 256 bytes");

    fake_memory_full(true);
    memory = verbs->device->allocate(near, 100 << 20, cause, sizeof cause);
    fake_memory_full(false);
    ok(!memory && kept(NULL), "no memory left");
    is(cause, "out of memory", "... is said");
    ok(!verbs->device->allocate(near, SIZE_MAX - 5, cause, sizeof cause),
       "more than there can be");
    is(cause, "out of memory", "... is said");
    ok(!verbs->device->allocate(cause, 100, cause, sizeof cause),
       "near the host's memory");
    is(cause, "the memory is not a device's", "... is said");
    fake_driver_down(true);
    ok(!verbs->device->allocate(near, 100, cause, sizeof cause),
       "a driver that is down");
    is(cause, "driver shutting down", "... is said");
    fake_driver_down(false);

    memory = get_memory(near, KEPT_MAX + 1); /* too large to be kept */
    fake_driver_down(true);
    verbs->device->release(memory);
    fake_driver_down(false);
    fake_fail(1, cudaErrorCudartUnloading, false);
    verbs->device->release(memory);
    fake_fail(0, cudaSuccess, false);
    verbs->device->release(NULL);
    ok(failures() == before, "none of that is a failure");
    fake_context_set(fake_context_primary(1));
    fake_fail(1, cudaErrorIllegalAddress, false);
    verbs->device->release(memory);
    fake_fail(0, cudaSuccess, false);
    ok(failures() == before + 1 && kept(fake_context_primary(1)),
       "memory that cannot be released is one");
    verbs->device->release(memory);
    fake_free(near);
}

/* Freeing memory waits for the program's kernels, which may wait for this library. */
static void test_kept(void)
{
    CUcontext context = fake_context_create(0), other = fake_context_create(0);
    float *near = fake_allocate(FAKE_DEVICE, context, 4);
    float *elsewhere = fake_allocate(FAKE_DEVICE, other, 4);
    const unsigned long before = failures();
    const size_t bytes = 8 << 20;
    unsigned char *memory = get_memory(near, bytes), *second, *third;
    unsigned long frees = fake_frees();

    fake_context_set(NULL);
    verbs->device->release(memory);
    ok(fake_frees() == frees && !verbs->device->holds(memory) && kept(NULL),
       "memory that is released is kept, and not ours to use");
    second = get_memory(elsewhere, bytes);
    third = get_memory(near, bytes + 1);
    ok(second != memory && third != memory,
       "... for none of another context or size");
    verbs->device->release(third);
    third = get_memory(near, bytes);
    ok(third == memory && verbs->device->holds(third) && kept(NULL),
       "... and for the next of its own");
    verbs->device->release(second);
    verbs->device->release(third);
    ok(fake_frees() == frees, "... without giving any back");
    fake_memory_full(true);
    ok(!verbs->device->allocate(near, 2 * bytes, cause, sizeof cause) &&
           fake_frees() == frees + 2,
       "what is kept is given back before there is no memory left");
    fake_memory_full(false);
    for (int i = 0; i < 3; i++) { /* the last one does not fit */
        memory = get_memory(near, KEPT_MAX / 2);
        second = get_memory(near, KEPT_MAX / 2);
        third = get_memory(near, KEPT_MAX / 2);
        frees = fake_frees();
        verbs->device->release(memory);
        verbs->device->release(second);
        verbs->device->release(third);
    }
    ok(fake_frees() - frees >= 1, "... and where it would be too much");
    ok(failures() == before, "none of that is a failure");
    fake_context_recreate(context);
    fake_free(near);
    fake_free(elsewhere);
}

/* When the context is gone, the program may get an address of the plugin. Code that
 * remembers only the address would take, free or write the program's memory. */
static void test_reused(void)
{
    CUcontext context = fake_context_create(0), other = fake_context_create(0);
    float *near = fake_allocate(FAKE_DEVICE, context, 4);
    unsigned char *memory = get_memory(near, 4096), byte = 7;
    unsigned long before = failures();

    fake_context_set(NULL);
    ok(verbs->device->holds(memory), "memory of ours is there");
    fake_context_destroy(context, other);
    ok(!verbs->device->holds(memory) && kept(NULL),
       "... and not after its context, with other memory at its address");
    ok(verbs->device->put(memory, &byte, 1) == -1 && kept(NULL),
       "... which is not written");
    verbs->device->release(memory);
    fake_write(memory, &byte, 1);
    ok(failures() == before + 1 && kept(NULL), "... nor released");
    ok(!verbs->device->holds(memory), "... and forgotten");
    fake_free(memory);
    fake_free(near);
}

static void *unpin(void *host)
{
    fake_context_set(NULL);
    verbs->unpin(host);
    return NULL;
}

static void test_pin(void)
{
    CUcontext context = fake_context_create(1);
    float *near = fake_allocate(FAKE_DEVICE, context, 4);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned long before = failures();
    unsigned char *host = aligned_alloc(page, 2 * page);
    pthread_t thread;
    bool right;

    fake_context_set(fake_context_primary(0));
    right = verbs->pin(host, 2 * page, near) == 0 && fake_shared() == 1;
    ok(right && kept(fake_context_primary(0)), "the host's memory is locked");
    ok(verbs->pin(host, page, near) == -1, "... not twice");
    pthread_create(&thread, NULL, unpin, host);
    pthread_join(thread, NULL);
    ok(fake_shared() == 0, "... unlocked by a thread without a context");
    verbs->unpin(host);
    verbs->unpin(NULL);
    ok(verbs->pin(host, 2 * page, host) == -1, "near the host's memory");
    fake_fail(1, cudaErrorMemoryAllocation, false);
    ok(verbs->pin(host, page, near) == -1 && fake_shared() == 0,
       "what the driver cannot lock is not");
    fake_fail(0, cudaSuccess, false);
    ok(failures() == before, "none of that is a failure");

    verbs->pin(host, page, near);
    fake_fail(1, cudaErrorIllegalAddress, false);
    verbs->unpin(host);
    fake_fail(0, cudaSuccess, false);
    /* and stays the fake device's, which goes on to know it */
    ok(failures() == before + 1, "what cannot be unlocked is one");
    fake_free(near);
}

/* --- other processes' memory ---------------------------------------------- */

/* Returns a token like one that another process made. */
static struct aps_memory_token token_of(void *memory)
{
    struct aps_memory_token token;
    struct aps_cuda_token t;

    if (verbs->device->offer(memory, &token, cause, sizeof cause) < 0)
        bail_out("%s", cause);
    memcpy(&t, token.bytes, sizeof t);
    t.pid++;
    memcpy(token.bytes, &t, sizeof t);
    return token;
}

static void *open_memory(const struct aps_memory_token *token, const void *near)
{
    return verbs->device->open(token, near, cause, sizeof cause);
}

static void *close_memory(void *opened)
{
    fake_context_set(NULL);
    verbs->device->close(opened);
    return NULL;
}

/* Tests an owner on one device, and values on another or the same. */
static const char *blocks_opened(CUcontext owner, CUcontext mine, CUcontext x)
{
    float *theirs = fake_allocate(FAKE_DEVICE, owner, 4);
    float *near = fake_allocate(FAKE_DEVICE, mine, 4);
    const char *failed;
    struct aps_memory_token token;
    unsigned char *memory, *opened;
    pthread_t thread;
    struct arrays a;

    arrays_place("e4m3", long_one("e4m3"), 1, FAKE_DEVICE, x, &a);
    memory = get_memory(theirs, a.bytes + 2 * WIRE_AROUND + 512);
    token = token_of(memory + 512);
    opened = open_memory(&token, near);
    if (!opened)
        bail_out("%s", cause);
    failed = run_blocks_at(verbs, &a, opened + WIRE_AROUND);
    /* the owner has the bytes */
    fake_read(a.wire, memory + 512 + WIRE_AROUND, a.bytes);
    if (!failed && memcmp(a.wire, a.expected, a.bytes) != 0)
        failed = "the owner's bytes";
    if (!failed && open_memory(&token, near) != opened)
        failed = "opened again";
    verbs->device->close(opened);
    if (!failed)
        failed = run_blocks_at(verbs, &a, opened + WIRE_AROUND);
    pthread_create(&thread, NULL, close_memory, opened);
    pthread_join(thread, NULL);
    if (!failed && fake_shared() != 0)
        failed = "close";
    verbs->device->release(memory);
    arrays_remove(&a, 1);
    fake_free(theirs);
    fake_free(near);
    return failed;
}

static void test_opened(void)
{
    CUcontext context = fake_context_create(0);
    CUcontext near = fake_context_primary(0), far = fake_context_primary(1);
    const char *failed;

    fake_context_set(context);
    failed = blocks_opened(near, near, near);
    ok(!failed && kept(context), "memory of another process: %s",
       failed ? failed : "the host's bytes");
    failed = blocks_opened(far, near, near);
    ok(!failed && kept(context), "... and device: %s",
       failed ? failed : "the host's bytes");
    failed = blocks_opened(near, near, far);
    ok(!failed && kept(context), "... values on another device: %s",
       failed ? failed : "the host's bytes");
    failed = blocks_opened(context, context, near);
    ok(!failed && kept(context), "... and context: %s",
       failed ? failed : "the host's bytes");
    ok(failures() == 0, "no failure");
}

static void test_tokens(void)
{
    CUcontext context = fake_context_primary(0);
    float *near = fake_allocate(FAKE_DEVICE, context, 4);
    unsigned char *memory = get_memory(near, 100), *opened;
    unsigned long before = failures();
    unsigned shared = fake_shared();
    CUcontext other_context = fake_context_create(0);
    float *gone;
    struct aps_memory_token token, other;
    bool zeros = true;

    fake_context_set(fake_context_primary(1));
    ok(verbs->device->offer(memory, &token, cause, sizeof cause) == 0,
       "a token is made");
    for (size_t i = sizeof(struct aps_cuda_token); i < sizeof token.bytes; i++)
        zeros = zeros && token.bytes[i] == 0;
    ok(zeros, "... with zeros at its end");
    ok(!open_memory(&token, near), "... and not opened in its process");
    is(cause, "the memory is this process's own", "... which is said");

    token = token_of(memory);
    other = token;
    other.bytes[0] ^= 1;
    ok(!open_memory(&other, near), "bytes that are not a token");
    is(cause, "the bytes are not a token of CUDA memory", "... is said");
    memset(&other, 0, sizeof other);
    ok(!open_memory(&other, near), "... not even any");
    ok(!open_memory(&token, &token), "near the host's memory");
    is(cause, "the memory is not a device's", "... is said");
    fake_fail(1, cudaErrorMapBufferObjectFailed, false);
    ok(!open_memory(&token, near), "memory that cannot be opened");
    is(cause, "an error", "... is said");
    fake_fail(1, cudaErrorNotSupported, false);
    ok(verbs->device->offer(memory, &other, cause, sizeof cause) == -1,
       "memory that cannot be offered");
    fake_fail(0, cudaSuccess, false);
    ok(verbs->device->offer(&other, &other, cause, sizeof cause) == -1,
       "the host's memory is not offered");
    ok(failures() == before && fake_shared() == shared &&
           kept(fake_context_primary(1)),
       "none of that is a failure");

    opened = open_memory(&token, near);
    fake_fail(1, cudaErrorIllegalAddress, false);
    verbs->device->close(opened);
    fake_fail(0, cudaSuccess, false);
    ok(failures() == before + 1, "what cannot be closed is one");
    verbs->device->close(opened); /* no longer known */
    verbs->device->close(NULL);

    opened = open_memory(&token, near);
    fake_driver_down(true);
    verbs->device->close(opened);
    fake_driver_down(false);
    ok(failures() == before + 1, "a driver that is down counts as missing");

    gone = fake_allocate(FAKE_DEVICE, other_context, 4);
    opened = open_memory(&token, gone);
    fake_context_recreate(other_context);
    verbs->device->close(opened);
    ok(opened && failures() == before + 1 && kept(fake_context_primary(1)),
       "nor is a context that is gone");
    verbs->device->release(memory);
    fake_free(near);
    fake_free(gone);
}

int main(void)
{
    test_opened();
    test_try();
    test_allocate();
    test_kept();
    test_reused();
    test_pin();
    test_tokens();
    return done_testing();
}

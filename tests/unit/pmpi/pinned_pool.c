/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounce buffers that are kept, with a backend that counts the pinned ones. */
#include "config.h"

#include "device/pinned_pool.h"

#include <stdint.h>

#include "device/device.h"
#include "tap/tap.h"

#define MIB ((size_t)1 << 20)

static int pinned, unpinned;

static int pin(void *host, size_t bytes, const void *near)
{
    (void)host;
    (void)bytes;
    (void)near;
    pinned++;
    return 0;
}

static void unpin(void *host)
{
    (void)host;
    unpinned++;
}

static const struct aps_memory backend = {
    .name = "counts", .pin = pin, .unpin = unpin};

const struct aps_memory *aps_device_open(void)
{
    return &backend;
}

/* Takes and gives back one buffer. */
static void *use(size_t bytes)
{
    void *memory = aps_pinned_pool_take(bytes, NULL);

    if (!memory)
        bail_out("out of memory");
    aps_pinned_pool_give(memory);
    return memory;
}

static void test_kept(void)
{
    void *first = use(400 * MIB);

    ok((uintptr_t)first % 256 == 0, "memory at a multiple of 256 bytes");
    ok(pinned == 1 && unpinned == 0, "... is pinned");
    ok(use(300 * MIB) == first && use(50 * MIB) == first,
       "... and taken again, for less, too");
    ok(use(10 * MIB) != first && pinned == 2,
       "... except for less than an eighth");
}

/* 400 MiB and 10 MiB are kept. */
static void test_beyond(void)
{
    for (int i = 0; i < 40; i++) {
        use(450 * MIB);
        use(10 * MIB);
    }
    ok(pinned == 3 && unpinned == 1,
       "a buffer that 64 takes have not needed is unpinned, once");
    for (int i = 0; i < 1000; i++) {
        use(450 * MIB);
        use(55 * MIB);
        use(10 * MIB);
    }
    ok(pinned == 3 && unpinned == 1,
       "alternating calls that need more than is kept unpin nothing");
    use(600 * MIB);
    ok(pinned == 3 && unpinned == 1, "nor does one that needs more alone");
    aps_pinned_pool_give(NULL);
}

int main(void)
{
    test_kept();
    test_beyond();
    return done_testing();
}

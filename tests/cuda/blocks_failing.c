/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wire bytes in a device's memory when calls of CUDA fail, each in turn: either
 * the right values or zeros, and a failure that is counted.
 */
#include "config.h"

#include "blocks_help.h"

#include <stdlib.h>
#include <string.h>

#include "tap/tap.h"

enum verb { ENCODE, DECODE, ADD, PUT, GET, VERBS };
static const char *const names[] = {"encode", "decode", "add", "put", "get"};

/* Result of a verb: the right values, or zeros. */
enum outcome { RIGHT, ZEROS, WRONG };

static enum outcome outcome_of(const void *got, const void *expected,
                               size_t bytes)
{
    const unsigned char *p = got;
    size_t i = 0;

    if (memcmp(got, expected, bytes) == 0)
        return RIGHT;
    while (i < bytes && p[i] == 0)
        i++;
    return i == bytes ? ZEROS : WRONG;
}

/* Runs one verb, whose call number k fails. */
static enum outcome run_failing(enum verb verb, struct arrays *a,
                                unsigned char *wire, unsigned long k,
                                bool for_ever, bool *reached)
{
    const struct aps_device_memory *d = verbs->device;
    const int right = verb == ENCODE ? (int)a->flags : 0;
    enum outcome outcome;
    int said = 0;

    memset(a->wire, 0x55, a->bytes);
    fake_write(wire, verb == ENCODE || verb == PUT ? a->wire : a->expected,
               a->bytes);
    fake_write(a->device, a->x, a->n * sizeof *a->x);
    fake_fail(k, cudaErrorMemoryAllocation, for_ever);
    switch (verb) {
    case ENCODE:
        said =
            d->encode(&a->codec, a->device, a->n, a->scaling, NULL, wire, NULL);
        break;
    case DECODE:
    case ADD:
        said = d->decode(&a->codec, wire, a->n, a->scaling, a->flags,
                         verb == ADD, a->device);
        break;
    case PUT:
        said = d->put(wire, a->expected, a->bytes);
        break;
    case GET:
    case VERBS:
        said = d->get(a->wire, wire, a->bytes);
        break;
    }
    *reached = fake_failed();
    fake_fail(0, cudaSuccess, false);

    if (verb == DECODE || verb == ADD) {
        fake_read(a->y, a->device, a->n * sizeof *a->y);
        outcome =
            outcome_of(a->y, verb == ADD ? a->expected_sum : a->expected_x,
                       a->n * sizeof *a->y);
    } else {
        if (verb != GET)
            fake_read(a->wire, wire, a->bytes);
        outcome = outcome_of(a->wire, a->expected, a->bytes);
    }
    return said == (outcome == RIGHT ? right : -1) ? outcome : WRONG;
}

/* Fails each call in turn, in a new context each time. */
static void test_calls(enum verb verb, bool far, bool for_ever)
{
    CUcontext context = fake_context_create(0);
    void *near =
        fake_allocate(FAKE_DEVICE, far ? fake_context_primary(1) : context, 1);
    bool right = true, reached = true;
    unsigned long k, count = 0;
    unsigned char *wire;
    struct arrays a;

    fake_context_set(NULL);
    arrays_place("e4m3", 3001, 0, FAKE_DEVICE, context, &a);
    for (k = 1; reached && right; k++) {
        unsigned long before = failures();
        enum outcome outcome;

        fake_context_recreate(context);
        wire = get_memory(near, a.bytes);
        outcome = run_failing(verb, &a, wire, k, for_ever, &reached);
        if (failures() == before)
            right = outcome == RIGHT;
        else /* a permanent failure cannot leave zeros on the device */
            right = failures() == before + 1 &&
                    (outcome == ZEROS || (for_ever && verb != GET));
        right = right && kept(NULL);
        count += failures() - before;
        fake_context_recreate(context); /* its pending work is done */
        verbs->device->release(wire);
    }
    ok(right && count > 10, "%s%s, %lu calls that fail %s: %lu failures",
       names[verb], far ? " elsewhere" : "", k - 2,
       for_ever ? "for ever" : "once", count);
    arrays_remove(&a, 0);
    fake_free(near);
}

/* In one context: a lane that is lost is missed in the end, for ever. */
static void test_lanes(void)
{
    CUcontext context = fake_context_create(0);
    bool right = true, reached;
    unsigned char *wire;
    struct arrays a;

    arrays_place("e4m3", 301, 0, FAKE_DEVICE, context, &a);
    wire = get_memory(a.device, a.bytes);
    for (unsigned long k = 1; k < 8; k++) {
        for (enum verb verb = ENCODE; verb < VERBS; verb++) {
            for (int i = 0; i < 20; i++)
                run_failing(verb, &a, wire, k, i % 2, &reached);
        }
    }
    /* lanes that could not be made are not missed immediately */
    for (int i = 0; i < 100; i++)
        run_failing(ENCODE, &a, wire, 0, false, &reached);
    for (enum verb verb = ENCODE; verb < VERBS; verb++)
        right =
            right && run_failing(verb, &a, wire, 0, false, &reached) == RIGHT;
    ok(right, "no lane is lost");
    verbs->device->release(wire);
    arrays_remove(&a, 0);
}

static void test_memory_full(void)
{
    CUcontext context = fake_context_create(1);
    unsigned long before = failures();
    unsigned char *wire;
    struct arrays a;
    bool reached;

    arrays_place("e4m3", 5000, 0, FAKE_DEVICE, context, &a);
    wire = get_memory(a.device, a.bytes);
    fake_memory_full(true);
    ok(run_failing(ENCODE, &a, wire, 0, false, &reached) == ZEROS &&
           failures() == before + 1,
       "a device without memory left for a lane");
    fake_memory_full(false);
    verbs->failures(cause, sizeof cause);
    is(cause, "encode on the device: out of memory", "... is a failure");
    fake_driver_down(true);
    verbs->device->encode(&a.codec, a.device, a.n, a.scaling, NULL, wire, NULL);
    verbs->device->decode(&a.codec, wire, a.n, a.scaling, 0, false, a.device);
    verbs->device->put(wire, a.expected, a.bytes);
    verbs->device->get(a.wire, wire, a.bytes);
    fake_driver_down(false);
    ok(failures() == before + 5, "a driver that is down, too");
    verbs->device->release(wire);
    arrays_remove(&a, 0);
}

int main(void)
{
    for (enum verb verb = ENCODE; verb < VERBS; verb++) {
        test_calls(verb, false, false);
        test_calls(verb, false, true);
    }
    for (enum verb verb = ENCODE; verb < PUT; verb++) {
        test_calls(verb, true, false);
        test_calls(verb, true, true);
    }
    test_lanes();
    test_memory_full();
    return done_testing();
}

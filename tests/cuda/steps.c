/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps with one wait, on the fake device (fake.h): the number of waits,
 * started kernels and copies; values out of reach; failures. blocks.c checks
 * that steps give the host's results.
 */
#include "config.h"

#include "blocks_help.h"

#include <string.h>

#include "tap/tap.h"

#define OWNERS_MAX 70
#define SLICE 1000

/* A vector in slices, and a block for each slice. */
struct slices {
    struct arrays a; /* arrays of one slice */
    unsigned char *wire;
    size_t stride;
    int owners;
    struct aps_device_step steps[OWNERS_MAX + 1];
};

static void slices_place(const char *format, int owners, CUcontext context,
                         const void *near, struct slices *s)
{
    arrays_place(format, SLICE, 0, FAKE_DEVICE, context, &s->a);
    s->owners = owners;
    s->stride = (s->a.bytes + 63) / 64 * 64;
    s->wire = get_memory(near ? near : s->a.device, (size_t)owners * s->stride);
}

static void slices_remove(struct slices *s)
{
    verbs->device->release(s->wire);
    arrays_remove(&s->a, 0);
}

static struct aps_device_step step_of(const struct slices *s, int owner,
                                      enum aps_device_verb verb)
{
    static const struct aps_cast_options nearest = APS_CAST_OPTIONS_INIT;

    return (struct aps_device_step){
        .verb = verb,
        .codec = &s->a.codec,
        .x = s->a.device,
        .n = SLICE,
        .wire = s->wire + (size_t)owner * s->stride,
        .scaling = s->a.scaling,
        .options = nearest,
        .flags = verb == APS_DEVICE_DECODE ? s->a.flags : 0,
    };
}

/* Encodes this rank's values for every owner. */
static int encode_all(struct slices *s)
{
    for (int owner = 0; owner < s->owners; owner++)
        s->steps[owner] = step_of(s, owner, APS_DEVICE_ENCODE);
    return verbs->device->run(s->steps, (size_t)s->owners);
}

/* Sums the blocks of all ranks for one owner. */
static int add_all(struct slices *s)
{
    for (int owner = 0; owner < s->owners; owner++) {
        s->steps[owner] = step_of(s, owner, APS_DEVICE_DECODE);
        s->steps[owner].add = owner > 0;
    }
    s->steps[s->owners] = step_of(s, 0, APS_DEVICE_ENCODE);
    return verbs->device->run(s->steps, (size_t)s->owners + 1);
}

/* Decodes all results. */
static int decode_all(struct slices *s)
{
    for (int owner = 0; owner < s->owners; owner++)
        s->steps[owner] = step_of(s, owner, APS_DEVICE_DECODE);
    return verbs->device->run(s->steps, (size_t)s->owners);
}

static bool encoded(const struct slices *s)
{
    bool right = true;

    for (int owner = 0; owner < s->owners; owner++) {
        fake_read(s->a.wire, s->wire + (size_t)owner * s->stride, s->a.bytes);
        right &= memcmp(s->a.wire, s->a.expected, s->a.bytes) == 0 &&
                 s->steps[owner].flags == s->a.flags;
    }
    return right;
}

/* Runs the three stages of a chunk, up to 64 blocks each: see cuda/apsmpi-gpu.7
 * and pmpi/reduce/hierarchical_devices.h. */
static void test_counts(const char *format, int owners, unsigned long waits)
{
    const unsigned long n = (unsigned long)owners;
    struct fake_counts before, after;
    struct slices s;
    bool right;

    fake_context_set(fake_context_primary(0));
    slices_place(format, owners, fake_context_primary(0), NULL, &s);
    right = encode_all(&s) == 0; /* makes a lane */
    before = fake_counts();
    right = encode_all(&s) == 0 && encoded(&s) && right;
    right = add_all(&s) == 0 && decode_all(&s) == 0 && right;
    after = fake_counts();
    ok(right, "%s, %d owners: three stages", format, owners);
    ok(after.waits - before.waits == waits, "... in %lu waits: %lu", waits,
       after.waits - before.waits);
    ok(after.kernels - before.kernels == 3 * n + 1, "... and %lu kernels: %lu",
       3 * n + 1, after.kernels - before.kernels);
    ok(after.copies == before.copies, "... without a copy");
    slices_remove(&s);
}

/* Blocks on another device than the values use the slots of a lane. */
static void test_out_of_reach(void)
{
    void *far = fake_allocate(FAKE_DEVICE, fake_context_primary(1), 1);
    struct fake_counts before;
    struct slices s;

    fake_context_set(NULL);
    slices_place("e3m0", 5, fake_context_primary(0), far, &s);
    before = fake_counts();
    ok(encode_all(&s) == 0 && encoded(&s) && kept(NULL),
       "blocks that kernels do not reach");
    ok(fake_counts().waits - before.waits >= 5, "... each by itself");
    slices_remove(&s);
    fake_free(far);
}

static void test_nothing(void)
{
    struct fake_counts before = fake_counts();
    struct aps_device_step step = {.verb = APS_DEVICE_MAGNITUDE};

    ok(verbs->device->run(NULL, 0) == 0 && verbs->device->run(&step, 1) == 0,
       "no steps, and one of no values");
    ok(fake_counts().waits == before.waits, "... wait for nothing");
}

/* Fails each call of CUDA in turn. */
static void test_failures(bool for_ever)
{
    CUcontext context = fake_context_create(0);
    bool right = true, reached = true;
    unsigned long k, failed = 0;
    struct slices s;

    fake_context_set(NULL);
    for (k = 1; reached && right; k++) {
        const unsigned long before = failures();
        int result;

        fake_context_recreate(context);
        slices_place("e3m0", 3, context, NULL, &s);
        fake_fail(k, cudaErrorIllegalAddress, for_ever);
        result = encode_all(&s);
        reached = fake_failed();
        fake_fail(0, cudaSuccess, false);
        right = failures() == before + (result < 0) && kept(NULL) &&
                (result < 0 || encoded(&s));
        failed += result < 0;
        fake_context_recreate(context); /* its pending work is done */
        slices_remove(&s);
    }
    ok(right && failed > 5, "%lu calls that fail%s: %lu failures, each counted",
       k - 2, for_ever ? " for ever" : "", failed);
    verbs->failures(cause, sizeof cause);
    is(cause, "steps on the device: an error", "... with the cause");
}

static void test_elsewhere(void)
{
    const unsigned long before = failures();
    float x[4] = {1, 2, 3, 4};
    struct aps_device_step step = {
        .verb = APS_DEVICE_MAGNITUDE, .x = x, .n = 4};

    ok(verbs->device->run(&step, 1) == -1 && failures() == before + 1,
       "values in the host's memory are a failure");
    fake_driver_down(true);
    ok(verbs->device->run(&step, 1) == -1 && failures() == before + 2,
       "a driver that is down, too");
    fake_driver_down(false);
}

int main(void)
{
    static const char *const formats[] = {"e5m2", "e3m0", "bfp7/64"};

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        test_counts(formats[i], 2, 3);
        test_counts(formats[i], 8, 3);
    }
    test_counts("e4m3", OWNERS_MAX, 6);
    test_out_of_reach();
    test_nothing();
    ok(failures() == 0, "no failure");
    test_failures(false);
    test_failures(true);
    test_elsewhere();
    return done_testing();
}

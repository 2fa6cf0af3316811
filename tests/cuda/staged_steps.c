/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps with the wire in host memory, on the fake device (fake.h): the host's
 * bytes in all formats; the number of waits, started kernels and copies; values
 * elsewhere; failures.
 */
#include "config.h"

#include "blocks_help.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/stream.h"
#include "number/bits.h"
#include "tap/tap.h"

#define OWNERS_MAX 150

/* A vector in slices, and a block for each slice. */
struct slices {
    struct arrays a;
    size_t length; /* length of a slice; the last one may be shorter */
    size_t owners;
    size_t stride;
    unsigned char *wire, *expected;
    float *x; /* what the host decodes */
    unsigned flags[OWNERS_MAX];
    struct aps_cast_options options;
    struct aps_device_step steps[OWNERS_MAX];
};

static size_t length_of(const struct slices *s, size_t owner)
{
    const size_t left = s->a.n - owner * s->length;

    return left < s->length ? left : s->length;
}

static void slices_place(const char *format, size_t length, size_t owners,
                         size_t shift, enum fake_kind kind, CUcontext context,
                         struct slices *s)
{
    const size_t n = length * owners - (owners > 1 ? length / 2 : 0);

    arrays_place(format, n, shift, kind, context, &s->a);
    s->length = length;
    s->owners = owners;
    s->stride = aps_codec_bytes(&s->a.codec, length) + 13;
    s->wire = verbs_allocate(owners * s->stride);
    s->expected = verbs_allocate(owners * s->stride);
    s->x = verbs_allocate(n * sizeof *s->x);
    s->options = s->a.options;
    memset(s->expected, 0x55, owners * s->stride);
    for (size_t owner = 0; owner < owners; owner++) {
        unsigned char *wire = s->expected + owner * s->stride;

        s->flags[owner] = aps_memory_host.encode(
            &s->a.codec, s->a.x + owner * length, length_of(s, owner),
            s->a.scaling, &s->options, wire, NULL);
        aps_memory_host.decode(&s->a.codec, wire, length_of(s, owner),
                               s->a.scaling, s->flags[owner],
                               s->x + owner * length);
    }
}

static void slices_remove(struct slices *s, size_t shift)
{
    free(s->wire);
    free(s->expected);
    free(s->x);
    arrays_remove(&s->a, shift);
}

/* Runs one verb for all owners. */
static void run(struct slices *s, enum aps_device_verb verb)
{
    for (size_t owner = 0; owner < s->owners; owner++)
        s->steps[owner] = (struct aps_device_step){
            .verb = verb,
            .codec = &s->a.codec,
            .x = s->a.device + owner * s->length,
            .n = length_of(s, owner),
            .wire = s->wire + owner * s->stride,
            .scaling = s->a.scaling,
            .options = s->options,
            .flags = verb == APS_DEVICE_DECODE ? s->flags[owner] : 77,
        };
    verbs->run(s->steps, s->owners);
}

static bool measured(const struct slices *s, size_t owner)
{
    const struct aps_magnitude got = s->steps[owner].magnitude,
                               wanted =
                                   aps_magnitude_of(s->a.x + owner * s->length,
                                                    length_of(s, owner));

    return aps_float_bits(got.max) == aps_float_bits(wanted.max) &&
           got.finite == wanted.finite;
}

static const char *measure_all(struct slices *s)
{
    bool right = true;

    run(s, APS_DEVICE_MAGNITUDE);
    for (size_t owner = 0; owner < s->owners; owner++)
        right &= measured(s, owner);
    return right ? NULL : "magnitude";
}

static const char *encode_all(struct slices *s)
{
    bool right = true;

    memset(s->wire, 0x55, s->owners * s->stride);
    run(s, APS_DEVICE_ENCODE);
    for (size_t owner = 0; owner < s->owners; owner++)
        right &= s->steps[owner].flags == s->flags[owner];
    right &= memcmp(s->wire, s->expected, s->owners * s->stride) == 0;
    return right ? NULL : "encode";
}

static const char *decode_all(struct slices *s)
{
    const size_t bytes = s->a.n * sizeof *s->x;

    memcpy(s->wire, s->expected, s->owners * s->stride);
    verbs_write(s->a.device, s->a.x, bytes);
    run(s, APS_DEVICE_DECODE);
    verbs_read(s->a.y, s->a.device, bytes);
    verbs_write(s->a.device, s->a.x, bytes);
    return memcmp(s->a.y, s->x, bytes) == 0 ? NULL : "decode";
}

/* Returns the first difference from the host's result, or NULL. */
static const char *all(struct slices *s)
{
    const char *failed = measure_all(s);

    failed = failed ? failed : encode_all(s);
    return failed ? failed : decode_all(s);
}

/* --- the host's bytes -------------------------------------------------------- */

static void test_formats(void)
{
    static const char *const formats[] = {
        "e3m0",       "e5m2",      "e4m3",      "e2m3",    "e5m10",
        "e4m3fn-sat", "e8m23",     "mx-e4m3fn", "nvfp4",   "flex8",
        "bfp3/10",    "bfp7/4096", "sign/64",   "int4/64", "flex16"};
    static const size_t lengths[] = {2, 320, 1000, 70000};

    fake_context_set(fake_context_primary(0));
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        const char *failed = NULL;
        struct slices s;

        for (size_t i = 0; i < 4 && !failed; i++) {
            const size_t owners = i == 3 ? 7 : 3 + i;

            slices_place(formats[f], lengths[i], owners, i, FAKE_DEVICE,
                         fake_context_primary(0), &s);
            failed = all(&s);
            slices_remove(&s, i);
        }
        ok(!failed, "%s: %s", formats[f],
           failed ? failed : "wire bytes in host memory are the host's");
    }
    ok(failures() == 0, "no failure");
}

/* --- counts ------------------------------------------------------------------- */

/* Checks the numbers of one stage; copies include clearings. */
static void test_count(struct slices *s, const char *what,
                       const char *(*stage)(struct slices *s),
                       unsigned long waits, unsigned long copies)
{
    const unsigned long kernels = s->owners;
    struct fake_counts before = fake_counts(), after;
    const unsigned long pageable = fake_pageable();
    const char *failed = stage(s);

    after = fake_counts();
    ok(!failed, "%s, %zu owners: right", what, s->owners);
    ok(after.waits - before.waits == waits, "... in %lu waits of %lu",
       after.waits - before.waits, waits);
    ok(after.kernels - before.kernels == kernels, "... and %lu kernels of %lu",
       after.kernels - before.kernels, kernels);
    ok(after.copies - before.copies == copies && fake_pageable() == pageable,
       "... and %lu copies of %lu, all of pinned memory",
       after.copies - before.copies, copies);
}

/* `finds`: the format has a marker, or a scale of all values. */
static void test_counts(const char *format, size_t length, size_t owners,
                        bool finds, unsigned long waits)
{
    struct slices s;

    fake_context_set(fake_context_primary(0));
    slices_place(format, length, owners, 0, FAKE_DEVICE,
                 fake_context_primary(0), &s);
    (void)measure_all(&s); /* makes a lane */
    test_count(&s, format, encode_all, waits, (finds ? 2 : 1) * waits);
    test_count(&s, format, decode_all, waits, waits);
    waits = (owners + APS_DEVICE_STEPS - 1) / APS_DEVICE_STEPS;
    test_count(&s, format, measure_all, waits, 2 * waits);
    slices_remove(&s, 0);
}

/* A block that is longer than a slot is encoded by its own verb, and others are not. */
static void test_long(void)
{
    struct fake_counts before;
    struct slices s;

    slices_place("e4m3", APS_CUDA_STREAM_BYTES, 2, 0, FAKE_DEVICE,
                 fake_context_primary(0), &s);
    before = fake_counts();
    ok(!all(&s), "a block that is as long as a slot");
    ok(fake_counts().waits - before.waits == 1 + 2 + 2,
       "... is encoded alone, and waits once more than others do");
    slices_remove(&s, 0);
}

static void test_nothing(void)
{
    struct fake_counts before = fake_counts();
    struct aps_device_step step = {.verb = APS_DEVICE_MAGNITUDE,
                                   .magnitude = {1, false}};

    verbs->run(NULL, 0);
    verbs->run(&step, 1);
    ok(fake_counts().waits == before.waits, "no values: no wait");
    ok(step.magnitude.max == 0 && step.magnitude.finite,
       "... and their magnitude is 0");
}

/* --- elsewhere --------------------------------------------------------------- */

static const char *all_in(enum fake_kind kind, CUcontext context,
                          CUcontext current)
{
    const char *failed;
    struct slices s;

    fake_context_set(current);
    slices_place("e3m0", 500, 5, 1, kind, context, &s);
    failed = all(&s);
    slices_remove(&s, 1);
    return failed || kept(current) ? failed : "the caller's context";
}

/* Tests values of one call in several kinds of memory. */
static const char *all_mixed(void)
{
    CUcontext contexts[] = {fake_context_primary(0), fake_context_primary(1)};
    static struct aps_device_step steps[9];
    bool right = true;
    struct arrays a[9];
    unsigned char *wire[9];

    fake_context_set(NULL);
    for (size_t i = 0; i < 9; i++) {
        arrays_place(i % 4 == 3 ? "sign/64" : "e5m2", 100 + i, 0, FAKE_DEVICE,
                     contexts[i / 2 % 2], &a[i]);
        wire[i] = verbs_allocate(a[i].bytes);
        steps[i] = (struct aps_device_step){
            .verb = i % 3 == 0 ? APS_DEVICE_DECODE : APS_DEVICE_ENCODE,
            .codec = &a[i].codec,
            .x = i % 5 == 4 ? a[i].x : a[i].device, /* the host's */
            .n = a[i].n,
            .wire = i % 3 == 0 ? a[i].expected : wire[i],
            .scaling = a[i].scaling,
            .options = APS_CAST_OPTIONS_INIT,
            .flags = i % 3 == 0 ? a[i].flags : 0,
        };
    }
    verbs->run(steps, 9);
    for (size_t i = 0; i < 9; i++) {
        if (i % 3 == 0) {
            fake_read(a[i].y, a[i].device, a[i].n * sizeof *a[i].y);
            right &=
                memcmp(a[i].y, a[i].expected_x, a[i].n * sizeof *a[i].y) == 0;
        } else {
            right &= steps[i].flags == a[i].flags &&
                     memcmp(wire[i], a[i].expected, a[i].bytes) == 0;
        }
        free(wire[i]);
        arrays_remove(&a[i], 0);
    }
    return right && kept(NULL) ? NULL : "a step";
}

static void test_elsewhere(void)
{
    CUcontext other = fake_context_create(0);
    CUcontext far = fake_context_primary(1);
    CUcontext near = fake_context_primary(0);

    ok(!all_in(FAKE_DEVICE, near, NULL), "a thread without a context");
    ok(!all_in(FAKE_DEVICE, other, near), "a pointer of another context");
    ok(!all_in(FAKE_DEVICE, far, near), "a pointer of another device");
    ok(!all_in(FAKE_POOL, far, near), "memory of a pool");
    ok(!all_in(FAKE_MANAGED, other, near), "managed memory");
    fake_context_recreate(other);
    ok(!all_in(FAKE_DEVICE, other, near),
       "a context that was destroyed and created again");
    ok(!all_mixed(), "values in several contexts and in the host's memory");
    ok(failures() == 0, "no failure");
}

/* --- failures ----------------------------------------------------------------- */

static bool is_zero(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    while (n > 0 && p[n - 1] == 0)
        n--;
    return n == 0;
}

/* Returns the number of failed steps of a stage, which leave zeros; -1: a step
 * is wrong. `lost`: the device cannot even write zeros. */
static long failed_steps(const struct slices *s, enum aps_device_verb verb,
                         bool lost)
{
    long count = 0;

    for (size_t owner = 0; owner < s->owners; owner++) {
        const size_t n = length_of(s, owner), at = owner * s->stride;
        const size_t bytes = verb == APS_DEVICE_ENCODE
                                 ? aps_codec_bytes(&s->a.codec, n)
                                 : n * sizeof(float);
        const void *got = verb == APS_DEVICE_ENCODE
                              ? (const void *)(s->wire + at)
                              : (const void *)(s->a.y + owner * s->length);
        const void *wanted = verb == APS_DEVICE_ENCODE
                                 ? (const void *)(s->expected + at)
                                 : (const void *)(s->x + owner * s->length);

        if (memcmp(got, wanted, bytes) == 0 &&
            (verb == APS_DEVICE_DECODE ||
             s->steps[owner].flags == s->flags[owner]))
            continue;
        if (!is_zero(got, bytes) && !lost)
            return -1;
        count++;
    }
    return count;
}

/* Fails each call of CUDA in turn. */
static void test_failures(enum aps_device_verb verb, bool for_ever)
{
    CUcontext context = fake_context_create(0);
    const char *name = verb == APS_DEVICE_ENCODE ? "encode" : "decode";
    bool right = true, reached = true;
    const bool unsure = for_ever && verb == APS_DEVICE_DECODE;
    unsigned long k, counted, failed = 0;
    struct slices s;

    fake_context_set(NULL);
    slices_place("e3m0", 700, 3, 0, FAKE_DEVICE, context, &s);
    for (k = 1; reached && right; k++) {
        const unsigned long before = failures();
        long lost;

        fake_context_recreate(context);
        fake_fail(k, cudaErrorIllegalAddress, for_ever);
        (void)(verb == APS_DEVICE_ENCODE ? encode_all(&s) : decode_all(&s));
        reached = fake_failed();
        fake_fail(0, cudaSuccess, false);
        lost = failed_steps(&s, verb, unsure);
        counted = failures() - before;
        /* a result may be right even without a wait */
        right =
            lost >= 0 && kept(NULL) &&
            (counted == (unsigned long)lost ||
             (unsure && counted > (unsigned long)lost && counted <= s.owners));
        failed += (unsigned long)(lost > 0 ? lost : 0);
    }
    fake_context_recreate(context);
    ok(right && k > 15 && (for_ever ? failed > 5 : failed == 0),
       "%s: %lu calls that fail%s: %lu failures, each counted", name, k - 2,
       for_ever ? " for ever" : " once", failed);
    slices_remove(&s, 0);
}

static void test_measure_failing(void)
{
    const unsigned long before = failures();
    struct slices s;

    slices_place("e5m2", 700, 3, 0, FAKE_DEVICE, fake_context_primary(0), &s);
    fake_fail(1, cudaErrorIllegalAddress, true);
    run(&s, APS_DEVICE_MAGNITUDE);
    fake_fail(0, cudaSuccess, false);
    ok(failures() == before + 3 && s.steps[1].magnitude.max == 0 &&
           !s.steps[1].magnitude.finite,
       "a magnitude that cannot be measured is 0, and counts as failed");
    fake_driver_down(true);
    run(&s, APS_DEVICE_MAGNITUDE);
    fake_driver_down(false);
    ok(failures() == before + 6, "a magnitude without a driver is 0, too");
    slices_remove(&s, 0);
}

int main(void)
{
    test_formats();
    test_counts("e5m2", 1000, 2, false, 1);
    test_counts("e5m2", 1000, 64, false, 1);
    test_counts("e3m0", 1000, 8, true, 1);
    test_counts("nvfp4", 1600, 8, true, 1);
    test_counts("bfp7/64", 640, 64, false, 1);
    test_counts("e4m3", 800, OWNERS_MAX, false, 3);
    test_counts("e4m3", 300 << 10, 11, false, 4); /* three blocks a slot */
    test_long();
    test_nothing();
    test_elsewhere();
    test_failures(APS_DEVICE_ENCODE, false);
    test_failures(APS_DEVICE_ENCODE, true);
    test_failures(APS_DEVICE_DECODE, false);
    test_failures(APS_DEVICE_DECODE, true);
    test_measure_failing();
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plugin's verbs on the fake device (fake.h): pieces and slots, contexts,
 * threads, and all failures.
 */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/memory.h"
#include "cuda/pieces.h"
#include "cuda/plugin.h"
#include "fake.h"
#include "placed.h"
#include "number/parse.h"
#include "tap/tap.h"

static const struct aps_memory *const verbs = &aps_cuda_plugin.memory;
static const struct aps_magnitude nothing = {.max = 0, .finite = false};

static unsigned long failures(void)
{
    char cause[256];

    return verbs->failures(cause, sizeof cause);
}

/* --- sizes --------------------------------------------------------------- */

static void test_sizes(void)
{
    static const char *const formats[] = {
        "e3m0",      "e5m2",   "e3m2fn",  "fp16",  "tf32",   "e8m23",
        "bfp7/4096", "bfp4/3", "mx-int8", "nvfp4", "flex16", "sign/64",
    };
    static const size_t sizes[] = {0, 1, 3, 1000, 70001};

    fake_context_set(fake_context_primary(0));
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        struct arrays a;
        const char *failed = NULL;
        size_t n = 0;

        for (size_t i = 0; i <= sizeof sizes / sizeof *sizes && !failed; i++) {
            size_t last = i == sizeof sizes / sizeof *sizes;
            struct aps_format format;

            aps_format_parse(formats[f], &format, NULL);
            /* last of all, more pieces than slots */
            n = last ? (APS_CUDA_STREAM_SLOTS + 2) * aps_piece_values(&format) +
                           77
                     : sizes[i];
            arrays_place(formats[f], n, i % 4, FAKE_DEVICE,
                         fake_context_primary(0), &a);
            failed = run_verbs(verbs, &a);
            arrays_remove(&a, i % 4);
        }
        ok(!failed, "%s: %s %s", formats[f],
           failed ? failed : "all verbs are the host's,",
           failed ? "differs" : "by pieces, too");
    }
    ok(failures() == 0, "no failure");
}

/* --- contexts ------------------------------------------------------------ */

static const char *verbs_in(enum fake_kind kind, CUcontext context,
                            CUcontext current)
{
    struct arrays a;
    const char *failed;

    fake_context_set(current);
    arrays_place("e5m2", 5000, 1, kind, context, &a);
    failed = run_verbs(verbs, &a);
    arrays_remove(&a, 1);
    if (!failed && fake_context_get() != current)
        failed = "the caller's context";
    if (!failed && fake_capture_mode() != CU_STREAM_CAPTURE_MODE_GLOBAL)
        failed = "the caller's capture mode";
    return failed;
}

static void test_contexts(void)
{
    CUcontext other = fake_context_create(0);
    CUcontext far = fake_context_primary(1);
    CUcontext near = fake_context_primary(0);
    struct arrays a;
    const char *failed;

    ok(!verbs_in(FAKE_DEVICE, near, NULL), "a thread without a context");
    ok(!verbs_in(FAKE_DEVICE, other, near), "a pointer of another context");
    ok(!verbs_in(FAKE_DEVICE, far, near), "a pointer of another device");
    ok(!verbs_in(FAKE_POOL, near, near), "memory of a pool");
    ok(!verbs_in(FAKE_POOL, near, other), "... in any context of its device");
    ok(!verbs_in(FAKE_POOL, far, near), "... in that of another device");
    ok(!verbs_in(FAKE_POOL, far, NULL), "... in no context");
    ok(!verbs_in(FAKE_MANAGED, other, near), "managed memory");
    fake_context_recreate(other);
    ok(!verbs_in(FAKE_DEVICE, other, near),
       "a context that was destroyed and created again");

    fake_context_set(near);
    arrays_place("e4m3", 1000, 0, FAKE_DEVICE, near, &a);
    fake_free(a.device);
    a.device = a.y; /* ordinary memory in its place */
    failed = verbs->encode(&a.codec, a.x, a.n, a.scaling, NULL, a.wire, NULL) ==
                         a.flags &&
                     memcmp(a.wire, a.expected, a.bytes) == 0
                 ? NULL
                 : "encode";
    verbs->decode(&a.codec, a.expected, a.n, a.scaling, a.flags, a.y);
    if (memcmp(a.y, a.expected_x, a.n * sizeof *a.y) != 0)
        failed = "decode";
    ok(!failed, "a host pointer goes to the host");
    a.device = fake_allocate(FAKE_DEVICE, near, 1);
    arrays_remove(&a, 0);
    ok(failures() == 0, "no failure");
}

/* --- failures ------------------------------------------------------------ */

/* Each call in turn fails, once, which changes only the time. In a new context,
 * which has no lane yet, or in one that has. */
static void test_once(bool new)
{
    CUcontext context = fake_context_create(0);
    unsigned long k, before = failures();
    const char *failed = NULL;
    bool reached = true;
    struct arrays a;

    fake_context_set(context);
    arrays_place("e5m2", 3000, 1, FAKE_DEVICE, context, &a);
    for (k = 1; reached && !failed; k++) {
        fake_context_recreate(context);
        if (!new)
            failed = run_verbs(verbs, &a);
        fake_fail(k, cudaErrorMemoryAllocation, false);
        failed = failed ? failed : run_verbs(verbs, &a);
        reached = fake_failed();
        fake_fail(0, cudaSuccess, false);
    }
    ok(!failed && failures() == before && k > (new ? 25 : 20),
       "%lu calls that fail once, %s: %s", k - 2,
       new ? "in a new context" : "in a known one",
       failed ? failed : "the result is right, by another way");
    arrays_remove(&a, 1);
}

static bool zeros(const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

/* All calls fail from some call on. */
static void test_for_ever(void)
{
    CUcontext context = fake_context_create(0);
    bool reached = true, counted = true, cleared = true, none = true;
    unsigned long k;
    struct arrays a;
    char cause[256] = "";

    fake_context_set(context);
    arrays_place("e5m2", 3000, 0, FAKE_DEVICE, context, &a);
    for (k = 1; reached; k++) {
        unsigned long before = failures();
        unsigned flags;

        fake_context_recreate(context);
        memset(a.wire, 0x55, a.bytes);
        fake_fail(k, cudaErrorIllegalAddress, true);
        flags = verbs->encode(&a.codec, a.device, a.n, a.scaling, NULL, a.wire,
                              NULL);
        reached = fake_failed();
        fake_fail(0, cudaSuccess, false);
        if (!reached)
            break;
        /* after the last that counts it may be right, and is not counted */
        if (failures() == before) {
            counted = counted && flags == a.flags &&
                      memcmp(a.wire, a.expected, a.bytes) == 0;
            continue;
        }
        none = false;
        counted = counted && failures() == before + 1;
        cleared = cleared && flags == 0 && zeros(a.wire, a.bytes);
    }
    verbs->failures(cause, sizeof cause);
    ok(counted && !none, "%lu calls that fail for ever: counted", k - 1);
    ok(cleared, "... zeros on the wire");
    ok(strstr(cause, "encode: ") == cause, "... the cause is told: %s", cause);

    fake_fail(1, cudaErrorIllegalAddress, true);
    struct aps_magnitude m = verbs->magnitude(a.device, a.n);
    verbs->copy_out(a.y, a.device, a.n);
    verbs->decode(&a.codec, a.expected, a.n, a.scaling, 0, a.device);
    verbs->copy_in(a.device, a.x, a.n);
    fake_fail(0, cudaSuccess, false);
    ok(m.max == nothing.max && !m.finite && zeros((void *)a.y, a.n * 4),
       "... of all verbs");
    fake_driver_down(true);
    memset(a.wire, 0x55, a.bytes);
    unsigned long before = failures();
    verbs->encode(&a.codec, a.device, a.n, a.scaling, NULL, a.wire, NULL);
    verbs->decode(&a.codec, a.expected, a.n, a.scaling, 0, a.device);
    fake_driver_down(false);
    ok(failures() == before + 2 && zeros(a.wire, a.bytes),
       "a driver that is down is a failure");
    fake_context_recreate(context);
    ok(!run_verbs(verbs, &a), "... until there is a context again");
    arrays_remove(&a, 0);
}

static void test_memory_full(void)
{
    CUcontext context = fake_context_create(1);
    unsigned long before = failures(), tried = fake_attempts();
    bool right = true;
    struct arrays a;

    fake_context_set(context);
    arrays_place("e4m3", 200000, 3, FAKE_DEVICE, context, &a);
    fake_memory_full(true);
    for (int i = 0; i < 5; i++)
        right = right && !run_verbs(verbs, &a);
    ok(right && failures() == before,
       "a device without memory left: through the host");
    ok(fake_attempts() == tried + 1, "... without asking again at every verb");
    fake_memory_full(false);
    for (int i = 0; i < 20; i++)
        right = right && !run_verbs(verbs, &a);
    ok(right && fake_attempts() == tried + 2, "... until there is some");
    arrays_remove(&a, 3);
}

/* --- threads ------------------------------------------------------------- */

#define THREADS 12

struct job {
    pthread_t thread;
    struct arrays arrays;
    CUcontext context;
    const char *failed;
};

static void *run_job(void *arg)
{
    struct job *job = arg;

    fake_context_set(job->context);
    for (int i = 0; i < 10 && !job->failed; i++)
        job->failed = run_verbs(verbs, &job->arrays);
    return NULL;
}

static void test_threads(void)
{
    static struct job jobs[THREADS];
    const char *failed = NULL;

    for (int i = 0; i < THREADS; i++) {
        jobs[i].context = fake_context_primary(i % 4 == 0);
        arrays_place(i % 2 ? "e5m2" : "e3m0", 3000 + (size_t)i, 0, FAKE_DEVICE,
                     fake_context_primary(0), &jobs[i].arrays);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&jobs[i].thread, NULL, run_job, &jobs[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(jobs[i].thread, NULL);
        failed = jobs[i].failed ? jobs[i].failed : failed;
        arrays_remove(&jobs[i].arrays, 0);
    }
    ok(!failed, "%d threads at once, in one context", THREADS);
}

int main(void)
{
    char cause[256];

    ok(aps_cuda_plugin.identity == APS_CUDA_IDENTITY, "the interface");
    is(aps_cuda_plugin.version, PACKAGE_VERSION, "the version");
    ok(aps_cuda_plugin.open(cause, sizeof cause) == 0, "it opens");
    test_sizes();
    test_contexts();
    test_threads();
    ok(fake_pageable() == 0, "all copies are of pinned memory");
    test_memory_full();
    test_once(true);
    test_once(false);
    test_for_ever();
    return done_testing();
}

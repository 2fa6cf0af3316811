/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wire bytes in a device's memory, on the fake device (fake.h): sizes, places, threads.
 */
#include "config.h"

#include "blocks_help.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tap/tap.h"

/* --- sizes and places ---------------------------------------------------- */

/* Uses a wire near `near`, or where x is. */
static const char *blocks_of(const char *format, const void *near)
{
    const size_t sizes[] = {0, 1, 3, 17, 1000, 70001, long_one(format)};
    const char *failed = NULL;
    struct arrays a;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !failed; i++) {
        arrays_place(format, sizes[i], i % 4, FAKE_DEVICE,
                     fake_context_primary(0), &a);
        /* once is enough for the long one */
        for (size_t k = sizes[i] > 100000 ? 4 : 0; k < 5 && !failed; k++)
            failed = run_blocks(verbs, &a, near ? near : a.device, k * 5 % 16);
        arrays_remove(&a, i % 4);
    }
    return failed;
}

static void test_formats(void)
{
    static const char *const formats[] = {
        "e3m0", "e5m2",      "e4m3",  "e2m3",  "e5m10",   "e4m3fn-sat", "e8m23",
        "tf32", "mx-e4m3fn", "nvfp4", "flex8", "bfp3/10", "bfp7/4096",
    };
    void *far = fake_allocate(FAKE_DEVICE, fake_context_primary(1), 1);

    fake_context_set(fake_context_primary(0));
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        const char *failed = blocks_of(formats[f], NULL);

        ok(!failed, "%s: %s", formats[f],
           failed ? failed : "wire bytes in device memory are the host's");
        if (f % 3 > 0) /* by pieces: that takes a while */
            continue;
        failed = blocks_of(formats[f], far);
        ok(!failed, "%s: %s", formats[f],
           failed ? failed : "... on another device than the values");
    }
    fake_free(far);
    ok(failures() == 0, "no failure");
}

/* Uses a wire near `wire`, and values in a kind of memory. */
static const char *blocks_in(enum fake_kind kind, CUcontext context,
                             CUcontext wire, CUcontext current)
{
    void *near = fake_allocate(FAKE_DEVICE, wire, 1);
    const char *failed;
    struct arrays a;

    fake_context_set(current);
    arrays_place("e4m3", 5000, 1, kind, context, &a);
    failed = run_blocks(verbs, &a, near, 1);
    arrays_remove(&a, 1);
    fake_free(near);
    return failed || kept(current) ? failed : "the caller's context";
}

static void test_contexts(void)
{
    CUcontext other = fake_context_create(0);
    CUcontext far = fake_context_primary(1);
    CUcontext near = fake_context_primary(0);

    ok(!blocks_in(FAKE_DEVICE, near, near, NULL), "a thread without a context");
    ok(!blocks_in(FAKE_DEVICE, other, other, near), "another context");
    ok(!blocks_in(FAKE_DEVICE, other, near, far), "... than the wire's");
    ok(!blocks_in(FAKE_DEVICE, far, near, NULL), "... than the wire's device");
    ok(!blocks_in(FAKE_POOL, near, near, other), "memory of a pool");
    ok(!blocks_in(FAKE_MANAGED, near, other, near), "managed memory");
    fake_context_recreate(other);
    ok(!blocks_in(FAKE_DEVICE, other, other, near),
       "a context that was destroyed and created again");
    ok(failures() == 0, "no failure");
}

static void test_values_of_host(void)
{
    unsigned long before = failures();
    unsigned char *wire;
    float x[4] = {1, 2, 3, 4};
    struct arrays a;
    bool all_fail;

    arrays_place("e5m2", 4, 0, FAKE_DEVICE, fake_context_primary(0), &a);
    wire = get_memory(a.device, 4);
    verbs->device->put(wire, x, 4);
    all_fail =
        verbs->device->encode(&a.codec, x, 4, a.scaling, NULL, wire, NULL) ==
            -1 &&
        verbs->device->decode(&a.codec, wire, 4, a.scaling, 0, true, x) == -1;
    verbs->device->get(a.wire, wire, 4);
    ok(failures() == before + 2 && all_fail && x[3] == 4 &&
           memcmp(a.wire, "\0\0\0", 4) == 0,
       "values in the host's memory are a failure");
    before = failures();
    verbs->device->put(x, wire, 0);
    ok(failures() == before, "no elements are not a failure");
    verbs->device->release(wire);
    arrays_remove(&a, 0);
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
        job->failed =
            run_blocks(verbs, &job->arrays, job->arrays.device, (size_t)i);
    if (!job->failed && !kept(job->context))
        job->failed = "the thread's context";
    return NULL;
}

static void test_threads(void)
{
    static struct job jobs[THREADS];
    const char *failed = NULL;

    for (int i = 0; i < THREADS; i++) {
        jobs[i].context = i % 3 ? fake_context_primary(i % 4 == 0) : NULL;
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
    test_formats();
    test_contexts();
    test_threads();
    ok(failures() == 0, "no failure");
    test_values_of_host();
    return done_testing();
}

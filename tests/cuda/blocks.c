/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wire bytes in a device's memory, memory that processes share, and memory that
 * is locked, over a device that is none (fake.h).
 */
#include "config.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/stream.h"
#include "cuda/plugin.h"
#include "cuda/ipc.h"
#include "placed.h"
#include "tap/tap.h"

static const struct aps_memory *const verbs = &aps_cuda_plugin.memory;

static char cause[256];

static unsigned long failures(void)
{
    char why[256];

    return verbs->failures(why, sizeof why);
}

/* The caller's own, as before? */
static bool kept(CUcontext context)
{
    return fake_context_get() == context &&
           fake_capture_mode() == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

static unsigned char *get_memory(const void *near, size_t bytes)
{
    unsigned char *memory =
        verbs->device->allocate(near, bytes, cause, sizeof cause);

    if (!memory)
        bail_out("%s", cause);
    return memory;
}

/* --- sizes and places ---------------------------------------------------- */

/* Longer than what a lane's slots hold together. */
static size_t long_one(const char *name)
{
    struct aps_format format;

    if (aps_format_parse(name, &format, NULL) < 0)
        bail_out("%s does not parse", name);
    return (APS_CUDA_STREAM_SLOTS + 2) * APS_CUDA_STREAM_BYTES * 8 /
               (size_t)format.width +
           77;
}

/* With the wire near `near`, or where x is. */
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
        "e3m0", "e5m2", "e4m3", "e2m3", "e5m10", "e4m3fn-sat", "e8m23", "tf32",
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

/* The wire near `wire`, values in a kind of memory. */
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
       "a context that was destroyed and created anew");
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
        verbs->device->encode(&a.codec, x, 4, a.scaling, wire) == -1 &&
        verbs->device->decode(&a.codec, wire, 4, a.scaling, 0, true, x) == -1;
    verbs->device->get(a.wire, wire, 4);
    ok(failures() == before + 2 && all_fail && x[3] == 4 &&
           memcmp(a.wire, "\0\0\0", 4) == 0,
       "values in the host's memory are a failure");
    before = failures();
    verbs->device->put(x, wire, 0);
    ok(failures() == before, "nothing to do is none");
    verbs->device->release(wire);
    arrays_remove(&a, 0);
}

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
    ok(verbs->device->try(memory, cause, sizeof cause) == 0 && kept(NULL),
       "a trial");
    for (unsigned long k = 1; k < 100; k++) {
        fake_context_recreate(context);
        cause[0] = '\0';
        fake_fail(k, cudaErrorNoKernelImageForDevice, false);
        result = verbs->device->try(memory, cause, sizeof cause);
        failed += result < 0;
        told &= (result < 0) == fake_failed() && (result == 0 || cause[0]);
        if (!fake_failed())
            break;
    }
    fake_fail(0, cudaSuccess, false);
    ok(told && result == 0 && failed > 10 && kept(NULL),
       "... that fails at any of %lu calls says why", failed);
    ok(failures() == before, "... and that is no failure");
    verbs->device->release(memory);
    fake_free(near);
}

/* --- memory of our own --------------------------------------------------- */

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
    memory = verbs->device->allocate(near, 100, cause, sizeof cause);
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

    memory = get_memory(near, 100);
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

/* --- other processes' ---------------------------------------------------- */

/* A token as if another process had made it. */
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

/* The owner on one device, values on another or the same. */
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
    /* the owner has them */
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
    ok(!open_memory(&other, near), "bytes that are no token");
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
    verbs->device->close(opened); /* not known any more */
    verbs->device->close(NULL);

    opened = open_memory(&token, near);
    fake_driver_down(true);
    verbs->device->close(opened);
    fake_driver_down(false);
    ok(failures() == before + 1, "a driver that is down is none");

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

/* --- failures ------------------------------------------------------------ */

enum verb { ENCODE, DECODE, ADD, PUT, GET, VERBS };
static const char *const names[] = {"encode", "decode", "add", "put", "get"};

/* What a verb has written, as it should be or zeros. */
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

/* One verb, whose call number k fails. */
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
        said = d->encode(&a->codec, a->device, a->n, a->scaling, wire);
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

/* Each call in turn, in a new context each time. */
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
    wire = get_memory(near, a.bytes);
    for (k = 1; reached && right; k++) {
        unsigned long before = failures();
        enum outcome outcome;

        fake_context_recreate(context);
        outcome = run_failing(verb, &a, wire, k, for_ever, &reached);
        if (failures() == before)
            right = outcome == RIGHT;
        else /* what fails for ever can leave no zeros on the device */
            right = failures() == before + 1 &&
                    (outcome == ZEROS || (for_ever && verb != GET));
        right = right && kept(NULL);
        count += failures() - before;
    }
    ok(right && count > 10, "%s%s, %lu calls that fail %s: %lu failures",
       names[verb], far ? " elsewhere" : "", k - 2,
       for_ever ? "for ever" : "once", count);
    verbs->device->release(wire);
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
    /* those that could not be made are not missed at once */
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
    verbs->device->encode(&a.codec, a.device, a.n, a.scaling, wire);
    verbs->device->decode(&a.codec, wire, a.n, a.scaling, 0, false, a.device);
    verbs->device->put(wire, a.expected, a.bytes);
    verbs->device->get(a.wire, wire, a.bytes);
    fake_driver_down(false);
    ok(failures() == before + 5, "a driver that is down, too");
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
    test_opened();
    test_threads();
    ok(failures() == 0, "no failure");
    test_values_of_host();
    test_try();
    test_allocate();
    test_pin();
    test_tokens();
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

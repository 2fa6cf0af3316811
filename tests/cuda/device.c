/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plugin's verbs on a GPU, loaded as libapsmpi.so loads it: every kind of
 * memory, contexts, threads, long arrays, and a device without memory left.
 *
 *     device [--short | --full | --managed]
 *
 * It starts itself again, with --opened, as another process. --full takes all of the
 * device's memory for a moment, which may disturb other programs; --managed tests only
 * managed memory. PLUGIN in the environment names the plugin's file.
 */
#include "config.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "codec/codec.h"
#include "codec/memory.h"
#include "cuda/driver.h"
#include "cuda/stream.h"
#include "cuda/plugin.h"
#include "tap/tap.h"
#include "device_help.h"

/* --- all verbs once ------------------------------------------------------ */

void verbs_write(void *to, const void *from, size_t bytes)
{
    must(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "copy to the device");
    must(cudaDeviceSynchronize(), "copy to the device");
}

void verbs_read(void *to, const void *from, size_t bytes)
{
    must(cudaMemcpy(to, from, bytes, cudaMemcpyDefault),
         "copy from the device");
}

static const char *run_in(enum kind kind, const char *format, size_t n,
                          size_t shift)
{
    float *memory = memory_of(kind, (n + shift + 1) * sizeof *memory);
    const char *failed;
    struct arrays a;

    if (!memory)
        return NULL;
    arrays_create(format, n, memory + shift, &a);
    failed = run_verbs(verbs, &a);
    if (!failed && kind <= POOL)
        failed = run_blocks(verbs, &a, a.device, shift * 3);
    arrays_destroy(&a);
    memory_free(kind, memory);
    return failed;
}

static void test_memory(enum kind kind, bool brief)
{
    static const char *const formats[] = {
        "e3m0",      "e5m2",  "e4m3fn-sat", "e3m2fn", "fp16",      "bf16",
        "tf32",      "e8m23", "bfp7/64",    "bfp4/3", "bfp5/4096", "mx-int8",
        "mx-e4m3fn", "nvfp4", "flex8",      "flex16",
    };
    static const size_t sizes[] = {0, 1, 2, 3, 17, 1000, 70001, 5000001};
    size_t count = sizeof sizes / sizeof *sizes - (brief ? 1 : 0);

    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        const char *failed = NULL;

        for (size_t i = 0; i < count && !failed; i++)
            failed = run_in(kind, formats[f], sizes[i], i % 5);
        ok(!failed, "%s memory, %s: %s", kinds[kind], formats[f],
           failed ? failed : "all verbs are the host's");
    }
    ok(failures() == 0, "no failure");
}

/* --- contexts and threads ------------------------------------------------ */

/* Functions of cuda.h, by name: this program is linked with the runtime only. */
static struct {
    CUresult (*create_2)(CUcontext *, unsigned, CUdevice);
    CUresult (*create_4)(CUcontext *, void *, unsigned, CUdevice);
    CUresult (*get)(CUcontext *);
    CUresult (*destroy)(CUcontext);
} driver;

static void find(void *library, const char *name, void *place)
{
    void *found = dlsym(library, name);

    memcpy(place, &found, sizeof found);
}

static bool create_context(CUcontext *context)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);

    if (!library)
        return false;
    find(library, "cuCtxCreate_v2", &driver.create_2);
    find(library, "cuCtxCreate_v4", &driver.create_4);
    find(library, "cuCtxGetCurrent", &driver.get);
    find(library, "cuCtxDestroy_v2", &driver.destroy);
    if (driver.create_2)
        return driver.create_2(context, 0, 0) == CUDA_SUCCESS;
    return driver.create_4 &&
           driver.create_4(context, NULL, 0, 0) == CUDA_SUCCESS;
}

static void *without_context(void *arg)
{
    struct arrays *a = arg;

    /* this thread has not called CUDA */
    return verbs->encode(&a->codec, a->device, a->n, a->scaling, NULL, a->wire,
                         NULL) == a->flags &&
                   memcmp(a->wire, a->expected, a->bytes) == 0
               ? NULL
               : a;
}

static void test_contexts(void)
{
    float *memory = memory_of(DEVICE, 5000 * sizeof *memory), *theirs;
    CUcontext other, now = NULL;
    struct arrays a, b;
    pthread_t thread;
    void *failed = NULL;
    const char *wrong;

    arrays_create("e5m2", 4999, memory + 1, &a);
    pthread_create(&thread, NULL, without_context, &a);
    pthread_join(thread, &failed);
    ok(!failed, "a thread without a context");

    must(cudaFree(NULL), "the primary context");
    if (!create_context(&other)) {
        skip(5, "no second context");
        goto end;
    }
    theirs = memory_of(DEVICE, 3000 * sizeof *theirs);
    arrays_create("e4m3", 2999, theirs + 1, &b);
    wrong = run_verbs(verbs, &a);
    driver.get(&now);
    ok(!wrong && now == other, "a pointer of another context: %s",
       wrong          ? wrong
       : now == other ? "served"
                      : "the current one is lost");
    wrong = run_verbs(verbs, &b);
    ok(!wrong, "a pointer of this context: %s", wrong ? wrong : "served");
    wrong = run_blocks(verbs, &b, a.device, 3);
    ok(!wrong, "... and a wire of the other: %s", wrong ? wrong : "served");
    wrong = run_blocks(verbs, &a, b.device, 0);
    ok(!wrong, "... and the other way round: %s", wrong ? wrong : "served");
    arrays_destroy(&b);
    driver.destroy(other);
    must(cudaSetDevice(0), "cudaSetDevice");
    wrong = run_verbs(verbs, &a);
    ok(!wrong, "after the other is destroyed: %s", wrong ? wrong : "served");
end:
    arrays_destroy(&a);
    memory_free(DEVICE, memory);
    ok(failures() == 0, "no failure");
}

#define THREADS 12

struct job {
    pthread_t thread;
    struct arrays arrays;
    const char *failed;
};

static void *run_job(void *arg)
{
    struct job *job = arg;

    for (int i = 0; i < 20 && !job->failed; i++)
        job->failed =
            i % 4 ? run_verbs(verbs, &job->arrays)
                  : run_blocks(verbs, &job->arrays, job->arrays.device, 0);
    return NULL;
}

static void test_threads(void)
{
    static struct job jobs[THREADS];
    const char *failed = NULL;

    for (int i = 0; i < THREADS; i++) {
        size_t n = 100000 + 7 * (size_t)i;

        arrays_create(i % 2 ? "e5m2" : "e3m0", n,
                      memory_of(DEVICE, n * sizeof(float)), &jobs[i].arrays);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&jobs[i].thread, NULL, run_job, &jobs[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(jobs[i].thread, NULL);
        failed = jobs[i].failed ? jobs[i].failed : failed;
        memory_free(DEVICE, jobs[i].arrays.device);
        arrays_destroy(&jobs[i].arrays);
    }
    ok(!failed, "%d threads at once: %s", THREADS, failed ? failed : "served");
    ok(failures() == 0, "no failure");
}

/* A stream of the program that is being captured stays captured. */
static void test_capture(void)
{
    float *memory = memory_of(DEVICE, 5000 * sizeof *memory);
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    const char *failed;
    struct arrays a;

    arrays_create("e5m2", 5000, memory, &a);
    must(cudaStreamCreate(&stream), "cudaStreamCreate");
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal),
         "capture");
    memset(a.wire, 0x55, a.bytes);
    failed = verbs->encode(&a.codec, a.device, a.n, a.scaling, NULL, a.wire,
                           NULL) == a.flags &&
                     memcmp(a.wire, a.expected, a.bytes) == 0
                 ? NULL
                 : "encode";
    ok(!failed && cudaStreamEndCapture(stream, &graph) == cudaSuccess,
       "a capture goes on around a verb");
    if (graph)
        cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    arrays_destroy(&a);
    memory_free(DEVICE, memory);
}

/* --- other processes, and locked memory ----------------------------------- */

/* Contents of the shared memory: a pattern, a wire and a copy of it. */
enum { SHARED_OFFSET = 256, WIRE = 1024, COPY = 1 << 18, SHARED = 1 << 20 };
#define SHARED_VALUES ((size_t)100001)

static void pattern(unsigned char *bytes)
{
    for (int i = 0; i < 64; i++)
        bytes[i] = (unsigned char)(i * 7 + 1);
}

/* Runs `device --opened`, with the token on standard input. Returns 3 if it
 * cannot be opened here. */
static int run_opened(void)
{
    float *near = memory_of(DEVICE, SHARED_VALUES * sizeof *near);
    const struct aps_device_memory *device = verbs->device;
    unsigned char got[64], expected[64], *opened;
    struct aps_memory_token token;
    const char *failed;
    char cause[256];
    struct arrays a;

    if (fread(&token, sizeof token, 1, stdin) != 1)
        return 1;
    opened = device->open(&token, near, cause, sizeof cause);
    if (!opened) {
        diag("%s", cause);
        return 3;
    }
    pattern(expected);
    device->get(got, opened, sizeof got);
    arrays_create("e4m3", SHARED_VALUES, near, &a);
    failed = run_blocks_at(verbs, &a, opened + WIRE);
    device->put(opened + COPY, a.expected, a.bytes);
    if (!failed && memcmp(got, expected, sizeof got) != 0)
        failed = "the owner's bytes";
    if (failed)
        diag("in the other process: %s", failed);
    device->close(opened);
    arrays_destroy(&a);
    memory_free(DEVICE, near);
    return failed || failures() > 0;
}

/* Returns the other process's answer; -1: there is none. */
static int give_token(const struct aps_memory_token *token)
{
    char self[4096], command[sizeof self + 32];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    FILE *other;
    int status;

    if (length < 0)
        return -1;
    self[length] = '\0';
    snprintf(command, sizeof command, "exec '%s' --opened >/dev/null", self);
    signal(SIGPIPE, SIG_IGN); /* the process may end without reading */
    other = popen(command, "w");
    if (!other)
        return -1;
    fwrite(token, sizeof *token, 1, other);
    status = pclose(other);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_shared(void)
{
    static unsigned char wire[SHARED_VALUES], copy[SHARED_VALUES];
    const struct aps_device_memory *device = verbs->device;
    float *near = memory_of(DEVICE, sizeof *near);
    struct aps_memory_token token;
    unsigned char bytes[64], *memory;
    char cause[256] = "";
    int status;

    memory = device->allocate(near, SHARED, cause, sizeof cause);
    if (!memory)
        bail_out("%s", cause);
    pattern(bytes);
    device->put(memory + SHARED_OFFSET, bytes, sizeof bytes);
    if (device->offer(memory + SHARED_OFFSET, &token, cause, sizeof cause) <
        0) {
        skip(3, "memory cannot be shared here: %s", cause);
        goto release;
    }
    ok(!device->open(&token, near, cause, sizeof cause),
       "a token is not opened in its own process: %s", cause);
    status = give_token(&token);
    if (status == 3) {
        skip(2, "memory of another process cannot be opened here");
        goto release;
    }
    device->get(wire, memory + SHARED_OFFSET + WIRE, sizeof wire);
    device->get(copy, memory + SHARED_OFFSET + COPY, sizeof copy);
    ok(status == 0, "verbs on memory of another process, which says %d",
       status);
    ok(memcmp(wire, copy, sizeof wire) == 0, "... and the owner has the bytes");
release:
    device->release(memory);
    memory_free(DEVICE, near);
    ok(failures() == 0, "no failure");
}

static void test_pin(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    float *near = memory_of(DEVICE, page);
    void *host = aligned_alloc(page, 2 * page);
    bool locked = verbs->pin(host, 2 * page, near) == 0;
    bool twice = verbs->pin(host, 2 * page, near) == 0;

    ok(locked && !twice, "the host's memory is locked, once");
    memset(host, 0x3c, page);
    verbs->copy_in(near, host, page / sizeof *near);
    memset(host, 0, page);
    verbs->copy_out(host, near, page / sizeof *near);
    ok(*(unsigned char *)host == 0x3c, "... and copied");
    verbs->unpin(host);
    locked = verbs->pin(host, 2 * page, near) == 0;
    verbs->unpin(host);
    ok(locked && failures() == 0, "... and locked again");
    free(host);
    memory_free(DEVICE, near);
}

/* --- long, and full ------------------------------------------------------ */

static void test_long(void)
{
    const size_t n = APS_THREADS_MAX + 1003;
    const char *failed = run_in(DEVICE, "e5m2", n, 1);

    ok(!failed, "more values than one launch takes: %s",
       failed ? failed : "all verbs are the host's");
}

/* Runs before any lane is made: the verbs find no memory for one. */
static void test_full(void)
{
    enum { PIECES = 4096 };
    static void *pieces[PIECES];
    float *memory = memory_of(DEVICE, 300000 * sizeof *memory);
    size_t count = 0;
    const char *failed;
    struct arrays a;

    arrays_create("e4m3", 299999, memory + 1, &a);
    for (size_t bytes = (size_t)1 << 33; bytes >= 65536; bytes /= 2) {
        while (count < PIECES &&
               cudaMalloc(&pieces[count], bytes) == cudaSuccess)
            count++;
    }
    cudaGetLastError();
    failed = run_verbs(verbs, &a);
    for (size_t i = 0; i < count; i++)
        cudaFree(pieces[i]);
    ok(!failed && failures() == 0, "a device without memory left: %s",
       failed ? failed : "through the host");
    for (int i = 0; i < 20 && !failed; i++)
        failed = run_verbs(verbs, &a);
    ok(!failed, "... and with some again");
    arrays_destroy(&a);
    memory_free(DEVICE, memory);
}

int main(int argc, char **argv)
{
    bool brief = argc > 1 && strcmp(argv[1], "--short") == 0;
    bool full = argc > 1 && strcmp(argv[1], "--full") == 0;

    load_plugin();
    if (argc > 1 && strcmp(argv[1], "--opened") == 0)
        return run_opened();
    if (argc > 1 && strcmp(argv[1], "--managed") == 0) {
        test_memory(MANAGED, false);
        return done_testing();
    }
    if (full)
        test_full();
    else
        skip(2, "a device without memory left: only with --full");
    for (enum kind kind = DEVICE; kind < KINDS; kind++) {
        if (kind != MANAGED)
            test_memory(kind, brief);
    }
    test_contexts();
    test_threads();
    test_capture();
    test_shared();
    test_pin();
    if (brief)
        skip(1, "more values than one launch takes: not with --short");
    else
        test_long();
    return done_testing();
}

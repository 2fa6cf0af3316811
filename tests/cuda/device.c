/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plugin's verbs on a GPU, loaded as libapsmpi.so loads it: every kind of
 * memory, contexts, threads, long arrays, and a device without memory left.
 *
 *     device [--short | --full]
 *
 * --full takes all of the device's memory for a moment, which other programs
 * may miss. PLUGIN in the environment names the plugin's file.
 */
#include "config.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "codec/codec.h"
#include "codec/memory.h"
#include "cuda/driver.h"
#include "cuda/lane.h"
#include "cuda/plugin.h"
#include "tap/tap.h"
#include "unit/wire.h"

static const struct aps_memory *verbs;

static void must(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        bail_out("%s: %s", what, cudaGetErrorString(error));
}

static void *allocate(size_t bytes)
{
    void *p = malloc(bytes + 1);

    if (!p)
        bail_out("out of memory");
    return p;
}

static unsigned long failures(void)
{
    char cause[256] = "";
    unsigned long count = verbs->failures(cause, sizeof cause);

    if (count > 0)
        diag("%lu failures: %s", count, cause);
    return count;
}

static void load_plugin(void)
{
    const char *file = getenv("PLUGIN");
    const struct aps_cuda_plugin *plugin;
    char cause[512];
    void *library;
    int devices = 0;
    cudaError_t error = cudaGetDeviceCount(&devices);

    if (error != cudaSuccess || devices == 0)
        plan_skip_all("no GPU: %s", cudaGetErrorString(error));
    library =
        dlopen(file ? file : ".libs/" APS_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    plugin = library ? dlsym(library, APS_CUDA_SYMBOL) : NULL;
    if (!plugin)
        bail_out("%s", dlerror());
    if (plugin->open(cause, sizeof cause) < 0)
        bail_out("there is a GPU, but: %s", cause);
    verbs = &plugin->memory;
}

/* --- memory -------------------------------------------------------------- */

enum kind { DEVICE, MANAGED, POOL, PINNED, ORDINARY, KINDS };
static const char *const kinds[] = {"device", "managed", "pool", "pinned",
                                    "ordinary"};

/* NULL where the device has no such memory. */
static void *memory_of(enum kind kind, size_t bytes)
{
    int has = 1;
    void *p = NULL;

    switch (kind) {
    case DEVICE:
        must(cudaMalloc(&p, bytes), "cudaMalloc");
        break;
    case MANAGED:
        cudaDeviceGetAttribute(&has, cudaDevAttrManagedMemory, 0);
        if (has)
            must(cudaMallocManaged(&p, bytes, cudaMemAttachGlobal),
                 "cudaMallocManaged");
        break;
    case POOL:
        cudaDeviceGetAttribute(&has, cudaDevAttrMemoryPoolsSupported, 0);
        if (has)
            must(cudaMallocAsync(&p, bytes, NULL), "cudaMallocAsync");
        break;
    case PINNED:
        must(cudaHostAlloc(&p, bytes, 0), "cudaHostAlloc");
        break;
    case ORDINARY:
    case KINDS:
        p = allocate(bytes);
        break;
    }
    must(cudaDeviceSynchronize(), "allocation");
    return p;
}

static void memory_free(enum kind kind, void *p)
{
    if (kind == PINNED)
        cudaFreeHost(p);
    else if (kind == ORDINARY)
        free(p);
    else
        cudaFree(p);
}

/* --- all verbs once ------------------------------------------------------ */

struct arrays {
    struct aps_codec codec;
    struct aps_scaling scaling;
    size_t n;
    size_t bytes;
    float *x;      /* [n] */
    float *device; /* likewise, in the memory that is tested */
    unsigned char *expected;
    float *expected_x;
    unsigned flags;
    unsigned char *wire;
    float *y;
};

static void arrays_create(const char *format, size_t n, float *device,
                          struct arrays *a)
{
    struct aps_format f;

    if (aps_format_parse(format, &f, NULL) < 0)
        bail_out("%s does not parse", format);
    aps_codec_init(&f, &a->codec);
    a->scaling = (struct aps_scaling){.exponent = n % 2 ? 3 : -2,
                                      .factor = n % 3 ? 1 : 1.3f};
    a->n = n;
    a->bytes = aps_codec_bytes(&a->codec, n);
    a->x = allocate(n * sizeof *a->x);
    a->y = allocate(n * sizeof *a->y);
    a->expected_x = allocate(n * sizeof *a->x);
    a->wire = allocate(a->bytes);
    a->expected = allocate(a->bytes);
    for (size_t i = 0; i < n; i++)
        a->x[i] = i % 1000 == 999 ? random_value(&f, a->scaling.exponent)
                                  : random_near(&f, a->scaling.exponent);
    if (n > 2) { /* the marker, from the last piece */
        a->x[n - 2] = NAN;
        a->x[n - 1] = -INFINITY;
    }
    a->flags =
        aps_memory_host.encode(&a->codec, a->x, n, a->scaling, a->expected);
    aps_memory_host.decode(&a->codec, a->expected, n, a->scaling, a->flags,
                           a->expected_x);
    a->device = device;
    must(cudaMemcpy(device, a->x, n * sizeof *a->x, cudaMemcpyDefault),
         "copy to the device");
    must(cudaDeviceSynchronize(), "copy to the device");
}

static void arrays_destroy(struct arrays *a)
{
    free(a->x);
    free(a->y);
    free(a->expected_x);
    free(a->wire);
    free(a->expected);
}

static bool device_is(const struct arrays *a, const float *expected)
{
    must(cudaMemcpy(a->y, a->device, a->n * sizeof *a->y, cudaMemcpyDefault),
         "copy from the device");
    return memcmp(a->y, expected, a->n * sizeof *a->y) == 0;
}

/* The first verb that does not do as the host's, or NULL. */
static const char *run_verbs(struct arrays *a)
{
    struct aps_magnitude wanted = aps_magnitude_of(a->x, a->n), got;
    unsigned flags;

    got = verbs->magnitude(a->device, a->n);
    if (aps_float_bits(got.max) != aps_float_bits(wanted.max) ||
        got.finite != wanted.finite)
        return "magnitude";

    memset(a->wire, 0x55, a->bytes);
    flags = verbs->encode(&a->codec, a->device, a->n, a->scaling, a->wire);
    if (flags != a->flags || memcmp(a->wire, a->expected, a->bytes) != 0)
        return "encode";

    memset(a->y, 0x55, a->n * sizeof *a->y);
    verbs->copy_out(a->y, a->device, a->n);
    if (memcmp(a->y, a->x, a->n * sizeof *a->y) != 0)
        return "copy_out";

    verbs->decode(&a->codec, a->expected, a->n, a->scaling, a->flags,
                  a->device);
    if (!device_is(a, a->expected_x))
        return "decode";

    verbs->copy_in(a->device, a->x, a->n);
    if (!device_is(a, a->x))
        return "copy_in";
    return NULL;
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
    failed = run_verbs(&a);
    arrays_destroy(&a);
    memory_free(kind, memory);
    return failed;
}

static void test_memory(bool brief)
{
    static const char *const formats[] = {"e3m0",   "e5m2", "e4m3fn-sat",
                                          "e3m2fn", "fp16", "bf16",
                                          "tf32",   "e8m23"};
    static const size_t sizes[] = {0, 1, 2, 3, 17, 1000, 70001, 5000001};
    size_t count = sizeof sizes / sizeof *sizes - (brief ? 1 : 0);

    for (enum kind kind = DEVICE; kind < KINDS; kind++) {
        for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
            const char *failed = NULL;

            for (size_t i = 0; i < count && !failed; i++)
                failed = run_in(kind, formats[f], sizes[i], i % 5);
            ok(!failed, "%s memory, %s: %s", kinds[kind], formats[f],
               failed ? failed : "all verbs are the host's");
        }
    }
    ok(failures() == 0, "no failure");
}

/* --- contexts and threads ------------------------------------------------ */

/* Of cuda.h, by name: this program is linked with the runtime alone. */
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

    /* nothing of CUDA has been called in this thread */
    return verbs->encode(&a->codec, a->device, a->n, a->scaling, a->wire) ==
                       a->flags &&
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
        skip(3, "no second context");
        goto end;
    }
    theirs = memory_of(DEVICE, 3000 * sizeof *theirs);
    arrays_create("e4m3", 2999, theirs + 1, &b);
    wrong = run_verbs(&a);
    driver.get(&now);
    ok(!wrong && now == other, "a pointer of another context: %s",
       wrong          ? wrong
       : now == other ? "served"
                      : "the current one is lost");
    wrong = run_verbs(&b);
    ok(!wrong, "a pointer of this context: %s", wrong ? wrong : "served");
    arrays_destroy(&b);
    driver.destroy(other);
    must(cudaSetDevice(0), "cudaSetDevice");
    wrong = run_verbs(&a);
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
        job->failed = run_verbs(&job->arrays);
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

/* A stream of the program's that is being captured stays so. */
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
    failed =
        verbs->encode(&a.codec, a.device, a.n, a.scaling, a.wire) == a.flags &&
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

/* --- long, and full ------------------------------------------------------ */

static void test_long(void)
{
    const size_t n = APS_WORK_MAX + 1003;
    const char *failed = run_in(DEVICE, "e5m2", n, 1);

    ok(!failed, "more values than one launch takes: %s",
       failed ? failed : "all verbs are the host's");
}

/* Before any lane is made: the verbs find no memory for one. */
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
    failed = run_verbs(&a);
    for (size_t i = 0; i < count; i++)
        cudaFree(pieces[i]);
    ok(!failed && failures() == 0, "a device without memory left: %s",
       failed ? failed : "through the host");
    for (int i = 0; i < 20 && !failed; i++)
        failed = run_verbs(&a);
    ok(!failed, "... and with some again");
    arrays_destroy(&a);
    memory_free(DEVICE, memory);
}

int main(int argc, char **argv)
{
    bool brief = argc > 1 && strcmp(argv[1], "--short") == 0;
    bool full = argc > 1 && strcmp(argv[1], "--full") == 0;

    load_plugin();
    if (full)
        test_full();
    else
        skip(2, "a device without memory left: only with --full");
    test_memory(brief);
    test_contexts();
    test_threads();
    test_capture();
    if (brief)
        skip(1, "more values than one launch takes: not with --short");
    else
        test_long();
    return done_testing();
}

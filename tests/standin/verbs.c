/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stand-ins for a device and for the plugin: memory that two processes
 * share, failures that the environment requests, and misuse, which ends the
 * program. top_builddir in the environment gives their place.
 */
#include "config.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/plugin.h"
#include "gpu.h"
#include "tap.h"
#include "number/parse.h"

#define COUNT 1000
#define BYTES COUNT /* bytes of values in E4M3 */

static const struct aps_memory *verbs;
static struct aps_codec codec;
static float *x; /* memory of the device */
static float host[COUNT];
static const struct aps_scaling scaling = {.exponent = 1, .factor = 1};

/* Each process starts for itself, as ranks do. */
static void start(void)
{
    const char *top = getenv("top_builddir");
    const struct aps_cuda_plugin *plugin;
    struct aps_format format;
    const char *missing;
    char path[4096], cause[256];
    void *library;

    /* From then on the driver's name is known. */
    snprintf(path, sizeof path, "%s/tests/standin/.libs/libcuda.so.1",
             top ? top : ".");
    if (!dlopen(path, RTLD_LAZY | RTLD_LOCAL))
        bail_out("%s", dlerror());
    missing = gpu_open();
    if (missing)
        bail_out("%s", missing);
    snprintf(path, sizeof path, "%s/tests/standin/.libs/plugin.so",
             top ? top : ".");
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    plugin = library ? dlsym(library, APS_CUDA_SYMBOL) : NULL;
    if (!plugin || plugin->open(cause, sizeof cause) < 0)
        bail_out("%s", plugin ? cause : dlerror());
    verbs = &plugin->memory;
    aps_format_parse("e4m3", &format, NULL);
    aps_codec_init(&format, &codec);
    for (size_t i = 0; i < COUNT; i++)
        host[i] = (float)i / 8;
    x = gpu_alloc(sizeof host, false);
    gpu_put(x, host, sizeof host);
}

/* True if x[COUNT] has these values. */
static bool holds(const float *expected)
{
    float now[COUNT];

    gpu_get(now, x, sizeof now);
    return memcmp(now, expected, sizeof now) == 0;
}

/* --- misuse ------------------------------------------------------------- */

/* Runs in a child process. */
static void try_misuse(void (*misuse)(void), const char *said)
{
    char text[256] = "";
    int fds[2], status;
    ssize_t length;
    pid_t child;

    if (pipe(fds) < 0)
        bail_out("pipe");
    child = fork();
    if (child == 0) {
        dup2(fds[1], STDERR_FILENO);
        misuse();
        _exit(0);
    }
    close(fds[1]);
    length = read(fds[0], text, sizeof text - 1);
    close(fds[0]);
    waitpid(child, &status, 0);
    text[length > 0 ? strcspn(text, "\n") : 0] = '\0';
    is(text, said, "misuse: %s", said);
    ok(WIFSIGNALED(status), "... ends the program");
}

/* --- another process ---------------------------------------------------- */

/* Encodes into the memory of the token from `in`, and reports to `out`. The
 * exit status is 0 if all went well. */
static int encode_there(int in, int out)
{
    const struct aps_device_memory *device;
    struct aps_memory_token token;
    char cause[256], *wire;
    unsigned char mark = 0;

    start();
    device = verbs->device;
    if (read(in, &token, sizeof token) != sizeof token)
        return 1;
    wire = device->open(&token, x, cause, sizeof cause);
    if (!wire) {
        diag("open: %s", cause);
        return 2;
    }
    device->get(&mark, wire + BYTES, 1);
    device->encode(&codec, x, COUNT, scaling, NULL, wire, NULL);
    if (write(out, &mark, 1) != 1 || read(in, &mark, 1) != 1)
        return 3;
    device->close(wire);
    if (write(out, &mark, 1) != 1)
        return 4;
    gpu_free(x);
    return verbs->failures(cause, sizeof cause) == 0 ? 0 : 5;
}

static char *memory;

static void release_what_is_open(void)
{
    verbs->device->release(memory);
}

static void try_here(int in, int out)
{
    static const unsigned char mark = 0x77;
    unsigned char bytes[BYTES], expected_bytes[BYTES], got = 0;
    const struct aps_device_memory *device = verbs->device;
    struct aps_memory_token token;
    char cause[256] = "";
    float expected[COUNT];
    unsigned flags;

    memory = device->allocate(x, 256 + BYTES + 1, cause, sizeof cause);
    if (!memory)
        bail_out("allocate: %s", cause);
    device->put(memory + 256 + BYTES, &mark, 1);
    ok(device->offer(memory + 256, &token, cause, sizeof cause) == 0,
       "memory is offered");
    ok(!device->open(&token, x, cause, sizeof cause),
       "it cannot be opened where it is from");
    is(cause, "it is this process's own memory", "... and that is the cause");
    if (write(out, &token, sizeof token) != sizeof token ||
        read(in, &got, 1) != 1)
        bail_out("the other process has gone");
    ok(got == mark, "the other process has read what was put");

    flags = codec.encode(&codec, host, COUNT, scaling, NULL, expected_bytes);
    device->get(bytes, memory + 256, BYTES);
    ok(memcmp(bytes, expected_bytes, BYTES) == 0,
       "... and has encoded what the host would");
    codec.decode(&codec, bytes, COUNT, scaling, flags, expected);
    device->decode(&codec, memory + 256, COUNT, scaling, flags, false, x);
    ok(holds(expected), "it is decoded");
    codec.decode_add(&codec, bytes, COUNT, scaling, flags, expected);
    device->decode(&codec, memory + 256, COUNT, scaling, flags, true, x);
    ok(holds(expected), "... and added");
    try_misuse(release_what_is_open,
               "standin: release: another process has it open");
    if (write(out, &mark, 1) != 1 || read(in, &got, 1) != 1)
        bail_out("the other process has gone");
    device->release(memory);
    device->release(NULL);
}

/* --- requested failures --------------------------------------------------- */

static void try_told(void)
{
    const struct aps_device_memory *device = verbs->device;
    struct aps_memory_token token;
    char cause[256] = "";

    setenv("PMI_RANK", "3", 1);
    setenv("STANDIN_DEVICE", "full:3", 1);
    ok(!device->allocate(x, BYTES, cause, sizeof cause), "a full device");
    is(cause, "out of memory", "... is the cause");
    setenv("STANDIN_DEVICE", "full:30", 1);
    memory = device->allocate(x, BYTES, cause, sizeof cause);
    ok(memory != NULL, "another rank's is not");
    setenv("STANDIN_IPC", "fail", 1);
    ok(device->offer(memory, &token, cause, sizeof cause) < 0,
       "memory is not offered");
    setenv("STANDIN_IPC", "fail:3", 1);
    ok(device->offer(memory, &token, cause, sizeof cause) == 0,
       "a rank that can open none can offer some");
    ok(!device->open(&token, x, cause, sizeof cause), "... and open none");
    is(cause, "the stand-in was told not to open", "... with the cause");
    unsetenv("STANDIN_IPC");

    gpu_fail_after(0);
    device->encode(&codec, x, COUNT, scaling, NULL, memory, NULL);
    gpu_fail_after(-1);
    ok(verbs->failures(cause, sizeof cause) == 1, "a verb that fails counts");
    device->release(memory);
}

/* --- locked memory, and misuse ------------------------------------------ */

static char *pages; /* two pages */
static size_t page;

static void unpin_what_is_not(void)
{
    verbs->unpin(pages);
}

static void pin_twice(void)
{
    (void)verbs->pin(pages, 2 * page, x);
    (void)verbs->pin(pages + page, page, x);
}

static void pin_a_part(void)
{
    (void)verbs->pin(pages, page + 64, x);
}

static void close_what_is_not_open(void)
{
    verbs->device->close(x);
}

static void release_what_is_not_allocated(void)
{
    verbs->device->release(x);
}

static void encode_to_the_host(void)
{
    verbs->device->encode(&codec, x, COUNT, scaling, NULL, pages, NULL);
}

static void decode_too_much(void)
{
    char cause[256];

    memory = verbs->device->allocate(x, BYTES - 1, cause, sizeof cause);
    verbs->device->decode(&codec, memory, COUNT, scaling, 0, false, x);
}

static void try_pins(void)
{
    page = (size_t)sysconf(_SC_PAGESIZE);
    pages = aligned_alloc(page, 2 * page);
    if (!pages)
        bail_out("out of memory");
    ok(verbs->pin(pages, 2 * page, x) == 0, "pages are locked");
    verbs->unpin(pages);
    ok(verbs->pin(pages, page, x) == 0, "... and again");
    verbs->unpin(pages);
    try_misuse(unpin_what_is_not, "standin: unpin: this is not locked");
    try_misuse(pin_twice,
               "standin: pin: this is locked, or was freed without unpin");
    try_misuse(pin_a_part, "standin: pin: these are not whole pages");
    try_misuse(close_what_is_not_open, "standin: close: this was not opened");
    try_misuse(release_what_is_not_allocated,
               "standin: release: this was not allocated");
    try_misuse(encode_to_the_host,
               "standin: encode: the wire is not in a device's memory");
    try_misuse(decode_too_much,
               "standin: decode: the wire is not in a device's memory");
    free(pages);
}

int main(void)
{
    const struct rlimit none = {0};
    int there[2], back[2], status;
    pid_t child;

    setrlimit(RLIMIT_CORE, &none);
    if (pipe(there) < 0 || pipe(back) < 0)
        bail_out("pipe");
    fflush(stdout);
    child = fork();
    if (child < 0)
        bail_out("fork");
    if (child == 0) {
        close(there[1]);
        close(back[0]);
        _exit(encode_there(there[0], back[1]));
    }
    close(there[0]);
    close(back[1]);
    start();
    try_here(back[0], there[1]);
    waitpid(child, &status, 0);
    ok(status == 0, "the other process ends well");
    try_told();
    try_pins();
    gpu_free(x);
    return done_testing();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the codec kernels on one core and memcpy of the same floats, in GB/s
 * of FP32 data and as a ratio to memcpy. Kernels and memcpy alternate, so that
 * all see the same drift of the machine; the program prints medians. Time is
 * the thread's CPU time, so that other work matters less. One table is for data
 * that stays in the L2 cache, one for data that fits no cache.
 *
 *     codec [KIB ...] [FORMAT ...]   default: 256 262144, and a list of formats
 *     codec types [KIB ...] [FORMAT ...]
 *     codec instructions [FORMAT ...]
 *
 * `types` measures elements of every type, and memcpy of the same elements. The
 * last form counts each kernel's instructions per value instead; "-" if the
 * system does not let a process step another.
 *
 * The column "read" is the bound of kernels that only read: a loop that loads
 * from four places of the array in turn, which the machine prefetches best.
 * Kernels that also write share that rate.
 *
 * APSMPI_CPU=plain|avx2|avx512 chooses the variant.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "codec/codec.h"
#include "codec/stream.h"
#include "device/memory_relay.h"
#include "instructions.h"
#include "number/parse.h"

#define REPEATS 9
#define COUNTED ((size_t)1024) /* values of the smaller count */

static const char *const formats[] = {
    "e5m2",      "e4m3",      "e4m3fn",         "e3m0",      "e3m2",
    "e5m10",     "e8m7",      "e6m9",           "e7m12",     "mx-e4m3fn",
    "mx-e5m2",   "mx-int8",   "mx-e3m2fn",      "mx-e2m1fn", "nvfp4",
    "bfp7/64",   "bfp7/576",  "bfp5/64",        "bfp3/64",   "bfp3/576",
    "bfp15/64",  "flex16",    "flex8",          "int8/512",  "int4/512",
    "qsgd7/512", "qsgd1/128", "qsgd127/512-l2", "sign/512",
};

struct data {
    size_t n;
    enum aps_element element;
    float *x; /* or elements of that type */
    float *y;
    unsigned char *wire;
    unsigned char *codes; /* codes of sums */
    struct aps_codec codec;
    struct aps_scaling scaling;
};

static volatile float sink;

static size_t bytes_of(const struct data *d)
{
    return d->n * aps_element_types[d->element].bytes;
}

static void run_memcpy(struct data *d)
{
    memcpy(d->y, d->x, bytes_of(d));
}

/* The largest load of a vector unit of any CPU. */
typedef uint64_t line __attribute__((vector_size(64), may_alias));

static void run_read(struct data *d)
{
    const size_t quarter = d->n * sizeof *d->x / sizeof(line) / 4;
    const line *x = (const void *)d->x;
    line seen[4] = {{0}};

    for (size_t i = 0; i < quarter; i++) {
        for (size_t j = 0; j < 4; j++) {
            __builtin_prefetch(x + j * quarter + i + 32);
            seen[j] |= x[j * quarter + i];
        }
    }
    seen[0] |= seen[1] | seen[2] | seen[3];
    sink = (float)seen[0][0];
}

static void run_max(struct data *d)
{
    sink = aps_magnitude_of(d->x, d->n).max;
}

static void run_encode(struct data *d)
{
    d->codec.encode(&d->codec, d->x, d->n, d->scaling, NULL, d->wire);
}

/* Encodes with a known greatest value, which the caller makes fit. */
static void run_bounded(struct data *d)
{
    struct aps_scaling scaling = d->scaling;

    scaling.bounded = true;
    d->codec.encode(&d->codec, d->x, d->n, scaling, NULL, d->wire);
}

static void run_stochastic(struct data *d)
{
    static const struct aps_cast_options options = {
        .rounding = APS_ROUND_STOCHASTIC, .seed = 1};

    d->codec.encode(&d->codec, d->x, d->n, d->scaling, &options, d->wire);
}

static void run_correlated(struct data *d)
{
    static const struct aps_cast_options options = {
        .rounding = APS_ROUND_CORRELATED, .seed = 1, .rank = 3, .ranks = 8};

    d->codec.encode(&d->codec, d->x, d->n, d->scaling, &options, d->wire);
}

static void run_stats(struct data *d)
{
    struct aps_encode_stats stats = {0};

    d->codec.encode_stats(&d->codec, d->x, d->n, d->scaling, NULL, d->wire,
                          &stats);
}

static void run_decode(struct data *d)
{
    d->codec.decode(&d->codec, d->wire, d->n, d->scaling, 0, d->y);
}

static void run_decode_add(struct data *d)
{
    d->codec.decode_add(&d->codec, d->wire, d->n, d->scaling, 0, d->y);
}

/* Encodes the sum of two arrays of codes. */
static void run_sum_encode(struct data *d)
{
    const struct aps_summand one = {.wire = d->wire, .scaling = d->scaling};
    const struct aps_summand summands[] = {one, one};
    struct aps_scaling scaling = d->scaling;
    float max;

    scaling.exponent--; /* the exponent of a sum of two */
    if (d->codec.sum_encode &&
        d->codec.sum_encode(&d->codec, summands, 2, d->n, scaling, d->codes,
                            NULL, false, &max))
        return;
    run_decode(d);
    run_decode_add(d);
    sink = aps_magnitude_of(d->y, d->n).max;
    scaling.bounded = true;
    d->codec.encode(&d->codec, d->y, d->n, scaling, NULL, d->codes);
}

/* Decodes with streaming stores, like long arrays. */
static void run_stream(struct data *d)
{
    aps_stream_decode(&d->codec, d->wire, d->n, d->scaling, 0, d->y);
}

static void run_element_max(struct data *d)
{
    sink = aps_memory_relay(d->element)->magnitude(d->x, d->n).max;
}

static void run_element_encode(struct data *d)
{
    aps_memory_relay(d->element)
        ->encode(&d->codec, d->x, d->n, d->scaling, NULL, d->wire, NULL);
}

static void run_element_decode(struct data *d)
{
    aps_memory_relay(d->element)
        ->decode(&d->codec, d->wire, d->n, d->scaling, 0, d->y);
}

/* The columns; the others are compared with memcpy. */
struct kernel {
    const char *name;
    void (*run)(struct data *);
};

static const struct kernel element_kernels[] = {
    {"memcpy", run_memcpy},
    {"max", run_element_max},
    {"encode", run_element_encode},
    {"decode", run_element_decode},
};
#define ELEMENT_KERNELS (sizeof element_kernels / sizeof *element_kernels)

static const struct kernel kernels[] = {
    {"memcpy", run_memcpy},
    {"read", run_read},
    {"max", run_max},
    {"encode", run_encode},
    {"bounded", run_bounded},
    {"decode", run_decode},
    {"decode_add", run_decode_add},
    {"stream", run_stream},
    {"sum_encode", run_sum_encode},
    {"stochastic", run_stochastic},
    {"correlated", run_correlated},
    {"statistics", run_stats},
};
#define KERNELS (sizeof kernels / sizeof *kernels)

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(const double *values)
{
    double sorted[REPEATS];

    memcpy(sorted, values, sizeof sorted);
    qsort(sorted, REPEATS, sizeof *sorted, compare);
    return sorted[REPEATS / 2];
}

/* Returns the GB/s of one run, which takes at least 2 ms. */
static double rate(void (*run)(struct data *), struct data *d)
{
    double bytes = (double)bytes_of(d);
    int inner = (int)(4e7 / bytes) + 1;
    double start = now();

    for (int i = 0; i < inner; i++)
        run(d);
    return inner * bytes / (now() - start) * 1e-9;
}

/* Prints the header of a table. */
static void header(const struct kernel *table, size_t count)
{
    printf("  %-7s %-9s %4s %6s", "cpu", "format", "bits", table[0].name);
    for (size_t k = 1; k < count; k++)
        printf(" %12s", table[k].name);
    printf("\n");
}

/* Prints one row: all kernels of the codec, alternating. */
static void row(struct data *d, const struct kernel *table, size_t count)
{
    static double rates[KERNELS][REPEATS], ratios[KERNELS][REPEATS];

    for (size_t k = 0; k < count; k++) /* warm up */
        table[k].run(d);
    for (int r = 0; r < REPEATS; r++) {
        /* Keeps the sums small. */
        memset(d->y, 0, bytes_of(d));
        for (size_t k = 0; k < count; k++) {
            rates[k][r] = rate(table[k].run, d);
            ratios[k][r] = rates[k][r] / rates[0][r];
        }
    }
    printf("  %-7s %-9s %4d %6.1f", d->codec.cpu, d->codec.format.name,
           d->codec.format.width, median(rates[0]));
    for (size_t k = 1; k < count; k++)
        printf(" %6.1f %4.2fx", median(rates[k]), median(ratios[k]));
    printf("\n");
}

/* Fills with values like gradients: spread over many binades, both signs. */
static void fill(float *x, size_t n)
{
    uint32_t state = 1;

    for (size_t i = 0; i < n; i++) {
        float product = 1;

        for (int j = 0; j < 3; j++) {
            state = state * 1664525u + 1013904223u;
            product *= (float)(int32_t)state * 0x1p-31f;
        }
        x[i] = product;
    }
}

/* Allocates arrays of n values. */
static struct data data_create(size_t n)
{
    struct data d = {.n = n, .scaling = {.exponent = 3, .factor = 1}};
    size_t bytes = d.n * sizeof *d.x;

    d.x = aligned_alloc(4096, bytes);
    d.y = aligned_alloc(4096, bytes);
    d.wire = aligned_alloc(4096, bytes);
    d.codes = aligned_alloc(4096, bytes);
    if (!d.x || !d.y || !d.wire || !d.codes) {
        perror("codec");
        exit(1);
    }
    fill(d.x, d.n);
    memset(d.y, 0, bytes);
    memset(d.wire, 0, bytes);
    memset(d.codes, 0, bytes);
    return d;
}

static void data_destroy(struct data *d)
{
    free(d->x);
    free(d->y);
    free(d->wire);
    free(d->codes);
}

static void data_set_format(struct data *d, const char *name)
{
    struct aps_format format;
    struct aps_error error;

    if (aps_format_parse(name, &format, &error) < 0) {
        fprintf(stderr, "codec: %s\n", error.text);
        exit(1);
    }
    aps_codec_init(&format, &d->codec);
}

static void bench(size_t kib, const char *const *names, size_t count)
{
    struct data d = data_create(kib * 1024 / sizeof *d.x);

    printf("%zu KiB of floats: GB/s, and as a multiple of memcpy\n", kib);
    header(kernels, KERNELS);
    for (size_t f = 0; f < count; f++) {
        data_set_format(&d, names[f]);
        row(&d, kernels, KERNELS);
    }
    data_destroy(&d);
}

/* Measures elements of every type: `kib` of each. */
static void bench_types(size_t kib, const char *const *names, size_t count)
{
    struct data d = data_create(kib * 1024 / sizeof(uint16_t));
    float *values = d.x;

    d.x = aligned_alloc(4096, kib * 1024);
    if (!d.x) {
        perror("codec");
        exit(1);
    }
    for (int e = 0; e < APS_ELEMENTS; e++) {
        d.element = (enum aps_element)e;
        d.n = kib * 1024 / aps_element_types[e].bytes;
        if (d.element == APS_ELEMENT_FLOAT)
            memcpy(d.x, values, kib * 1024);
        else
            aps_memory_relay(d.element)->copy_in(d.x, values, d.n);
        printf("%zu KiB of %s: GB/s, and as a multiple of memcpy\n", kib,
               aps_element_types[e].name);
        header(element_kernels, ELEMENT_KERNELS);
        for (size_t f = 0; f < count; f++) {
            data_set_format(&d, names[f]);
            row(&d, element_kernels, ELEMENT_KERNELS);
        }
    }
    free(values);
    data_destroy(&d);
}

/* A kernel, and the number of values of a run. */
struct counted {
    void (*run)(struct data *);
    struct data d;
};

static void run_counted(void *state)
{
    struct counted *c = state;

    c->run(&c->d);
}

/* Returns the instructions per value, or -1 if they cannot be counted. */
static double instructions_of(void (*run)(struct data *), const struct data *d)
{
    struct counted c = {run, *d};
    long few, many;

    c.d.n = COUNTED;
    few = bench_instructions(run_counted, &c);
    c.d.n = 2 * COUNTED;
    many = bench_instructions(run_counted, &c);
    return few < 0 || many < 0 ? -1 : (double)(many - few) / (double)COUNTED;
}

static void count_instructions(const char *const *names, size_t count)
{
    struct data d = data_create(2 * COUNTED);

    printf("instructions a value\n");
    printf("  %-7s %-9s %4s", "cpu", "format", "bits");
    for (size_t k = 2; k < KERNELS; k++)
        printf(" %10s", kernels[k].name);
    printf("\n");
    for (size_t f = 0; f < count; f++) {
        data_set_format(&d, names[f]);
        printf("  %-7s %-9s %4d", d.codec.cpu, d.codec.format.name,
               d.codec.format.width);
        fflush(stdout);
        for (size_t k = 2; k < KERNELS; k++) {
            const double each = instructions_of(kernels[k].run, &d);

            if (each < 0)
                printf(" %10s", "-");
            else
                printf(" %10.3f", each);
            fflush(stdout);
        }
        printf("\n");
    }
    data_destroy(&d);
}

int main(int argc, char **argv)
{
    static const size_t default_kib[] = {256, 262144};
    const char *const *names = formats;
    size_t count = sizeof formats / sizeof *formats;
    void (*measure)(size_t, const char *const *, size_t) = bench;
    int first = 1, sizes = 0;

    if (argc > 1 && strcmp(argv[1], "instructions") == 0) {
        if (argc > 2) {
            names = (const char *const *)(argv + 2);
            count = (size_t)(argc - 2);
        }
        count_instructions(names, count);
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "types") == 0) {
        measure = bench_types;
        first = 2;
    }
    while (first + sizes < argc && strtoul(argv[first + sizes], NULL, 10) > 0)
        sizes++;
    if (first + sizes < argc) {
        names = (const char *const *)(argv + first + sizes);
        count = (size_t)(argc - first - sizes);
    }
    for (int i = 0; i < (sizes > 0 ? sizes : 2); i++)
        measure(sizes > 0 ? strtoul(argv[first + i], NULL, 10) : default_kib[i],
                names, count);
    return 0;
}

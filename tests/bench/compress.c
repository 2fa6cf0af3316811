/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the arithmetic of compressors and memcpy on one core.
 *
 *     compress [PART...]     default: all parts
 *
 * APSMPI_CPU=plain|avx2|avx512 chooses the variant.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cpu.h"
#include "compress.h"

static const struct {
    const char *name;
    int (*run)(void);
} parts[] = {
    {"feedback", bench_feedback},
    {"lowrank", bench_lowrank},
    {"select", bench_select},
    {"ternary", bench_ternary},
};
#define PARTS (sizeof parts / sizeof *parts)

double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

float *bench_floats(size_t n)
{
    float *x = malloc(n * sizeof *x);
    unsigned state = 1;

    if (!x) {
        perror("compress");
        exit(1);
    }
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)(int)state * 0x1p-31f;
    }
    return x;
}

double bench_memcpy(const float *from, size_t n, float *to)
{
    double best = 1e9;

    for (int r = 0; r < BENCH_RUNS; r++) {
        const double start = bench_now();

        memcpy(to, from, n * sizeof *to);
        const double seconds = bench_now() - start;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static void bench_print(const char *name, size_t n, double seconds, double copy)
{
    printf("  %-34s %8.3f %8.1f %8.2f\n", name, seconds * 1e3,
           (double)n * sizeof(float) / seconds * 1e-9, seconds / copy);
}

void bench_rows(const char *title, const struct bench_row *rows, size_t count,
                void *data, const float *from, size_t n, float *to)
{
    const double copy = bench_memcpy(from, n, to);

    printf("%s, %zu floats, %s: shortest run in ms, GB/s of the floats, time "
           "divided by memcpy's\n",
           title, n, aps_cpu_name(aps_cpu_chosen()));
    bench_print("memcpy", n, copy, copy);
    for (size_t i = 0; i < count; i++) {
        double best = 1e9;

        for (int r = 0; r < BENCH_RUNS; r++) {
            const double start = bench_now();

            rows[i].run(data);
            const double seconds = bench_now() - start;
            best = seconds < best ? seconds : best;
        }
        bench_print(rows[i].name, n, best, copy);
    }
}

static int compress_run(const char *name)
{
    for (size_t i = 0; i < PARTS; i++) {
        if (strcmp(name, parts[i].name) == 0)
            return parts[i].run();
    }
    fprintf(stderr, "compress: no part is called %s; there is", name);
    for (size_t i = 0; i < PARTS; i++)
        fprintf(stderr, " %s", parts[i].name);
    fprintf(stderr, "\n");
    return 2;
}

int main(int argc, char **argv)
{
    int status = 0;

    for (int i = 1; i < argc && status == 0; i++)
        status = compress_run(argv[i]);
    for (size_t i = 0; argc == 1 && i < PARTS && status == 0; i++)
        status = parts[i].run();
    return status;
}

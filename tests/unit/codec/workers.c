/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worker threads: the parts of a pass are the whole, each once, in the library's
 * floating-point environment; with several callers, in forked children, without
 * threads, and after a stop.
 */
#include "config.h"

#include "codec/workers.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fpenv.h"
#include "tap/tap.h"

#define N ((size_t)300000)
#define CALLERS 3

struct marks {
    unsigned char times[N];
    size_t unit;
    atomic_bool wrong; /* a part begins elsewhere, or in another environment */
    atomic_int others; /* parts of other threads than the caller */
    pthread_t caller;
};

static void mark(void *state, size_t begin, size_t n)
{
    struct marks *marks = state;

    if (begin % marks->unit != 0 || fegetround() != FE_TONEAREST)
        atomic_store(&marks->wrong, true);
    if (!pthread_equal(pthread_self(), marks->caller))
        atomic_fetch_add(&marks->others, 1);
    for (size_t i = begin; i < begin + n; i++)
        marks->times[i]++;
}

static bool passes(struct marks *marks, size_t n, size_t unit)
{
    bool right;

    memset(marks, 0, sizeof *marks);
    marks->unit = unit;
    marks->caller = pthread_self();
    aps_workers_pass(n, 1, unit, mark, marks);
    right = !atomic_load(&marks->wrong);
    for (size_t i = 0; i < N; i++)
        right &= marks->times[i] == (i < n);
    return right;
}

static bool all_pass(struct marks *marks)
{
    static const size_t sizes[] = {0,     1,     4096,  16384,  32767,
                                   32768, 40000, 65537, 262144, N};
    static const size_t units[] = {1, 64, 4032, 4096, SIZE_MAX};
    bool right = true;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof units / sizeof *units; j++)
            right &= passes(marks, sizes[i], units[j]);
    return right;
}

static struct marks marks;

static void test_counts(void)
{
    static const int counts[] = {1, 2, 3, 5, APS_WORKERS_MAX, 2};
    int others = 0;

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        aps_workers_set(counts[i]);
        ok(all_pass(&marks), "%d threads make each element once", counts[i]);
    }
    for (int i = 0; i < 10000 && others == 0; i++) {
        (void)passes(&marks, N, 64);
        others = atomic_load(&marks.others);
    }
    ok(others > 0, "other threads than the caller make parts");
    aps_workers_stop();
    ok(all_pass(&marks), "after a stop they start again");
    usleep(10000);
    ok(all_pass(&marks), "after a pause they wake up");
}

/* Each of `count` items is made once. */
static bool lists(size_t count, size_t n)
{
    bool right;

    memset(&marks, 0, sizeof marks);
    marks.unit = 1;
    marks.caller = pthread_self();
    aps_workers_list(count, n, mark, &marks);
    right = !atomic_load(&marks.wrong);
    for (size_t k = 0; k < N; k++)
        right &= marks.times[k] == (k < count);
    return right;
}

static void test_lists(void)
{
    static const size_t counts[] = {0, 1, 2, 3, 16, 1000};
    bool right = true;
    int others = 0;

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        right &= lists(counts[i], 1000) && lists(counts[i], N);
    ok(right, "each item of a list is made once");
    for (int i = 0; i < 10000 && others == 0; i++) {
        (void)lists(1000, N);
        others = atomic_load(&marks.others);
    }
    ok(others > 0, "other threads than the caller make items");
    (void)lists(1000, 20000);
    ok(atomic_load(&marks.others) == 0, "... not of a list of few elements");
    ok(!aps_workers_prefer_list(1, 32768) &&
           !aps_workers_prefer_list(2, 8192) &&
           aps_workers_prefer_list(2, 16384) &&
           aps_workers_prefer_list(64, 512) &&
           !aps_workers_prefer_list(16, 65536),
       "short passes are a list, long ones are divided");
    aps_workers_set(1);
    ok(!aps_workers_prefer_list(16, 16384), "... by one thread they are not");
    aps_workers_set(2);
}

static void *call(void *state)
{
    fenv_t environment;
    bool right = true;

    aps_fpenv_enter(&environment);
    for (int i = 0; i < 50; i++)
        right &= passes(state, N - (size_t)i, 64);
    return right ? state : NULL;
}

static void test_callers(void)
{
    static struct marks own[CALLERS];
    pthread_t threads[CALLERS];
    bool right = true;
    void *result;

    aps_workers_set(3);
    for (int i = 0; i < CALLERS; i++)
        if (pthread_create(&threads[i], NULL, call, &own[i]) != 0)
            bail_out("no thread");
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], &result);
        right &= result != NULL;
    }
    ok(right, "several threads make passes at a time");
}

/* Workers inherit the environment of the thread that starts them. */
static void test_environment(void)
{
    aps_workers_stop();
    fesetround(FE_UPWARD);
    aps_workers_pass(1000, 1, 1, mark, &marks);
    (void)passes(&marks, N, 64);
    fesetround(FE_TONEAREST);
    usleep(1000);
    ok(all_pass(&marks), "workers have the default environment");
}

static bool child_passes(void (*prepare)(void), int threads)
{
    pid_t child;
    int status;

    child = fork();
    if (child == 0) {
        alarm(60);
        prepare();
        _exit(all_pass(&marks) && aps_workers_threads() == threads ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void nothing(void)
{
}

static void set_again(void)
{
    aps_workers_set(2);
}

/* No thread has a stack any more. */
static void limit_memory(void)
{
    const struct rlimit none = {0, 0};

    setrlimit(RLIMIT_AS, &none);
    aps_workers_set(4);
}

static void test_forks(void)
{
    aps_workers_set(3);
    (void)all_pass(&marks);
    ok(child_passes(nothing, 1), "a forked child is a single thread");
#if defined(__SANITIZE_THREAD__)
    skip(1, "the thread sanitizer allows no thread in a forked child");
    (void)set_again;
#else
    ok(child_passes(set_again, 2), "... until it is given others");
#endif
    ok(all_pass(&marks), "... and the parent keeps its threads");
}

int main(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(1, "a sanitizer needs memory without a limit");
    (void)limit_memory;
#else
    ok(child_passes(limit_memory, 1),
       "if the system gives no thread, the caller is alone");
#endif
    test_counts();
    test_lists();
    test_callers();
    test_environment();
    test_forks();
    aps_workers_stop();
    return done_testing();
}

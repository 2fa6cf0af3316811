/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "codec/workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/cache.h"
#include "base/clock.h"
#include "base/fpenv.h"
#include "base/message.h"
#include "base/plural.h"
#include "base/size_min.h"
#include "base/thread.h"

/* Parts of a pass for each thread: a thread that comes late, or that has lost
 * its core, gets fewer of them. */
#define PARTS_OF_THREAD 2

/* Time that a worker spins after a pass, in nanoseconds: longer than the time
 * between two passes over messages of a fast network. */
#define SPIN_NS 20000

/* Looks of a caller at parts that workers make before it yields its core. */
#define LOOKS 2000

static atomic_int threads = 1;
static atomic_flag busy = ATOMIC_FLAG_INIT; /* set by the owner of a pass */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* pmpi/LOCKS.md */
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;
static atomic_bool asleep; /* a worker sleeps, or is about to; changed with the
                              lock */
static atomic_bool ending;

/* The owner of a pass changes these. */
static pthread_t workers[APS_WORKERS_MAX];
static int worker_count;

/*
 * The pass under way. `ticket` is its number, times 2^32, and the parts that no
 * thread has taken. A thread that takes a part has read the other fields of
 * that very pass: the owner changes them only after the last part is complete.
 */
static struct {
    _Alignas(APS_CACHE_LINE) _Atomic uint64_t ticket;
    _Atomic aps_pass_fn function;
    void *_Atomic state;
    atomic_size_t n;
    atomic_size_t length;                          /* elements of a part */
    _Alignas(APS_CACHE_LINE) atomic_uint complete; /* parts */
} pass;

static bool workers_have_parts(void)
{
    return (uint32_t)atomic_load(&pass.ticket) > 0;
}

/* Makes parts until no part is left. */
static void workers_make_parts(void)
{
    uint64_t now = atomic_load(&pass.ticket);

    while ((uint32_t)now > 0) {
        const aps_pass_fn function = atomic_load(&pass.function);
        void *const state = atomic_load(&pass.state);
        const size_t n = atomic_load(&pass.n);
        const size_t length = atomic_load(&pass.length);
        const size_t begin = (uint32_t)now * length;

        if (!atomic_compare_exchange_weak(&pass.ticket, &now, now - 1))
            continue;
        function(state, begin, n - begin < length ? n - begin : length);
        atomic_fetch_add(&pass.complete, 1);
        now = atomic_load(&pass.ticket);
    }
}

/* --- the workers' side ------------------------------------------------------ */

static bool worker_spins(void)
{
    const int64_t begin = aps_clock_ns(CLOCK_MONOTONIC);

    do {
        for (int i = 0; i < 16; i++) {
            if (workers_have_parts())
                return true;
            aps_thread_relax();
        }
    } while (aps_clock_ns(CLOCK_MONOTONIC) - begin < SPIN_NS);
    return false;
}

/* The order of `asleep` and `ticket` here, and the reverse one in
 * workers_call, ensure that no call is lost. */
static void worker_sleeps(void)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        atomic_store(&asleep, true);
        if (workers_have_parts() || atomic_load(&ending))
            break;
        pthread_cond_wait(&called, &lock);
    }
    pthread_mutex_unlock(&lock);
}

static void *worker_run(void *unused)
{
    fenv_t environment;

    aps_fpenv_enter(&environment);
    while (!atomic_load(&ending)) {
        workers_make_parts();
        if (!worker_spins())
            worker_sleeps();
    }
    return unused;
}

/* --- the owner's side ------------------------------------------------------- */

/* Wakes workers that sleep. */
static void workers_call(void)
{
    if (!atomic_load(&asleep))
        return;
    pthread_mutex_lock(&lock);
    atomic_store(&asleep, false);
    pthread_cond_broadcast(&called);
    pthread_mutex_unlock(&lock);
}

/* The child of a fork has no workers, and a pass may have been under way. */
static void workers_forget(void)
{
    atomic_store(&threads, 1);
    worker_count = 0;
    atomic_store(&pass.ticket, 0);
    atomic_store(&asleep, false);
    atomic_store(&ending, false);
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&called, NULL);
    atomic_flag_clear(&busy);
}

static void workers_watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, workers_forget);
}

/* Starts the workers that are missing. Returns false if the system lacks a
 * thread; then fewer threads share passes. */
static bool workers_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (worker_count + 1 >= atomic_load(&threads))
        return true;
    pthread_once(&once, workers_watch_forks);
    while (worker_count + 1 < atomic_load(&threads)) {
        if (aps_thread_start(&workers[worker_count], worker_run, NULL) < 0) {
            atomic_store(&threads, worker_count + 1);
            return false;
        }
        worker_count++;
    }
    return true;
}

static void workers_complain(void)
{
    const int count = aps_workers_threads();

    aps_message(-1,
                "cannot start a worker thread: long vectors are divided over "
                "%d thread%s of this process; check the limit on threads",
                count, aps_plural(count));
}

/* Makes a pass of several parts, with the workers. */
static void workers_share(size_t n, size_t length, size_t parts,
                          aps_pass_fn function, void *state)
{
    const uint64_t number = (atomic_load(&pass.ticket) >> 32) + 1;

    atomic_store_explicit(&pass.function, function, memory_order_relaxed);
    atomic_store_explicit(&pass.state, state, memory_order_relaxed);
    atomic_store_explicit(&pass.n, n, memory_order_relaxed);
    atomic_store_explicit(&pass.length, length, memory_order_relaxed);
    atomic_store_explicit(&pass.complete, 0, memory_order_relaxed);
    atomic_store(&pass.ticket, number << 32 | (parts - 1));
    workers_call();
    function(state, 0, length);
    workers_make_parts();
    for (int looks = 0; atomic_load(&pass.complete) < parts - 1;) {
        aps_thread_relax();
        if (++looks % LOOKS == 0)
            sched_yield();
    }
}

bool aps_workers_divide(size_t n)
{
    return n / APS_WORKERS_PART_MIN > 1 &&
           atomic_load_explicit(&threads, memory_order_relaxed) > 1;
}

bool aps_workers_prefer_list(size_t count, size_t n)
{
    return count > 1 && n < APS_WORKERS_PASS_MIN &&
           aps_workers_divide(count * n);
}

/* Makes elements [0, n) in at most `most` parts, which begin at multiples of
 * `unit`. */
static void workers_divide(size_t n, size_t most, size_t unit,
                           aps_pass_fn function, void *state)
{
    size_t length;
    bool complete;

    if (n <= unit || most <= 1 || atomic_load(&threads) <= 1 ||
        atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)) {
        function(state, 0, n);
        return;
    }
    complete = workers_start();
    length = ((n - 1) / most / unit + 1) * unit;
    workers_share(n, length, (n + length - 1) / length, function, state);
    atomic_flag_clear_explicit(&busy, memory_order_release);
    if (!complete)
        workers_complain();
}

void aps_workers_pass(size_t n, int arrays, size_t unit, aps_pass_fn function,
                      void *state)
{
    workers_divide(
        n,
        aps_size_min(n * (size_t)arrays / APS_WORKERS_PART_MIN,
                     (size_t)aps_workers_threads() * PARTS_OF_THREAD),
        unit, function, state);
}

void aps_workers_list(size_t count, size_t n, aps_pass_fn function, void *state)
{
    workers_divide(count, aps_size_min(count, n / APS_WORKERS_PART_MIN), 1,
                   function, state);
}

void aps_workers_set(int count)
{
    atomic_store(&threads, count);
}

int aps_workers_threads(void)
{
    return atomic_load(&threads);
}

void aps_workers_stop(void)
{
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        sched_yield();
    atomic_store(&ending, true);
    workers_call();
    while (worker_count > 0)
        pthread_join(workers[--worker_count], NULL);
    atomic_store(&ending, false);
    atomic_flag_clear_explicit(&busy, memory_order_release);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "message/wait.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "message/fiber.h"
#include "message/vcomm.h"

/* Number of tests of a counter before the first sleep. If each rank has a core,
 * they take about 20 us, as long as a wake-up. With fewer cores ranks sleep
 * almost at once. */
#define SPINS_ALONE 2000
#define SPINS_CROWDED 20

/* Intervals at which a sleeping wait drives progress. */
#define NAP_FIRST_NS 200000L
#define NAP_LAST_NS 2000000L
#define NAP_MESSAGES_NS 50000L /* with this rank's own messages under way */

/* Polling MPI takes MPI's lock, which threads of the program that spin in MPI
 * hold for long while they drive all progress. A background thread without
 * messages under way polls only in case no other thread does. */
#define NAP_LATE_NS 10000000L

/* Number of tests of requests between two sched_yield. */
#define TESTS_ALONE 16
#define TESTS_CROWDED 1

/* A longer wait is for the network, which does not need this core, but may need
 * it for its packets. After this time the wait sleeps between two tests. */
#define PATIENCE_ALONE_NS 500000L
#define PATIENCE_CROWDED_NS 100000L
#define NAP_REQUESTS_NS 20000L /* the kernel adds about 50 us */

/* Longest sleep of a background thread while the program computes, without
 * slack. Fewer sleeps cost less time in context switches (22 to 31 us of the
 * program's time each, on a virtual machine). */
#define NAP_BESIDE_NS 1000000L

#define SLACK_USUAL_NS 50000L /* default of the kernel */

/* True if ranks outnumber the cores. Contexts write it as they are created. A
 * hint. */
static _Atomic int crowded;

static void (*_Atomic idle)(void);

/* Set for a background thread only. */
static _Thread_local bool (*awaited)(void);

void aps_wait_set_background(bool (*is_awaited)(void))
{
    awaited = is_awaited;
}

static _Thread_local void (*turn_of_thread)(void);

void aps_wait_set_turn(void (*turn)(void))
{
    turn_of_thread = turn;
}

static inline void wait_take_turn(void)
{
    if (turn_of_thread)
        turn_of_thread();
}

static long patience_ns = 10000000000L;

void aps_wait_set_patience(int milliseconds)
{
    patience_ns = milliseconds * 1000000L;
}

long aps_wait_patience_ns(void)
{
    return patience_ns;
}

static _Atomic unsigned long ends;

unsigned long aps_wait_ends(void)
{
    return atomic_load_explicit(&ends, memory_order_relaxed);
}

/* Not an atomic addition: two threads may count one end, and the counter still
 * advances. */
static inline void wait_note_end(void)
{
    atomic_store_explicit(&ends, aps_wait_ends() + 1, memory_order_relaxed);
}

static _Thread_local void (*tell_late)(void);

void aps_wait_set_timeout(void (*tell)(void))
{
    tell_late = tell;
}

/* Reports a wait outside of fibers that has lasted since `begin`. */
static void wait_note_late(long begin)
{
    void (*tell)(void) = tell_late;

    if (!tell || aps_clock_ns(CLOCK_MONOTONIC) - begin < patience_ns)
        return;
    tell_late = NULL;
    tell();
}

/* Shortest sleep of a background thread, in nanoseconds; longer with more
 * rounds under way; 0: no rounds. */
static _Thread_local long spare;

static bool wait_is_beside(void)
{
    return awaited && !awaited();
}

void aps_wait_set_idle(void (*function)(void))
{
    atomic_store(&idle, function);
}

static void wait_be_idle(void)
{
    void (*function)(void) = atomic_load_explicit(&idle, memory_order_acquire);

    if (function && !awaited)
        function();
}

void aps_wait_set_ranks(int ranks, int cores)
{
    if (ranks > cores)
        atomic_store_explicit(&crowded, 1, memory_order_relaxed);
}

/* MPICH declares the statuses as an array, and its MPI_STATUSES_IGNORE is the
 * address 1, which GCC 12 reports as an overflow. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

static void wait_nap(long length)
{
    nanosleep(&(struct timespec){.tv_nsec = length}, NULL);
}

/* Sleeps for `length` nanoseconds, or up to half as long again if that avoids
 * an interrupt of the program: the kernel may wake the thread by another
 * timer's interrupt. */
static void wait_nap_or_longer(long length)
{
    const unsigned long slack = (unsigned long)length / 2;

    if (slack > SLACK_USUAL_NS)
        (void)prctl(PR_SET_TIMERSLACK, slack, 0, 0, 0);
    wait_nap(length);
    if (slack > SLACK_USUAL_NS)
        /* restores the thread's default */
        (void)prctl(PR_SET_TIMERSLACK, 0, 0, 0, 0);
}

/* Sleeps as long again as the wait has lasted, or for `spare`. */
static void wait_nap_beside(long waited)
{
    long length = waited > spare ? waited : spare;

    if (length < NAP_REQUESTS_NS)
        length = NAP_REQUESTS_NS;
    wait_nap_or_longer(length < NAP_BESIDE_NS ? length : NAP_BESIDE_NS);
}

void aps_wait_back_off(long *begin)
{
    const long patience = atomic_load_explicit(&crowded, memory_order_relaxed)
                              ? PATIENCE_CROWDED_NS
                              : PATIENCE_ALONE_NS;
    const long now = aps_clock_ns(CLOCK_MONOTONIC);
    long waited;

    if (*begin == 0)
        *begin = now;
    waited = now - *begin;
    if (wait_is_beside())
        wait_nap_beside(waited);
    else if (waited > patience)
        wait_nap(NAP_REQUESTS_NS);
    else
        sched_yield();
}

void aps_wait_begin_round(long *begin, size_t round, size_t under_way)
{
    if (!awaited)
        return;
    if (*begin == 0)
        *begin = aps_clock_ns(CLOCK_MONOTONIC);
    if (round > under_way)
        spare = (aps_clock_ns(CLOCK_MONOTONIC) - *begin) / (long)round *
                (long)under_way / 2;
}

void aps_wait_end_rounds(void)
{
    spare = 0;
}

/* A longer interval between two tests is not a wait, because the program has
 * computed. */
#define TURN_NS 1000000000L

static bool wait_is_long(long *waited, long *last)
{
    const long now = aps_clock_ns(CLOCK_MONOTONIC);

    if (now - *last < TURN_NS)
        *waited += now - *last;
    *last = now;
    return *waited > patience_ns;
}

static int wait_count_active(int count, const MPI_Request requests[])
{
    int active = 0;

    for (int i = 0; i < count; i++)
        active += requests[i] != MPI_REQUEST_NULL;
    return active;
}

/* After an error of one request MPI may leave the others under way. An error
 * that completes no request ends the wait. */
static int wait_for(int count, MPI_Request requests[], MPI_Status statuses[],
                    void (*tell)(void))
{
    long waited = 0, last = tell ? aps_clock_ns(CLOCK_MONOTONIC) : 0;
    const bool alone = !atomic_load_explicit(&crowded, memory_order_relaxed) &&
                       !wait_is_beside();
    const int tests = alone ? TESTS_ALONE : TESTS_CROWDED;
    int first = MPI_SUCCESS;
    int active = wait_count_active(count, requests);
    long begin = 0;

    for (int turn = 0;; turn++) {
        int done = 0;
        int rc = PMPI_Testall(count, requests, &done, statuses);

        if (rc != MPI_SUCCESS) {
            const int left = wait_count_active(count, requests);

            done = left == active;
            if (first == MPI_SUCCESS)
                first = rc == MPI_ERR_IN_STATUS ? MPI_ERR_OTHER : rc;
            active = left;
        }
        if (done) {
            wait_note_end();
            return first;
        }
        if (tell && wait_is_long(&waited, &last)) {
            tell();
            tell = NULL;
        }
        if (aps_fiber_inside()) {
            aps_fiber_yield();
            turn = 0;
        } else if (turn == tests) {
            wait_take_turn();
            wait_be_idle();
            aps_wait_back_off(&begin);
            wait_note_late(begin);
            turn = 0;
        }
    }
}

int aps_wait_requests(int count, MPI_Request requests[])
{
    return wait_for(count, requests, MPI_STATUSES_IGNORE, NULL);
}

int aps_wait_requests_telling(int count, MPI_Request requests[],
                              void (*tell)(void))
{
    return wait_for(count, requests, MPI_STATUSES_IGNORE, tell);
}

int aps_wait_statuses(int count, MPI_Request requests[], MPI_Status statuses[])
{
    return wait_for(count, requests, statuses, NULL);
}

/* If a probe finds a message, it returns at once, and MPI does not progress. */
void aps_wait_poll(MPI_Comm comm)
{
    int flag;

    (void)PMPI_Iprobe(MPI_ANY_SOURCE, APS_TAG_NONE, comm, &flag,
                      MPI_STATUS_IGNORE);
}

void aps_wait_poll_or_yield(MPI_Comm comm, long *begin)
{
    if (aps_fiber_inside()) {
        aps_fiber_yield();
        return;
    }
    aps_wait_poll(comm);
    wait_be_idle();
    aps_wait_back_off(begin);
}

static bool wait_reached(const struct aps_wait_count *count, uint32_t target,
                         uint32_t *now)
{
    *now = atomic_load_explicit(&count->count, memory_order_acquire);
    return (int32_t)(*now - target) >= 0;
}

void aps_wait_advance(struct aps_wait_count *count)
{
    atomic_fetch_add(&count->count, 1);
    /* All accesses are sequentially consistent: either this thread sees the
     * sleeper, or the sleeper sees the new count before it sleeps. */
    if (atomic_load(&count->sleepers) > 0)
        syscall(SYS_futex, &count->count, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void aps_wait_reach(struct aps_wait_count *count, uint32_t target,
                    MPI_Comm comm, bool messages)
{
    const int spins = atomic_load_explicit(&crowded, memory_order_relaxed)
                          ? SPINS_CROWDED
                          : SPINS_ALONE;
    const bool late = awaited && !messages;
    const long longest = messages ? NAP_MESSAGES_NS
                         : late   ? NAP_LATE_NS
                                  : NAP_LAST_NS;
    struct timespec nap = {.tv_nsec = late       ? NAP_LATE_NS
                                      : messages ? NAP_MESSAGES_NS
                                                 : NAP_FIRST_NS};
    uint32_t now;
    long begin;

    wait_note_end();
    if (aps_fiber_inside()) {
        /* The thread that drives the fiber may not poll MPI elsewhere. */
        for (; !wait_reached(count, target, &now); aps_fiber_yield())
            aps_wait_poll(comm);
        return;
    }
    for (int i = 0; i < spins; i++) {
        if (wait_reached(count, target, &now))
            return;
        aps_thread_relax();
    }
    if (!late)
        aps_wait_poll(comm);
    wait_be_idle();
    begin = aps_clock_ns(CLOCK_MONOTONIC);
    while (!wait_reached(count, target, &now)) {
        atomic_fetch_add(&count->sleepers, 1);
        syscall(SYS_futex, &count->count, FUTEX_WAIT, now, &nap, NULL, 0);
        atomic_fetch_sub(&count->sleepers, 1);
        if (wait_reached(count, target, &now))
            return;
        wait_take_turn();
        aps_wait_poll(comm);
        wait_be_idle();
        wait_note_late(begin);
        if (nap.tv_nsec <= longest / 2)
            nap.tv_nsec *= 2;
    }
}

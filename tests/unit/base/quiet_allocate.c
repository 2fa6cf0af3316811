/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory is allocated while signals arrive; more than a limit is an error. */
#include "config.h"

#include "base/quiet_write.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/tap/tap.h"

#define BYTES ((size_t)32 << 20)

static volatile sig_atomic_t ticks;

static void tick(int number)
{
    (void)number;
    ticks = 1;
}

static int open_segment(void)
{
    char name[64];
    int fd;

    snprintf(name, sizeof name, "/apsmpi-quiet-%ld", (long)getpid());
    fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    shm_unlink(name);
    return fd;
}

/* A timer like a profiler's, faster than the pages are allocated. */
static void test_timer(int fd)
{
    const struct itimerval often = {{0, 500}, {0, 500}},
                           never = {{0, 0}, {0, 0}};
    struct stat found;

    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &often, NULL);
    ok(aps_quiet_allocate(fd, BYTES) == 0,
       "a timer does not keep it from ending");
    setitimer(ITIMER_REAL, &never, NULL);
    ok(ticks, "... and its signals arrive");
    ok(fstat(fd, &found) == 0 && found.st_size == (off_t)BYTES &&
           found.st_blocks >= (blkcnt_t)(BYTES / 512),
       "all pages are there");
}

static void test_limit(int fd)
{
    const struct rlimit limit = {BYTES, BYTES};
    sigset_t pending, before;

    setrlimit(RLIMIT_FSIZE, &limit);
    ok(aps_quiet_allocate(fd, 2 * BYTES) == EFBIG,
       "beyond the limit of files: an error, not a signal");
    sigpending(&pending);
    ok(!sigismember(&pending, SIGXFSZ), "nor one that comes later");
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    ok(!sigismember(&before, SIGXFSZ) && !sigismember(&before, SIGTERM),
       "signals are not blocked any more");
}

int main(void)
{
    const int fd = open_segment();

    if (fd < 0) {
        skip(6, "no shared memory here");
    } else {
        test_timer(fd);
        test_limit(fd);
    }
    return done_testing();
}

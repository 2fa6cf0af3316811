/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/quiet_write.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

/* Time for which a full pipe may stay full, in milliseconds. */
#define PATIENCE_MS 10000

/* Consumes the signal that the write has raised, unless it was pending
 * before. */
static void quiet_forget(const sigset_t *signals, const sigset_t *pending)
{
    static const struct timespec at_once;

    if (!sigismember(pending, SIGXFSZ) && !sigismember(pending, SIGPIPE))
        (void)sigtimedwait(signals, NULL, &at_once);
}

ssize_t aps_quiet_write(int fd, const char *text, size_t length)
{
    sigset_t signals, before, pending;
    ssize_t written;
    bool blocked;
    int saved;

    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    sigaddset(&signals, SIGPIPE);
    sigpending(&pending);
    blocked = pthread_sigmask(SIG_BLOCK, &signals, &before) == 0;
    do
        written = write(fd, text, length);
    while (written < 0 && errno == EINTR);
    saved = errno;
    if (blocked) {
        if (written < 0 && (saved == EFBIG || saved == EPIPE))
            quiet_forget(&signals, &pending);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    errno = saved;
    return written;
}

int aps_quiet_allocate(int fd, size_t bytes)
{
    sigset_t all, limit, before, pending;
    bool blocked;
    int error;

    sigfillset(&all);
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    sigpending(&pending);
    sigdelset(&pending, SIGPIPE); /* not raised by the write */
    blocked = pthread_sigmask(SIG_BLOCK, &all, &before) == 0;
    do
        error = posix_fallocate(fd, 0, (off_t)bytes);
    while (error == EINTR);
    if (blocked) {
        if (error == EFBIG)
            quiet_forget(&limit, &pending);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    return error;
}

int aps_quiet_write_all(int fd, const char *text, size_t length)
{
    while (length > 0) {
        const ssize_t written = aps_quiet_write(fd, text, length);
        struct pollfd ready = {.fd = fd, .events = POLLOUT};

        if (written < 0 && errno == EAGAIN && poll(&ready, 1, PATIENCE_MS) != 0)
            continue;
        if (written < 0)
            return -1;
        text += written;
        length -= (size_t)written;
    }
    return 0;
}

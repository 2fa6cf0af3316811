/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/message.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/plural.h"
#include "base/print.h"
#include "base/quiet_write.h"

/* Least number of the duplicate: scripts use the numbers up to 9 for their own
 * files. */
#define COPY_LEAST 50

/* Standard error when the library was loaded. */
static struct {
    bool open;
    struct stat found;
    atomic_int copy; /* a duplicate of the descriptor; -1: none */
} standard = {.copy = -1};

/* True if the descriptor still is the standard error of the time of loading,
 * and not a file that the program has opened under the same number. */
static bool message_is_standard(int fd)
{
    struct stat now;

    return standard.open && fd >= 0 && fstat(fd, &now) == 0 &&
           now.st_dev == standard.found.st_dev &&
           now.st_ino == standard.found.st_ino;
}

/* In the child of a fork. A daemon closes its standard error, so that the
 * process that reads it comes to the end; a duplicate would keep it open. */
static void message_forget_copy(void)
{
    const int copy = atomic_exchange(&standard.copy, -1);

    if (message_is_standard(copy))
        close(copy);
}

__attribute__((constructor)) static void message_keep_standard(void)
{
    const int saved = errno;

    standard.open = fstat(STDERR_FILENO, &standard.found) == 0;
    if (standard.open && pthread_atfork(NULL, NULL, message_forget_copy) == 0)
        atomic_store(&standard.copy,
                     fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, COPY_LEAST));
    errno = saved;
}

/* Returns a descriptor of standard error, or -1 if the program has closed
 * it. */
static int message_descriptor(void)
{
    const int copy = atomic_load(&standard.copy);

    if (message_is_standard(copy))
        return copy;
    return message_is_standard(STDERR_FILENO) ? STDERR_FILENO : -1;
}

int aps_message_open(const char *path, int flags)
{
    static const char *const names[] = {"/dev/stderr", "/dev/fd/2",
                                        "/proc/self/fd/2"};
    char standard_error[32];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(path, names[i]) == 0) {
            snprintf(standard_error, sizeof standard_error, "/proc/self/fd/%d",
                     message_descriptor());
            path = standard_error;
        }
    return open(path, flags, 0666);
}

void aps_message(int rank, const char *format, ...)
{
    char line[1024];
    int saved = errno;
    int length;
    va_list args;

    if (rank >= 0)
        length = snprintf(line, sizeof line, "apsmpi: rank %d: ", rank);
    else
        length = snprintf(line, sizeof line, "apsmpi: ");
    va_start(args, format);
    length +=
        aps_vprint(line + length, sizeof line - (size_t)length, format, args);
    va_end(args);
    if ((size_t)length > sizeof line - 2)
        length = (int)sizeof line - 2;
    line[length++] = '\n';
    /* If standard error is closed, the line is lost. */
    (void)aps_quiet_write(message_descriptor(), line, (size_t)length);
    errno = saved;
}

void aps_message_errors(int rank, const struct aps_errors *errors)
{
    const size_t kept = aps_errors_kept(errors);
    const size_t left = errors->count - kept;
    char text[sizeof(struct aps_error) + 32];

    for (size_t i = 0; i < kept; i++)
        aps_message(rank, "%s",
                    aps_error_format(&errors->list[i], text, sizeof text));
    if (left > 0)
        aps_message(rank, "%zu more error%s %s not shown", left,
                    aps_plural(left), aps_plural_are(left));
}

void aps_message_warnings(int rank, const struct aps_errors *errors)
{
    const size_t kept = aps_warnings_kept(errors);
    const size_t left = errors->warning_count - kept;
    char text[sizeof(struct aps_error) + 32];

    for (size_t i = 0; i < kept; i++)
        aps_message(
            rank, "%s",
            aps_warning_format(&errors->warnings[i], text, sizeof text));
    if (left > 0)
        aps_message(rank, "%zu more warning%s %s not shown", left,
                    aps_plural(left), aps_plural_are(left));
}

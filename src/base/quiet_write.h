/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing to files inside the user's program. */
#ifndef APS_BASE_QUIET_WRITE_H
#define APS_BASE_QUIET_WRITE_H

#include <stddef.h>
#include <sys/types.h>

/* Thread-safe. write(2), repeated after interruptions, without the signals that
 * would end the program: the limit on file sizes and a closed pipe are errors
 * instead, EFBIG and EPIPE. */
ssize_t aps_quiet_write(int fd, const char *text, size_t length);

/*
 * Thread-safe. posix_fallocate(3) from the start of the file, without the
 * signal of the limit and without interruptions: on tmpfs each interruption may
 * undo the progress, so that a timer of the program would prevent completion.
 * Returns 0 or an error number.
 */
int aps_quiet_allocate(int fd, size_t bytes);

/* Writes all of the text. Returns 0, or -1 with errno: then a part may have
 * been written. EAGAIN: the descriptor is nonblocking, and nothing has read from
 * it for ten seconds. */
int aps_quiet_write_all(int fd, const char *text, size_t length);

#endif

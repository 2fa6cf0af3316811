/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing to files from within the user's program. */
#ifndef APS_BASE_QUIET_WRITE_H
#define APS_BASE_QUIET_WRITE_H

#include <stddef.h>
#include <sys/types.h>

/* Thread-safe. write(2), again after an interruption, without the signals that would
 * end the program: of a limit on the size of files, of a pipe whose reader went. They
 * are errors, EFBIG and EPIPE, instead. */
ssize_t aps_quiet_write(int fd, const char *text, size_t length);

/* Thread-safe. posix_fallocate(3) from the file's start, without that signal of a limit
 * and without interruptions: on tmpfs each one may undo what was done, so that a timer
 * of the program's would keep it from ending. 0 or an error number. */
int aps_quiet_allocate(int fd, size_t bytes);

/* All of the text. 0, or -1 with errno: then some of it may have been written. */
int aps_quiet_write_all(int fd, const char *text, size_t length);

#endif

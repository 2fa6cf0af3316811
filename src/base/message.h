/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines on standard error: `apsmpi: rank 3: event, exact cause`. Each line is
 * one write(2), so that lines of several ranks do not mix. Never standard
 * output, which belongs to the host program.
 *
 * Standard error is that of the time when the library was loaded. The library
 * keeps a duplicate of it, because the program may close descriptor 2, and its
 * next file may get the number 2. If the program has closed the duplicate, too,
 * lines are lost. A line never raises SIGPIPE.
 */
#ifndef APS_BASE_MESSAGE_H
#define APS_BASE_MESSAGE_H

#include <stdbool.h>

#include "base/error.h"

/* `rank` < 0: the line names no rank. */
void aps_message(int rank, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Opens a file whose name the user has given, like open(2) with the permissions
 * 0666. A name of standard error, such as "/dev/stderr", never opens a file of
 * the program that has got the number 2. */
int aps_message_open(const char *path, int flags);

/* True if occurrence `times` (from 1) of a repeated event is to be printed: the
 * first ten, then each power of two. */
static inline bool aps_message_is_due(unsigned long long times)
{
    return times <= 10 || (times & (times - 1)) == 0;
}

/* Prints one line for each error, and the number of errors that were not kept.
 * aps_message_warnings does the same with the warnings. */
void aps_message_errors(int rank, const struct aps_errors *errors);
void aps_message_warnings(int rank, const struct aps_errors *errors);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines on standard error: `apsmpi: rank 3: event, exact cause`. Each line is
 * one write(2), so that lines of several ranks do not mix. Never standard
 * output, which belongs to the host program.
 */
#ifndef APS_BASE_MESSAGE_H
#define APS_BASE_MESSAGE_H

#include <stdbool.h>

#include "base/error.h"

/* `rank` < 0: the line names no rank. */
void aps_message(int rank, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* True if occurrence `times` (from 1) of a repeated event is to be printed: the
 * first ten, then each power of two. */
bool aps_message_is_due(unsigned long long times);

/* Prints one line for each error, and the number of errors that were not kept.
 * aps_message_warnings does the same with the warnings. */
void aps_message_errors(int rank, const struct aps_errors *errors);
void aps_message_warnings(int rank, const struct aps_errors *errors);

#endif

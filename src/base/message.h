/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines on standard error: `apsmpi: rank 3: what, exact cause`. One write(2) a
 * line, so that lines of several ranks do not mix. Never standard output: it
 * belongs to the host program.
 */
#ifndef APS_BASE_MESSAGE_H
#define APS_BASE_MESSAGE_H

#include <stdbool.h>

#include "base/error.h"

/* `rank` < 0: no rank in the line. */
void aps_message(int rank, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Of what happens again and again the first ten times are worth a line, then
 * ever fewer; `times` counts from 1. */
bool aps_message_is_due(unsigned long long times);

/* One line an error, and how many more there were; the warnings are left to
 * aps_message_warnings, which does the same with them. */
void aps_message_errors(int rank, const struct aps_errors *errors);
void aps_message_warnings(int rank, const struct aps_errors *errors);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the log that consist of items: key=value. */
#ifndef APS_ROUNDOFF_EVENT_H
#define APS_ROUNDOFF_EVENT_H

#include <stddef.h>

/* Appends " key=value" to the text in line[size], cut if it does not fit. A
 * value that is not one word is quoted, with a backslash before each quote and
 * each backslash. */
void aps_event_add(char *line, size_t size, const char *key, const char *value);
void aps_event_add_number(char *line, size_t size, const char *key,
                          long long number);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of the log that are made of items: key=value.
 */
#ifndef APS_ROUNDOFF_EVENT_H
#define APS_ROUNDOFF_EVENT_H

#include <stddef.h>

/*
 * Append " key=value" to the text in line[size]: the value in quotes where it is not
 * one word, and there a backslash before a quote and a backslash. What does not fit
 * is cut off.
 */
void aps_event_add(char *line, size_t size, const char *key, const char *value);
void aps_event_add_number(char *line, size_t size, const char *key,
                          long long number);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shell patterns over layer names: * ? [abc] [a-z] [!a-z] and \ before a
 * literal.
 *
 * Not fnmatch(3), whose ranges depend on the locale: a training program may
 * call setlocale on one rank only, and every rank must pick the same layers.
 */
#ifndef APS_TEXT_GLOB_H
#define APS_TEXT_GLOB_H

#include <stdbool.h>

/* Does it hold any of * ? [ \ ? If not, it is a name. */
bool aps_glob_is(const char *text);

/* Does the pattern match the whole name? Bytes, case matters; a `[` without a
 * `]` stands for itself. Time at most length times length. */
bool aps_glob_match(const char *pattern, const char *name);

#endif

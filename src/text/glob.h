/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shell patterns over layer names: * ? [abc] [a-z] [!a-z] and \ before a
 * literal.
 *
 * fnmatch(3) does not serve, because its ranges depend on the locale: a
 * training program may call setlocale on one rank only, and every rank must
 * select the same layers.
 */
#ifndef APS_TEXT_GLOB_H
#define APS_TEXT_GLOB_H

#include <stdbool.h>

/* True if the text contains any of * ? [ \ and is therefore not a plain
 * name. */
bool aps_glob_is(const char *text);

/* True if the pattern matches the whole name. Compares bytes, with case; a `[`
 * without a `]` is a literal. Takes time of at most length times length. */
bool aps_glob_match(const char *pattern, const char *name);

#endif

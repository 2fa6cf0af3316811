/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words for on and off. Environment variables, policies and commands all
 * parse switches with this function.
 */
#ifndef APS_BASE_SWITCH_H
#define APS_BASE_SWITCH_H

#include <stdbool.h>

/* Synonyms of on and off, for messages. */
#define APS_SWITCH_SYNONYMS                                                    \
    "(yes, true and 1 mean on; no, false and 0 mean off)"

/* Parses a switch: on, yes, true and 1 set *on; off, no, false and 0 clear it;
 * in small or capital letters. Returns 0, or -1 for any other text, which
 * leaves *on unchanged. */
int aps_switch_parse(const char *text, bool *on);

#endif

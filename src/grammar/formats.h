/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of number formats in a policy, and what is said of names that are none.
 */
#ifndef APS_GRAMMAR_FORMATS_H
#define APS_GRAMMAR_FORMATS_H

#include "number/format.h"
#include "yaml/value.h"

/* The format that a word names. 0, or -1 with the error reported at the word:
 * the right spelling, or that a later version will know it. */
int aps_read_format_word(const struct aps_reader *reader,
                         const struct aps_yaml_node *word,
                         struct aps_format *format);

/* Does a rule's key `format` (NULL: none) hold {auto: ...}: several formats, of
 * which one is chosen while the program runs (auto_format.h)? */
bool aps_format_is_auto(const struct aps_yaml_node *key);

/* Does the name ask for saturation (-sat)? */
bool aps_format_name_saturates(const char *name);

#endif

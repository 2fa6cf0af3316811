/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of number formats in a policy, and messages about wrong names.
 */
#ifndef APS_GRAMMAR_FORMATS_H
#define APS_GRAMMAR_FORMATS_H

#include "number/format.h"
#include "yaml/value.h"

/* Sets the format that a word names, a wide one only if `wide`. Returns 0, or -1 after
 * the error was reported at the word, with the right spelling or a note that a later
 * version will have the format. */
int aps_read_format_word(const struct aps_reader *reader,
                         const struct aps_yaml_node *word, bool wide,
                         struct aps_format *format);

/* True if a rule's key `format` (NULL: none) is {auto: ...}: one of several
 * formats is chosen while the program runs (auto_format.h). */
bool aps_format_is_auto(const struct aps_yaml_node *key);

/* True if the name asks for saturation (-sat). */
bool aps_format_name_saturates(const char *name);

#endif

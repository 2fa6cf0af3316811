/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the keys of a policy take that have parameters: one table a key. The
 * names of the words stand in words.c.
 */
#ifndef APS_GRAMMAR_TABLES_H
#define APS_GRAMMAR_TABLES_H

#include "grammar/grammar.h"

enum aps_format_word { APS_FORMAT_WORD_NATIVE, APS_FORMAT_WORD_FP32 };
extern const struct aps_grammar aps_grammar_format;

/* By enum aps_scale_kind. */
extern const struct aps_grammar aps_grammar_scale;

/* The scale of a rule that names none, and the one of `aps: on` or `off`. */
struct aps_scale aps_scale_unnamed(bool rounds_sums);
struct aps_scale aps_scale_switched(bool on);

enum aps_reduce_parameter { APS_REDUCE_GROUP, APS_REDUCE_NODE };
extern const struct aps_grammar aps_grammar_reduce;

/* Of the mapping accumulate: {format: F, kahan: on, chunk: K}. */
enum aps_accumulate_parameter { APS_SUM_FORMAT, APS_SUM_KAHAN, APS_SUM_CHUNK };
extern const struct aps_grammar aps_grammar_accumulate;

enum aps_rounding_parameter { APS_ROUNDING_SEED };
extern const struct aps_grammar aps_grammar_rounding;

/* By enum aps_compressor_kind. */
extern const struct aps_grammar aps_grammar_compress;

/* A rule's keys `group` and `node`, which are short for reduce's parameters. */
extern const struct aps_parameter aps_parameter_group;
extern const struct aps_parameter aps_parameter_node;

#endif

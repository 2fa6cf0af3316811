/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys of a policy with parameters: one table for each. keywords.c has the
 * words.
 */
#ifndef APS_GRAMMAR_TABLES_H
#define APS_GRAMMAR_TABLES_H

#include "grammar/grammar.h"

enum aps_format_word { APS_FORMAT_WORD_NATIVE, APS_FORMAT_WORD_FP32 };
extern const struct aps_grammar aps_grammar_format;
extern const struct aps_grammar aps_grammar_rule_format; /* wide formats, too */

/* Indexed by enum aps_scale_kind. */
extern const struct aps_grammar aps_grammar_scale;

/* Return the scale of a rule that names none, and that of `aps: on` or
 * `off`. */
struct aps_scale aps_scale_unnamed(bool rounds_sums);
struct aps_scale aps_scale_switched(bool on);

enum aps_reduce_parameter { APS_REDUCE_GROUP, APS_REDUCE_NODE };
extern const struct aps_grammar aps_grammar_reduce;

/* Parameters of accumulate: {format: F, kahan: on, chunk: K}. */
enum aps_accumulate_parameter { APS_SUM_FORMAT, APS_SUM_KAHAN, APS_SUM_CHUNK };
extern const struct aps_grammar aps_grammar_accumulate;

enum aps_rounding_parameter { APS_ROUNDING_SEED };
extern const struct aps_grammar aps_grammar_rounding;

/* Indexed by enum aps_compressor_kind. */
extern const struct aps_grammar aps_grammar_compress;

/* Keys `group` and `node` of a rule, which abbreviate parameters of reduce. */
extern const struct aps_parameter aps_parameter_group;
extern const struct aps_parameter aps_parameter_node;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rules/gemm.h"

#include <stdlib.h>
#include <string.h>

#include "grammar/formats.h"
#include "grammar/tables.h"
#include "number/parse.h"
#include "rules/rule.h"

enum gemm_key {
    KEY_DIMENSIONS,
    KEY_PRODUCTS,
    KEY_FORMAT,
    KEY_FORMAT_B,
    KEY_ACCUMULATE,
    KEY_ROUNDING,
    KEY_ACCUMULATOR,
    KEY_KAHAN,
    KEYS
};

/* True for a format without blocks and without exponent. */
static bool is_integer(const struct aps_format *format)
{
    return format->block == 1 && format->exponent_bits == 0;
}

static void no_integers(const struct aps_reader *reader,
                        const struct aps_yaml_node *at,
                        const struct aps_format *format)
{
    aps_reader_error(reader, at,
                     "format %s is of integers, of which there are no products "
                     "(flex is for rules)",
                     format->name);
}

/* Reports a format whose values are always drawn. */
static bool is_drawn(const struct aps_reader *reader,
                     const struct aps_yaml_node *at,
                     const struct aps_format *format)
{
    if (format->draws != APS_FORMAT_DRAWS_ALWAYS)
        return false;
    aps_reader_error(reader, at,
                     "the levels of %s are drawn, and products have no such "
                     "operands: use a format intB/BUCKET, such as int8/512",
                     format->name);
    return true;
}

/* Reports sums that are not floats; factors may also be in blocks. */
static void check_floats(const struct aps_reader *reader,
                         const struct aps_yaml_node *at,
                         const struct aps_format *sums)
{
    if (sums->block > 1)
        aps_reader_error(reader, at,
                         "sums of products are floats, and %s is in blocks; "
                         "leave it out for fp32, or name a format of floats, "
                         "as in accumulate: {format: bf16}",
                         sums->name);
    else if (is_integer(sums))
        no_integers(reader, at, sums);
}

/* Returns true if there is a format. */
static bool read_format(const struct aps_reader *reader,
                        const struct aps_yaml_node *key,
                        struct aps_policy_gemm *gemm)
{
    struct aps_value value;

    if (aps_format_is_auto(key)) {
        aps_reader_error(reader, key->value,
                         "products have one format, which nothing measures: "
                         "format: {auto: ...} is for rules");
        return false;
    }
    if (aps_read_value(reader, key, &aps_grammar_format, &value) < 0)
        return false;
    gemm->rewrite = value.word == APS_WORD_FORMAT;
    if (gemm->rewrite)
        gemm->format = value.format;
    else if (aps_format_parse("fp32", &gemm->format, NULL) < 0)
        return false;
    if (gemm->rewrite && is_integer(&gemm->format)) {
        no_integers(reader, value.at, &gemm->format);
        return false;
    }
    if (is_drawn(reader, value.at, &gemm->format))
        return false;
    gemm->format_b = gemm->format;
    gemm->accumulator = gemm->format;
    /* HBFP: integers inside a block, FP32 between blocks. */
    if (gemm->format.block > 1)
        (void)aps_format_parse("fp32", &gemm->accumulator, NULL);
    return true;
}

/* Reads the format of B, after that of A. */
static void read_format_b(const struct aps_reader *reader,
                          const struct aps_yaml_node *key,
                          struct aps_policy_gemm *gemm)
{
    static const struct aps_parameter parameter = {
        .name = "format_b", .kind = APS_PARAMETER_FORMAT};
    const struct aps_format *a = &gemm->format;
    struct aps_argument b;

    if (aps_read_argument(reader, key, &parameter, &b) < 0 ||
        is_drawn(reader, key->value, &b.format))
        return;
    if (b.format.block != a->block)
        aps_reader_error(reader, key->value,
                         "format_b %s is in blocks of %d and format %s in "
                         "blocks of %d: the blocks of both operands must have "
                         "the same length",
                         b.format.name, b.format.block, a->name, a->block);
    else if (a->block == 1 && strcmp(b.format.name, a->name) != 0)
        aps_reader_error(reader, key->value,
                         "format_b %s differs from format %s: only formats in "
                         "blocks may, such as bfp7/64 and bfp15/64",
                         b.format.name, a->name);
    gemm->format_b = b.format;
}

/* Reports other keys with `format: fp32`, which have no effect. */
static void check_native(const struct aps_reader *reader,
                         const struct aps_yaml_node *const *keys)
{
    for (int i = KEY_FORMAT_B; i < KEYS; i++) {
        if (keys[i])
            aps_reader_error(reader, keys[i],
                             "'%s' cannot be combined with format: %s, which "
                             "leaves products to the program's BLAS (e8m23 is "
                             "the library's FP32 product)",
                             keys[i]->text, keys[KEY_FORMAT]->value->text);
    }
}

static void read_accumulate(const struct aps_reader *reader,
                            const struct aps_yaml_node *key,
                            struct aps_policy_gemm *gemm)
{
    struct aps_value value;

    if (aps_read_value(reader, key, &aps_grammar_accumulate, &value) < 0)
        return;
    switch (value.word) {
    case APS_WORD_OWN:
        if (value.arguments[APS_SUM_FORMAT].key) {
            gemm->accumulator = value.arguments[APS_SUM_FORMAT].format;
            check_floats(reader, value.arguments[APS_SUM_FORMAT].key->value,
                         &gemm->accumulator);
        }
        gemm->kahan = value.arguments[APS_SUM_KAHAN].on;
        gemm->chunk = (int)value.arguments[APS_SUM_CHUNK].whole;
        break;
    case APS_ACCUMULATE_FP32:
        (void)aps_format_parse("fp32", &gemm->accumulator, NULL);
        break;
    case APS_ACCUMULATE_FORMAT:
        gemm->accumulator = gemm->format;
        check_floats(reader, value.at, &gemm->accumulator);
        break;
    default:
        gemm->kahan = value.word == APS_ACCUMULATE_KAHAN;
        break;
    }
}

static void read_rounding(const struct aps_reader *reader,
                          const struct aps_yaml_node *key,
                          struct aps_policy_gemm *gemm)
{
    struct aps_value value;

    if (aps_read_value(reader, key, &aps_grammar_rounding, &value) < 0)
        return;
    gemm->rounding = aps_rounding_of_word((enum aps_rounding_word)value.word);
    if (gemm->rounding == APS_ROUND_CORRELATED)
        aps_reader_error(reader, value.at,
                         "correlated rounding is for sums over ranks: operands "
                         "of products are rounded to nearest or stochastic");
    else if (gemm->rounding == APS_ROUND_STOCHASTIC &&
             (gemm->format.draws == APS_FORMAT_DRAWS_NEVER ||
              gemm->format_b.draws == APS_FORMAT_DRAWS_NEVER))
        aps_reader_error(reader, value.at,
                         "formats sign/B keep signs, which are not rounded: "
                         "leave 'rounding' out");
    gemm->seed = (uint32_t)value.arguments[APS_ROUNDING_SEED].whole;
}

/* Reads the old keys `accumulator` and `kahan`. */
static void read_old(const struct aps_reader *reader,
                     const struct aps_yaml_node *const *keys,
                     struct aps_policy_gemm *gemm)
{
    static const struct aps_parameter accumulator = {
        .name = "accumulator", .kind = APS_PARAMETER_FORMAT};
    const struct aps_yaml_node *key =
        keys[KEY_ACCUMULATOR] ? keys[KEY_ACCUMULATOR] : keys[KEY_KAHAN];
    struct aps_argument argument;

    if (!key)
        return;
    if (keys[KEY_ACCUMULATE]) {
        aps_reader_error(
            reader, key,
            "'%s' has the same meaning as 'accumulate'; keep 'accumulate'",
            key->text);
        return;
    }
    aps_reader_warn(reader, key,
                    "'%s' is an old word; write accumulate: {format: F, "
                    "kahan: on}",
                    key->text);
    if (keys[KEY_ACCUMULATOR] &&
        aps_read_argument(reader, keys[KEY_ACCUMULATOR], &accumulator,
                          &argument) == 0) {
        gemm->accumulator = argument.format;
        check_floats(reader, keys[KEY_ACCUMULATOR]->value, &argument.format);
    }
    if (keys[KEY_KAHAN])
        aps_read_switch(reader, keys[KEY_KAHAN], &gemm->kahan);
}

/* Reads a rule. `at`: its mapping; `place`: of an error that it lacks a key. Returns
 * 0 or -1. */
static int read_rule(const struct aps_reader *reader,
                     const struct aps_yaml_node *place,
                     const struct aps_yaml_node *at,
                     struct aps_policy_gemm *gemm)
{
    static const char *const names[] = {"dimensions",  "products",   "format",
                                        "format_b",    "accumulate", "rounding",
                                        "accumulator", "kahan",      NULL};
    static const char *const old[] = {"accumulator", "kahan", NULL};
    static const struct aps_keywords words = {.known = names, .old = old};
    const struct aps_yaml_node *keys[KEYS];
    size_t before = reader->errors->count;

    if (aps_read_keys(reader, at, "'gemm' (format, accumulate)", &words, keys) <
        0)
        return -1;
    gemm->by_dimension = keys[KEY_DIMENSIONS] != NULL;
    if (gemm->by_dimension)
        aps_rule_read_ranges(reader, keys[KEY_DIMENSIONS], &gemm->dimensions);
    gemm->by_product = keys[KEY_PRODUCTS] != NULL;
    if (gemm->by_product)
        aps_rule_read_ranges(reader, keys[KEY_PRODUCTS], &gemm->products);
    if (!keys[KEY_FORMAT])
        aps_reader_error(reader, place, "'gemm' has no 'format'");
    else if (!read_format(reader, keys[KEY_FORMAT], gemm))
        ; /* the error has been reported */
    else if (!gemm->rewrite)
        check_native(reader, keys);
    else if (keys[KEY_FORMAT_B])
        read_format_b(reader, keys[KEY_FORMAT_B], gemm);
    if (keys[KEY_ACCUMULATE])
        read_accumulate(reader, keys[KEY_ACCUMULATE], gemm);
    if (keys[KEY_ROUNDING])
        read_rounding(reader, keys[KEY_ROUNDING], gemm);
    read_old(reader, keys, gemm);
    return reader->errors->count > before ? -1 : 0;
}

void aps_gemm_destroy(struct aps_policy_gemm *gemm)
{
    while (gemm) {
        struct aps_policy_gemm *next = gemm->next;

        aps_ranges_clear(&gemm->dimensions);
        aps_ranges_clear(&gemm->products);
        free(gemm);
        gemm = next;
    }
}

int aps_gemm_read(const struct aps_reader *reader,
                  const struct aps_yaml_node *key,
                  struct aps_policy_gemm **gemm)
{
    const bool listed = key->value->kind == APS_YAML_LIST;
    const struct aps_yaml_node *at = listed ? key->value->first : key->value;
    struct aps_policy_gemm **end = gemm;
    bool always = false;
    size_t count;
    int rc = 0;

    *gemm = NULL;
    if (listed && aps_rule_count(reader, key, &count) < 0)
        return -1;
    if (!at) {
        aps_reader_error(reader, key->value, "'gemm' is an empty list");
        return -1;
    }
    for (; at; at = listed ? at->next : NULL) {
        *end = calloc(1, sizeof **end);
        if (!*end) {
            aps_reader_error(reader, at, "out of memory");
            rc = -1;
            break;
        }
        if (always) {
            aps_reader_error(reader, at,
                             "the rule before this one holds for all products: "
                             "this one can never match");
            rc = -1;
        }
        if (read_rule(reader, listed ? at : key, at, *end) < 0)
            rc = -1;
        always = !(*end)->by_dimension && !(*end)->by_product;
        end = &(*end)->next;
    }
    if (rc < 0) {
        aps_gemm_destroy(*gemm);
        *gemm = NULL;
    }
    return rc;
}

static bool gemm_matches(const struct aps_policy_gemm *rule, long number,
                         long m, long n, long k)
{
    const struct aps_ranges *dimensions = &rule->dimensions;

    if (rule->by_product && !aps_ranges_contain(&rule->products, number))
        return false;
    return !rule->by_dimension || aps_ranges_contain(dimensions, m) ||
           aps_ranges_contain(dimensions, n) ||
           aps_ranges_contain(dimensions, k);
}

const struct aps_policy_gemm *aps_gemm_rule(const struct aps_policy_gemm *gemm,
                                            long number, long m, long n, long k)
{
    while (gemm && !gemm_matches(gemm, number, m, n, k))
        gemm = gemm->next;
    return gemm && gemm->rewrite ? gemm : NULL;
}

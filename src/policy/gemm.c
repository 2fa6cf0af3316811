/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "policy/gemm.h"

#include "policy/formats.h"
#include "policy/tables.h"

enum gemm_key { KEY_FORMAT, KEY_ACCUMULATE, KEY_ACCUMULATOR, KEY_KAHAN, KEYS };

/* Products are of floats, each with an exponent of its own. */
static void check_floats(const struct aps_reader *reader,
                         const struct aps_yaml_node *at,
                         const struct aps_format *format)
{
    if (format->block > 1 || format->exponent_bits == 0)
        aps_reader_error(reader, at,
                         "format %s is not one of products, which are computed "
                         "in floats eEmM and eEmMfn",
                         format->name);
}

/* Returns whether there is a format. */
static bool read_format(const struct aps_reader *reader,
                        const struct aps_yaml_node *key,
                        struct aps_policy_gemm *gemm)
{
    struct aps_value value;

    if (aps_read_value(reader, key, &aps_grammar_format, &value) < 0)
        return false;
    gemm->rewrite = value.word == APS_WORD_FORMAT;
    if (gemm->rewrite)
        gemm->format = value.format;
    else if (aps_format_parse("fp32", &gemm->format, NULL) < 0)
        return false;
    check_floats(reader, value.at, &gemm->format);
    gemm->accumulator = gemm->format;
    return true;
}

/* Nothing else can be said of products that are left alone. */
static void check_native(const struct aps_reader *reader,
                         const struct aps_yaml_node *const *keys)
{
    for (int i = KEY_ACCUMULATE; i < KEYS; i++) {
        if (keys[i])
            aps_reader_error(reader, keys[i],
                             "'%s' contradicts format: %s, which leaves "
                             "products to the program's BLAS (e8m23 is the "
                             "library's product of full floats)",
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
    default:
        gemm->kahan = value.word == APS_ACCUMULATE_KAHAN;
        break;
    }
}

/* The old keys `accumulator` and `kahan`. */
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
        aps_reader_error(reader, key,
                         "'%s' says the same thing as 'accumulate': keep "
                         "'accumulate'",
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

int aps_gemm_read(const struct aps_reader *reader,
                  const struct aps_yaml_node *key, struct aps_policy_gemm *gemm)
{
    static const char *const names[] = {"format", "accumulate", "accumulator",
                                        "kahan", NULL};
    static const char *const old[] = {"accumulator", "kahan", NULL};
    static const struct aps_words words = {.known = names, .old = old};
    const struct aps_yaml_node *keys[KEYS];
    struct aps_policy_gemm result = {.kahan = false};
    size_t before = reader->errors->count;

    if (aps_read_keys(reader, key->value, "'gemm' (format, accumulate)", &words,
                      keys) < 0)
        return -1;
    if (!keys[KEY_FORMAT])
        aps_reader_error(reader, key, "'gemm' has no 'format'");
    else if (read_format(reader, keys[KEY_FORMAT], &result) && !result.rewrite)
        check_native(reader, keys);
    if (keys[KEY_ACCUMULATE])
        read_accumulate(reader, keys[KEY_ACCUMULATE], &result);
    read_old(reader, keys, &result);
    if (reader->errors->count > before)
        return -1;
    *gemm = result;
    return 0;
}

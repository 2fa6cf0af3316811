/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "rules/auto_format.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/real.h"
#include "number/parse.h"
#include "yaml/number.h"
#include "rules/settings.h"
#include "grammar/tables.h"

#define ALLREDUCE (1u << APS_CALL_ALLREDUCE)

#define EVERY 500         /* steps; default */
#define EVERY_MAX INT_MAX /* steps */
#define SNR_MAX 140       /* in dB; the FP32 sum itself has little more */
#define ERR_MIN 1e-7
#define MARGIN_SNR 3 /* in dB; default */
#define MARGIN_ERR 6
#define MARGIN_MAX 60

/* In the order of `known`. */
enum auto_key { KEY_AUTO, KEY_TARGET, KEY_EVERY, KEY_MARGIN, KEYS };
static const char *const known[] = {"auto", "target", "every", "margin", NULL};
static const struct aps_hint hints[] = {
    {"scale", "it belongs in the rule, and applies to all formats"},
    {"budget", "'every' gives the steps between measurements"},
    {"snr", "target: snr 20dB"},
    {"err", "target: err 0.1"},
    {NULL, NULL},
};
static const struct aps_keywords words = {.known = known, .hints = hints};

/* --- the target ----------------------------------------------------------- */

/* Reads a number and its unit: "20dB", "20 dB". Returns NAN if there is
 * none. */
static double read_quantity(const char *text, char *unit, size_t size)
{
    const size_t length = strspn(text, "0123456789.eE+-^");
    char number[32] = "";
    size_t digits = length;

    /* A trailing 'e' belongs neither to the number nor to the unit. */
    while (digits > 0 && strchr("eE+-^", text[digits - 1]))
        digits--;
    if (digits == 0 || digits >= sizeof number)
        return NAN;
    snprintf(number, sizeof number, "%.*s", (int)digits, text);
    text += digits;
    snprintf(unit, size, "%s", text + strspn(text, " "));
    return aps_real_parse(number);
}

static bool is_decibels(const char *unit)
{
    return unit[0] == '\0' || strcasecmp(unit, "dB") == 0;
}

static void read_target(const struct aps_reader *reader,
                        const struct aps_yaml_node *key,
                        struct aps_auto_format *formats)
{
    const char *text = aps_read_text(reader, key);
    const size_t length = text ? strcspn(text, " =:") : 0;
    const bool snr = length == 3 && strncasecmp(text, "snr", 3) == 0;
    const bool err = length == 3 && strncasecmp(text, "err", 3) == 0;
    char unit[16] = "";
    double number;

    if (!text)
        return;
    if (length == 5 && strncasecmp(text, "bytes", 5) == 0) {
        aps_reader_error(
            reader, key->value,
            "'%.80s' is a target of apsmpi suggest, for all layers "
            "together; while the program runs each layer has its "
            "own: snr 20dB, or err 0.1",
            text);
        return;
    }
    number = read_quantity(text + length + strspn(text + length, " =:"), unit,
                           sizeof unit);
    if ((!snr && !err) || isnan(number) ||
        !(snr ? is_decibels(unit) : unit[0] == '\0')) {
        aps_reader_error(reader, key->value,
                         "'target' must be snr 20dB (a signal-to-noise ratio) "
                         "or err 0.1 (a mean relative error), not '%.80s'",
                         text);
        return;
    }
    if (err && number <= 0)
        aps_reader_error(reader, key->value, "'%.80s': err must be above 0",
                         text);
    else if (snr ? number > SNR_MAX : number < ERR_MIN)
        aps_reader_error(reader, key->value,
                         "'%.80s' is out of reach: only fp32 is so exact",
                         text);
    else if (snr ? number <= 0 : number >= 1)
        aps_reader_error(reader, key->value,
                         "'%.80s' has no effect: zeros would meet it", text);
    formats->target = snr ? APS_TARGET_SNR : APS_TARGET_ERR;
    formats->stated = number;
    formats->most = snr ? pow(10, -number / 20) : number;
}

static void read_margin(const struct aps_reader *reader,
                        const struct aps_yaml_node *key,
                        struct aps_auto_format *formats)
{
    const char *text = key ? aps_read_text(reader, key) : NULL;
    char unit[16] = "";
    double margin = formats->target == APS_TARGET_SNR ? MARGIN_SNR : MARGIN_ERR;

    if (text) {
        margin = read_quantity(text, unit, sizeof unit);
        if (!(margin >= 0 && margin <= MARGIN_MAX) || !is_decibels(unit))
            aps_reader_error(reader, key->value,
                             "'margin' must be 0dB to %ddB, not '%.80s'",
                             MARGIN_MAX, text);
    }
    formats->margin = margin;
    formats->allowed = formats->most * pow(10, -margin / 20);
}

/* --- the formats ---------------------------------------------------------- */

/* The list during parsing. */
struct list {
    const struct aps_rule_keys *keys;
    struct aps_rule *rule;
    size_t words; /* formats and fp32 */
    bool native;  /* the list has fp32 */
    bool refused; /* an error of the rule's settings has been reported; once is
                     enough */
};

static bool is_named(const struct list *list, const struct aps_format *format)
{
    const struct aps_shadow *plans = &list->rule->auto_format.formats;

    for (size_t i = 0; i < plans->count; i++)
        if (strcmp(plans->plans[i].format.name, format->name) == 0)
            return true;
    return false;
}

/* Sets *plan to that of the rule with this format. False after an error. */
static bool read_plan(struct list *list, const struct aps_yaml_node *word,
                      struct aps_plan *plan)
{
    struct aps_rule_keys keys = *list->keys;
    struct aps_yaml_node value = *word,
                         key = *list->keys->keys[APS_RULE_FORMAT];
    const size_t before = keys.reader->errors->count;
    struct aps_value read;

    key.value = &value;
    if (aps_read_value(keys.reader, &key, &aps_grammar_format, &read) < 0)
        return false;
    if (read.word != APS_WORD_FORMAT) {
        plan->rewrite = false;
        return true;
    }
    if (read.format.self_scaled)
        keys.keys[APS_RULE_SCALE] = keys.keys[APS_RULE_APS] = NULL;
    keys.keys[APS_RULE_FORMAT] = &key;
    plan->rule = list->rule->plan.rule;
    if (!list->refused)
        aps_settings_read(&keys, plan);
    list->refused |= keys.reader->errors->count > before;
    return !list->refused;
}

static int take_format(void *data, const struct aps_item *item)
{
    struct list *list = data;
    const struct aps_reader *reader = list->keys->reader;
    struct aps_shadow *formats = &list->rule->auto_format.formats;
    const struct aps_yaml_node word = {.kind = APS_YAML_SCALAR,
                                       .line = item->line,
                                       .column = item->column,
                                       .text = (char *)item->text};
    struct aps_plan plan = {0};

    if (strchr(item->text, ':')) {
        aps_reader_error(reader, &word,
                         "'%.80s': the formats of 'auto' have the scale of "
                         "their rule, such as scale: aps next to 'format'; "
                         "FORMAT:SCALE is for candidates of 'shadow' only",
                         item->text);
        return -1;
    }
    if (!read_plan(list, &word, &plan))
        return -1;
    list->words++;
    if (plan.rewrite ? is_named(list, &plan.format) : list->native) {
        aps_reader_error(reader, &word, "'auto' names %s twice",
                         plan.rewrite ? plan.format.name : "fp32");
        return -1;
    }
    list->native |= !plan.rewrite;
    if (!plan.rewrite)
        return 0;
    if (formats->count == APS_SHADOW_MAX) {
        aps_reader_error(reader, &word,
                         "'auto' has more than %d formats: each of them costs "
                         "a reduction where they are measured",
                         APS_SHADOW_MAX);
        return -1;
    }
    formats->plans[formats->count++] = plan;
    return 0;
}

/* Plans FP32 by a reduction of the library, for calls that can no longer go to
 * MPI. */
static void make_full(struct aps_rule *rule)
{
    struct aps_plan *full = &rule->plan;

    *full = rule->auto_format.formats.plans[0];
    (void)aps_format_parse("e8m23", &full->format, NULL);
    full->scale = (struct aps_scale){.kind = APS_SCALE_NONE};
    full->accumulate = APS_ACCUMULATE_FP32;
    full->chunk = 0;
    full->sums = full->format;
    full->rounding = APS_ROUND_NEAREST;
    full->feedback = false;
    full->auto_format = &rule->auto_format;
}

static void read_formats(const struct aps_rule_keys *keys,
                         const struct aps_yaml_node *key, struct aps_rule *rule)
{
    struct aps_shadow *formats = &rule->auto_format.formats;
    struct list list = {.keys = keys, .rule = rule};

    formats->plans = calloc(APS_SHADOW_MAX, sizeof *formats->plans);
    if (!formats->plans) {
        aps_reader_error(keys->reader, key, "out of memory");
        return;
    }
    if (aps_read_items(keys->reader, key, take_format, &list) < 0)
        return;
    if (formats->count == 0)
        aps_reader_error(keys->reader, key->value,
                         "'auto' has no format but fp32, which every layer has "
                         "if no other format meets the target");
    else if (list.words < 2)
        aps_reader_error(keys->reader, key->value,
                         "'auto' has a single format: name one more, such as "
                         "fp32, or write format: %s",
                         formats->plans[0].format.name);
    else
        make_full(rule);
}

/* --- what is within reach -------------------------------------------------- */

/* Returns the least relative error that rounding leaves in values that it
 * changes, which it does if each value is as large as its step allows; 0: not
 * known. In blocks a value may be as large as the largest of its block. */
static double least_error(const struct aps_format *format,
                          enum aps_target_kind target)
{
    /* A binade has at most 2^(mantissa_bits + 1) steps; fixed point has
     * 2^mantissa_bits. */
    const double steps =
        format->levels > 0
            ? format->levels
            : exp2(format->mantissa_bits + (format->exponent_bits > 0));

    if (steps < 2)
        return 0;
    /* Root mean square and mean of errors that are uniform within half a
     * step. */
    return (target == APS_TARGET_SNR ? 1 / sqrt(12) : 0.25) / steps;
}

/* Warns of a target that no format of the list meets; all layers would stay in
 * FP32. Without groups, or with several, at least the sums are rounded. */
static void warn_of_reach(const struct aps_rule_keys *keys,
                          const struct aps_auto_format *formats)
{
    const bool snr = formats->target == APS_TARGET_SNR;
    const struct aps_format *best = NULL;
    char target[40], margin[APS_REAL_TEXT_MAX], text[APS_REAL_TEXT_MAX];
    double least = INFINITY;

    for (size_t i = 0; i < formats->formats.count; i++) {
        const struct aps_plan *plan = &formats->formats.plans[i];
        const double error = least_error(&plan->format, formats->target);

        if (plan->node == APS_NODE_FP32)
            return;
        if (error < least) {
            least = error;
            best = &plan->format;
        }
    }
    if (!best || least <= formats->allowed)
        return;
    aps_reader_warn(
        keys->reader, keys->keys[APS_RULE_FORMAT],
        "%s with a margin of %sdB is out of reach of these formats: the most "
        "exact of them, %s, rounds to %s %s%s at best; layers are then in FP32",
        aps_auto_format_target(formats, target, sizeof target),
        aps_real_round(formats->margin, 6, margin), best->name,
        snr ? "snr" : "err",
        aps_real_round(snr ? -20 * log10(least) : least, 3, text),
        snr ? "dB" : "");
}

/* --- the rule ------------------------------------------------------------- */

/* Refuses the settings that have no meaning with several formats. */
static bool refuse_settings(const struct aps_rule_keys *keys)
{
    const struct aps_yaml_node *compress = keys->keys[APS_RULE_COMPRESS];
    const struct aps_yaml_node *own = keys->keys[APS_RULE_SHADOW];
    const size_t before = keys->reader->errors->count;

    if (compress)
        aps_reader_error(
            keys->reader, compress,
            "'compress' cannot be combined with format: {auto: ...}, which "
            "chooses among formats: give 'compress' a rule of its own");
    if (own || keys->context->shadow.key)
        aps_reader_error(
            keys->reader, own ? own : keys->keys[APS_RULE_FORMAT],
            "'shadow'%s cannot be combined with format: {auto: ...}: it leaves "
            "layers to MPI; list these formats in 'shadow', or leave it out",
            own ? "" : " next to 'rules', or APSMPI_SHADOW,");
    if (keys->calls & ~ALLREDUCE)
        aps_reader_error(keys->reader, keys->keys[APS_RULE_FORMAT],
                         "format: {auto: ...} is for all-reduces only; give "
                         "other calls a rule of their own");
    return keys->reader->errors->count > before;
}

/* Warns if the log samples only steps in which layers are measured. They have
 * just been given a format that meets the target, and the log would not show
 * the errors in between. */
static void warn_of_log(const struct aps_rule_keys *keys, long every)
{
    const struct aps_policy_log *log = keys->context->log;

    if (log->file && every > 1 && log->every % every == 0)
        aps_reader_warn(
            keys->reader, keys->keys[APS_RULE_FORMAT],
            "the log samples one step in %ld, and one in %ld is measured: the "
            "log shows layers only just after a format was chosen; log: "
            "{every: %ld} also shows the steps in between",
            log->every, every, log->every - 1);
}

void aps_auto_format_read(const struct aps_rule_keys *keys,
                          struct aps_rule *rule)
{
    const struct aps_reader *reader = keys->reader;
    const struct aps_yaml_node *own[KEYS];
    const struct aps_yaml_node *mapping = keys->keys[APS_RULE_FORMAT]->value;
    struct aps_auto_format *formats = &rule->auto_format;
    const size_t before = reader->errors->count;

    formats->every = EVERY;
    if (refuse_settings(keys) ||
        aps_read_keys(reader, mapping, "'format'", &words, own) < 0)
        return;
    if (own[KEY_TARGET])
        read_target(reader, own[KEY_TARGET], formats);
    else
        aps_reader_error(reader, own[KEY_AUTO],
                         "'auto' has no 'target', such as target: snr 20dB");
    if (own[KEY_EVERY])
        aps_read_number(reader, own[KEY_EVERY], 1, EVERY_MAX, &formats->every);
    read_margin(reader, own[KEY_MARGIN], formats);
    read_formats(keys, own[KEY_AUTO], rule);
    warn_of_log(keys, formats->every);
    if (keys->reader->errors->count == before)
        warn_of_reach(keys, formats);
}

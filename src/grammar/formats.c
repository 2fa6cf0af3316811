/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "grammar/formats.h"

#include <string.h>

#include "base/nearest.h"
#include "number/parse.h"

/* No format has a longer name. */
#define NAME_MAX_LENGTH 63

#define FP64 "FP64 is e11m52, for a rule with types: double"

/* Spellings that people write, and the name that is meant. */
static const struct {
    const char *name;
    const char *hint;
} hints[] = {
    {"auto", "formats that are chosen while the program runs are those of a "
             "rule: format: {auto: [e4m3, e5m10], target: snr 20dB}"},
    {"fp8", "fp8 is e4m3 or e5m2"},
    {"float8", "8 bits are e4m3 or e5m2"},
    {"f8", "8 bits are e4m3 or e5m2"},
    {"fp4", "4 bits are e2m1 or e3m0"},
    {"fp6", "6 bits are e3m2 or e2m3"},
    {"none", "'native' leaves the call to MPI"},
    {"off", "'native' leaves the call to MPI"},
    {"mpi", "'native' leaves the call to MPI"},
    {"fp64", FP64},
    {"float64", FP64},
    {"double", FP64},
    {"float", "did you mean 'fp32'?"},
    {"float32", "did you mean 'fp32'?"},
    {"single", "did you mean 'fp32'?"},
    {"float16", "did you mean 'fp16'?"},
    {"half", "did you mean 'fp16'?"},
    {"bfloat16", "did you mean 'bf16'?"},
    {"bfloat", "did you mean 'bf16'?"},
    {"bfp8", "bfp7/64 has 8 bits a value, 64 of them in a block"},
    {"bfp16", "did you mean 'bf16'? bfp15/64 has 16 bits a value, 64 of them "
              "in a block"},
    {"hbfp", "HBFP's formats are hbfp8/64, hbfp8/576, hbfp6/64, ..."},
    {"bfp", "block floating point is bfp7/64, bfp3/64, ..."},
    {"mx", "the MX formats are mx-e4m3fn, mx-e2m1fn, mx-int8, ..."},
    {"mxfp8", "MXFP8 is mx-e4m3fn or mx-e5m2"},
    {"mxfp6", "MXFP6 is mx-e2m3fn or mx-e3m2fn"},
    {"mxfp4", "MXFP4 is mx-e2m1fn"},
    {"mxint8", "did you mean 'mx-int8'?"},
    {"flex", "the formats of integers are flex8 and flex16"},
    {"qsgd", "QSGD's formats are qsgd7/512 (4 bits), qsgd127/512, ..."},
    {"int", "integers that share a scale are int8/512, int4/512, ..."},
    {"signsgd", "signs are sign/512, ..."},
    {"ternary", "TernGrad is a compressor: compress: ternary"},
    {"terngrad", "TernGrad is a compressor: compress: ternary"},
    {"powersgd", "PowerSGD is a compressor: compress: {powersgd: {rank: 4}}"},
    {"topk", "elements are selected by a compressor: compress: {topk: 0.01}"},
    {"mstopk", "MSTopK is a compressor: compress: {mstopk: 0.01}"},
    {"flexpoint", "the formats of integers are flex8 and flex16"},
};

static const char *const names[] = {"native", "fp32", "tf32",
                                    "fp16",   "bf16", NULL};

bool aps_format_name_saturates(const char *name)
{
    const size_t length = strlen(name);

    return length > 4 && aps_same_word(name + length - 4, "-sat");
}

bool aps_format_is_auto(const struct aps_yaml_node *key)
{
    return key && key->value->kind == APS_YAML_MAPPING &&
           aps_yaml_find(key->value, "auto");
}

/* ASCII only, because tolower depends on the program's locale. */
static void lower(const char *text, char small[NAME_MAX_LENGTH + 1])
{
    size_t i;

    for (i = 0; text[i] && i < NAME_MAX_LENGTH; i++)
        small[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a'
                                                           : text[i]);
    small[i] = '\0';
}

/* Replaces underscores by hyphens, as names are written. */
static void spell(const char *text, char name[NAME_MAX_LENGTH + 1])
{
    size_t i;

    for (i = 0; text[i] && i < NAME_MAX_LENGTH; i++)
        name[i] = (char)(text[i] == '_' ? '-' : text[i]);
    name[i] = '\0';
}

static bool is_name(const char *name)
{
    struct aps_format format;

    for (size_t i = 0; names[i]; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return aps_format_parse_wide(name, &format, NULL) == 0;
}

static int no_format(const struct aps_reader *reader,
                     const struct aps_yaml_node *word, const char *why)
{
    char small[NAME_MAX_LENGTH + 1], hint[APS_HINT_MAX];
    const char *nearest;

    lower(word->text, small);
    if (strcmp(small, word->text) != 0 && is_name(small)) {
        aps_reader_error(reader, word,
                         "unknown format '%.80s'; did you mean '%s'? (small "
                         "letters)",
                         word->text, small);
        return -1;
    }
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        if (strcmp(small, hints[i].name) != 0)
            continue;
        aps_reader_error(reader, word, "unknown format '%.80s'; %s", word->text,
                         hints[i].hint);
        return -1;
    }
    nearest = aps_nearest_name(word->text, names);
    if (nearest)
        aps_reader_error(reader, word, "unknown format '%.80s'%s", word->text,
                         aps_nearest_hint(nearest, hint));
    else
        aps_reader_error(reader, word, "%s", why);
    return -1;
}

int aps_read_format_word(const struct aps_reader *reader,
                         const struct aps_yaml_node *word, bool wide,
                         struct aps_format *format)
{
    char name[NAME_MAX_LENGTH + 1];
    struct aps_error error;

    spell(word->text, name);
    if ((wide ? aps_format_parse_wide : aps_format_parse)(name, format,
                                                          &error) < 0)
        return no_format(reader, word, error.text);
    return 0;
}

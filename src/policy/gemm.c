/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "policy/gemm.h"

#include <string.h>

enum gemm_key { KEY_FORMAT, KEY_ACCUMULATOR, KEY_KAHAN, KEYS };

/* Nothing else can be said of products that are left alone. */
static void check_fp32(const struct aps_reader *reader,
                       const struct aps_yaml_node *const *keys)
{
    for (int i = KEY_ACCUMULATOR; i < KEYS; i++) {
        if (keys[i])
            aps_reader_error(reader, keys[i],
                             "'%s' contradicts format: fp32, which leaves "
                             "products to the program's BLAS (e8m23 is the "
                             "library's product of "
                             "full floats)",
                             keys[i]->text);
    }
}

int aps_gemm_read(const struct aps_reader *reader,
                  const struct aps_yaml_node *key, struct aps_policy_gemm *gemm)
{
    static const char *const names[] = {"format", "accumulator", "kahan", NULL};
    static const struct aps_words words = {names, NULL, NULL};
    const struct aps_yaml_node *keys[KEYS];
    struct aps_policy_gemm result = {.kahan = false};
    size_t before = reader->errors->count;

    if (aps_read_keys(reader, key->value, "'gemm' (format, accumulator, kahan)",
                      &words, keys) < 0)
        return -1;
    if (!keys[KEY_FORMAT]) {
        aps_reader_error(reader, key, "'gemm' has no 'format'");
    } else if (aps_read_format(reader, keys[KEY_FORMAT], &result.format) == 0) {
        result.accumulator = result.format;
        result.rewrite = strcmp(keys[KEY_FORMAT]->value->text, "fp32") != 0;
        if (!result.rewrite)
            check_fp32(reader, keys);
    }
    if (keys[KEY_ACCUMULATOR])
        aps_read_format(reader, keys[KEY_ACCUMULATOR], &result.accumulator);
    if (keys[KEY_KAHAN])
        aps_read_switch(reader, keys[KEY_KAHAN], &result.kahan);
    if (reader->errors->count > before)
        return -1;
    *gemm = result;
    return 0;
}

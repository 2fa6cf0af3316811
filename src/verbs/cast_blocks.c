/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "verbs/cast_blocks.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/print.h"

int aps_cast_values_add(struct aps_cast_values *all, const char *word,
                        float value)
{
    if (all->count == all->room) {
        const size_t room = all->room > 0 ? 2 * all->room : 64;
        char **words = realloc(all->words, room * sizeof *words);
        float *values;

        if (!words)
            return -1;
        all->words = words;
        values = realloc(all->values, room * sizeof *values);
        if (!values)
            return -1;
        all->values = values;
        all->room = room;
    }
    all->words[all->count] = strdup(word);
    if (!all->words[all->count])
        return -1;
    all->values[all->count++] = value;
    return 0;
}

/* Returns code i of the packed bytes, and sets the scale of its block. */
static uint32_t code_of(const struct aps_format *format,
                        const unsigned char *packed, size_t i, uint32_t *scale)
{
    const size_t block = (size_t)format->block, width = (size_t)format->width;
    const size_t first = i - i % block;
    const unsigned char *at =
        packed + (first > 0 ? aps_packed_bytes(format, first)
                            : (size_t)format->piece_bytes);
    uint32_t code = 0;

    *scale = 0;
    for (int byte = 0; byte < format->scale_bytes; byte++)
        *scale |= (uint32_t)*at++ << 8 * byte;
    for (size_t bit = 0; bit < width; bit++) {
        const size_t from = i % block * width + bit;

        code |= (uint32_t)(at[from / 8] >> from % 8 & 1) << bit;
    }
    return code;
}

/* Returns "0x3b124925:" for a format whose pieces have a scale, or "". */
static const char *piece_text(const struct aps_format *format,
                              const unsigned char *packed, char buffer[16])
{
    uint32_t piece;

    buffer[0] = '\0';
    if (format->piece_bytes != sizeof piece)
        return buffer;
    memcpy(&piece, packed, sizeof piece);
    snprintf(buffer, 16, "0x%08" PRIx32 ":", piece);
    return buffer;
}

int aps_cast_values_print(const struct aps_cast_values *all,
                          const struct aps_format *format,
                          const struct aps_cast_options *options)
{
    const size_t n = all->count;
    unsigned char *packed = malloc(aps_packed_bytes(format, n) + 1);
    float *rounded = malloc(n * sizeof *rounded + 1);
    int result = -1;

    if (packed && rounded &&
        aps_encode_array(format, all->values, n, options, packed, NULL) == 0 &&
        aps_cast_array(format, all->values, n, options, rounded, NULL) == 0)
        result = 0;
    for (size_t i = 0; result == 0 && i < n; i++) {
        const double value = (double)rounded[i], given = (double)all->values[i];
        uint32_t scale;
        const uint32_t code = code_of(format, packed, i, &scale);
        char piece[16];

        aps_fprint(stdout, "%s\t%s0x%0*x:0x%0*x\t%a\t%a\n", all->words[i],
                   piece_text(format, packed, piece), 2 * format->scale_bytes,
                   scale, (format->width + 3) / 4, code,
                   isnan(value) ? (double)NAN : value,
                   isnan(value) ? (double)NAN : value - given);
    }
    free(packed);
    free(rounded);
    return result;
}

void aps_cast_values_clear(struct aps_cast_values *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->words[i]);
    free(all->words);
    free(all->values);
    *all = (struct aps_cast_values){.count = 0};
}

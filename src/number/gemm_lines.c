/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "number/gemm_lines.h"

#include <math.h>
#include <string.h>

#include "number/bits.h"

/* Adjacent lines that are copied together: a cache line if they run across
 * it. */
#define TOGETHER 16

/* Returns the distance of lines in the buffer, in floats, at which they do not
 * compete for the same sets of a cache. */
static size_t pitch_of(size_t length)
{
    return length + TOGETHER;
}

static void gather(const struct aps_gemm_lines *from, const float *x,
                   size_t count, float *buffer)
{
    const size_t pitch = pitch_of(from->length);

    if (from->right == 1) {
        for (size_t i = 0; i < count; i++)
            memcpy(buffer + i * pitch, x + i * from->down,
                   from->length * sizeof *x);
        return;
    }
    for (size_t k = 0; k < from->length; k++) {
        for (size_t i = 0; i < count; i++)
            buffer[i * pitch + k] = x[i * from->down + k * from->right];
    }
}

static void scatter(const struct aps_gemm_lines *to, const float *buffer,
                    size_t count, float *y)
{
    const size_t pitch = pitch_of(to->length);

    if (to->right == 1) {
        for (size_t i = 0; i < count; i++)
            memcpy(y + i * to->down, buffer + i * pitch,
                   to->length * sizeof *y);
        return;
    }
    for (size_t k = 0; k < to->length; k++) {
        for (size_t i = 0; i < count; i++)
            y[i * to->down + k * to->right] = buffer[i * pitch + k];
    }
}

/* Rounds a line in place; `room` is scratch of the same length. A NaN stays NaN, also
 * in a format of floats that has no code for it. */
static int cast_line(const struct aps_format *format,
                     const struct aps_cast_options *options, size_t length,
                     float *line, float *room, struct aps_error *error)
{
    if (format->block > 1)
        return aps_cast_array(format, line, length, options, line, error);
    if (aps_cast_array(format, line, length, options, room, error) < 0)
        return -1;
    for (size_t k = 0; k < length; k++)
        line[k] = isnan(line[k]) ? aps_float_from_bits(APS_FLOAT_NAN) : room[k];
    return 0;
}

int aps_gemm_cast_lines(const struct aps_format *format,
                        const struct aps_cast_options *options,
                        const struct aps_gemm_lines *from, const float *x,
                        const struct aps_gemm_lines *to, float *y, float *room,
                        struct aps_error *error)
{
    const size_t pitch = pitch_of(from->length);
    struct aps_cast_options own = *options;

    for (size_t i = 0; i < from->count; i += TOGETHER) {
        const size_t count =
            from->count - i < TOGETHER ? from->count - i : TOGETHER;

        gather(from, x + i * from->down, count, room);
        for (size_t j = 0; j < count; j++) {
            if (cast_line(format, &own, from->length, room + j * pitch,
                          room + TOGETHER * pitch, error) < 0)
                return -1;
            own.offset += aps_gemm_line_elements(format, from->length);
        }
        scatter(to, room, count, y + i * to->down);
    }
    return 0;
}

size_t aps_gemm_lines_room(size_t length)
{
    return (TOGETHER + 1) * pitch_of(length);
}

uint64_t aps_gemm_line_elements(const struct aps_format *format, size_t length)
{
    const uint64_t block = (uint64_t)format->block;

    return (length + block - 1) / block * block;
}

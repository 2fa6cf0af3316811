/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/json.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/real.h"

/* Bytes of the longest UTF-8 sequence. */
#define SEQUENCE_MAX 4

/* Returns the number of bytes of the valid UTF-8 sequence at `text`, which ends
 * with a NUL, or 0 if there is none. Over-long sequences, surrogates and
 * numbers above 0x10ffff are invalid (RFC 3629). */
static size_t json_sequence(const unsigned char *text)
{
    static const struct {
        unsigned char mask, lead;
        unsigned long least;
    } kinds[SEQUENCE_MAX] = {{0x80, 0x00, 0},
                             {0xe0, 0xc0, 0x80},
                             {0xf0, 0xe0, 0x800},
                             {0xf8, 0xf0, 0x10000}};

    for (size_t length = 1; length <= SEQUENCE_MAX; length++) {
        const unsigned char mask = kinds[length - 1].mask;
        unsigned long point = *text & (unsigned char)~mask;
        size_t i = 1;

        if ((*text & mask) != kinds[length - 1].lead)
            continue;
        for (; i < length && (text[i] & 0xc0) == 0x80; i++)
            point = point << 6 | (text[i] & 0x3f);
        return i == length && point >= kinds[length - 1].least &&
                       point <= 0x10ffff && (point < 0xd800 || point > 0xdfff)
                   ? length
                   : 0;
    }
    return 0;
}

static void json_quote(FILE *stream, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    fputc('"', stream);
    while (*at) {
        const size_t length = json_sequence(at);

        if (length == 0)
            fputs("\\ufffd", stream);
        else if (*at == '"' || *at == '\\')
            fprintf(stream, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(stream, "\\u%04x", *at);
        else
            fwrite(at, 1, length, stream);
        at += length > 0 ? length : 1;
    }
    fputc('"', stream);
}

/* Writes the comma and the key before a value. */
static void json_begin(struct aps_json *json, const char *key)
{
    if (json->follows)
        fputc(',', json->stream);
    json->follows = true;
    if (key) {
        json_quote(json->stream, key);
        fputc(':', json->stream);
    }
}

static void json_open(struct aps_json *json, const char *key, char bracket)
{
    json_begin(json, key);
    fputc(bracket, json->stream);
    json->follows = false;
}

static void json_close(struct aps_json *json, char bracket)
{
    fputc(bracket, json->stream);
    json->follows = true;
}

void aps_json_open_object(struct aps_json *json, const char *key)
{
    json_open(json, key, '{');
}

void aps_json_close_object(struct aps_json *json)
{
    json_close(json, '}');
}

void aps_json_open_array(struct aps_json *json, const char *key)
{
    json_open(json, key, '[');
}

void aps_json_close_array(struct aps_json *json)
{
    json_close(json, ']');
}

void aps_json_text(struct aps_json *json, const char *key, const char *text)
{
    if (!text) {
        aps_json_null(json, key);
        return;
    }
    json_begin(json, key);
    json_quote(json->stream, text);
}

void aps_json_bool(struct aps_json *json, const char *key, bool value)
{
    json_begin(json, key);
    fputs(value ? "true" : "false", json->stream);
}

void aps_json_unsigned(struct aps_json *json, const char *key, uintmax_t value)
{
    json_begin(json, key);
    fprintf(json->stream, "%ju", value);
}

void aps_json_null(struct aps_json *json, const char *key)
{
    json_begin(json, key);
    fputs("null", json->stream);
}

void aps_json_double(struct aps_json *json, const char *key, double value)
{
    char text[APS_REAL_TEXT_MAX];

    if (!isfinite(value)) {
        aps_json_null(json, key);
        return;
    }
    json_begin(json, key);
    fputs(aps_real_format(value, text), json->stream);
}

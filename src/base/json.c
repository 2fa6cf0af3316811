/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/json.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/real.h"
#include "base/utf8.h"

static void json_quote(FILE *stream, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    uint32_t character;

    fputc('"', stream);
    while (*at) {
        const size_t length = aps_utf8_next((const char *)at, &character);

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

void aps_json_unsigned_or_null(struct aps_json *json, const char *key,
                               bool known, uintmax_t value)
{
    if (known)
        aps_json_unsigned(json, key, value);
    else
        aps_json_null(json, key);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writer of JSON (RFC 8259): one value on one line, without blanks.
 *
 * {.stream = stream} begins a writer. Every function that writes a value takes
 * its key in an object; NULL in an array and at the top level. The caller
 * closes each object and array that it has opened. Errors of the stream are
 * left to ferror().
 */
#ifndef APS_BASE_JSON_H
#define APS_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct aps_json {
    FILE *stream;
    bool follows; /* a value precedes in the same object or array */
};

void aps_json_open_object(struct aps_json *json, const char *key);
void aps_json_close_object(struct aps_json *json);
void aps_json_open_array(struct aps_json *json, const char *key);
void aps_json_close_array(struct aps_json *json);

/* Writes a text; NULL is written as null. Quotation marks, backslashes and
 * control characters are escaped; each byte that does not belong to valid UTF-8
 * becomes U+FFFD. */
void aps_json_text(struct aps_json *json, const char *key, const char *text);

void aps_json_bool(struct aps_json *json, const char *key, bool value);
void aps_json_unsigned(struct aps_json *json, const char *key, uintmax_t value);
void aps_json_null(struct aps_json *json, const char *key);
void aps_json_unsigned_or_null(struct aps_json *json, const char *key,
                               bool known, uintmax_t value);

/* Writes enough digits that reading gives the same double; INF and NaN, which
 * JSON lacks, become null. The decimal point is a point in every locale. */
void aps_json_double(struct aps_json *json, const char *key, double value);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A writer of JSON (RFC 8259): one value on one line, without blanks.
 *
 * {.stream = stream} begins one. Every function that writes a value takes the
 * key under which it stands in an object; NULL in an array and at the top. The
 * caller closes what it has opened. Errors of the stream are left to ferror().
 */
#ifndef APS_BASE_JSON_H
#define APS_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct aps_json {
    FILE *stream;
    bool follows; /* a value stands before in the same object or array */
};

void aps_json_open_object(struct aps_json *json, const char *key);
void aps_json_close_object(struct aps_json *json);
void aps_json_open_array(struct aps_json *json, const char *key);
void aps_json_close_array(struct aps_json *json);

/*
 * A text; NULL is written as null. Quotation marks, backslashes and control
 * characters are escaped; each byte that is no part of valid UTF-8 becomes
 * U+FFFD.
 */
void aps_json_text(struct aps_json *json, const char *key, const char *text);

void aps_json_bool(struct aps_json *json, const char *key, bool value);
void aps_json_unsigned(struct aps_json *json, const char *key, uintmax_t value);
void aps_json_null(struct aps_json *json, const char *key);

/*
 * With so many digits that reading gives the same double; INF and NaN, which
 * JSON lacks, become null. The decimal point is a point in every locale.
 */
void aps_json_double(struct aps_json *json, const char *key, double value);

#endif

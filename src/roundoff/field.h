/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of a round-off log, in the format of RFC 4180, in UTF-8. */
#ifndef APS_ROUNDOFF_FIELD_H
#define APS_ROUNDOFF_FIELD_H

#include <stddef.h>

/* Copies `text` to `field`, cut between two characters so that it fits into
 * `size` bytes with the final NUL. A line end becomes a blank, and a byte that
 * is not UTF-8 becomes a question mark, because a reader rejects the whole file
 * for one such byte. Returns the length. */
size_t aps_field_clean(const char *text, char *field, size_t size);

/* Copies a field of a row like aps_field_clean; NULL is an empty field. The
 * field is in double quotes if it contains a comma, a double quote, a line end
 * or a `#`, after which readers that support comments would drop the rest of
 * the line. `size` is at least 3. */
void aps_field_quote(const char *text, char *field, size_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fields of a round-off log, as RFC 4180 has them, in UTF-8.
 */
#ifndef APS_ROUNDOFF_FIELD_H
#define APS_ROUNDOFF_FIELD_H

#include <stddef.h>

/*
 * Copy `text` to `field`, cut between two characters so that it fits into
 * `size` bytes with the final NUL. A line end becomes a blank, and a byte that
 * is not UTF-8 becomes a question mark: a reader refuses the whole file because
 * of one such byte. Returns the length.
 */
size_t aps_field_clean(const char *text, char *field, size_t size);

/*
 * The same for a field of a row; NULL is an empty field. The field stands in
 * double quotes if it contains a comma, a double quote, a line end or a `#`,
 * after which readers that know comments would drop the rest of the line.
 * `size` is at least 3.
 */
void aps_field_quote(const char *text, char *field, size_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rates and times as people write them: 25gbit, 1.5 GB/s, 2us.
 */
#ifndef APS_PREDICT_QUANTITY_H
#define APS_PREDICT_QUANTITY_H

#include <stddef.h>

/* Bytes a second of a number and bit, kbit, mbit, gbit or tbit (a second, also
 * spelled with /s, in any case), or B/s, kB/s, MB/s or GB/s; blanks may stand
 * before the unit. NAN where the text is no such rate, or not above 0. */
double aps_quantity_rate(const char *text);

/* Seconds of a number and s, ms, us or ns; NAN where the text is none, or below
 * 0. */
double aps_quantity_time(const char *text);

/* What these functions take, for messages: "a number and ..., as 25gbit". */
extern const char aps_quantity_rates[];
extern const char aps_quantity_times[];

/* "25 Gbit/s", "1.2 ms". Writes at most `size` bytes, returns `buffer`. */
char *aps_quantity_format_rate(double rate, char *buffer, size_t size);
char *aps_quantity_format_time(double seconds, char *buffer, size_t size);

#endif

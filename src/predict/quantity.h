/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rates and times as text: 25gbit, 1.5 GB/s, 2us.
 */
#ifndef APS_PREDICT_QUANTITY_H
#define APS_PREDICT_QUANTITY_H

#include <stddef.h>

/* Returns the bytes per second of a number with bit, kbit, mbit, gbit or tbit
 * (per second, also with /s, in any case), or B/s, kB/s, MB/s or GB/s, with or
 * without blanks before the unit. NAN if the text is not such a rate, or not
 * above 0. */
double aps_quantity_rate(const char *text);

/* Returns the seconds of a number with s, ms, us or ns. NAN if the text is not
 * such a time, or is below 0. */
double aps_quantity_time(const char *text);

/* Describes valid texts, for messages: "a number and ..., as 25gbit". */
extern const char aps_quantity_rates[];
extern const char aps_quantity_times[];

/* Write "25 Gbit/s", "1.2 ms", at most `size` bytes. Return `buffer`. */
char *aps_quantity_format_rate(double rate, char *buffer, size_t size);
char *aps_quantity_format_time(double seconds, char *buffer, size_t size);

#endif

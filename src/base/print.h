/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one way to print a number that may have a decimal point: a point, also if
 * the program has called setlocale, so that logs and policies can be read
 * again. tests/structure finds floating-point conversions elsewhere.
 */
#ifndef APS_BASE_PRINT_H
#define APS_BASE_PRINT_H

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* Like snprintf, vsnprintf and fprintf, in the C locale. Thread-safe. */
int aps_print(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int aps_vprint(char *text, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
int aps_fprint(FILE *stream, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Gives this thread the C locale. The caller passes the result to
 * aps_print_end. */
locale_t aps_print_begin(void);
void aps_print_end(locale_t before);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/print.h"

#include <pthread.h>

static locale_t plain; /* 0: memory was missing, and nothing changes */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void print_make_plain(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t aps_print_begin(void)
{
    pthread_once(&once, print_make_plain);
    return uselocale(plain);
}

void aps_print_end(locale_t before)
{
    uselocale(before);
}

int aps_vprint(char *text, size_t size, const char *format, va_list args)
{
    const locale_t before = aps_print_begin();
    const int length = vsnprintf(text, size, format, args);

    aps_print_end(before);
    return length;
}

int aps_print(char *text, size_t size, const char *format, ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = aps_vprint(text, size, format, args);
    va_end(args);
    return length;
}

int aps_fprint(FILE *stream, const char *format, ...)
{
    const locale_t before = aps_print_begin();
    va_list args;
    int length;

    va_start(args, format);
    length = vfprintf(stream, format, args);
    va_end(args);
    aps_print_end(before);
    return length;
}

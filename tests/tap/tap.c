/* SPDX-License-Identifier: BSD-3-Clause */
#include "tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int planned = -1;
static int run;
static int failed;

/* Prints "<prefix><text>\n". */
#define PRINT_LINE(stream, prefix, format)                                     \
    do {                                                                       \
        va_list args_;                                                         \
        va_start(args_, format);                                               \
        fputs(prefix, stream);                                                 \
        vfprintf(stream, format, args_);                                       \
        fputc('\n', stream);                                                   \
        fflush(stream);                                                        \
        va_end(args_);                                                         \
    } while (0)

void plan(int tests)
{
    planned = tests;
    printf("1..%d\n", tests);
    fflush(stdout);
}

void plan_skip_all(const char *format, ...)
{
    PRINT_LINE(stdout, "1..0 # SKIP ", format);
    exit(0);
}

static void report(bool pass)
{
    run++;
    if (!pass)
        failed++;
    printf("%sok %d - ", pass ? "" : "not ", run);
}

bool ok(bool pass, const char *format, ...)
{
    report(pass);
    PRINT_LINE(stdout, "", format);
    return pass;
}

bool is(const char *got, const char *expected, const char *format, ...)
{
    bool pass =
        got == expected || (got && expected && strcmp(got, expected) == 0);

    report(pass);
    PRINT_LINE(stdout, "", format);
    if (!pass)
        diag("  got '%s', expected '%s'", got ? got : "(null)",
             expected ? expected : "(null)");
    return pass;
}

void skip(int tests, const char *format, ...)
{
    for (int i = 0; i < tests; i++) {
        report(true);
        PRINT_LINE(stdout, "# SKIP ", format);
    }
}

void diag(const char *format, ...)
{
    PRINT_LINE(stderr, "# ", format);
}

void bail_out(const char *format, ...)
{
    PRINT_LINE(stdout, "Bail out! ", format);
    exit(255);
}

int done_testing(void)
{
    if (planned < 0)
        plan(run);
    else if (planned != run)
        diag("planned %d tests but ran %d", planned, run);
    if (failed)
        diag("%d of %d tests failed", failed, run);
    return failed || (planned >= 0 && planned != run);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "tests/tap/tap.h"

static void test_format(void)
{
    struct aps_error error;
    char text[1024], small[8];

    errno = 0;
    ok(aps_error_set(&error, EINVAL, "p.yaml", 3, 7, "%s %d", "bad", 5) == -1 &&
           errno == EINVAL,
       "set returns -1 with errno");
    is(aps_error_format(&error, text, sizeof text), "p.yaml:3:7: bad 5",
       "file, line and column");
    aps_error_set(&error, EINVAL, "p.yaml", 3, 0, "bad");
    is(aps_error_format(&error, text, sizeof text), "p.yaml:3: bad",
       "no column");
    aps_error_set(&error, EINVAL, "p.yaml", 0, 0, "bad");
    is(aps_error_format(&error, text, sizeof text), "p.yaml: bad", "no line");
    aps_error_set(&error, EINVAL, NULL, 3, 7, "bad");
    is(aps_error_format(&error, text, sizeof text), "bad", "no file");
    is(aps_error_format(&error, small, sizeof small), "bad", "fits");
    aps_error_set(&error, EINVAL, "p.yaml", 3, 7, "bad");
    is(aps_error_format(&error, small, sizeof small),
       "p.yaml:", "cut to the buffer");
    errno = 0;
    ok(aps_error_set(NULL, ENOENT, "x", 0, 0, "nobody listens") == -1 &&
           errno == ENOENT,
       "no error wanted");
}

static void test_long(void)
{
    struct aps_error error;
    char text[2048];

    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    aps_error_set(&error, EINVAL, text, 1, 1, "%s", text);
    ok(strlen(error.file) == sizeof error.file - 1 &&
           strlen(error.text) == sizeof error.text - 1,
       "long names and texts are cut");
}

static void test_sort(void)
{
    static struct aps_errors errors;
    static const char *const sorted[] = {"a:1:1: e", "a:1:1: i",  "a:2:1: b",
                                         "a:2:9: a", "a:10:1: c", "b:1:1: h",
                                         "b:5:1: f"};
    char text[1024];

    aps_errors_sort(&errors);
    ok(errors.count == 0, "nothing to sort");
    aps_errors_add(&errors, "a", 2, 9, "a");
    aps_errors_add(&errors, "a", 2, 1, "b");
    aps_errors_add(&errors, "a", 10, 1, "c");
    aps_errors_add(&errors, "b", 5, 1, "f");
    aps_errors_add(&errors, "a", 1, 1, "e");
    aps_errors_add(&errors, "b", 1, 1, "h");
    aps_errors_add(&errors, "a", 1, 1, "i");
    aps_errors_sort(&errors);
    for (size_t i = 0; i < errors.count; i++)
        is(aps_error_format(&errors.list[i], text, sizeof text), sorted[i],
           "sorted by file, line and column, stable: %zu", i);
}

/* Captures the text that aps_message_errors writes to standard error, a file. */
static void capture(int rank, const struct aps_errors *errors, char *text,
                    size_t size)
{
    const off_t begin = lseek(STDERR_FILENO, 0, SEEK_END);
    ssize_t length;

    aps_message_errors(rank, errors);
    length = pread(STDERR_FILENO, text, size - 1, begin);
    text[length > 0 ? length : 0] = '\0';
}

/* Lines go to the standard error of the time of loading: loads the program again
 * with a file in its place. */
static void load_with_file(char **argv)
{
    FILE *file = tmpfile();

    if (getenv("APS_TEST_LOADED"))
        return;
    setenv("APS_TEST_LOADED", "1", 1);
    if (!file || dup2(fileno(file), STDERR_FILENO) < 0 ||
        execv("/proc/self/exe", argv) < 0)
        bail_out("no file for standard error: %s", strerror(errno));
}

static void test_overflow(void)
{
    static struct aps_errors errors;
    static char text[8192];
    bool kept = true;

    for (int i = 0; i < APS_ERRORS_MAX + 7; i++)
        aps_errors_add(&errors, "f", APS_ERRORS_MAX + 7 - i, 1, "error %d", i);
    ok(errors.count == APS_ERRORS_MAX + 7, "all are counted");
    aps_errors_sort(&errors);
    for (int i = 0; i < APS_ERRORS_MAX; i++)
        kept &= errors.list[i].line == 8 + i;
    ok(kept, "the first are kept, and sorted");

    capture(3, &errors, text, sizeof text);
    ok(strncmp(text, "apsmpi: rank 3: f:8:1: error 49\n", 32) == 0,
       "a line an error, with the rank");
    is(strstr(text, "7 more"), "7 more errors are not shown\n",
       "then how many more");
    errors.count = APS_ERRORS_MAX + 1;
    capture(3, &errors, text, sizeof text);
    is(strstr(text, "1 more"), "1 more error is not shown\n", "... or one");
    errors.count = 1;
    capture(-1, &errors, text, sizeof text);
    is(text, "apsmpi: f:8:1: error 49\n", "no rank");
    errors.count = 0;
    capture(-1, &errors, text, sizeof text);
    is(text, "", "no error, no line");
}

static void test_warnings(void)
{
    static struct aps_errors errors;
    char text[8192];

    for (int i = 0; i < APS_WARNINGS_MAX + 3; i++)
        aps_errors_warn(&errors, "f", APS_WARNINGS_MAX + 3 - i, 1, "odd");
    ok(errors.count == 0 && errors.warning_count == APS_WARNINGS_MAX + 3 &&
           aps_warnings_kept(&errors) == APS_WARNINGS_MAX,
       "warnings are no errors");
    aps_errors_sort(&errors);
    ok(errors.warnings[0].line == 4, "they are sorted");
    is(aps_warning_format(&errors.warnings[0], text, sizeof text),
       "f:4:1: warning: odd", "they say what they are");
    is(aps_warning_format(&(struct aps_error){.text = "odd"}, text,
                          sizeof text),
       "warning: odd", "without a place, too");
}

int main(int argc, char **argv)
{
    (void)argc;
    load_with_file(argv);
    test_format();
    test_long();
    test_sort();
    test_overflow();
    test_warnings();
    return done_testing();
}

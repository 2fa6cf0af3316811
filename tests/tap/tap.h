/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small TAP producer (Test Anything Protocol, version 12). Not thread-safe.
 *
 *     plan(2);                        or end with done_testing() alone
 *     ok(1 + 1 == 2, "sums %d", 2);
 *     skip(1, "no GPU here");
 *     return done_testing();
 */
#ifndef APS_TAP_H
#define APS_TAP_H

#include <stdbool.h>

/* Announces the number of tests. */
void plan(int tests);

/* Skips the whole program with a reason: prints `1..0 # SKIP` and exits 0. */
void plan_skip_all(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));

/* One test. Returns `pass`. */
bool ok(bool pass, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Compares strings, and prints them if they differ. NULL equals NULL only. */
bool is(const char *got, const char *expected, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Skips `tests` tests with a reason. */
void skip(int tests, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints a `#` line on standard error. */
void diag(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Exits with status 255, because no further tests make sense. */
void bail_out(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));

/* Prints the plan if there was none. Returns the exit status: 0, or 1 if a test
 * failed or the plan was not met. */
int done_testing(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rates and times as people write them, and the output file of apsmpi-measure.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "predict/measured.h"
#include "predict/quantity.h"
#include "tap.h"

static void test_quantities(void)
{
    static const char *const bad[] = {"",         "25",      "gbit",
                                      "-1gbit",   "0gbit",   "25 furlongs",
                                      "25 gbits", "1e3gbit", "1..2gbit"};
    static const struct {
        const char *text;
        double rate;
    } good[] = {{"25gbit", 25e9 / 8},     {"1.5 GB/s", 1.5e9},
                {"100Mbit/s", 100e6 / 8}, {"8 bit", 1},
                {"2tbit", 2e12 / 8},      {"12.5kB/s", 12500}};
    char text[32];

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(isnan(aps_quantity_rate(bad[i])), "no rate: '%s'", bad[i]);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ok(fabs(aps_quantity_rate(good[i].text) / good[i].rate - 1) < 1e-12,
           "rate: %s", good[i].text);
    ok(isnan(aps_quantity_time("2 min")), "no time: '2 min'");
    ok(isnan(aps_quantity_time("2")), "no time: '2'");
    ok(aps_quantity_time("0us") == 0, "time: 0us");
    ok(fabs(aps_quantity_time("1.5 ms") - 1.5e-3) < 1e-15, "time: 1.5 ms");
    is(aps_quantity_format_rate(25e9 / 8, text, sizeof text), "25 Gbit/s",
       "a rate");
    is(aps_quantity_format_rate(400e9 / 8, text, sizeof text), "400 Gbit/s",
       "a greater rate");
    is(aps_quantity_format_time(1.234e-3, text, sizeof text), "1.23 ms",
       "a time");
    is(aps_quantity_format_time(0, text, sizeof text), "0 ns", "no time");
    is(aps_quantity_format_time(1234, text, sizeof text), "1234 s",
       "a long time");
}

/* Reads the text as a file. Returns the errors, one after the other. */
static int read_text(const char *text, struct aps_measured *measured,
                     struct aps_errors *errors)
{
    char path[] = "/tmp/aps-predict-XXXXXX";
    int fd = mkstemp(path), rc;

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        bail_out("cannot write %s", path);
    close(fd);
    memset(errors, 0, sizeof *errors);
    rc = aps_measured_read(path, measured, errors);
    unlink(path);
    for (size_t i = 0; i < aps_errors_kept(errors); i++)
        memset(errors->list[i].file, 0, sizeof errors->list[i].file);
    return rc;
}

static const char good[] =
    "# a comment\n"
    "version: 1\nhosts: 2\nranks_per_host: 4\n"
    "copy: 1e-10\nadd: 2e-10\nmark: 1e-6\n"
    "memory: {4Mi: 1e-11, 16Mi: 2e-11}\n"
    "between: {latency: 1e-5, rate: 1e8, bulk: 9e7, wait: 1e-5, message: 2e-6, "
    "byte: 0, burst: 131000}\n"
    "inside: {latency: 1e-6, rate: 1e10, bulk: 9e9, wait: 1e-6, message: 5e-7, "
    "byte: "
    "1e-10}\n"
    "codecs:\n"
    "  e5m2: {magnitude: 1e-10, encode: 2e-10, decode: 3e-10, add: 4e-10, "
    "round: 5e-10}\n";

static void test_good(void)
{
    struct aps_measured measured, again;
    static struct aps_errors errors;
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    ok(read_text(good, &measured, &errors) == 0, "a good file");
    ok(measured.machine.hosts == 2 && measured.machine.ranks_per_host == 4 &&
           measured.machine.between.bulk == 9e7 &&
           measured.machine.inside.byte == 1e-10 &&
           measured.machine.mark == 1e-6 &&
           measured.machine.memory[1] == 2e-11 &&
           measured.machine.between.burst == 131000 &&
           measured.machine.inside.burst == 0,
       "its machine");
    ok(measured.formats == 1 && measured.codecs[0].rates.round == 5e-10,
       "its codec");
    ok(measured.spread == 0, "no spread: unknown");
    measured.spread = 0.25;
    aps_measured_write(&measured, "again", stream);
    fclose(stream);
    ok(read_text(text, &again, &errors) == 0, "written and read again");
    ok(memcmp(&measured.machine, &again.machine, sizeof again.machine) == 0 &&
           again.formats == 1 && again.spread == 0.25 &&
           memcmp(&measured.codecs[0].rates, &again.codecs[0].rates,
                  sizeof again.codecs[0].rates) == 0,
       "the same");
    free(text);
}

/* Reads the good file with one text in place of another. */
static void test_bad(const char *old, const char *new, int line,
                     const char *cause)
{
    struct aps_measured measured;
    static struct aps_errors errors;
    char text[2 * sizeof good];
    const char *at = strstr(good, old);

    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, new,
             at + strlen(old));
    ok(read_text(text, &measured, &errors) < 0, "bad: %s", cause);
    is(errors.list[0].text, cause, "its cause");
    ok(errors.list[0].line == line, "its line");
}

/* Other work on the machine: only the kind that exceeds its limit is reported. */
static void test_busy(void)
{
    static struct aps_measured measured = {
        .machine = {.between = {.latency = 1e-4, .wait = 1.3e-3},
                    .inside = {.latency = 1e-6, .wait = 1e-6}},
        .spread = 0.3};
    char text[160];

    ok(!aps_measured_is_busy(&measured), "at its limits: not busy");
    is(aps_measured_busy(&measured, "latency", text, sizeof text), "",
       "nothing to say of it");
    measured.spread = 2.44;
    is(aps_measured_busy(&measured, "latency", text, sizeof text),
       "repetitions disagree by 244 % (latency)", "a spread alone");
    measured.machine.inside.wait = 1.1e-3;
    is(aps_measured_busy(&measured, NULL, text, sizeof text),
       "repetitions disagree by 244 %, and a step of native MPI waits 1.1 ms",
       "a wait that is too long, though not the longest");
    measured.spread = 0.25;
    is(aps_measured_busy(&measured, NULL, text, sizeof text),
       "a step of native MPI waits 1.1 ms", "a wait alone");
    is(aps_measured_busy(&measured, NULL, text, 7), "a step", "cut short");
}

int main(void)
{
    struct aps_measured measured;
    static struct aps_errors errors;

    test_quantities();
    test_good();
    test_busy();
    test_bad("version: 1", "version: 2", 2,
             "version is not 1, which this apsmpi reads");
    test_bad("hosts: 2", "hosts: 0", 3, "hosts is less than 1");
    test_bad("copy: 1e-10", "copy: fast", 5, "copy is not a number");
    test_bad("mark: 1e-6\n", "", 2, "mark is missing");
    test_bad("mark: 1e-6", "mark: 1e-6\nspread: -1", 8, "spread is too small");
    test_bad("rate: 1e8, ", "", 9, "rate is missing");
    test_bad("rate: 1e8", "rate: -1", 9, "rate is less than 1");
    test_bad("byte: 0, burst", "byte: 0, bite", 9,
             "unknown key 'bite' in between");
    test_bad("add: 2e-10", "add: 2e-10\nadding: 1", 7, "unknown key 'adding'");
    test_bad("burst: 131000", "burst: -1", 9, "burst is too small");
    test_bad("  e5m2", "  e5mm", 12, "e5mm is no format");
    test_bad("version: 1", "[a]: 1\nversion: 1", 2,
             "a key must be a single value");
    test_bad("  e5m2", "  {e5m2: 1}", 12, "a key must be a single value");
    test_bad("byte: 0", "byte: 0, [a]: 1", 9, "a key must be a single value");
    test_bad("  e5m2", "  \"e5m2\\0\"", 12,
             "a value must not hold a NUL character");
    memset(&errors, 0, sizeof errors);
    ok(aps_measured_read("/nonexistent/file", &measured, &errors) < 0,
       "no such file");
    is(errors.list[0].text, "No such file or directory", "its cause");
    return done_testing();
}

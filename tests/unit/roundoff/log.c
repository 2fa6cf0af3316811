/* SPDX-License-Identifier: BSD-3-Clause */
/* The content of a round-off log. */
#include "config.h"

#include "roundoff/log.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/tap/tap.h"
#include "tests/unit/roundoff/log_file.h"

static void test_row(void)
{
    static const struct {
        const char *name;
        const char *value;
    } columns[LOG_FIELDS] = {
        {"time", "1700000000.250000"},
        {"comm", "MPI_COMM_WORLD"},
        {"step", "300"},
        {"epoch", "1"},
        {"layer", "52"},
        {"name", "layer3.0.conv2.weight"},
        {"count", "2359296"},
        {"format", "e5m2"},
        {"scale", "aps"},
        {"reduce", "direct"},
        {"scale_exp", "-7"},
        {"err_mean", "0.25"},
        {"err_max", "0.5"},
        {"err_l2", "0.1"},
        {"snr_db", "20"},
        {"underflow", "2"},
        {"overflow", "3"},
        {"nonfinite", "5"},
        {"skipped", "1"},
        {"wire_bytes", "4718592"},
        {"fp32_bytes", "18874368"},
        {"usec", "1234.6"},
        {"run", "20231114T221320.250000-4711"},
        {"call", "iallreduce"},
        {"rule", "deep, wide"},
        {"scale_value", "0.0078125"},
        {"group", "numa"},
        {"node", "fp32"},
        {"accumulate", "format"},
        {"shadow", "3"},
        {"redone", "2"},
        {"overflowed", "1"},
        {"compress", "mstopk 0.2 + powersgd rank 4"},
        {"density", "0.2"},
        {"rank", "4"},
        {"residual", "0.125"},
        {"entropy", "3.142"},
        {"ref_l2", "10"},
        {"type", "bf16"},
        {"agree_usec", "20.5"},
    };
    struct aps_log_row row = log_file_row("layer3.0.conv2.weight");
    char *fields[LOG_FIELDS + 1], *second;
    struct aps_log log;

    unlink(log_file_path);
    log_file_open(&log);
    ok(aps_log_write(&log, &row, NULL) == 0, "a row is written");
    log_file_read();
    ok(log_file_text[strlen(log_file_text) - 1] == '\n' &&
           log_file_count("\n") == 2,
       "header and row are there before the log is closed");
    aps_log_close(&log);
    aps_log_close(&log);
    second = strchr(log_file_text, '\n') + 1;
    if (!ok(log_file_split(second, fields) == LOG_FIELDS, "a row has %d fields",
            LOG_FIELDS))
        return;
    for (int i = 0; i < LOG_FIELDS; i++)
        is(fields[i], columns[i].value, "row: %s", columns[i].name);
    if (!ok(log_file_split(log_file_text, fields) == LOG_FIELDS,
            "and so has the header"))
        return;
    for (int i = 0; i < LOG_FIELDS; i++)
        is(fields[i], columns[i].name, "header: %s", columns[i].name);
}

static void test_empty(void)
{
    struct aps_log_row row = log_file_row("fc");
    struct aps_log log;

    unlink(log_file_path);
    log_file_open(&log);
    row.compress = NULL;
    row.density = row.rank = row.residual = row.entropy = NAN;
    aps_log_write(&log, &row, NULL);
    row.residual = 0;
    aps_log_write(&log, &row, NULL);
    aps_log_close(&log);
    log_file_read();
    ok(log_file_count(",1,,,,,,10,bf16,20.5\n") == 1,
       "a layer without a compressor has empty fields");
    ok(log_file_count(",1,,,,0,,10,bf16,20.5\n") == 1,
       "a residual of 0 is a number");
}

static void test_header(void)
{
    struct aps_log_row row = log_file_row(NULL);
    struct aps_log log;

    unlink(log_file_path);
    for (int i = 0; i < 3; i++) {
        log_file_open(&log);
        aps_log_write(&log, &row, NULL);
        aps_log_close(&log);
    }
    log_file_read();
    ok(log_file_count(APS_LOG_HEADER) == 1 && log_file_count("\n") == 4,
       "opened three times: one header, three rows");
    log_file_write("");
    log_file_open(&log);
    aps_log_close(&log);
    log_file_read();
    is(log_file_text, APS_LOG_HEADER "\n", "an empty file gets the header");
    log_file_write(APS_LOG_HEADER "\n1700000000.2,MPI_COMM");
    log_file_open(&log);
    aps_log_event(&log, "here", NULL);
    aps_log_close(&log);
    log_file_read();
    ok(log_file_count("MPI_COMM\n# here\n") == 1,
       "a row torn by a full disk is ended before more is written");
}

static void test_names(void)
{
    static const struct {
        const char *name;
        const char *read;
    } cases[] = {
        {NULL, ""},
        {"", ""},
        {"plain", "plain"},
        {"a,b", "a,b"},
        {"say \"x\"", "say \"x\""},
        {"\"", "\""},
        {"two\nlines\r", "two lines "},
        {",\n\"", ", \""},
        {" blank ", " blank "},
        {"conv#1", "conv#1"},
        {"#", "#"},
        {"M\xc3\xbcller \xe2\x82\xac \xf0\x9f\x98\x80",
         "M\xc3\xbcller \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"M\xfcller", "M?ller"},             /* Latin-1 */
        {"a\xc3", "a?"},                     /* half a character */
        {"\xc0\xaf", "??"},                  /* overlong form */
        {"\xed\xa0\x80", "???"},             /* a surrogate */
        {"\xf4\x90\x80\x80,\xff", "????,?"}, /* beyond Unicode */
    };
    char name[1001], *fields[LOG_FIELDS + 1];
    struct aps_log log;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct aps_log_row row = log_file_row(cases[i].name);

        row.comm = "my,\"comm\"";
        unlink(log_file_path);
        log_file_open(&log);
        aps_log_write(&log, &row, NULL);
        aps_log_close(&log);
        log_file_read();
        ok(log_file_count("\n") == 2 &&
               log_file_split(strchr(log_file_text, '\n') + 1, fields) ==
                   LOG_FIELDS,
           "name %zu: one line, all fields", i);
        is(fields[5], cases[i].read, "name %zu reads back", i);
        is(fields[1], "my,\"comm\"", "and so does the communicator");
    }
    for (int quotes = 0; quotes < 2; quotes++) {
        struct aps_log_row row = log_file_row(name);

        memset(name, quotes ? '"' : 'n', sizeof name - 1);
        name[sizeof name - 1] = '\0';
        row.comm = name;
        unlink(log_file_path);
        log_file_open(&log);
        aps_log_write(&log, &row, NULL);
        aps_log_close(&log);
        log_file_read();
        ok(log_file_count("\n") == 2 &&
               log_file_split(strchr(log_file_text, '\n') + 1, fields) ==
                   LOG_FIELDS,
           "very long names are cut, the row is whole");
    }
}

/* A reader that drops text after a '#' must not find one outside quotes. */
static void test_hash(void)
{
    struct aps_log_row row = log_file_row("conv#1");
    struct aps_log log;

    unlink(log_file_path);
    log_file_open(&log);
    aps_log_write(&log, &row, NULL);
    aps_log_close(&log);
    log_file_read();
    ok(log_file_count(",\"conv#1\",") == 1, "a name with a # is quoted");
}

/* A cut name ends at the end of a character. */
static void test_cut(void)
{
    char name[1001], *fields[LOG_FIELDS + 1];
    struct aps_log log;
    int whole = 0;

    for (size_t ahead = 0; ahead < 4; ahead++) {
        struct aps_log_row row = log_file_row(name);

        memset(name, 'x', ahead);
        for (size_t i = ahead; i + 4 < sizeof name; i += 4)
            strcpy(name + i, "\xf0\x9f\x98\x80");
        unlink(log_file_path);
        log_file_open(&log);
        aps_log_write(&log, &row, NULL);
        aps_log_event(&log, name, NULL);
        aps_log_close(&log);
        log_file_read();
        if (strchr(log_file_text, '?') ||
            log_file_split(strchr(log_file_text, '\n') + 1, fields) !=
                LOG_FIELDS)
            continue;
        whole += strlen(fields[5]) % 4 == ahead && strlen(fields[5]) > 300;
    }
    ok(whole == 4, "names and events are cut between characters");
}

static void test_special_values(void)
{
    const struct aps_measure worst = {.compared = 1,
                                      .sum_relative = INFINITY,
                                      .max_relative = INFINITY,
                                      .sum_error2 = INFINITY,
                                      .sum_reference2 = 1};
    struct aps_log_row row = log_file_row("x");
    char *fields[LOG_FIELDS + 1];
    struct aps_log log;

    row.measure = &worst;
    row.layer = -1;
    unlink(log_file_path);
    log_file_open(&log);
    aps_log_write(&log, &row, NULL);
    aps_log_close(&log);
    log_file_read();
    ok(log_file_split(strchr(log_file_text, '\n') + 1, fields) == LOG_FIELDS,
       "infinite errors");
    is(fields[4], "-1", "no layer: -1");
    is(fields[11], "inf", "mean: inf");
    is(fields[14], "-inf", "SNR: -inf");
}

static void test_event(void)
{
    static char line[5000];
    struct aps_log log;

    unlink(log_file_path);
    log_file_open(&log);
    ok(aps_log_event(&log, "desync: call 7", NULL) == 0, "an event");
    aps_log_event(&log, "two\nlines", NULL);
    memset(line, 'x', sizeof line - 1);
    aps_log_event(&log, line, NULL);
    aps_log_close(&log);
    log_file_read();
    ok(log_file_count("\n# desync: call 7\n") == 1, "is a comment line");
    ok(log_file_count("\n# two lines\n") == 1, "always one line");
    ok(log_file_count("\n") == 4 &&
           log_file_text[strlen(log_file_text) - 1] == '\n',
       "a very long one is cut");
}

/* Decimal commas of the program's locale would separate fields. */
static void test_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8",
                                        "de_DE.utf8", "fr_FR.utf8", "de_DE"};
    struct aps_log_row row = log_file_row("x");
    char *fields[LOG_FIELDS + 1], command[512];
    const char *set = NULL;
    struct aps_log log;

    snprintf(command, sizeof command,
             "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >/dev/null 2>&1",
             log_file_directory);
    if (system(command) == 0)
        setenv("LOCPATH", log_file_directory, 1);
    for (size_t i = 0; !set && i < sizeof names / sizeof *names; i++)
        set = setlocale(LC_ALL, names[i]);
    if (!set) {
        skip(2, "no locale with a decimal comma here");
        return;
    }
    unlink(log_file_path);
    log_file_open(&log);
    aps_log_write(&log, &row, NULL);
    aps_log_close(&log);
    ok(strcmp(localeconv()->decimal_point, ",") == 0,
       "the program's locale %s stays", set);
    setlocale(LC_ALL, "C");
    log_file_read();
    ok(log_file_split(strchr(log_file_text, '\n') + 1, fields) == LOG_FIELDS &&
           strcmp(fields[11], "0.25") == 0,
       "rows have decimal points in any locale");
}

int main(void)
{
    log_file_begin();
    test_row();
    test_empty();
    test_header();
    test_names();
    test_hash();
    test_cut();
    test_special_values();
    test_event();
    test_locale();
    log_file_end();
    return done_testing();
}

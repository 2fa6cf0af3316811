/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "roundoff/log.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/tap/tap.h"

#define FIELDS 22

static char directory[] = "/tmp/aps-log-XXXXXX";
static char path[256];
static char text[1 << 20]; /* of the log */

static void read_log(void)
{
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;

    if (file)
        fclose(file);
    text[length] = '\0';
}

static void write_file(const char *content)
{
    FILE *file = fopen(path, "w");

    if (!file || fputs(content, file) < 0 || fclose(file) != 0)
        bail_out("cannot write %s", path);
}

static size_t occurrences(const char *what)
{
    size_t n = 0;

    for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
        n++;
    return n;
}

static void open_log(struct aps_log *log)
{
    struct aps_error error;

    if (aps_log_open(log, path, &error) < 0)
        bail_out("%s: %s", path, error.text);
}

static const struct aps_measure measure = {.compared = 4,
                                           .skipped = 1,
                                           .underflow = 2,
                                           .overflow = 3,
                                           .nonfinite = 5,
                                           .sum_relative = 1,
                                           .max_relative = 0.5,
                                           .sum_error2 = 1,
                                           .sum_reference2 = 100};

static struct aps_log_row make_row(const char *name)
{
    return (struct aps_log_row){
        .time = 1700000000.25,
        .comm = "MPI_COMM_WORLD",
        .step = 300,
        .epoch = 1,
        .layer = 52,
        .name = name,
        .count = 2359296,
        .format = "e5m2",
        .scale = "aps",
        .reduce = "direct",
        .scale_exponent = -7,
        .measure = &measure,
        .wire_bytes = 4718592,
        .fp32_bytes = 18874368,
        .usec = 1234.56,
    };
}

/* Split a CSV line in place; the number of fields. */
static int split(char *line, char *fields[FIELDS + 1])
{
    int n = 0;
    char *at = line;

    while (n <= FIELDS) {
        char *out = at;

        fields[n++] = out;
        if (*at == '"') {
            for (at++; *at && (*at != '"' || at[1] == '"'); at++) {
                at += *at == '"';
                *out++ = *at;
            }
            at += *at == '"';
        } else {
            at += strcspn(at, ",\n");
            out = at;
        }
        if (*at != ',') {
            *out = '\0';
            return n;
        }
        at++;
        *out = '\0';
    }
    return n;
}

static void test_row(void)
{
    static const char *const expected[FIELDS] = {"1700000000.250000",
                                                 "MPI_COMM_WORLD",
                                                 "300",
                                                 "1",
                                                 "52",
                                                 "layer3.0.conv2.weight",
                                                 "2359296",
                                                 "e5m2",
                                                 "aps",
                                                 "direct",
                                                 "-7",
                                                 "0.25",
                                                 "0.5",
                                                 "0.1",
                                                 "20",
                                                 "2",
                                                 "3",
                                                 "5",
                                                 "1",
                                                 "4718592",
                                                 "18874368",
                                                 "1234.6"};
    static const char *const names[FIELDS] = {
        "time",       "comm",     "step",      "epoch",   "layer",
        "name",       "count",    "format",    "scale",   "reduce",
        "scale_exp",  "err_mean", "err_max",   "err_l2",  "snr_db",
        "underflow",  "overflow", "nonfinite", "skipped", "wire_bytes",
        "fp32_bytes", "usec"};
    struct aps_log_row row = make_row("layer3.0.conv2.weight");
    char *fields[FIELDS + 1], *second;
    struct aps_log log;

    unlink(path);
    open_log(&log);
    ok(aps_log_write(&log, &row, NULL) == 0, "a row is written");
    read_log();
    ok(text[strlen(text) - 1] == '\n' && occurrences("\n") == 2,
       "header and row are there before the log is closed");
    aps_log_close(&log);
    aps_log_close(&log);
    second = strchr(text, '\n') + 1;
    if (!ok(split(second, fields) == FIELDS, "a row has %d fields", FIELDS))
        return;
    for (int i = 0; i < FIELDS; i++)
        is(fields[i], expected[i], "row: %s", names[i]);
    if (!ok(split(text, fields) == FIELDS, "and so has the header"))
        return;
    for (int i = 0; i < FIELDS; i++)
        is(fields[i], names[i], "header: %s", names[i]);
}

static void test_header(void)
{
    struct aps_log_row row = make_row(NULL);
    struct aps_log log;

    unlink(path);
    for (int i = 0; i < 3; i++) {
        open_log(&log);
        aps_log_write(&log, &row, NULL);
        aps_log_close(&log);
    }
    read_log();
    ok(occurrences(APS_LOG_HEADER) == 1 && occurrences("\n") == 4,
       "opened three times: one header, three rows");
    write_file("");
    open_log(&log);
    aps_log_close(&log);
    read_log();
    is(text, APS_LOG_HEADER "\n", "an empty file gets the header");
    write_file(APS_LOG_HEADER "\n1700000000.2,MPI_COMM");
    open_log(&log);
    aps_log_event(&log, "here", NULL);
    aps_log_close(&log);
    read_log();
    ok(occurrences("MPI_COMM\n# here\n") == 1,
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
    };
    char name[1001], *fields[FIELDS + 1];
    struct aps_log log;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct aps_log_row row = make_row(cases[i].name);

        row.comm = "my,\"comm\"";
        unlink(path);
        open_log(&log);
        aps_log_write(&log, &row, NULL);
        aps_log_close(&log);
        read_log();
        ok(occurrences("\n") == 2 &&
               split(strchr(text, '\n') + 1, fields) == FIELDS,
           "name %zu: one line, all fields", i);
        is(fields[5], cases[i].read, "name %zu reads back", i);
        is(fields[1], "my,\"comm\"", "and so does the communicator");
    }
    for (int quotes = 0; quotes < 2; quotes++) {
        struct aps_log_row row = make_row(name);

        memset(name, quotes ? '"' : 'n', sizeof name - 1);
        name[sizeof name - 1] = '\0';
        row.comm = name;
        unlink(path);
        open_log(&log);
        aps_log_write(&log, &row, NULL);
        aps_log_close(&log);
        read_log();
        ok(occurrences("\n") == 2 &&
               split(strchr(text, '\n') + 1, fields) == FIELDS,
           "very long names are cut, the row is whole");
    }
}

static void test_special_values(void)
{
    const struct aps_measure worst = {.compared = 1,
                                      .sum_relative = INFINITY,
                                      .max_relative = INFINITY,
                                      .sum_error2 = INFINITY,
                                      .sum_reference2 = 1};
    struct aps_log_row row = make_row("x");
    char *fields[FIELDS + 1];
    struct aps_log log;

    row.measure = &worst;
    row.layer = -1;
    unlink(path);
    open_log(&log);
    aps_log_write(&log, &row, NULL);
    aps_log_close(&log);
    read_log();
    ok(split(strchr(text, '\n') + 1, fields) == FIELDS, "infinite errors");
    is(fields[4], "-1", "no layer: -1");
    is(fields[11], "inf", "mean: inf");
    is(fields[14], "-inf", "SNR: -inf");
}

static void test_event(void)
{
    static char line[5000];
    struct aps_log log;

    unlink(path);
    open_log(&log);
    ok(aps_log_event(&log, "desync: call 7", NULL) == 0, "an event");
    aps_log_event(&log, "two\nlines", NULL);
    memset(line, 'x', sizeof line - 1);
    aps_log_event(&log, line, NULL);
    aps_log_close(&log);
    read_log();
    ok(occurrences("\n# desync: call 7\n") == 1, "is a comment line");
    ok(occurrences("\n# two lines\n") == 1, "always one line");
    ok(occurrences("\n") == 4 && text[strlen(text) - 1] == '\n',
       "a very long one is cut");
}

/* Decimal commas of the program's locale would be more fields. */
static void test_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8",
                                        "de_DE.utf8", "fr_FR.utf8", "de_DE"};
    struct aps_log_row row = make_row("x");
    char *fields[FIELDS + 1], command[512];
    const char *set = NULL;
    struct aps_log log;

    snprintf(command, sizeof command,
             "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >/dev/null 2>&1",
             directory);
    if (system(command) == 0)
        setenv("LOCPATH", directory, 1);
    for (size_t i = 0; !set && i < sizeof names / sizeof *names; i++)
        set = setlocale(LC_ALL, names[i]);
    if (!set) {
        skip(2, "no locale with a decimal comma here");
        return;
    }
    unlink(path);
    open_log(&log);
    aps_log_write(&log, &row, NULL);
    aps_log_close(&log);
    ok(strcmp(localeconv()->decimal_point, ",") == 0,
       "the program's locale %s stays", set);
    setlocale(LC_ALL, "C");
    read_log();
    ok(split(strchr(text, '\n') + 1, fields) == FIELDS &&
           strcmp(fields[11], "0.25") == 0,
       "rows have decimal points in any locale");
}

static void check_refused(const char *where, const char *expected)
{
    struct aps_log log = {.fd = -5};
    struct aps_error error;
    char line[1024];

    errno = 0;
    if (!ok(aps_log_open(&log, where, &error) < 0 && errno != 0 && log.fd == -5,
            "refused: %s", where))
        return;
    is(aps_error_format(&error, line, sizeof line), expected, "says why");
    ok(aps_log_open(&log, where, NULL) < 0, "to nobody, too");
}

static void test_refused(void)
{
    static const char *const foreign[] = {"my thesis\n", "time,comm\n1,2\n",
                                          APS_LOG_HEADER ",more\n",
                                          APS_LOG_HEADER, "x"};
    char where[512], expected[1024];

    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        write_file(foreign[i]);
        snprintf(expected, sizeof expected,
                 "%s:1: the file is not a round-off log of this version and is "
                 "left alone",
                 path);
        check_refused(path, expected);
        read_log();
        is(text, foreign[i], "left alone");
    }
    snprintf(where, sizeof where, "%s/none/log.csv", directory);
    snprintf(expected, sizeof expected,
             "%s: cannot open the log: No such file or directory", where);
    check_refused(where, expected);
    snprintf(expected, sizeof expected,
             "%s: cannot open the log: Is a directory", directory);
    check_refused(directory, expected);
    check_refused("", "cannot open the log: No such file or directory");
    if (access("/dev/full", W_OK) == 0)
        check_refused("/dev/full", "/dev/full: cannot write the log: No space "
                                   "left on device");
    else
        skip(3, "no /dev/full here");
    unlink(path);
    write_file(APS_LOG_HEADER "\n");
    chmod(path, 0444);
    if (access(path, W_OK) == 0) {
        skip(3, "root may write anything");
    } else {
        snprintf(expected, sizeof expected,
                 "%s: cannot open the log: Permission denied", path);
        check_refused(path, expected);
    }
}

/* The disk fills while the job runs. */
static void test_full(void)
{
    struct aps_log_row row = make_row("x");
    struct aps_error error = {.text = "nothing"};
    struct aps_log log;
    char expected[512], line[1024];
    int full = open("/dev/full", O_WRONLY);

    if (full < 0) {
        skip(5, "no /dev/full here");
        return;
    }
    unlink(path);
    open_log(&log);
    aps_log_write(&log, &row, NULL);
    dup2(full, log.fd);
    close(full);
    ok(aps_log_write(&log, &row, &error) == -1 && errno == ENOSPC,
       "full disk: the row fails");
    snprintf(expected, sizeof expected,
             "%s: cannot write the log: No space left on device", path);
    is(aps_error_format(&error, line, sizeof line), expected, "says why");
    strcpy(error.text, "nothing");
    ok(aps_log_write(&log, &row, &error) == -1 &&
           aps_log_event(&log, "x", &error) == -1,
       "then all fail");
    is(error.text, "nothing", "silently");
    aps_log_close(&log);
    ok(aps_log_write(&log, &row, &error) == -1, "closed: likewise");
}

#define WRITERS 2
#define ROWS 200

static void write_rows(int writer)
{
    struct aps_log_row row = make_row("layer, with comma");
    struct aps_log log;

    if (aps_log_open(&log, path, NULL) < 0)
        _exit(1);
    row.layer = writer;
    for (row.step = 0; row.step < ROWS; row.step++)
        if (aps_log_write(&log, &row, NULL) < 0)
            _exit(1);
    aps_log_close(&log);
    _exit(0);
}

static void test_processes(void)
{
    static int seen[WRITERS][ROWS];
    char *fields[FIELDS + 1];
    int status, failed = 0, torn = 0, lost = 0, headers = 0;
    char *rest = text;

    unlink(path);
    fflush(NULL);
    for (int i = 0; i < WRITERS; i++) {
        pid_t child = fork();

        if (child < 0)
            bail_out("cannot fork: %s", strerror(errno));
        if (child == 0)
            write_rows(i);
    }
    for (int i = 0; i < WRITERS; i++)
        failed += wait(&status) < 0 || status != 0;
    ok(failed == 0, "%d processes write to one log", WRITERS);
    read_log();
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        long step, layer;

        if (strcmp(line, APS_LOG_HEADER) == 0) {
            headers++;
            continue;
        }
        if (split(line, fields) != FIELDS) {
            torn++;
            continue;
        }
        step = atol(fields[2]);
        layer = atol(fields[4]);
        if (layer < 0 || layer >= WRITERS || step < 0 || step >= ROWS ||
            strcmp(fields[5], "layer, with comma") != 0 ||
            strcmp(fields[21], "1234.6") != 0)
            torn++;
        else
            seen[layer][step]++;
    }
    for (int i = 0; i < WRITERS; i++)
        for (int k = 0; k < ROWS; k++)
            lost += seen[i][k] != 1;
    ok(headers == 1, "one header");
    ok(torn == 0, "no line is torn");
    ok(lost == 0, "no row is lost or doubled");
}

static void test_killed(void)
{
    struct aps_log_row row = make_row("x");
    struct aps_log log;
    int status;
    pid_t child;

    unlink(path);
    fflush(NULL);
    child = fork();
    if (child < 0)
        bail_out("cannot fork: %s", strerror(errno));
    if (child == 0) {
        open_log(&log);
        for (row.step = 0; row.step < 25; row.step++)
            aps_log_write(&log, &row, NULL);
        raise(SIGKILL);
        _exit(0);
    }
    waitpid(child, &status, 0);
    read_log();
    ok(WIFSIGNALED(status) && occurrences("\n") == 26,
       "killed after 25 rows: all of them are there");
}

static void test_limit(void)
{
    struct aps_log_row row = make_row("x");
    const struct rlimit small = {1000, RLIM_INFINITY};
    struct rlimit before;
    struct aps_error error;
    struct aps_log log;
    int written = 0;

    unlink(path);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    open_log(&log);
    setrlimit(RLIMIT_FSIZE, &small);
    while (aps_log_write(&log, &row, &error) == 0)
        written++;
    setrlimit(RLIMIT_FSIZE, &before);
    aps_log_close(&log);
    ok(written > 0 && strstr(error.text, "File too large"),
       "a file size limit is reported as such");
    open_log(&log);
    aps_log_write(&log, &row, NULL);
    aps_log_close(&log);
    read_log();
    ok(text[strlen(text) - 1] == '\n' &&
           (int)occurrences("1234.6\n") == written + 1,
       "the next job's rows are whole");
}

int main(void)
{
    char command[300];

    if (!mkdtemp(directory))
        bail_out("cannot make %s", directory);
    snprintf(path, sizeof path, "%s/log.csv", directory);
    test_row();
    test_header();
    test_names();
    test_special_values();
    test_event();
    test_locale();
    test_refused();
    test_full();
    test_processes();
    test_killed();
    test_limit();
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    if (system(command) != 0)
        diag("%s is left", directory);
    return done_testing();
}

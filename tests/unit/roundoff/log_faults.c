/* SPDX-License-Identifier: BSD-3-Clause */
/* Round-off logs that cannot be opened or written, several writers, and writers
 * that die. */
#include "config.h"

#include "roundoff/log.h"

#include <errno.h>
#include <fcntl.h>
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
#include "tests/unit/roundoff/log_file.h"

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
    char where[512], expected[1024];

    snprintf(where, sizeof where, "%s/none/log.csv", log_file_directory);
    snprintf(expected, sizeof expected,
             "%s: cannot open the log: No such file or directory", where);
    check_refused(where, expected);
    snprintf(expected, sizeof expected,
             "%s: cannot open the log: Is a directory", log_file_directory);
    check_refused(log_file_directory, expected);
    check_refused("", "cannot open the log: No such file or directory");
    if (access("/dev/full", W_OK) == 0)
        check_refused("/dev/full", "/dev/full: cannot write the log: No space "
                                   "left on device");
    else
        skip(3, "no /dev/full here");
    unlink(log_file_path);
    log_file_write(APS_LOG_HEADER "\n");
    chmod(log_file_path, 0444);
    if (access(log_file_path, W_OK) == 0) {
        skip(3, "root may write anything");
    } else {
        snprintf(expected, sizeof expected,
                 "%s: cannot open the log: Permission denied", log_file_path);
        check_refused(log_file_path, expected);
    }
}

/* A file that is not a log is left alone, and a numbered one begins. */
static void test_numbered(void)
{
    static const char *const foreign[] = {"my thesis\n", "time,comm\n1,2\n",
                                          APS_LOG_HEADER ",more\n",
                                          APS_LOG_HEADER, "x"};
    char numbered[512];

    snprintf(numbered, sizeof numbered, "%s/log-1.csv", log_file_directory);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        struct aps_log_row row = log_file_row("x");
        struct aps_log log;

        unlink(numbered);
        log_file_write(foreign[i]);
        for (int run = 0; run < 3; run++) {
            log_file_open(&log);
            ok(log.numbered && log.created == (run == 0),
               "run %d: another file than the one with '%.10s'", run,
               foreign[i]);
            is(log.path, numbered, "... which is named after it");
            aps_log_write(&log, &row, NULL);
            aps_log_close(&log);
        }
        log_file_read();
        is(log_file_text, foreign[i], "the first file is left alone");
        log_file_read_from(numbered);
        ok(log_file_count(APS_LOG_HEADER) == 1 && log_file_count("\n") == 4,
           "all three runs append to the second");
    }
    unlink(numbered);
    unlink(log_file_path);
}

static void test_numbered_names(void)
{
    static const struct {
        const char *path;
        const char *numbered;
    } cases[] = {
        {"a.csv", "a-2.csv"},     {"a", "a-2"},
        {"a.b.csv", "a.b-2.csv"}, {".hidden", ".hidden-2"},
        {"d.d/a", "d.d/a-2"},     {"a.", "a-2."},
    };
    char path[512], folder[512];

    snprintf(folder, sizeof folder, "%s/d.d", log_file_directory);
    mkdir(folder, 0777);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct aps_log log, first;
        const char *place;

        snprintf(path, sizeof path, "%s/%s", log_file_directory, cases[i].path);
        log_file_write_to(path, "mine");
        if (aps_log_open(&first, path, NULL) < 0)
            bail_out("cannot open %s", path);
        log_file_write_to(first.path, "mine, too");
        aps_log_close(&first);
        if (aps_log_open(&log, path, NULL) < 0)
            bail_out("cannot open %s", path);
        place = log.path + strlen(log_file_directory) + 1;
        is(place, cases[i].numbered, "two foreign files: %s", cases[i].path);
        aps_log_close(&log);
    }
}

/* All names are in use. */
static void test_numbered_out(void)
{
    char path[512], expected[1024];

    for (int i = 0; i < 100; i++) {
        char number[16] = "";

        if (i > 0)
            snprintf(number, sizeof number, "-%d", i);
        snprintf(path, sizeof path, "%s/full%s.csv", log_file_directory,
                 number);
        log_file_write_to(path, "mine");
    }
    snprintf(path, sizeof path, "%s/full.csv", log_file_directory);
    snprintf(expected, sizeof expected,
             "%s:1: neither this file nor any of the numbered ones beside it "
             "is a round-off log of this version",
             path);
    check_refused(path, expected);
}

/* The disk fills while the job runs. */
static void test_full(void)
{
    struct aps_log_row row = log_file_row("x");
    struct aps_error error = {.text = "nothing"};
    struct aps_log log;
    char expected[512], line[1024];
    int full = open("/dev/full", O_WRONLY), null = open("/dev/null", O_WRONLY);

    if (full < 0 || null < 0) {
        skip(7, "no /dev/full here");
        return;
    }
    unlink(log_file_path);
    log_file_open(&log);
    aps_log_write(&log, &row, NULL);
    dup2(full, log.fd);
    close(full);
    ok(aps_log_write(&log, &row, &error) == -1 && errno == ENOSPC,
       "full disk: the row fails");
    snprintf(expected, sizeof expected,
             "%s: cannot write the log: No space left on device",
             log_file_path);
    is(aps_error_format(&error, line, sizeof line), expected, "says why");
    /* A place where a write would succeed. */
    dup2(null, log.fd);
    close(null);
    memset(&error, 0, sizeof error);
    ok(aps_log_write(&log, &row, &error) == -1 && errno == ENOSPC,
       "then a row is not tried");
    is(aps_error_format(&error, line, sizeof line), expected,
       "for the same reason");
    memset(&error, 0, sizeof error);
    ok(aps_log_event(&log, "x", &error) == -1, "nor is an event");
    is(aps_error_format(&error, line, sizeof line), expected,
       "for the same reason");
    aps_log_close(&log);
    ok(aps_log_write(&log, &row, &error) == -1 && errno == EBADF,
       "closed: likewise");
}

#define WRITERS 4
#define ROWS 200

static void write_rows(int writer)
{
    struct aps_log_row row = log_file_row("layer, with comma");
    struct aps_log log;

    if (aps_log_open(&log, log_file_path, NULL) < 0)
        _exit(1);
    row.layer = writer;
    for (row.step = 0; row.step < ROWS; row.step++)
        if (aps_log_write(&log, &row, NULL) < 0)
            _exit(1);
    aps_log_close(&log);
    _exit(0);
}

/* All processes open log_file_path, but find their rows in `written`. */
static void check_processes(const char *written)
{
    int seen[WRITERS][ROWS] = {{0}};
    char *fields[LOG_FIELDS + 1];
    int status, failed = 0, torn = 0, lost = 0, headers = 0;
    char *rest = log_file_text;

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
    ok(failed == 0, "%d processes write to one log, %s", WRITERS, written);
    log_file_read_from(written);
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        long step, layer;

        if (strcmp(line, APS_LOG_HEADER) == 0) {
            headers++;
            continue;
        }
        if (log_file_split(line, fields) != LOG_FIELDS) {
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

static void test_processes(void)
{
    char numbered[512];

    unlink(log_file_path);
    check_processes(log_file_path);
    log_file_write("my thesis\n");
    snprintf(numbered, sizeof numbered, "%s/log-1.csv", log_file_directory);
    check_processes(numbered);
    unlink(numbered);
}

static void test_killed(void)
{
    struct aps_log_row row = log_file_row("x");
    struct aps_log log;
    int status;
    pid_t child;

    unlink(log_file_path);
    fflush(NULL);
    child = fork();
    if (child < 0)
        bail_out("cannot fork: %s", strerror(errno));
    if (child == 0) {
        log_file_open(&log);
        for (row.step = 0; row.step < 25; row.step++)
            aps_log_write(&log, &row, NULL);
        raise(SIGKILL);
        _exit(0);
    }
    waitpid(child, &status, 0);
    log_file_read();
    ok(WIFSIGNALED(status) && log_file_count("\n") == 26,
       "killed after 25 rows: all of them are there");
}

static void test_limit(void)
{
    struct aps_log_row row = log_file_row("x");
    const struct rlimit small = {1000, RLIM_INFINITY};
    struct rlimit before;
    struct aps_error error;
    struct aps_log log;
    int written = 0;

    unlink(log_file_path);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    log_file_open(&log);
    setrlimit(RLIMIT_FSIZE, &small);
    while (aps_log_write(&log, &row, &error) == 0)
        written++;
    setrlimit(RLIMIT_FSIZE, &before);
    aps_log_close(&log);
    ok(written > 0 && strstr(error.text, "File too large"),
       "a file size limit is reported as such");
    log_file_open(&log);
    aps_log_write(&log, &row, NULL);
    aps_log_close(&log);
    log_file_read();
    ok(log_file_text[strlen(log_file_text) - 1] == '\n' &&
           (int)log_file_count(",0.2,4,0.125,3.142,10,bf16,20.5\n") ==
               written + 1,
       "the next job's rows are whole");
}

int main(void)
{
    log_file_begin();
    test_refused();
    test_numbered();
    test_numbered_names();
    test_numbered_out();
    test_full();
    test_processes();
    test_killed();
    test_limit();
    log_file_end();
    return done_testing();
}

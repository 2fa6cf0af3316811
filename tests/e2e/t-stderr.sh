#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Lines of the library reach the standard error of the job's start, and never a
# file of the program.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

cat >program.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Closes standard error ("all": every descriptor from it on, as far as MPI
 * needs none), and writes a checkpoint under its number. */
static int checkpoint(const char *how, int rank)
{
    char name[32];
    int file;

    snprintf(name, sizeof name, "checkpoint.%d", rank);
    for (int fd = 50; strcmp(how, "all") == 0 && fd < 60; fd++)
        close(fd);
    close(STDERR_FILENO);
    file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file != STDERR_FILENO || write(file, "weights\n", 8) != 8)
        exit(3);
    return file;
}

/* A daemon keeps no pipe of its parent open. */
static void daemonize(void)
{
    if (fork() == 0) {
        const int null = open("/dev/null", O_RDWR);

        for (int fd = 0; fd < 3; fd++)
            dup2(null, fd);
        for (int fd = 50; fd < 60; fd++)
            if (fcntl(fd, F_GETFD) >= 0)
                _exit(1);
        _exit(0);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    static float x[4096];
    int rank, status;

    if (strcmp(how, "early") == 0)
        checkpoint(how, getpid() & 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(MPI_IN_PLACE, x, 4096, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(how, "late") == 0 || strcmp(how, "all") == 0)
        checkpoint(how, rank);
    if (strcmp(how, "daemon") == 0) {
        daemonize();
        if (wait(&status) < 0 || status != 0)
            return 4;
    }
    MPI_Finalize();
    puts("trained");
    return 0;
}
END
"$MPICC" -o program program.c || exit 1
policy good.yaml 'format: e4m3'

# intact: the program's files hold its own bytes alone
intact()
{
    for file in checkpoint.*; do
        [ "$(cat "$file")" = weights ] || return 1
    done
}

# closed HOW TIMES WHAT [VARIABLE=VALUE]...
closed()
{
    how=$1 times=$2 what=$3
    shift 3
    rm -f checkpoint.*
    job 2 APSMPI_POLICY=good.yaml "$@" ./program "$how"
    check "$what: the job ends well" status_is 0
    check '... the file of the program has its own bytes alone' intact
    check '... the summary' lines "$times" err \
        '1 eligible call of MPI_Allreduce, 1 rewritten'
}
closed late 1 'a file gets the number of standard error'
closed early 1 '... before MPI_Init'
closed all 0 '... and the duplicate is closed'
rm -f checkpoint.*
job 2 APSMPI_POLICY=good.yaml APSMPI_SUMMARY=json:/dev/stderr \
    APSMPI_LOG=/dev/stderr ./program late
check 'a log and a summary to /dev/stderr: the job ends well' status_is 0
check '... the file of the program has its own bytes alone' intact
check '... the summary reaches standard error' lines 1 err '"kind":"summary"'
job 2 APSMPI_POLICY=good.yaml ./program daemon
check 'a forked child has no duplicate' status_is 0

# The reader of standard error has gone: no signal ends the program.
{
    {
        sleep 0.3
        LD_PRELOAD=$sanitizer$library APSMPI_POLICY=good.yaml ./program
        echo $? >status
    } 2>&1 >out | :
} 2>/dev/null
check 'a pipe without a reader: the program ends well' equal "$(cat status)" 0
check '... to its end' has out trained
finish

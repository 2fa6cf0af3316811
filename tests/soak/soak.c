/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A long job: communicators come and go, calls of changing sizes are blocking,
 * nonblocking and persistent, compressors keep state, and the log is on.
 *
 *     mpiexec -n 2 soak SECONDS
 *
 * Each rank samples its memory, descriptors, mappings and threads between two cycles. A
 * quantity grows if its least sample of the last quarter exceeds its greatest sample of
 * the second quarter, by more than its slack. The first quarter is the warm-up. Prints
 * TAP, and each sample on standard error.
 */
#include "config.h"

#include <dirent.h>
#include <malloc.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpitap.h"

#define SAMPLES 60
#define LONGEST 40000
#define PARTS 4
/* All-reduces of a step: the policy has `steps: {calls: 7}`. */
#define LAYERS (1 + PARTS + 2)
/* Pause after a cycle, in microseconds: an hour's log stays below 2 GiB. */
#define PAUSE 20000

static const int layers[LAYERS] = {3072, 640, 900, 4096, 2500, 1200, 800};
static float in[LONGEST + 64], out[2 * LONGEST + 64];
static unsigned long rewritten;

/* --- samples -------------------------------------------------------------- */

enum { RESIDENT, HEAP, DESCRIPTORS, MAPPINGS, SEGMENTS, THREADS, QUANTITIES };

/* The C library keeps 3.5 MiB of freed memory or gives them back, for many cycles at a
 * time. In a run of some seconds the warm-up goes on in the second quarter. */
static const struct {
    const char *name;
    long slack;
} quantities[QUANTITIES] = {
    {"resident KiB", 6144}, {"allocated KiB", 64}, {"descriptors", 0},
    {"mappings", 0},        {"segments", 0},       {"threads", 0},
};
static long samples[SAMPLES][QUANTITIES];

#if !__GLIBC_PREREQ(2, 33)
#define mallinfo2 mallinfo /* counts in an int */
#endif

static long count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    long count = 0;

    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

static void take_sample(long sample[QUANTITIES])
{
    FILE *status = fopen("/proc/self/status", "re");
    FILE *maps = fopen("/proc/self/maps", "re");
    const struct mallinfo2 used = mallinfo2();
    char line[512];

    memset(sample, 0, QUANTITIES * sizeof *sample);
    sample[HEAP] = (long)((used.uordblks + used.hblkhd) / 1024);
    while (status && fgets(line, sizeof line, status)) {
        (void)sscanf(line, "VmRSS: %ld", &sample[RESIDENT]);
        (void)sscanf(line, "Threads: %ld", &sample[THREADS]);
    }
    while (maps && fgets(line, sizeof line, maps)) {
        sample[MAPPINGS]++;
        sample[SEGMENTS] += strstr(line, "/memfd:apsmpi ") != NULL;
    }
    if (status)
        fclose(status);
    if (maps)
        fclose(maps);
    sample[DESCRIPTORS] = count_descriptors();
}

/* COLLECTIVE. Prints the sample of each rank on rank 0. */
static void print_sample(int i, unsigned long cycles, double hours)
{
    long all[16][QUANTITIES];

    take_sample(samples[i]);
    PMPI_Gather(samples[i], QUANTITIES, MPI_LONG, all, QUANTITIES, MPI_LONG, 0,
                MPI_COMM_WORLD);
    for (int rank = 0; rank < mpitap_size() && mpitap_rank() == 0; rank++) {
        char text[256] = "";

        for (int q = 0; q < QUANTITIES; q++)
            snprintf(text + strlen(text), sizeof text - strlen(text),
                     ", %ld %s", all[rank][q], quantities[q].name);
        diag("%.3f h, %lu cycles, %lu rewritten: rank %d has%s", hours, cycles,
             rewritten, rank, text + 1);
    }
}

static long extreme(int quantity, int first, int end, bool least)
{
    long found = samples[first][quantity];

    for (int i = first; i < end; i++) {
        const long value = samples[i][quantity];

        if (least ? value < found : value > found)
            found = value;
    }
    return found;
}

/* COLLECTIVE. */
static void judge(void)
{
    for (int q = 0; q < QUANTITIES; q++) {
        const long before = extreme(q, SAMPLES / 4, SAMPLES / 2, false);
        const long after = extreme(q, SAMPLES * 3 / 4, SAMPLES, true);

        diag("rank %d, %s: from %ld to %ld", mpitap_rank(), quantities[q].name,
             before, after);
        ok_all(after <= before + quantities[q].slack, "%s: no growth",
               quantities[q].name);
    }
}

/* --- a cycle -------------------------------------------------------------- */

static int draw(int below)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)below);
}

/* A step of blocking calls on MPI_COMM_WORLD. */
static void sum_layers(void)
{
    for (int i = 0; i < LAYERS; i++, rewritten++)
        MPI_Allreduce(in + i, out, layers[i], MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
}

/* A step on a communicator, of `count` elements and fewer, and other collectives. */
static void call_all(MPI_Comm comm, int count)
{
    MPI_Request requests[PARTS];
    MPI_Status statuses[PARTS];

    MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, comm);
    for (int i = 0; i < PARTS; i++)
        MPI_Iallreduce(in + i * (count / PARTS), out + i * (count / PARTS),
                       count / PARTS, MPI_FLOAT, MPI_SUM, comm, &requests[i]);
    MPI_Waitall(PARTS, requests, statuses);
    MPI_Allgather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, comm);
    MPI_Reduce_scatter_block(in, out, count / 2, MPI_FLOAT, MPI_SUM, comm);
    MPI_Reduce(in, out, count, MPI_FLOAT, MPI_SUM, 0, comm);
    MPI_Bcast(out, count, MPI_FLOAT, 0, comm);
    rewritten += 1 + PARTS + 4;
#ifdef HAVE_PMPI_ALLREDUCE_INIT
    {
        MPI_Info info = mpitap_strict_order();

        MPI_Allreduce_init(in, out, count, MPI_FLOAT, MPI_SUM, comm, info,
                           &requests[0]);
        for (int i = 0; i < 2; i++, rewritten++) {
            MPI_Start(&requests[0]);
            MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&requests[0]);
        MPI_Info_free(&info);
    }
#endif
}

/* The first cycle has the largest calls, for which buffers are allocated. */
static void run_cycle(bool first)
{
    const int count = first ? LONGEST : 256 + 4 * draw((LONGEST - 256) / 4);
    const struct timespec pause = {.tv_nsec = PAUSE * 1000L};
    MPI_Comm comm, split;

    for (int i = 0; i < 64; i++)
        in[draw(LONGEST)] = (float)(draw(2001) - 1000) / 256;
    sum_layers();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_split(comm, 0, -mpitap_rank(), &split);
    call_all(comm, 256 + 4 * draw(500));
    call_all(split, count);
    MPI_Comm_free(&comm);
    call_all(split, count);
    MPI_Comm_free(&split);
    if (draw(50) == 0)
        MPI_Pcontrol(4);
    nanosleep(&pause, NULL);
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? strtod(argv[1], NULL) : 10;
    unsigned long cycles = 0;
    double begin, now = 0;
    int status;

    MPI_Init(&argc, &argv);
    mpitap_begin();
    begin = MPI_Wtime();
    for (int i = 0; i < SAMPLES; i++) {
        do {
            run_cycle(cycles++ == 0);
            now = MPI_Wtime() - begin;
            PMPI_Bcast(&now, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        } while (now < seconds * (i + 1) / SAMPLES);
        print_sample(i, cycles, now / 3600);
    }
    judge();
    expect_rewritten(rewritten);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

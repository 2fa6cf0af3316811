/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of long vectors, by two threads on two communicators at the same time.
 * Rank 0 prints a hash of the results, which t-divided.sh compares between
 * numbers of threads. There each count has a rule of its own.
 */
#include "config.h"

#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpitap.h"

#define COUNT 300000 /* and a few more */
#define COUNTS 8
#define TIMES 3

struct caller {
    MPI_Comm comm;
    float *in, *out;
    uint64_t hash; /* FNV-1a of all results */
    bool good;
};

static void add_to_hash(struct caller *caller, int count)
{
    const unsigned char *bytes = (const unsigned char *)caller->out;

    for (size_t i = 0; i < (size_t)count * sizeof *caller->out; i++)
        caller->hash = (caller->hash ^ bytes[i]) * 1099511628211u;
}

static void *call(void *argument)
{
    struct caller *caller = argument;
    uint32_t random = (uint32_t)mpitap_rank() + 1;

    for (int i = 0; i < COUNTS * TIMES && caller->good; i++) {
        const int count = COUNT + i % COUNTS;

        for (int k = 0; k < count; k++) {
            random = random * 1664525u + 1013904223u;
            caller->in[k] = ((float)(random >> 8) - 8388608) *
                            (k % 97 == 0 ? 1e-5f : 1e-9f);
        }
        caller->good = MPI_Allreduce(caller->in, caller->out, count, MPI_FLOAT,
                                     MPI_SUM, caller->comm) == MPI_SUCCESS;
        add_to_hash(caller, count);
    }
    return NULL;
}

static bool begin(struct caller *caller)
{
    caller->hash = 14695981039346656037u;
    caller->in = malloc((COUNT + COUNTS) * sizeof *caller->in);
    caller->out = malloc((COUNT + COUNTS) * sizeof *caller->out);
    caller->good = caller->in && caller->out;
    if (!caller->good ||
        MPI_Comm_dup(MPI_COMM_WORLD, &caller->comm) != MPI_SUCCESS)
        return false;
    /* The first sum gives the communicator its number, on which random bits
     * depend. */
    for (int k = 0; k < COUNT; k++)
        caller->in[k] = 1;
    return MPI_Allreduce(caller->in, caller->out, COUNT, MPI_FLOAT, MPI_SUM,
                         caller->comm) == MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    struct caller callers[2];
    uint64_t hashes[2];
    pthread_t thread;
    bool good, together;
    int level, status;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    mpitap_begin();
    good = begin(&callers[0]);
    good = begin(&callers[1]) && good;
    if (!good_on_all(good))
        bail_out("no memory or no communicator");
    together = level == MPI_THREAD_MULTIPLE &&
               pthread_create(&thread, NULL, call, &callers[1]) == 0;
    call(&callers[0]);
    if (together)
        pthread_join(thread, NULL);
    else
        call(&callers[1]);
    for (int i = 0; i < 2; i++) {
        hashes[i] = callers[i].hash;
        ok_all(callers[i].good, "communicator %d: all calls succeed", i);
        MPI_Comm_free(&callers[i].comm);
        free(callers[i].in);
        free(callers[i].out);
    }
    ok_all(same_on_all(hashes, sizeof hashes), "all ranks have the same bits");
    if (mpitap_rank() == 0)
        printf("# hash: %016llx %016llx\n", (unsigned long long)hashes[0],
               (unsigned long long)hashes[1]);
    status = mpitap_end();
    MPI_Finalize();
    return status;
}

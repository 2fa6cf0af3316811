/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "comm/sample.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "message/messages.h"

/* Totals of a measure, which the ranks merge on rank 0. */
struct totals {
    uint64_t counts[6];
    double sums[3];
    double max_relative;
};

/* Number of elements of one message. */
#define CHUNK (32 * 1024)

int aps_sample_init(struct aps_sample *sample)
{
    if (!sample->chunk)
        sample->chunk = malloc(CHUNK * sizeof *sample->chunk);
    if (!sample->partial)
        sample->partial = malloc(CHUNK * sizeof *sample->partial);
    if (!sample->copy)
        sample->copy = malloc(CHUNK * sizeof *sample->copy);
    return sample->chunk && sample->partial && sample->copy ? 0 : -1;
}

void aps_sample_clear(struct aps_sample *sample)
{
    free(sample->chunk);
    free(sample->partial);
    free(sample->copy);
    free(sample->reference);
    *sample = (struct aps_sample){0};
}

int aps_sample_reserve(struct aps_sample *sample, size_t n)
{
    double *bigger;

    if (n <= sample->capacity)
        return 0;
    if (n < CHUNK) /* at least one message */
        n = CHUNK;
    bigger = realloc(sample->reference, n * sizeof *bigger);
    if (!bigger)
        return -1;
    sample->reference = bigger;
    sample->capacity = n;
    return 0;
}

static size_t sample_length_at(size_t begin, size_t n)
{
    return n - begin < CHUNK ? n - begin : CHUNK;
}

/* Returns x if it is in host memory; otherwise copies x[n], n <= CHUNK, to host
 * memory and returns the copy. */
static const float *sample_on_host(const struct aps_sample *sample,
                                   const struct aps_memory *memory,
                                   const void *x, size_t n)
{
    if (memory == &aps_memory_host)
        return x;
    memory->copy_out(sample->copy, x, n);
    return sample->copy;
}

/* COLLECTIVE over vcomm. The ranks merge their `mine` along a binomial tree, in
 * which the number of a rank is its distance from the root. On the root `mine`
 * is the result; on the others it is overwritten. `theirs` is scratch of the
 * same size. *outcome is as in messages.h. */
static void sample_reduce(const struct aps_vcomm *vcomm, int root, void *mine,
                          void *theirs, size_t size,
                          void (*merge)(void *mine, const void *theirs,
                                        size_t size),
                          int *outcome)
{
    MPI_Request request;
    MPI_Status status;
    int expected;
    struct aps_messages messages = {
        .vcomm = vcomm,
        .requests = &request,
        .statuses = &status,
        .sizes = &expected,
        .capacity = 1,
        .outcome = outcome,
    };
    const int ranks = vcomm->size;
    const int number = (vcomm->rank + ranks - root) % ranks;

    for (int bit = 1; bit < ranks; bit <<= 1) {
        if (number & bit) {
            aps_messages_send(&messages, mine, size,
                              (number - bit + root) % ranks, APS_TAG_SAMPLE);
            (void)aps_messages_wait(&messages);
            return;
        }
        if (number + bit >= ranks)
            continue;
        aps_messages_receive(&messages, theirs, size,
                             (number + bit + root) % ranks, APS_TAG_SAMPLE);
        if (aps_messages_wait(&messages) == MPI_SUCCESS)
            merge(mine, theirs, size);
    }
}

static void sample_add(void *mine, const void *theirs, size_t size)
{
    const double *other = theirs;
    double *sum = mine;

    for (size_t i = 0; i < size / sizeof *sum; i++)
        sum[i] += other[i];
}

int aps_sample_reference(struct aps_sample *sample,
                         const struct aps_vcomm *vcomm, int root,
                         const struct aps_memory *memory, const void *in,
                         size_t n, int *ready)
{
    const bool keeps = vcomm->rank == root;
    int outcome = MPI_SUCCESS;
    int room = 1;

    if (keeps)
        room = aps_sample_reserve(sample, n) == 0;
    for (size_t begin = 0; begin < n; begin += CHUNK) {
        const size_t length = sample_length_at(begin, n);
        const float *values = sample_on_host(
            sample, memory, aps_memory_at(memory, in, begin), length);
        /* The root sums into the reference, or into the chunk if it has no
         * memory for the reference: the other ranks then send the same
         * messages. */
        double *mine =
            keeps && room ? sample->reference + begin : sample->chunk;

        for (size_t i = 0; i < length; i++)
            mine[i] = values[i];
        sample_reduce(vcomm, root, mine, sample->partial, length * sizeof *mine,
                      sample_add, &outcome);
    }
    *ready = room && outcome == MPI_SUCCESS;
    return outcome;
}

void aps_sample_exponents(const struct aps_sample *sample,
                          const struct aps_memory *memory, const void *x,
                          size_t n, struct aps_binades *binades)
{
    for (size_t begin = 0; begin < n; begin += CHUNK) {
        const size_t length = sample_length_at(begin, n);

        aps_binades_add(binades,
                        sample_on_host(sample, memory,
                                       aps_memory_at(memory, x, begin), length),
                        length);
    }
}

void aps_sample_keep(struct aps_sample *sample, const struct aps_memory *memory,
                     const void *in, size_t n, int *ready)
{
    *ready = aps_sample_reserve(sample, n) == 0;
    for (size_t begin = 0; begin < n && *ready; begin += CHUNK) {
        const size_t length = sample_length_at(begin, n);
        const float *values = sample_on_host(
            sample, memory, aps_memory_at(memory, in, begin), length);

        for (size_t i = 0; i < length; i++)
            sample->reference[begin + i] = values[i];
    }
}

static void sample_merge_totals(void *mine, const void *theirs, size_t size)
{
    const struct totals *other = theirs;
    struct totals *totals = mine;

    (void)size;
    for (int i = 0; i < 6; i++)
        totals->counts[i] += other->counts[i];
    for (int i = 0; i < 3; i++)
        totals->sums[i] += other->sums[i];
    if (other->max_relative > totals->max_relative)
        totals->max_relative = other->max_relative;
}

int aps_sample_merge(const struct aps_vcomm *vcomm, struct aps_measure *measure,
                     int *ready)
{
    struct totals theirs;
    struct totals totals = {
        .counts = {measure->compared, measure->skipped, measure->underflow,
                   measure->overflow, measure->nonfinite, !*ready},
        .sums = {measure->sum_relative, measure->sum_error2,
                 measure->sum_reference2},
        .max_relative = measure->max_relative,
    };
    int outcome = MPI_SUCCESS;

    sample_reduce(vcomm, 0, &totals, &theirs, sizeof totals,
                  sample_merge_totals, &outcome);

    measure->compared = totals.counts[0];
    measure->skipped = totals.counts[1];
    measure->underflow = totals.counts[2];
    measure->overflow = totals.counts[3];
    measure->nonfinite = totals.counts[4];
    measure->sum_relative = totals.sums[0];
    measure->sum_error2 = totals.sums[1];
    measure->sum_reference2 = totals.sums[2];
    measure->max_relative = totals.max_relative;
    *ready = totals.counts[5] == 0 && outcome == MPI_SUCCESS;
    return outcome;
}

void aps_sample_compare(const struct aps_sample *sample,
                        const struct aps_memory *memory, const void *out,
                        size_t n, struct aps_measure *measure)
{
    *measure = (struct aps_measure){0};
    for (size_t begin = 0; begin < n; begin += CHUNK) {
        const size_t length = sample_length_at(begin, n);

        aps_measure_add(measure, sample->reference + begin,
                        sample_on_host(sample, memory,
                                       aps_memory_at(memory, out, begin),
                                       length),
                        length);
    }
}

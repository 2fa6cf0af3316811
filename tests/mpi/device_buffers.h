/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers on the host and in GPU memory for the calls of device.c, and whether
 * a call has left in them what it has to.
 */
#ifndef APS_TEST_DEVICE_BUFFERS_H
#define APS_TEST_DEVICE_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Way i of device.c's policy has the counts from i * STEP + 1 on, and some from
 * LONG + i * STEP on. */
#define WAYS 23
#define STEP 1000
#define LONG 300000
#define MOST (LONG + STEP * (WAYS + 1))

/* Who has what where. */
enum where {
    DEVICE,    /* both buffers */
    TO_HOST,   /* the send buffer only */
    FROM_HOST, /* the other only */
    SOME,      /* odd ranks have none of both */
    IN_PLACE,
    SOME_IN_PLACE, /* on odd ranks; the others have them in managed memory */
    MANAGED,
    WHERES
};
extern const char *const where_names[WHERES];

extern int rank, ranks;
extern float *in, *expected, *got; /* [MOST], got: [MOST + 2] */
extern float *device_in, *device_out, *managed_in, *managed_out; /* [MOST] */
extern float host_send[MOST], host_receive[MOST];

/* put goes by the legacy stream, as programs with cudaMemcpy do it. */
extern bool puts_by_legacy;

/* Copies of bytes: `to` of put and `from` of get may be in GPU memory. */
void put(void *to, const void *from, size_t bytes);
void get(void *to, const void *from, size_t bytes);

/* What the ranks send and receive in, with a shift of some elements. */
struct buffers {
    float *send; /* NULL: in place */
    float *receive;
};

struct buffers buffers_of(enum where where, size_t shift);

/* The send buffer, or MPI_IN_PLACE. */
const void *send_of(const struct buffers *buffers);

/* in[sent] to where a call reads it; a pattern where it writes received
 * elements, with one element before and behind. */
void lay_out(const struct buffers *buffers, size_t sent, size_t received);

/* Did the call leave expected[received], and all else alone? */
bool check(const struct buffers *buffers, size_t sent, size_t received);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers on the host and in GPU memory for the calls of device.c, and checks
 * of a call's results.
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

/* Ranks and buffers that are in GPU memory. */
enum where {
    DEVICE,    /* both buffers */
    TO_HOST,   /* the send buffer only */
    FROM_HOST, /* the receive buffer only */
    SOME,      /* both buffers, on even ranks */
    IN_PLACE,
    SOME_IN_PLACE, /* on odd ranks; the other ranks have managed memory */
    MANAGED,
    WHERES
};
extern const char *const where_names[WHERES];

extern int rank, ranks;
extern float *in, *expected, *got; /* [MOST], got: [MOST + 2] */
extern float *device_in, *device_out, *managed_in, *managed_out; /* [MOST] */
extern float host_send[MOST], host_receive[MOST];

/* put uses the legacy stream, as programs with cudaMemcpy do. */
extern bool puts_by_legacy;

/* Copy bytes: `to` of put and `from` of get may be in GPU memory. */
void put(void *to, const void *from, size_t bytes);
void get(void *to, const void *from, size_t bytes);

/* Buffers of a call's ranks, shifted by some elements. */
struct buffers {
    float *send; /* NULL: in place */
    float *receive;
};

struct buffers buffers_of(enum where where, size_t shift);

/* Returns the send buffer, or MPI_IN_PLACE. */
const void *send_of(const struct buffers *buffers);

/* Copies in[sent] to the buffer that a call reads, and a pattern to the
 * elements that it writes, and to one element before and after them. */
void lay_out(const struct buffers *buffers, size_t sent, size_t received);

/* True if the call left expected[received], and changed nothing else. */
bool check(const struct buffers *buffers, size_t sent, size_t received);

#endif

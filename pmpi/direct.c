/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "direct.h"

#include <stdlib.h>

#include "scale/scale.h"
#include "wait.h"

enum { TAG_CONTRIBUTION = 1, TAG_RESULT = 2 };

struct aps_direct {
    MPI_Comm comm;
    int rank;
    int size;
    size_t chunk;
    size_t stride;           /* bytes between blocks in the scratch */
    unsigned char *outgoing; /* [size]: our contribution to each slice */
    unsigned char *incoming; /* [size]: each rank's contribution to ours */
    unsigned char *result;   /* [size]: every slice's sum, for `direct` alone */
    float *sum;              /* our slice */
    MPI_Request *requests;   /* [2 * size] */
};

struct aps_direct *aps_direct_create(MPI_Comm comm, size_t chunk)
{
    struct aps_direct *direct = calloc(1, sizeof *direct);
    size_t longest;

    if (!direct)
        return NULL;
    direct->comm = comm;
    direct->chunk = chunk;
    PMPI_Comm_rank(comm, &direct->rank);
    PMPI_Comm_size(comm, &direct->size);
    longest = aps_slice_longest(chunk, direct->size);
    /* The widest format is FP32; a cache line keeps neighbours apart. */
    direct->stride = sizeof(struct aps_block_header) + longest * sizeof(float);
    direct->stride = (direct->stride + 63) / 64 * 64;
    direct->outgoing = malloc(direct->stride * (size_t)direct->size);
    direct->incoming = malloc(direct->stride * (size_t)direct->size);
    direct->result = malloc(direct->stride * (size_t)direct->size);
    direct->sum = malloc(longest * sizeof *direct->sum + 1);
    direct->requests =
        malloc(2 * (size_t)direct->size * sizeof *direct->requests);
    if (!direct->outgoing || !direct->incoming || !direct->result ||
        !direct->sum || !direct->requests) {
        aps_direct_destroy(direct);
        return NULL;
    }
    return direct;
}

void aps_direct_destroy(struct aps_direct *direct)
{
    if (!direct)
        return;
    free(direct->outgoing);
    free(direct->incoming);
    free(direct->result);
    free(direct->sum);
    free(direct->requests);
    free(direct);
}

int aps_direct_exponent(struct aps_direct *direct, const struct aps_wire *wire,
                        float max, int *exponent)
{
    int mine = aps_scale_max_exponent(max, direct->size);
    int greatest = mine;
    MPI_Request request;
    int rc;

    rc = PMPI_Iallreduce(&mine, &greatest, 1, MPI_INT, MPI_MAX, direct->comm,
                         &request);
    if (rc == MPI_SUCCESS)
        rc = aps_wait_requests(1, &request);
    *exponent = aps_scale_aps(&wire->codec.format, greatest);
    return rc;
}

/* Post a receive from the peer and a send to it; 0 bytes: none. */
static int post(struct aps_direct *direct, int tag, int peer,
                unsigned char *receive, size_t receive_bytes,
                const unsigned char *send, size_t send_bytes, int *posted)
{
    int rc = MPI_SUCCESS;

    if (receive_bytes > 0) {
        rc = PMPI_Irecv(receive, (int)receive_bytes, MPI_BYTE, peer, tag,
                        direct->comm, &direct->requests[*posted]);
        *posted += rc == MPI_SUCCESS;
    }
    if (rc == MPI_SUCCESS && send_bytes > 0) {
        rc = PMPI_Isend(send, (int)send_bytes, MPI_BYTE, peer, tag,
                        direct->comm, &direct->requests[*posted]);
        *posted += rc == MPI_SUCCESS;
    }
    return rc;
}

/*
 * Complete what was posted. After an error nothing may stay behind that would
 * write into the scratch later, or catch the messages of the next call.
 */
static int complete(struct aps_direct *direct, int rc, int posted)
{
    if (rc == MPI_SUCCESS)
        rc = aps_wait_requests(posted, direct->requests);
    if (rc == MPI_SUCCESS)
        return MPI_SUCCESS;
    for (int i = 0; i < posted; i++) {
        if (direct->requests[i] == MPI_REQUEST_NULL)
            continue;
        PMPI_Cancel(&direct->requests[i]);
        PMPI_Request_free(&direct->requests[i]);
    }
    return rc;
}

/* Bytes of a slice's block; an empty slice sends nothing. */
static size_t slice_bytes(const struct aps_wire *wire, struct aps_slice slice)
{
    return slice.length > 0 ? aps_block_bytes(wire, slice.length) : 0;
}

/* Every rank's contribution to every slice goes to the slice's owner. */
static int scatter(struct aps_direct *direct, const struct aps_wire *wire,
                   const struct aps_memory *memory, const float *in, size_t n,
                   int exponent, struct aps_cost *cost)
{
    const int size = direct->size;
    const struct aps_slice own = aps_slice_of(n, size, direct->rank);
    int posted = 0;
    int rc = MPI_SUCCESS;

    for (int i = 1; i < size && rc == MPI_SUCCESS; i++) {
        int peer = (direct->rank + size - i) % size;

        rc = post(direct, TAG_CONTRIBUTION, peer,
                  direct->incoming + (size_t)peer * direct->stride,
                  slice_bytes(wire, own), NULL, 0, &posted);
    }
    for (int i = 1; i <= size && rc == MPI_SUCCESS; i++) {
        int peer = (direct->rank + i) % size;
        struct aps_slice slice = aps_slice_of(n, size, peer);
        bool ours = peer == direct->rank;
        unsigned char *block =
            (ours ? direct->incoming : direct->outgoing) +
            (size_t)peer * direct->stride;

        if (slice.length == 0)
            continue;
        aps_cost_note(cost, aps_block_encode(wire, memory, in + slice.begin,
                                             slice.length, exponent, block));
        if (ours)
            continue;
        rc = post(direct, TAG_CONTRIBUTION, peer, NULL, 0, block,
                  slice_bytes(wire, slice), &posted);
        aps_cost_add(cost, wire, slice.length, 1);
    }
    return complete(direct, rc, posted);
}

/* Every owner's encoded sum goes to all. */
static int gather(struct aps_direct *direct, const struct aps_wire *wire,
                  size_t n, unsigned char *blocks, size_t stride,
                  struct aps_cost *cost)
{
    const int size = direct->size;
    const struct aps_slice own = aps_slice_of(n, size, direct->rank);
    int posted = 0;
    int rc = MPI_SUCCESS;

    for (int i = 1; i < size && rc == MPI_SUCCESS; i++) {
        int peer = (direct->rank + i) % size;

        rc = post(direct, TAG_RESULT, peer, blocks + (size_t)peer * stride,
                  slice_bytes(wire, aps_slice_of(n, size, peer)),
                  blocks + (size_t)direct->rank * stride,
                  slice_bytes(wire, own), &posted);
    }
    aps_cost_add(cost, wire, own.length, size - 1);
    return complete(direct, rc, posted);
}

int aps_direct_exchange(struct aps_direct *direct, const struct aps_wire *wire,
                        const struct aps_memory *memory, const float *in,
                        size_t n, int exponent, unsigned char *blocks,
                        size_t stride, struct aps_cost *cost)
{
    const struct aps_slice own = aps_slice_of(n, direct->size, direct->rank);
    int rc = scatter(direct, wire, memory, in, n, exponent, cost);

    if (rc != MPI_SUCCESS)
        return rc;
    if (own.length > 0) {
        for (int i = 0; i < direct->size; i++)
            aps_block_sum(wire, i, direct->incoming + (size_t)i * direct->stride,
                          own.length, direct->sum);
        aps_block_encode(wire, &aps_memory_host, direct->sum, own.length,
                         exponent, blocks + (size_t)direct->rank * stride);
    }
    return gather(direct, wire, n, blocks, stride, cost);
}

int aps_direct_run(struct aps_direct *direct, const struct aps_wire *wire,
                   const float *in, float *out, size_t n,
                   struct aps_cost *cost)
{
    int rc = MPI_SUCCESS;
    int exponent = 0;

    if (wire->scale == APS_SCALE_APS)
        rc = aps_direct_exponent(direct, wire, wire->memory->max_finite(in, n),
                                 &exponent);
    for (size_t begin = 0; begin < n && rc == MPI_SUCCESS;
         begin += direct->chunk) {
        size_t length = n - begin < direct->chunk ? n - begin : direct->chunk;

        rc = aps_direct_exchange(direct, wire, wire->memory, in + begin, length,
                                 exponent, direct->result, direct->stride,
                                 cost);
        for (int i = 0; i < direct->size && rc == MPI_SUCCESS; i++) {
            struct aps_slice slice = aps_slice_of(length, direct->size, i);

            if (slice.length > 0)
                aps_block_decode(wire, wire->memory,
                                 direct->result + (size_t)i * direct->stride,
                                 slice.length, out + begin + slice.begin);
        }
    }
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "message/agree.h"

#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "base/message.h"
#include "native/error_text.h"
#include "message/messages.h"
#include "message/wait.h"

/* --- messages ------------------------------------------------------------- */

static void agree_combine_max(void *values, const void *theirs, size_t size)
{
    const int *other = theirs;
    int *mine = values;

    for (size_t i = 0; i < size / sizeof *mine; i++)
        if (other[i] > mine[i])
            mine[i] = other[i];
}

static void agree_combine_or(void *values, const void *theirs, size_t size)
{
    const unsigned char *other = theirs;
    unsigned char *mine = values;

    for (size_t i = 0; i < size; i++)
        mine[i] |= other[i];
}

/* Returns the checksum of bytes[size] (FNV-1a). A damaged value would lead ranks
 * to other decisions, in which they wait for each other. */
static uint32_t agree_checksum(const unsigned char *bytes, size_t size)
{
    uint32_t sum = 2166136261u;

    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * 16777619u;
    return sum;
}

/* Writes the message. After an error its checksum is wrong, so that the
 * agreement fails on the receivers, too. */
static void agree_seal(struct aps_agreement *agreement)
{
    unsigned char *bytes = agreement->mine.bytes;
    uint32_t sum = agree_checksum(agreement->values, agreement->size);

    sum ^= agreement->rc != MPI_SUCCESS;
    memcpy(bytes, agreement->values, agreement->size);
    memcpy(bytes + agreement->size, &sum, sizeof sum);
}

/* Combines the values with those of a message, if there was no error. */
static void agree_open(struct aps_agreement *agreement, int place)
{
    const unsigned char *bytes = agreement->theirs[place].bytes;
    uint32_t sum;

    if (agreement->rc != MPI_SUCCESS)
        return;
    memcpy(&sum, bytes + agreement->size, sizeof sum);
    if (sum == agree_checksum(bytes, agreement->size))
        agreement->combine(agreement->values, bytes, agreement->size);
    else
        agreement->rc = MPI_ERR_OTHER;
}

static void agree_posted(struct aps_agreement *agreement, int rc)
{
    if (rc == MPI_SUCCESS)
        agreement->count++;
    else if (agreement->rc == MPI_SUCCESS)
        agreement->rc = rc;
}

static size_t agree_message_bytes(const struct aps_agreement *agreement)
{
    return agreement->size + sizeof(uint32_t);
}

static void agree_send(struct aps_agreement *agreement, int to)
{
    agree_posted(agreement,
                 aps_message_send(agreement->vcomm, agreement->mine.bytes,
                                  agree_message_bytes(agreement), to,
                                  agreement->tag,
                                  &agreement->requests[agreement->count]));
}

static void agree_receive(struct aps_agreement *agreement, int from, int place)
{
    agree_posted(agreement,
                 aps_message_receive(
                     agreement->vcomm, agreement->theirs[place].bytes,
                     agree_message_bytes(agreement), from, agreement->tag,
                     &agreement->requests[agreement->count]));
}

/* Most requests that are completed together. */
#define AGREE_REQUESTS (2 * APS_AGREEMENT_DIRECT)
_Static_assert(AGREE_REQUESTS >= 8 * sizeof(int), "a broadcast's requests fit");

/* Completes the requests, some of which may be MPI_REQUEST_NULL. The first
 * `receives` of them bring `bytes` bytes in all, or MPI_ERR_OTHER is an error of
 * the sender. `rc` is the first error so far. Completes messages under way also
 * after an error, since the next agreement must not receive them. */
static int agree_complete(int count, MPI_Request requests[], int receives,
                          size_t bytes, int rc)
{
    MPI_Status statuses[AGREE_REQUESTS];
    const int waited =
        count > 0 ? aps_wait_statuses(count, requests, statuses) : MPI_SUCCESS;
    size_t all = 0;
    int came;

    for (int i = 0; i < receives && rc == MPI_SUCCESS && waited == MPI_SUCCESS;
         i++) {
        rc = PMPI_Get_count(&statuses[i], MPI_BYTE, &came);
        all += (size_t)came;
    }
    if (rc == MPI_SUCCESS && waited == MPI_SUCCESS && all != bytes)
        rc = MPI_ERR_OTHER;
    for (int i = 0; i < count && waited != MPI_SUCCESS; i++) {
        if (requests[i] == MPI_REQUEST_NULL)
            continue;
        PMPI_Cancel(&requests[i]);
        PMPI_Request_free(&requests[i]);
    }
    return rc == MPI_SUCCESS ? waited : rc;
}

/* Completes a round, in which `receives` values arrive. */
static void agree_wait(struct aps_agreement *agreement, int receives)
{
    if (agreement->rc != MPI_SUCCESS)
        receives = 0; /* some may not have been posted */
    agreement->rc = agree_complete(
        agreement->count, agreement->requests, receives,
        (size_t)receives * agree_message_bytes(agreement), agreement->rc);
    agreement->count = 0;
}

/* --- one agreement -------------------------------------------------------- */

static bool agree_is_direct(const struct aps_agreement *agreement)
{
    return agreement->vcomm->size <= APS_AGREEMENT_DIRECT;
}

/* One round for more than APS_AGREEMENT_DIRECT ranks. After the round of
 * distance d each rank has combined the values of the 2 d ranks up to its own.
 * Combining a value twice changes neither MAX nor OR. */
static void agree_post_round(struct aps_agreement *agreement, int distance)
{
    const int rank = agreement->vcomm->rank, size = agreement->vcomm->size;

    agree_seal(agreement);
    agree_receive(agreement, (rank + size - distance) % size, 0);
    agree_send(agreement, (rank + distance) % size);
}

static void agree_post(struct aps_agreement *agreement)
{
    const int rank = agreement->vcomm->rank, size = agreement->vcomm->size;

    agreement->count = 0;
    agreement->rc = aps_messages_lost();
    if (!agree_is_direct(agreement)) {
        agree_post_round(agreement, 1);
        return;
    }
    agree_seal(agreement);
    for (int i = 1; i < size; i++)
        agree_receive(agreement, (rank + size - i) % size, i - 1);
    for (int i = 1; i < size; i++)
        agree_send(agreement, (rank + i) % size);
}

/* Also after an error, since other ranks wait for this rank. */
int aps_agreement_end(struct aps_agreement *agreement)
{
    const int size = agreement->vcomm->size;

    agree_wait(agreement, agree_is_direct(agreement) ? size - 1 : 1);
    if (agree_is_direct(agreement)) {
        for (int i = 0; i < size - 1; i++)
            agree_open(agreement, i);
        return agreement->rc;
    }
    for (int distance = 1;;) {
        agree_open(agreement, 0);
        distance *= 2;
        if (distance >= size)
            return agreement->rc;
        agree_post_round(agreement, distance);
        agree_wait(agreement, 1);
    }
}

int aps_agreement_begin(struct aps_agreement *agreement,
                        const struct aps_vcomm *vcomm, enum aps_tag tag,
                        int count, int values[])
{
    agreement->vcomm = vcomm;
    agreement->tag = tag;
    agreement->combine = agree_combine_max;
    agreement->values = values;
    agreement->size = (size_t)count * sizeof *values;
    agree_post(agreement);
    return agreement->rc;
}

/* Agrees on any number of bytes, by one agreement after another. */
static int agree_agree(const struct aps_vcomm *vcomm, void *values, size_t size,
                       void (*combine)(void *, const void *, size_t))
{
    struct aps_agreement agreement;
    unsigned char *next = values;
    int rc = MPI_SUCCESS;

    agreement.vcomm = vcomm;
    agreement.tag = APS_TAG_AGREEMENT;
    agreement.combine = combine;
    for (; size > 0; size -= agreement.size) {
        int now;

        agreement.values = next;
        agreement.size =
            size < APS_AGREEMENT_BYTES ? size : APS_AGREEMENT_BYTES;
        agree_post(&agreement);
        now = aps_agreement_end(&agreement);
        rc = rc == MPI_SUCCESS ? now : rc;
        next += agreement.size;
    }
    return rc;
}

/* --- what ranks agree on -------------------------------------------------- */

int aps_agree_max(const struct aps_vcomm *vcomm, int count, int values[])
{
    return agree_agree(vcomm, values, (size_t)count * sizeof *values,
                       agree_combine_max);
}

void aps_agree_cores(const struct aps_vcomm *vcomm)
{
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    (void)sched_getaffinity(0, sizeof cpus, &cpus);
    if (agree_agree(vcomm, &cpus, sizeof cpus, agree_combine_or) == MPI_SUCCESS)
        aps_wait_set_ranks(vcomm->size, CPU_COUNT(&cpus));
}

int aps_agree_all(const struct aps_vcomm *vcomm, bool *good)
{
    int bad = !*good;
    const int rc = aps_agree_max(vcomm, 1, &bad);

    *good = rc == MPI_SUCCESS && !bad;
    return rc;
}

/* Compares bytes[size], which should be the same on all ranks now, by a checksum. After
 * an error `rc` of this rank all ranks fail. */
static int agree_compare(const struct aps_vcomm *vcomm, const void *bytes,
                         size_t size, int rc)
{
    const int sum =
        rc == MPI_SUCCESS ? (int)(agree_checksum(bytes, size) >> 1) : -1;
    int sums[2] = {sum, -sum};
    const int now = aps_agree_max(vcomm, 2, sums);

    if (rc == MPI_SUCCESS)
        rc = now;
    return rc == MPI_SUCCESS && sums[0] != -sums[1] ? MPI_ERR_OTHER : rc;
}

/* Under the sessions model, which has no MPI_COMM_WORLD, every process prints. */
void aps_agree_report_missing(void)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    int initialized = 0, rank = -1;

    if (PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized)
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (aps_agree_rank_reports(rank) && !atomic_flag_test_and_set(&told))
        aps_message(rank,
                    "waits at the first reduction of a communicator for ranks "
                    "that have not come yet; preload the library on all ranks "
                    "of the job");
}

/* Limits a size to a number that an int can count. */
static int agree_part(size_t size)
{
    return size < INT_MAX / 2 ? (int)size : INT_MAX / 2;
}

/* Receives exactly `size` bytes; a rank that does not have them sends fewer,
 * which is an error here. */
static int agree_receive_bytes(const struct aps_vcomm *vcomm, int from,
                               void *bytes, int size)
{
    MPI_Request request;
    MPI_Status status;
    int rc = aps_message_receive(vcomm, bytes, (size_t)size, from,
                                 APS_TAG_AGREEMENT, &request);
    int came = 0;

    if (rc == MPI_SUCCESS)
        rc = aps_wait_statuses(1, &request, &status);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Get_count(&status, MPI_BYTE, &came);
    return rc == MPI_SUCCESS && came != size ? MPI_ERR_OTHER : rc;
}

/* Broadcasts down a binomial tree, in which a rank's number is its distance
 * from the root. A rank receives from the rank whose number lacks its lowest
 * bit, then sends to those with one more bit below that. A rank that failed to
 * receive sends empty messages. */
static int agree_broadcast(const struct aps_vcomm *vcomm, int root, void *bytes,
                           int size)
{
    const int number = (vcomm->rank + vcomm->size - root) % vcomm->size;
    MPI_Request requests[8 * sizeof(int)];
    int rc = MPI_SUCCESS, count = 0, bit = 1;

    while (bit < vcomm->size && !(number & bit))
        bit <<= 1;
    if (number != 0)
        rc = agree_receive_bytes(vcomm, (number - bit + root) % vcomm->size,
                                 bytes, size);
    for (bit >>= 1; bit > 0; bit >>= 1) {
        const int to = (number + bit + root) % vcomm->size;
        int now;

        if (number + bit >= vcomm->size)
            continue;
        now =
            aps_message_send(vcomm, bytes, rc == MPI_SUCCESS ? (size_t)size : 0,
                             to, APS_TAG_AGREEMENT, &requests[count++]);
        rc = rc == MPI_SUCCESS ? now : rc;
    }
    return agree_complete(count, requests, 0, 0, rc);
}

int aps_agree_bytes(const struct aps_vcomm *vcomm, int root, void *bytes,
                    size_t size)
{
    char *next = bytes;
    int rc = MPI_SUCCESS;

    for (size_t left = size; left > 0;) {
        const int part = agree_part(left);
        const int now = agree_broadcast(vcomm, root, next, part);

        rc = rc == MPI_SUCCESS ? now : rc;
        next += part;
        left -= (size_t)part;
    }
    return agree_compare(vcomm, bytes, size, rc);
}

/* Moves values [begin, begin + count), of `each` bytes, to or from rank `peer`.
 * The range wraps at the end of `values`, and then takes two messages. */
static int agree_move(const struct aps_vcomm *vcomm, bool send, int peer,
                      int begin, int count, size_t each, unsigned char *values,
                      MPI_Request requests[])
{
    int rc = MPI_SUCCESS;

    for (int i = 0; i < 2 && count > 0; i++) {
        const int part =
            count < vcomm->size - begin ? count : vcomm->size - begin;
        const size_t size = (size_t)part * each;
        unsigned char *at = values + (size_t)begin * each;
        const int now =
            send ? aps_message_send(vcomm, at, size, peer, APS_TAG_AGREEMENT,
                                    &requests[i])
                 : aps_message_receive(vcomm, at, size, peer, APS_TAG_AGREEMENT,
                                       &requests[i]);

        rc = rc == MPI_SUCCESS ? now : rc;
        count -= part;
        begin = 0;
    }
    return rc;
}

/* Before the round of distance d a rank has the values of the d ranks from its
 * own on. A rank sends and receives to the end also after an error, although
 * some of its values are then undefined. */
int aps_agree_gather_bytes(const struct aps_vcomm *vcomm, size_t each,
                           void *values)
{
    const int rank = vcomm->rank, size = vcomm->size;
    int rc = MPI_SUCCESS;

    for (int distance = 1; distance < size; distance *= 2) {
        const int count =
            distance < size - distance ? distance : size - distance;
        const int next = (rank + distance) % size;
        MPI_Request requests[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                                   MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        int now =
            agree_move(vcomm, false, next, next, count, each, values, requests);

        rc = rc == MPI_SUCCESS ? now : rc;
        now = agree_move(vcomm, true, (rank + size - distance) % size, rank,
                         count, each, values, requests + 2);
        rc = agree_complete(4, requests, 2, (size_t)count * each,
                            rc == MPI_SUCCESS ? now : rc);
    }
    return agree_compare(vcomm, values, (size_t)size * each, rc);
}

int aps_agree_cause(const struct aps_vcomm *vcomm, char *text, size_t size)
{
    /* The MAX of the negated rank is the lowest rank that has a text. */
    int lowest = text[0] != '\0' ? -vcomm->rank : INT_MIN;
    int rc = aps_agree_max(vcomm, 1, &lowest);

    if (rc != MPI_SUCCESS || lowest == INT_MIN)
        return rc;
    if (lowest > 0 || lowest <= -vcomm->size)
        return MPI_ERR_OTHER; /* not a rank */
    rc = aps_agree_bytes(vcomm, -lowest, text, size);
    text[size - 1] = '\0';
    return rc;
}

/* --- on a communicator of the program ------------------------------------- */

int aps_agree_comm_begin(MPI_Comm comm, int count, void *values,
                         MPI_Datatype type, MPI_Op op, MPI_Request *request)
{
    const int rc =
        PMPI_Iallreduce(MPI_IN_PLACE, values, count, type, op, comm, request);
    static atomic_ullong times;
    char text[MPI_MAX_ERROR_STRING];
    int rank = -1;

    if (rc == MPI_SUCCESS ||
        !aps_message_is_due(atomic_fetch_add(&times, 1) + 1))
        return rc;
    PMPI_Comm_rank(comm, &rank);
    aps_message(rank, "MPI_Iallreduce failed in an agreement: %s",
                aps_error_text(rc, text));
    return rc;
}

int aps_agree_comm_all(MPI_Comm comm, bool *good, void (*tell)(void))
{
    MPI_Request request;
    int bad = !*good;
    int rc = aps_agree_comm_begin(comm, 1, &bad, MPI_INT, MPI_MAX, &request);

    if (rc == MPI_SUCCESS)
        rc = aps_wait_requests_telling(1, &request, tell);
    *good = rc == MPI_SUCCESS && !bad;
    return rc;
}

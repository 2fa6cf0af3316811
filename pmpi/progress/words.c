/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "progress/words.h"

#include <stdbool.h>
#include <string.h>

#include "progress/messages.h"
#include "progress/wait.h"

/* What travels; of a rank that misses the exchange, without the word. */
struct letter {
    uint32_t number;
    uint32_t misses;
    _Alignas(8) unsigned char word[APS_WORD_MOST];
};

/* Nothing may be written to the letter later. */
static int words_complete(MPI_Request *request)
{
    const int rc = aps_wait_requests(1, request);

    if (*request != MPI_REQUEST_NULL) {
        PMPI_Cancel(request);
        PMPI_Request_free(request);
    }
    return rc;
}

static int words_send(const struct aps_vcomm *vcomm, enum aps_tag tag,
                      const struct letter *letter, size_t size)
{
    int rc = MPI_SUCCESS;

    for (int i = 1; i < vcomm->size; i++) {
        MPI_Request request;
        int now =
            aps_message_send(vcomm, letter, size,
                             (vcomm->rank + i) % vcomm->size, tag, &request);

        if (now == MPI_SUCCESS)
            now = words_complete(&request);
        rc = rc == MPI_SUCCESS ? now : rc;
    }
    return rc;
}

/* The letter of that number. What a rank has said before, without being heard,
 * comes first. */
static int words_receive(const struct aps_vcomm *vcomm, enum aps_tag tag,
                         int from, uint32_t number, struct letter *letter)
{
    do {
        MPI_Request request;
        int rc = aps_message_receive(vcomm, letter, sizeof *letter, from, tag,
                                     &request);

        if (rc == MPI_SUCCESS)
            rc = words_complete(&request);
        if (rc != MPI_SUCCESS)
            return rc;
    } while (letter->number != number);
    return MPI_SUCCESS;
}

int aps_words_exchange(const struct aps_vcomm *vcomm, enum aps_tag tag,
                       uint32_t number, const void *word, size_t size,
                       aps_words_hear_fn *hear, void *state)
{
    struct letter letter = {.number = number};
    int rc;

    memcpy(letter.word, word, size);
    rc = words_send(vcomm, tag, &letter, offsetof(struct letter, word) + size);
    for (int rank = 0; rank < vcomm->size; rank++) {
        int now = MPI_SUCCESS;

        if (rank == vcomm->rank) {
            hear(state, rank, word);
            continue;
        }
        now = words_receive(vcomm, tag, rank, number, &letter);
        hear(state, rank,
             now == MPI_SUCCESS && !letter.misses ? letter.word : NULL);
        rc = rc == MPI_SUCCESS ? now : rc;
    }
    return rc;
}

void aps_words_miss(const struct aps_vcomm *vcomm, enum aps_tag tag,
                    uint32_t number)
{
    const struct letter letter = {.number = number, .misses = 1};

    (void)words_send(vcomm, tag, &letter, offsetof(struct letter, word));
}

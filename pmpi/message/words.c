/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "message/words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "message/messages.h"
#include "message/wait.h"

/* What travels; of a rank that misses the exchange, without the word. */
struct letter {
    uint32_t number;
    uint32_t misses;
    _Alignas(8) unsigned char word[APS_WORD_MOST];
};

/* Nothing may read or write the letter later. */
static int words_complete(MPI_Request *request)
{
    const int rc = aps_wait_requests(1, request);

    if (*request != MPI_REQUEST_NULL) {
        PMPI_Cancel(request);
        PMPI_Request_free(request);
    }
    return rc;
}

/* A letter on its way to ranks, by the distance to them. */
struct mail {
    struct letter letter;
    struct {
        MPI_Request request;
        bool listens; /* it has told its own word, and will receive this one */
    } to[];
};

/* Send a letter to all other ranks. MPI may need a receiver to send it. A rank without
 * memory (*mail is NULL) sends to one after the other: MPI most likely buffers. */
static int words_send(const struct aps_vcomm *vcomm, enum aps_tag tag,
                      const struct letter *letter, size_t size,
                      struct mail **mail)
{
    int rc = MPI_SUCCESS;

    *mail =
        calloc(1, sizeof **mail + (size_t)vcomm->size * sizeof(*mail)->to[0]);
    if (*mail)
        (*mail)->letter = *letter;
    for (int i = 1; i < vcomm->size; i++) {
        MPI_Request only, *request = *mail ? &(*mail)->to[i].request : &only;
        int now =
            aps_message_send(vcomm, *mail ? &(*mail)->letter : letter, size,
                             (vcomm->rank + i) % vcomm->size, tag, request);

        if (now == MPI_SUCCESS && !*mail)
            now = words_complete(request);
        rc = rc == MPI_SUCCESS ? now : rc;
    }
    return rc;
}

/* Wait for no rank. False: the letter must stay, since MPI has not sent it yet. */
static bool words_let_go(MPI_Request *request)
{
    int done = 1;

    (void)PMPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (*request != MPI_REQUEST_NULL)
        PMPI_Request_free(request);
    return done;
}

/* What is on its way to a rank that may never receive it, which there is after an
 * error only, is left to MPI. */
static int words_end(const struct aps_vcomm *vcomm, struct mail *mail)
{
    bool gone = true;
    int rc = MPI_SUCCESS;

    for (int i = 1; mail && i < vcomm->size; i++) {
        MPI_Request *request = &mail->to[i].request;
        int now = MPI_SUCCESS;

        if (*request == MPI_REQUEST_NULL)
            continue;
        if (mail->to[i].listens)
            now = words_complete(request);
        else
            gone &= words_let_go(request);
        rc = rc == MPI_SUCCESS ? now : rc;
    }
    if (gone)
        free(mail);
    return rc;
}

/* The letter of that number. What a rank has said before, without being heard,
 * comes first, also where MPI finds an error in it. */
static int words_receive(const struct aps_vcomm *vcomm, enum aps_tag tag,
                         int from, uint32_t number, struct letter *letter)
{
    int first = MPI_SUCCESS;

    do {
        MPI_Request request;
        int rc;

        letter->number = number; /* unless it is another one that arrives */
        rc = aps_message_receive(vcomm, letter, sizeof *letter, from, tag,
                                 &request);
        if (rc == MPI_SUCCESS)
            rc = words_complete(&request);
        first = first == MPI_SUCCESS ? rc : first;
    } while (letter->number != number);
    return first;
}

int aps_words_exchange(const struct aps_vcomm *vcomm, enum aps_tag tag,
                       uint32_t number, const void *word, size_t size,
                       aps_words_hear_fn *hear, void *state)
{
    struct letter letter = {.number = number};
    struct mail *mail;
    int rc, ended;

    memcpy(letter.word, word, size);
    rc = words_send(vcomm, tag, &letter, offsetof(struct letter, word) + size,
                    &mail);
    for (int rank = 0; rank < vcomm->size; rank++) {
        const int distance = (rank - vcomm->rank + vcomm->size) % vcomm->size;
        bool listens;
        int now;

        if (rank == vcomm->rank) {
            hear(state, rank, word);
            continue;
        }
        now = words_receive(vcomm, tag, rank, number, &letter);
        listens = now == MPI_SUCCESS && !letter.misses;
        hear(state, rank, listens ? letter.word : NULL);
        if (mail)
            mail->to[distance].listens = listens;
        rc = rc == MPI_SUCCESS ? now : rc;
    }
    ended = words_end(vcomm, mail);
    return rc == MPI_SUCCESS ? ended : rc;
}

void aps_words_miss(const struct aps_vcomm *vcomm, enum aps_tag tag,
                    uint32_t number)
{
    const struct letter letter = {.number = number, .misses = 1};
    struct mail *mail;

    (void)words_send(vcomm, tag, &letter, offsetof(struct letter, word), &mail);
    (void)words_end(vcomm, mail);
}

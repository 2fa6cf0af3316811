/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "reduce/redo.h"

#include "message/words.h"

#define ROUNDS 2

static uint32_t redo_round(uint32_t call, int round)
{
    return ROUNDS * call + (uint32_t)round;
}

/* All ranks are well, as far as this one has heard. A word that is lost says
 * nothing. */
struct heard {
    bool well;
    bool missing;
};

static void redo_hear(void *state, int rank, const void *word)
{
    struct heard *heard = state;
    const bool *well = word;

    (void)rank;
    if (!well)
        heard->missing = true;
    else
        heard->well &= *well;
}

int aps_redo_begin(const struct aps_vcomm *vcomm, uint32_t call, bool *begins)
{
    struct heard first = {.well = true}, second = {.well = true};
    bool well = true;
    int rc, again;

    rc = aps_words_exchange(vcomm, APS_TAG_REDO, redo_round(call, 0), &well,
                            sizeof well, redo_hear, &first);
    well = rc == MPI_SUCCESS && !first.missing;
    again = aps_words_exchange(vcomm, APS_TAG_REDO, redo_round(call, 1), &well,
                               sizeof well, redo_hear, &second);
    *begins = well && second.well;
    rc = rc == MPI_SUCCESS ? again : rc;
    return rc == MPI_SUCCESS && !*begins ? MPI_ERR_OTHER : rc;
}

void aps_redo_decline(const struct aps_vcomm *vcomm, uint32_t call)
{
    for (int round = 0; round < ROUNDS; round++)
        aps_words_miss(vcomm, APS_TAG_REDO, redo_round(call, round));
}

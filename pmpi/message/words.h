/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words: what each rank tells every other one in an exchange that a rank may have to
 * miss, because an MPI error on that rank alone has left it without the knowledge
 * whether the others exchange words at all. It says that to all of them, whether
 * they listen or not, and waits for nobody. So exchanges have numbers, which all
 * ranks count alike, and words of other numbers are passed over.
 *
 * Words are so short that MPI most likely sends them without a receiver. Where it does
 * not (UCX_RNDV_THRESH=0, say), words cross each other all the same.
 */
#ifndef APS_PMPI_MESSAGE_WORDS_H
#define APS_PMPI_MESSAGE_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "message/vcomm.h"

/* Bytes of a word, at most. */
#define APS_WORD_MOST 1024

/* What rank `rank` says: NULL if it misses the exchange, or could not be heard. */
typedef void aps_words_hear_fn(void *state, int rank, const void *word);

/*
 * COLLECTIVE over vcomm, except for ranks that call aps_words_miss. Tell all ranks
 * word[size], and hear all of them, in rank order, this one included. An MPI error
 * code: a word of this rank, or for it, was lost.
 */
int aps_words_exchange(const struct aps_vcomm *vcomm, enum aps_tag tag,
                       uint32_t number, const void *word, size_t size,
                       aps_words_hear_fn *hear, void *state);

/* Local: waits for no rank. This rank misses the exchange of that number. */
void aps_words_miss(const struct aps_vcomm *vcomm, enum aps_tag tag,
                    uint32_t number);

#endif

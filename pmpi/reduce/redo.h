/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks that are reduced again after an overflow: all ranks know which from the
 * same records, except for a rank whose call has failed. Others would wait for
 * it. So each of them, before it begins, hears from all that they have not
 * failed; a rank that has failed says so to all others, whether they listen or
 * not, and goes on.
 *
 * A rank may fail while it listens. So there are two rounds: in the second one
 * each rank says whether it has heard in the first one that none has failed. Who has
 * not heard that does not begin, and all others hear so. Who has, but fails in the
 * second round, begins: had another rank failed, too, it would wait for ranks that
 * do not begin. Errors of one rank alone, however many, divide nobody.
 */
#ifndef APS_PMPI_REDUCE_REDO_H
#define APS_PMPI_REDUCE_REDO_H

#include <stdbool.h>
#include <stdint.h>

#include "message/vcomm.h"

/*
 * COLLECTIVE over vcomm, except for ranks that call aps_redo_decline. The ranks
 * have met an overflow in the call of that number, counted alike on all of them.
 * *begins: all ranks reduce again; else none does. An MPI error code, which it is
 * also where none does: of this rank, or of another one.
 */
int aps_redo_begin(const struct aps_vcomm *vcomm, uint32_t call, bool *begins);

/* Local: waits for no rank. This rank's call of that number has failed; nobody
 * need know whether there was an overflow. */
void aps_redo_decline(const struct aps_vcomm *vcomm, uint32_t call);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks that are reduced again after an overflow: all ranks know which from the
 * same records, except for a rank whose call has failed. Others would wait for
 * it. So each of them, before it begins, hears from all that they have not
 * failed; a rank that has failed says so to all others, whether they listen or
 * not, and goes on.
 */
#ifndef APS_PMPI_REDUCE_REDO_H
#define APS_PMPI_REDUCE_REDO_H

#include <stdint.h>

#include "progress/vcomm.h"

/*
 * COLLECTIVE over vcomm, except for ranks that call aps_redo_decline. The ranks
 * have met an overflow in the call of that number, counted alike on all of them.
 * MPI_SUCCESS: all ranks reduce again; an MPI error code: none does.
 */
int aps_redo_begin(const struct aps_vcomm *vcomm, uint32_t call);

/* Local: waits for no rank. This rank's call of that number has failed; nobody
 * need know whether there was an overflow. */
void aps_redo_decline(const struct aps_vcomm *vcomm, uint32_t call);

#endif

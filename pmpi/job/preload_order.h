/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool in front of us: its MPI_Allreduce is found before ours. If it goes on
 * to the next library's, all is well; if it calls PMPI_Allreduce, as most do,
 * no call ever reaches us, and only a word to the user can help.
 */
#ifndef APS_PMPI_JOB_PRELOAD_ORDER_H
#define APS_PMPI_JOB_PRELOAD_ORDER_H

/*
 * MPI_Init has come to us. Where somebody stands in front, try: does a call of
 * its MPI_Allreduce, on MPI_COMM_SELF, arrive here? If not, say so. Local.
 *
 * A tool that has an MPI_Init of its own may not be ready for calls yet. Then
 * nothing is tried; at the end of the process it is told that no call came, if
 * none did.
 */
void aps_preload_order_check(void);

#endif

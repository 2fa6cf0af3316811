/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of preloaded libraries. The dynamic linker may find the
 * MPI_Allreduce of another tool before ours. If that tool calls the next
 * library's MPI_Allreduce, the library works. If the tool calls PMPI_Allreduce,
 * as most tools do, no call reaches the library, which can only tell the user.
 */
#ifndef APS_PMPI_WORLD_PRELOAD_ORDER_H
#define APS_PMPI_WORLD_PRELOAD_ORDER_H

/*
 * The program's MPI_Init has reached the library. If another object defines the
 * MPI_Allreduce that the program calls, call it on MPI_COMM_SELF, and print a
 * line if that call does not reach the library. Local.
 *
 * If that object defines MPI_Init, too, it may not be ready for calls yet, and
 * nothing is tried. The line is then printed at the end of the process, if no
 * call reached the library.
 */
void aps_preload_order_check(void);

#endif

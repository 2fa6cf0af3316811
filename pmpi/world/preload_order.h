/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order of preloaded libraries. The dynamic linker may find the MPI_Allreduce
 * of another tool before that of this library. If the tool calls the next
 * library's MPI_Allreduce, the library works. If the tool calls PMPI_Allreduce,
 * as most tools do, no call reaches the library, which can only tell the user.
 *
 * The library also reports, at the end of a process that has a policy, that the
 * program used MPI without calling it by names that the linker resolves.
 */
#ifndef APS_PMPI_WORLD_PRELOAD_ORDER_H
#define APS_PMPI_WORLD_PRELOAD_ORDER_H

/*
 * Local. Called when the program's MPI_Init has reached the library. If another
 * object defines the MPI_Allreduce that the program calls, calls it on
 * MPI_COMM_SELF, and prints a line if that call does not reach the library.
 *
 * If the object also defines MPI_Init, it may not be ready for calls yet, and
 * the library tries nothing. It then prints the line at the end of the process,
 * if no call has reached the library.
 */
void aps_preload_order_check(void);

#endif

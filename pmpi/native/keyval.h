/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program's attributes stay its own: an internal communicator made by
 * MPI_Comm_idup would copy them and call the program's copy and delete
 * functions. So the program's copy functions are asked by way of one of ours,
 * which copies nothing for a duplicate of ours.
 */
#ifndef APS_PMPI_NATIVE_KEYVAL_H
#define APS_PMPI_NATIVE_KEYVAL_H

#include <stdbool.h>

/* As MPI_Comm_create_keyval. */
int aps_keyval_create(void *copy, void *delete, int *keyval, void *extra);

/* Until it is said otherwise, duplicates that this thread makes are ours. */
void aps_keyval_hide(bool hide);

#endif

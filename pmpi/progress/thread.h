/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of the library's own, beside those of the program.
 */
#ifndef APS_PMPI_PROGRESS_THREAD_H
#define APS_PMPI_PROGRESS_THREAD_H

/* Nobody joins it, and no signal is delivered to it: signals are the program's
 * affair. 0 or -1. */
int aps_thread_start(void *(*run)(void *argument), void *argument);

#endif

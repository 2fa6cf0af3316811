/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong calls, and MPI's errors for them.
 */
#ifndef CONFORMANCE_MISTAKE_H
#define CONFORMANCE_MISTAKE_H

#include "program.h"

/* An event: one rank makes a wrong call, or all do. */
void mistake_event(struct program *program);

#endif

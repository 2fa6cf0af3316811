/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts that a launcher leaves in the environment of a rank. */
#ifndef APS_BASE_LAUNCH_H
#define APS_BASE_LAUNCH_H

/* Returns the rank from the launcher's environment variables, or -1 if the
 * launcher sets none. */
int aps_launch_rank(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers in messages, of any integer type: "1 call", "2 calls". */
#ifndef APS_BASE_PLURAL_H
#define APS_BASE_PLURAL_H

/* The ending of a noun after the number, and the verb after the noun. */
#define aps_plural(number) ((number) == 1 ? "" : "s")
#define aps_plural_are(number) ((number) == 1 ? "is" : "are")

#endif

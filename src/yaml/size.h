/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sizes in bytes: 4194304, 4096KiB, 4 MiB.
 */
#ifndef APS_YAML_SIZE_H
#define APS_YAML_SIZE_H

#include <stddef.h>

#include "yaml/value.h"

/*
 * Reads the value of `key`: a whole number of bytes, or of KiB, MiB or GiB
 * (powers of 1024, in this spelling), with or without blanks before the unit,
 * up to `max`; `off` is 0. Returns 0, or -1 after the error was reported.
 */
int aps_read_size(const struct aps_reader *reader,
                  const struct aps_yaml_node *key, size_t max, size_t *size);

/* Writes "4 MiB", "1536 KiB", "1000 bytes", with the largest unit that divides
 * the size. Writes at most `length` bytes. Returns `buffer`. */
char *aps_size_format(size_t size, char *buffer, size_t length);

#endif

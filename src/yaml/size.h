/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sizes in bytes as people write them: 4194304, 4096KiB, 4 MiB.
 */
#ifndef APS_YAML_SIZE_H
#define APS_YAML_SIZE_H

#include <stddef.h>

#include "yaml/value.h"

/*
 * The value of `key`: a whole number of bytes, or of KiB, MiB or GiB (powers of
 * 1024, spelled so), with blanks before the unit or none, up to `max`; `off` is
 * 0. As the functions of value.h: 0, or -1 with the error reported.
 */
int aps_read_size(const struct aps_reader *reader,
                  const struct aps_yaml_node *key, size_t max, size_t *size);

/* "4 MiB", "1536 KiB", "1000 bytes": in the largest unit that divides it.
 * Writes at most `length` bytes, returns `buffer`. */
char *aps_size_format(size_t size, char *buffer, size_t length);

#endif

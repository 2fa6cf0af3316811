/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Versions that a policy is for: the keys `version`, of the policy language,
 * and `needs`, the least version of the library.
 */
#ifndef APS_YAML_VERSION_H
#define APS_YAML_VERSION_H

#include <stdbool.h>

#include "yaml/value.h"

/*
 * False if the policy is for another version of the language, or needs a newer
 * library; `error` (may be NULL) then gives the reason, and other errors of the
 * text do not matter. Values that are not versions are left to
 * aps_version_check.
 */
bool aps_version_is_ours(const char *path, const struct aps_yaml_node *root,
                         struct aps_error *error);

/* Reports a missing `version`, and values that are not versions. */
void aps_version_check(const struct aps_reader *reader,
                       const struct aps_yaml_node *root);

/* Compares two version numbers N, N.N, N.N.N and so on, number by number: 0.9
 * before 0.10. Text after the last number ("-rc1") does not count. Returns a
 * value like strcmp. */
int aps_version_compare(const char *a, const char *b);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a policy is for this library: the keys `version`, of the policy
 * language, and `needs`, the least version of the library.
 */
#ifndef APS_YAML_VERSION_H
#define APS_YAML_VERSION_H

#include <stdbool.h>

#include "yaml/value.h"

/*
 * False for another version of the language, or if the policy needs a newer
 * library than this one; `error` (may be NULL) says so. What else is wrong with
 * the text is of no interest then. Values of the two keys that are no versions are
 * left to aps_version_check.
 */
bool aps_version_is_ours(const char *path, const struct aps_yaml_node *root,
                         struct aps_error *error);

/* Report a missing `version`, and values that are no versions. */
void aps_version_check(const struct aps_reader *reader,
                       const struct aps_yaml_node *root);

/* The order of two version numbers N, N.N, N.N.N and so on by their numbers,
 * 0.9 before 0.10; what follows the last number ("-rc1") does not count. As
 * strcmp. */
int aps_version_compare(const char *a, const char *b);

#endif

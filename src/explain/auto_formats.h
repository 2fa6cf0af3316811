/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats that are chosen while the program runs (format: {auto: ...}), for
 * `apsmpi explain`.
 */
#ifndef APS_EXPLAIN_AUTO_FORMATS_H
#define APS_EXPLAIN_AUTO_FORMATS_H

#include "base/json.h"
#include "cli/schedule.h"
#include "policy/policy.h"

/* Writes "auto: e3m2, e4m3, e5m2", at most `size` bytes. Returns `buffer`. */
char *aps_auto_formats_list(const struct aps_auto_format *formats, char *buffer,
                            size_t size);

/* Prints a paragraph for each such rule. `schedule` is NULL without a layer
 * table. */
void aps_auto_formats_notes(const struct aps_policy *policy,
                            const struct aps_schedule *schedule);

/* Writes the member `auto` of a rule with that plan, null if it has one format;
 * `write_plan` writes the members of a plan. */
void aps_auto_formats_write(struct aps_json *json, const struct aps_plan *plan,
                            void (*write_plan)(void *data,
                                               const struct aps_plan *plan),
                            void *data);

#endif

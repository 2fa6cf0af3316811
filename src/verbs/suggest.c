/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apsmpi suggest: writes a policy from the log of a shadow run. It is a program
 * of its own, scripts/apsmpi-suggest, because it reads logs as apsmpi-report
 * does.
 */
#include "config.h"

#include "cli/command.h"

const struct aps_subcommand aps_subcommand_suggest = {
    .name = "suggest",
    .summary = "write a policy from the log of a run with candidates",
    .program = true,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports of rank 0 about a layer whose format was measured: the event in the
 * log, the line, the summary and the policy at the end.
 */
#ifndef APS_PMPI_TRIAL_FORMAT_REPORT_H
#define APS_PMPI_TRIAL_FORMAT_REPORT_H

#include "trial/trial_ops.h"

/* No format. Others are indices among the formats of a rule, and -1: FP32. */
#define APS_FORMAT_NONE (-2)

/* Local, on rank 0. Reports that the layer has the format `chosen`, by the
 * errors of subject->results, and had `before` until now. */
void aps_format_report(const struct aps_subject *subject, int before,
                       int chosen);

#endif

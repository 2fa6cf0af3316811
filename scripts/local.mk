# SPDX-License-Identifier: BSD-3-Clause
# Commands for users (installed) and for this tree.
dist_bin_SCRIPTS = scripts/apsmpi-report
EXTRA_DIST += scripts/local.mk

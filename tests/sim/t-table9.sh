#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The APS paper's Table 9 on 256 simulated ranks: round-off by group size.
. "${top_srcdir:-.}/tests/sim/simulate.sh"

skip_without_simgrid
simulate 256 1 10 "$sim/roundoff" "$gradients" 4 8 16 32 64

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Round-off of sums of bf16 and fp16 on 256 simulated ranks, and on fewer for SIM_RANKS.
. "${top_srcdir:-.}/tests/sim/simulate.sh"

skip_without_simgrid
simulate "${SIM_RANKS:-256}" 1 10 "$sim/types" "$gradients"

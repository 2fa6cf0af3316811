#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that average parameters in place of gradients: the library cannot tell, and
# rounds weights, which loses the small changes. Sums of changes are safe.
. "${top_srcdir:-.}/tests/programs/lib.sh"

"$PYTHON3" -c 'import numpy, mpi4py.MPI' 2>reason ||
    skip_all "no numpy and mpi4py: $(tail -n 1 reason)"
set -- "$PYTHON3" "$here/averaging.py" "$top_srcdir/tests/apps/digits.csv"
policy e4m3.yaml 'format: e4m3, scale: aps'
policy bf16.yaml 'format: bf16'

native 2 "$@"
check 'native: learns' learned 95
native=$(accuracy)
job 2 APSMPI_POLICY=e4m3.yaml "$@"
check 'e4m3 rounds weights: all ranks end with the same' learned 50
rounded=$(accuracy)
check '... it rewrites every call' rewritten 440
check '... and the network is worse by two points and more' \
    awk "BEGIN { exit !($rounded < $native - 2) }"
job 2 APSMPI_POLICY=bf16.yaml "$@"
check 'bf16 has digits enough' learned 95
wide=$(accuracy)
job 2 APSMPI_POLICY=e4m3.yaml "$@" --changes
check 'e4m3, where the program sums changes of weights: learns as natively' learned 95
diag "native $native %, e4m3 $rounded %, bf16 $wide %, e4m3 of changes $(accuracy) %"
finish

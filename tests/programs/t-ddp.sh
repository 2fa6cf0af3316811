#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# PyTorch's DistributedDataParallel, whose buckets a hook sums by mpi4py.
. "${top_srcdir:-.}/tests/programs/lib.sh"
. "$here/ddp.sh"

program=$here/ddp_mpi.py
# hook FILE: the lines of the hook
hook()
{
    sed -n '/^def average/,/return/p' "$1"
}

check 'the hook is that of the manual' equal "$(hook "$program")" \
    "$(hook "$top_srcdir/pmpi/apsmpi-recipes.7")"
check '... of seven lines' equal "$(hook "$program" | wc -l)" 7
native 2 "$python" "$program" --save net.npz
check 'native: learns' learned 70
diag "PyTorch $(version torch), native: $(accuracy) %"
timed "$layers_command" --order ddp --output layers.csv net.npz
check 'apsmpi-layers makes a table of its weights' status_is 0
by_layers 'conv1.*' "$python" "$program"
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Times steps of frameworks between two hosts of scripts/apsmpi-lab at RATE (1gbit):
# natively, under policies, and with the framework's own compression. In each of ROUNDS
# (3) rounds the ways alternate, so that all see the same drift of the machine. Prints
# the median of the rounds' medians of 20 steps (6.3 million bytes of gradients for each
# 1000 of HIDDEN, 2048), and leaves all in programs/seconds.csv of the build directory.
# shellcheck disable=SC2317 # functions that other ones call
. "${top_srcdir:-.}/tests/programs/lib.sh"

table=$top_builddir/programs/seconds.csv
unset APS_TEST_YIELD
APSMPI_LAB_DIR=$top_builddir/scripts
export APSMPI_LAB_DIR

# once FRAMEWORK WAY [OPTION of mpiexec]... PROGRAM...: one job, one row
once()
{
    framework=$1 way=$2
    shift 2
    timed "$top_srcdir/scripts/apsmpi-lab" --hosts 2 --rate "${RATE:-1gbit}" -- \
        -genv GLOO_SOCKET_IFNAME eth0 "$@" \
        --images 960 --batch 16 --epochs 1 --hidden "${HIDDEN:-2048}"
    seconds=$(sed -n 's/^seconds //p' out)
    [ -n "$seconds" ] || { tail -n 5 err; return; }
    echo "$framework,$way,$seconds" >>"$table"
}

# under FRAMEWORK PYTHON PROGRAM: natively, and by the policies
under()
{
    once "$1" native "$2" "$3"
    for policy in e4m3 powersgd mstopk; do
        once "$1" $policy -genv LD_PRELOAD "$library" \
            -genv APSMPI_POLICY "$tmp/$policy.yaml" "$2" "$3"
    done
}

horovod()
{
    HOROVOD_FUSION_THRESHOLD=0
    HOROVOD_CYCLE_TIME=1
    export HOROVOD_FUSION_THRESHOLD HOROVOD_CYCLE_TIME
    under "$1" "$python" "$2"
    once "$1" 'own fp16' "$python" "$2" --half
}

# DistributedDataParallel over gloo makes no calls of MPI.
ddp_over_gloo()
{
    rm -f meeting
    once 'DDP over gloo' native "$python" "$here/ddp_gloo.py" --save "$tmp/meeting"
    rm -f meeting
    once 'DDP over gloo' 'own fp16' "$python" "$here/ddp_gloo.py" \
        --save "$tmp/meeting" --half
}

# rounds FUNCTION [ARGUMENT]...
rounds()
{
    round=0
    while [ $round -lt "${ROUNDS:-3}" ]; do
        round=$((round + 1))
        "$@"
    done
}

policy e4m3.yaml 'format: e4m3, scale: aps'
policy mstopk.yaml -t 'steps: {order: any}' \
    'min_count: 1024, compress: {mstopk: {density: 0.01}}' 'format: e4m3, scale: aps'
mkdir -p "$top_builddir/programs"
echo framework,way,seconds >"$table"
# A framework that cannot be installed ends its own subshell.
(
    . "$here/horovod.sh"
    cat >layers.csv <<END
layer,name,count,shape
0,conv1.weight,144,16x9
1,conv1.bias,16,
2,conv2.weight,4608,32x144
3,conv2.bias,32,
4,fc1.weight,$((${HIDDEN:-2048} * 1568)),${HIDDEN:-2048}x1568
5,fc1.bias,${HIDDEN:-2048},
6,fc2.weight,$((${HIDDEN:-2048} * 10)),10x${HIDDEN:-2048}
7,fc2.bias,10,
END
    policy powersgd.yaml -t 'table: layers.csv' -t 'steps: {order: any}' \
        'compress: {powersgd: {rank: 4}}'
    rounds horovod Horovod "$here/horovod_torch.py"
)
(
    . "$here/ddp.sh"
    native 1 "$python" "$here/ddp_mpi.py" --images 64 --epochs 1 \
        --hidden "${HIDDEN:-2048}" --save net.npz
    "$layers_command" --order ddp --output layers.csv net.npz
    policy powersgd.yaml -t 'table: layers.csv' 'compress: {powersgd: {rank: 4}}'
    rounds under DDP "$python" "$here/ddp_mpi.py"
    rounds ddp_over_gloo
)
(
    . "$here/jax.sh"
    native 1 "$python" "$here/jax_train.py" --images 64 --epochs 1 \
        --hidden "${HIDDEN:-2048}" --save net.npz
    "$layers_command" --output layers.csv net.npz
    policy powersgd.yaml -t 'table: layers.csv' 'compress: {powersgd: {rank: 4}}'
    rounds under JAX "$python" "$here/jax_train.py"
)
"$PYTHON3" "$here/seconds.py" "$table"

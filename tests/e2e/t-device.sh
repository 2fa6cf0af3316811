#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program whose weights and gradients are in GPU memory trains with an MPI
# that is not CUDA-aware, with the results of the same program on host memory.
# The GPU is a stand-in, whose memory only the driver may touch.
# shellcheck disable=SC2086 # $digits is a command with arguments
. "${top_srcdir:-.}/tests/e2e/lib.sh"

device="$top_builddir/tests/apps/digits-device --data $top_srcdir/tests/apps/digits.csv"
plugin=$top_builddir/tests/standin/.libs/plugin.so

# same NAME RANKS [VARIABLE=value]... -- ARG...: both programs have the same results
same()
{
    what=$1
    ranks=$2
    shift 2
    variables=
    while [ "$1" != -- ]; do
        variables="$variables $1"
        shift
    done
    shift
    job "$ranks" $variables $digits "$@"
    cp out host
    job "$ranks" $variables APSMPI_CUDA="$plugin" $device "$@"
    check "$what, by the plugin" cmp host out
    job "$ranks" $variables $device "$@"
    check "$what, through the host" cmp host out
}

same 'native' 3 -- --epochs 2

layer_table >layers.csv
policy aps.yaml -t 'layers: layers.csv' -t 'steps: {per_epoch: 11}' \
    -t 'log: {file: log.csv, every: 10}' 'format: e4m3, scale: aps'
job 4 APSMPI_POLICY=aps.yaml APSMPI_LOG=host.csv $digits --epochs 2
cp out host
job 4 APSMPI_POLICY=aps.yaml APSMPI_LOG=device.csv APSMPI_CUDA="$plugin" \
    $device --epochs 2
check 'e4m3 with APS: the weights are those of host memory' cmp host out
check '... all calls rewritten' rewritten 132
check '... by kernels for the GPU, as it says first' \
    grep -q 'rewrites its first call, .* and GPU kernels$' err
check '... and a whole log' whole_log device.csv
grep -v '^#' host.csv | cut -d, -f2-21,24-39 >host.rows
grep -v '^#' device.csv | cut -d, -f2-21,24-39 >device.rows
check '... with the same rows' cmp host.rows device.rows

job 2 APSMPI_POLICY=aps.yaml $device --epochs 1
check '... or without the plugin by those of the host' \
    grep -q "rewrites its first call, .* kernels for copies of the GPU's buffers$" err

policy ring.yaml 'format: e5m2, reduce: ring, accumulate: format'
same 'e5m2, ring' 3 APSMPI_POLICY=ring.yaml -- --epochs 1 --fused
# One call of several layers, some of which are left to MPI.
policy parts.yaml -t 'layers: layers.csv' -t 'steps: {per_epoch: 11}' \
    'layers: "2, last", format: fp32' 'format: e4m3, scale: aps, reduce: direct'
same 'layers of a fused call' 3 APSMPI_POLICY=parts.yaml -- --epochs 1 --fused
check '... that were rewritten' rewritten 11
# Two ranks have the same sum by any reduction that is chosen.
policy auto.yaml 'format: e8m23, scale: none, reduce: auto'
same 'auto' 2 APSMPI_POLICY=auto.yaml -- --epochs 5
policy chosen.yaml -t 'layers: layers.csv' \
    'format: {auto: [e3m2, e4m3, e5m10], target: snr 24dB, every: 10}, scale: aps'
same 'a format that is chosen' 2 APSMPI_POLICY=chosen.yaml -- --epochs 2
check '... from measurements' \
    grep -q 'format: auto: .* layers at the end: [0-9]* in e' err
policy node.yaml 'format: e3m0, node: fp32'
same 'e3m0, inside the node FP32' 2 APSMPI_POLICY=node.yaml -- --epochs 1 \
    --order backward
finish

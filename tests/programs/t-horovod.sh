#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Horovod with PyTorch and with Keras: accuracy on Fashion-MNIST natively, and under
# policies that speak of layers, which Horovod sums in an order that changes.
. "${top_srcdir:-.}/tests/programs/lib.sh"
frameworks=
. "$here/horovod.sh"

# Fused calls have no layer; a rule that speaks of layers needs calls of single ones.
fused=HOROVOD_FUSION_THRESHOLD=0

# trains: the last job learned; under a policy, without desync, with the names of the
# layers in the report of its log
trains()
{
    check "$what: learns" learned 70
    diag "Horovod $(version horovod), $what: $(accuracy) %"
    [ ! -e "$log" ] || {
        check '... without desync' not has err desync
        check '... all calls but those of one layer are rewritten' share 74
        timed "$PYTHON3" "$report" "$log"
        for name in $wanted; do
            check "... the report has $name" has out "$name"
        done
    }
}

for framework in $frameworks; do
    rm -f ./*.csv ./*.yaml weights.*
    case $framework in
    torch)
        weights=weights.npz last='fc2.*' wanted='fc1.weight conv2.weight'
        ;;
    keras)
        weights=weights.h5 last='fc2/*' wanted='fc1/fc1/kernel conv2/conv2/bias'
        ;;
    esac
    program=$here/horovod_$framework.py
    native 2 $fused "$python" "$program" --save "$weights"
    what="$framework, native" log=none
    trains
    # The environment of Keras has h5py.
    timed "$python" "$layers_command" --order any --output layers.csv "$weights"
    check "$framework: apsmpi-layers makes a table of its weights" status_is 0

    for kind in e4m3 powersgd auto; do
        log=$kind.csv
        case $kind in
        e4m3) rule='format: e4m3, scale: aps' ;;
        powersgd) rule='compress: {powersgd: {rank: 4}}' ;;
        auto) rule='format: {auto: [e4m3, e5m10], target: snr 20dB}, scale: aps' ;;
        esac
        policy $kind.yaml -t 'table: layers.csv' -t 'steps: {order: any}' \
            -t "log: {file: $log, every: 10}" "layers: '$last', format: fp32" "$rule"
        job 2 APSMPI_POLICY=$kind.yaml $fused "$python" "$program"
        what="$framework, $kind"
        trains
    done
    # Horovod's own compression sums a datatype of two bytes by an operation of its own.
    native 2 $fused "$python" "$program" --half
    what="$framework, fp16, native" log=none
    trains
    policy half.yaml -t 'operations: probe' 'format: e4m3, scale: aps'
    job 2 APSMPI_POLICY=half.yaml $fused "$python" "$program" --half
    what="$framework, fp16, e4m3"
    trains
    check '... all long calls are rewritten' share 100
    check '... as sums of fp16' has err 'sums fp16 and rounds each addition'
    check "$framework: matrices travel as factors" equal \
        "$(distinct compress powersgd.csv 'v["name"] ~ /^fc1.*(weight|kernel)/')" \
        'powersgd rank 4'
done
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that sum the layers of a step in an order that changes, as Horovod does.
# shellcheck disable=SC2086 # $sums is a command with arguments
. "${top_srcdir:-.}/tests/e2e/lib.sh"

# 120 calls in 40 steps, over three layers that are matrices of 32 columns.
sums="$top_builddir/tests/e2e/shuffled 40 4096 2048 1536"
cat >layers.csv <<'END'
layer,name,count,shape
0,conv,1536,48x32
1,hidden,4096,128x32
2,head,2048,64x32
END

# error_below LIMIT: of the sums in the last half of the steps
error_below()
{
    awk -v limit="$1" '
        $1 == "error" { found = $2 < limit }
        END { exit !found }' out
}

# --- without a policy ---------------------------------------------------------

job 2 $sums
check 'discovery finds the step' lines 1 err \
    'repeats a step of 3 calls, whose order changes'
check '... its layers, the largest first' equal \
    "$(grep -v '^#' apsmpi-discovered-layers.csv | cut -d, -f1,3 | tr '\n' ' ')" \
    'layer,count 0,4096 1,2048 2,1536 '
check '... and no reversed table' equal "$(find . -name '*reversed*')" ''
job 2 $top_builddir/tests/e2e/shuffled 6 4096 2048 1536
check '... in a short run, too' lines 1 err \
    'repeats a step of 3 calls, whose order changes'
timed "$apsmpi" check apsmpi-discovered.yaml
check 'apsmpi check accepts the policy' status_is 0
check '... without warnings' empty err
job 2 APSMPI_POLICY=apsmpi-discovered.yaml $sums
check 'a job under this policy rewrites every call' rewritten 120
check '... without desync' not has err desync
check '... and names the layers' equal \
    "$(distinct name roundoff.csv)" 'layer0 layer1 layer2'
check '... each of which has one size' equal \
    "$(column layer roundoff.csv | sort | uniq -c | awk '{ print $1 }' | sort -u)" 4

# --- with a table -------------------------------------------------------------

policy named.yaml -t 'table: layers.csv' -t 'steps: {order: any}' \
    -t 'log: {file: named.csv, every: 1}' \
    'layers: [conv], format: fp32' 'format: e4m3, scale: aps'
job 2 APSMPI_POLICY=named.yaml $sums
check 'a table: every call but one layer is rewritten' rewritten 80
check '... the right ones' equal "$(distinct name named.csv)" 'head hidden'
check '... by their sizes' equal \
    "$(column count named.csv 'v["name"] == "head"' | sort -u)" 2048
check '... and the sums are right' error_below 0.05
check '... and all calls are layers' not has err 'no layer has'
job 2 APSMPI_POLICY=named.yaml $sums 3000
check 'a call of another size is reported once' lines 1 err \
    'order any: no layer has the 3000 elements of this call'

policy lowrank.yaml -t 'table: layers.csv' -t 'steps: {order: any}' \
    'compress: {powersgd: {rank: 1}}'
job 2 APSMPI_POLICY=lowrank.yaml $sums
check 'PowerSGD knows its layers' rewritten 120
check '... without desync' not has err desync
check '... and finds their factors' error_below 0.02

# --- found by the library -----------------------------------------------------

policy found.yaml -t 'steps: {order: any}' -t 'log: {file: found.csv, every: 1}' \
    'format: e4m3, scale: {delayed: {history: 4}}'
job 2 APSMPI_POLICY=found.yaml $sums
check 'without a table all calls are rewritten after two steps' rewritten 114
check '... without desync' not has err desync
check '... which is said once' lines 1 err 'order any: the order of the 3 calls'
check '... by three layers, the largest first' equal \
    "$(distinct layer found.csv)" '0 1 2'
check '... with 4096 elements in layer 0' equal \
    "$(column count found.csv 'v["layer"] == 0' | sort -u)" 4096
check '... and the sums are right' error_below 0.05

policy chosen.yaml -t 'steps: {order: any}' -t 'log: {file: chosen.csv, every: 9}' \
    'format: {auto: [e4m3, bf16], target: snr 20dB, every: 5}'
job 2 APSMPI_POLICY=chosen.yaml $sums
check 'format: auto knows its layers' rewritten 114
timed "$apsmpi" check chosen-policy.yaml
check '... and writes a policy that is accepted' status_is 0
job 2 APSMPI_POLICY=chosen-policy.yaml $sums
check '... and rewrites as much' rewritten 114

policy shadow.yaml -t 'steps: {order: any}' -t 'log: {file: shadow.csv, every: 2}' \
    -t 'shadow: [e4m3, e5m2, e8m7]' 'format: fp32'
job 2 APSMPI_POLICY=shadow.yaml $sums
check 'candidates are measured by layer' equal "$(distinct layer shadow.csv)" '0 1 2'
timed "$suggest" shadow.csv --target 'snr 20dB' --output suggested.yaml
check '... from which a policy is suggested' status_is 0
check '... in this order' has suggested.yaml 'steps: {order: any}'
job 2 APSMPI_POLICY=suggested.yaml $sums
check '... which rewrites every call after two steps' rewritten 114

policy auto.yaml -t 'steps: {per_epoch: 10}' -t 'log: {file: auto.csv, every: 9}' \
    'format: {auto: [e4m3, bf16], target: snr 20dB, every: 5}'
job 2 APSMPI_POLICY=auto.yaml APSMPI_FINAL_POLICY=auto-final.yaml \
    $top_builddir/tests/e2e/shuffled 40 4096 2048 1536 1100 1200 1300
check 'steps: auto finds out that the order changes' lines 1 err 'order any: '
check '... which the final policy says' has auto-final.yaml \
    'steps: {order: any, per_epoch: 10}'
timed "$apsmpi" check found.yaml
check 'apsmpi check accepts order: any' status_is 0
policy numbered.yaml -t 'steps: {order: any}' 'layers: 0, format: fp32' \
    'format: e4m3'
timed "$apsmpi" check numbered.yaml
check '... and says how layers are numbered without a table' has err \
    'order: any numbers layers by their size'

sed '1s/$/,network/; 2,3s/$/,actor/; 4s/$/,critic/' layers.csv >networks.csv
policy networks.yaml -t 'table: networks.csv' -t 'steps: {order: any}' 'format: e4m3'
timed "$apsmpi" check networks.yaml
check '... and warns of several networks' has err \
    'networks.yaml:3:1: warning: order: any takes all networks of the table'
policy first.yaml -t 'table: networks.csv' 'format: e4m3'
timed "$apsmpi" check first.yaml
check 'networks that begin with other sizes need no warning' empty err
policy first.yaml -t 'table: networks.csv' -t 'steps: {order: backward}' 'format: e4m3'
sed -i 's/hidden,4096,128x32/hidden,2048,64x32/' networks.csv
timed "$apsmpi" check first.yaml
check '... others do, by their first call' has err \
    'begin with layers of one size'
sed -i 's/^min_count: 1$/min_count: 2048/' first.yaml
timed "$apsmpi" check first.yaml
check '... and so do equal ones, whose small layers are MPI'"'"'s' has err \
    'networks of the table have equal sizes in all layers of min_count elements'
printf 'version: 1\norder: any\nrules:\n  - {layers: 0, format: e4m3}\n' >old.yaml
timed "$apsmpi" check old.yaml
check "... and the old word 'order' has its warnings" has err \
    'old.yaml:2:1: warning: order: any numbers layers by their size'

sed 's/hidden,4096,128x32/hidden,2048,64x32/' layers.csv >equal.csv
policy equal.yaml -t 'table: equal.csv' -t 'steps: {order: any}' 'format: e4m3'
timed "$apsmpi" explain equal.yaml
check 'apsmpi explain names layers of one size' sh -c \
    "tr '\n' ' ' <out | tr -s ' ' | grep -F ': hidden, head (2048).'"

finish

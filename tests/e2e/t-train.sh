#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# An unmodified program trains in 8 bits: steps, epochs, layers, log, summary.
# Its step is six calls, 11 steps make an epoch.
# shellcheck disable=SC2086 # $digits is a command with arguments
. "${top_srcdir:-.}/tests/e2e/lib.sh"

layer_table >layers.csv
aps='format: e4m3, scale: aps'
table='layers: layers.csv'
epochs='steps: {per_epoch: 11}'

# --- eight ranks --------------------------------------------------------------

policy aps.yaml -t "$table" -t "$epochs" \
    -t 'log: {file: log.csv, every: 10}' "$aps"
job 8 APSMPI_POLICY=aps.yaml $digits --epochs 3
check 'e4m3 with APS trains on eight ranks' trained 3
check '... all calls rewritten' rewritten 198
check '... about three quarters saved' has err '(74.'
cp out first
check '... with a whole log' whole_log log.csv
check '... six rows for each of the steps 0, 10, 20, 30' \
    equal "$(column step log.csv | sort -n | uniq -c | tr -s ' \n' ' ')" \
    ' 6 0 6 10 6 20 6 30 '
check '... their epochs' equal "$(column epoch log.csv 'v["layer"] == 0' |
    tr '\n' ' ')" '0 0 1 2 '
check '... their names' equal "$(column name log.csv | head -n 6 | tr '\n' ' ')" \
    'fc1.weight fc1.bias fc2.weight fc2.bias fc3.weight fc3.bias '
check '... their counts' equal "$(column count log.csv | head -n 6 | tr '\n' ' ')" \
    '4096 64 4096 64 640 10 '
check '... the communicator' equal "$(distinct comm log.csv)" MPI_COMM_WORLD
check '... format, scale and reduction' equal \
    "$(distinct format log.csv) $(distinct scale log.csv) $(distinct reduce log.csv)" \
    'e4m3 aps hierarchical'
check '... and scale exponents above 0' equal \
    "$(column layer log.csv 'v["scale_exp"] <= 0')" ''
check 'nothing overflowed' equal \
    "$(distinct overflow log.csv) $(distinct nonfinite log.csv)" '0 0'
check 'the round-off error is what 3 mantissa bits make of it' equal \
    "$(column layer log.csv \
        'v["err_mean"] <= 0 || v["err_l2"] <= 0 || v["err_l2"] > 0.06')" ''

job 8 APSMPI_POLICY=aps.yaml APSMPI_LOG=again.csv $digits --epochs 3
check 'a second run gives the same bits' cmp first out
check '... and its log goes where APSMPI_LOG says' \
    equal "$(column step again.csv | wc -l)" 24
check '... and only there' equal "$(column step log.csv | wc -l)" 24

# --- fewer ranks --------------------------------------------------------------

policy plain.yaml "$aps"
job 4 APSMPI_POLICY=plain.yaml $digits --epochs 1
cp out best
for cpu in plain avx2; do
    job 4 APSMPI_POLICY=plain.yaml APSMPI_CPU=$cpu $digits --epochs 1
    check "APSMPI_CPU=$cpu gives the same bits" cmp best out
done

for rule in 'format: e5m2' 'format: bf16, scale: none' \
    'format: fp16, scale: {fixed: 1024}' 'format: e3m0, scale: aps' \
    'format: e4m3, reduce: direct, accumulate: format' \
    'format: e4m3, node: fp32' 'format: tf32, group: 1' \
    'format: e2m1, scale: aps-tight, group: 2'; do
    policy rule.yaml "$rule"
    job 3 APSMPI_POLICY=rule.yaml $digits --epochs 1
    check "trains with $rule" trained
    check '... all calls rewritten' rewritten 66
done

# --- a run that diverges ------------------------------------------------------

native 2 $digits --epochs 1 --lr 1000
if grep -q -i 'loss -*nan' out; then
    job 2 APSMPI_POLICY=plain.yaml $digits --epochs 1 --lr 1000
    check 'what is not finite is not finite in 8 bits' \
        grep -i 'loss -*nan' out
    check '... all rewritten' rewritten 66
else
    skip 'values that are not finite' 'the program does not diverge'
fi

# --- a policy without layers --------------------------------------------------

policy simple.yaml -t 'log: {file: simple.csv, every: 1}' "$aps"
job 2 APSMPI_POLICY=simple.yaml $digits --epochs 1
check 'without layers, epochs and steps every call is rewritten' rewritten 66
check '... and the log says layer -1' equal "$(distinct layer simple.csv)" -1
check '... of all sizes' equal "$(distinct count simple.csv)" '10 64 640 4096'
check '... in every step' equal "$(column step simple.csv | wc -l)" 66

policy default.yaml "$aps"
sed -i '/^min_count/d' default.yaml
job 2 APSMPI_POLICY=default.yaml $digits --epochs 1
check 'calls of fewer than 1024 elements are left alone by default' \
    rewritten 22

# --- steps and epochs ---------------------------------------------------------

policy auto.yaml -t 'log: {file: auto.csv, every: 1}' \
    'layers: last, format: fp32' "$aps"
job 2 APSMPI_POLICY=auto.yaml $digits --epochs 1
check 'the step is detected without a table' trained
check '... and followed to the end' equal \
    "$(distinct step auto.csv 'v["step"] > 4')" '5 6 7 8 9 10'
check '... but not before it has repeated' equal \
    "$(column step auto.csv 'v["step"] < 2')" ''
check '... with its layers' equal "$(distinct layer auto.csv)" '0 1 2 3 4'
check '... and no names' equal "$(distinct name auto.csv)" ''
check '... and no desync' not has err desync

policy calls.yaml -t 'steps: {calls: 6}' \
    -t 'log: {file: calls.csv, every: 1}' 'layers: last, format: fp32' "$aps"
job 2 APSMPI_POLICY=calls.yaml $digits --epochs 1
check 'a stated step needs no detection' rewritten 55
check '... from step 0 on' equal "$(distinct step calls.csv)" \
    '0 1 2 3 4 5 6 7 8 9 10'

policy wrong.yaml -t 'steps: {calls: 5}' 'layers: last, format: fp32' "$aps"
job 2 APSMPI_POLICY=wrong.yaml $digits --epochs 1
check 'a wrongly stated step is a desync' has err desync
check '... in a program that trains' trained

policy hybrid.yaml -t "$table" -t "$epochs" \
    -t 'log: {file: hybrid.csv, every: 1}' 'epochs: 0, format: fp32' \
    'epochs: 1, format: e8m23' "$aps"
job 2 APSMPI_POLICY=hybrid.yaml $digits --epochs 3
check 'hybrid precision trains' trained 3
check '... epoch 0 is left to MPI' rewritten 132
check '... epoch 1 has its format' equal \
    "$(distinct step hybrid.csv 'v["format"] == "e8m23"')" \
    '11 12 13 14 15 16 17 18 19 20 21'
check '... epoch 2 another' equal \
    "$(distinct step hybrid.csv 'v["format"] == "e4m3"')" \
    '22 23 24 25 26 27 28 29 30 31 32'
check '... and the log knows the epochs' equal \
    "$(distinct epoch hybrid.csv 'v["format"] == "e8m23"') \
$(distinct epoch hybrid.csv 'v["format"] == "e4m3"')" '1 2'

policy steps.yaml -t "$table" -t 'log: {file: steps.csv, every: 1}' \
    "steps: 2-3 , $aps"
job 2 APSMPI_POLICY=steps.yaml $digits --epochs 1
check 'a rule for some steps' rewritten 12
check '... takes these' equal "$(distinct step steps.csv)" '2 3'

# --- layers -------------------------------------------------------------------

# left_out NAME LAYERS WANTED: FP32 for LAYERS leaves the layers WANTED in the log
left_out()
{
    rm -f some.csv
    policy some.yaml -t "$table" -t 'log: {file: some.csv, every: 5}' \
        "layers: $2, format: fp32" "$aps"
    job 2 APSMPI_POLICY=some.yaml $digits --epochs 1
    check "$1" equal "$(distinct layer some.csv)" "$3"
}

left_out 'the last layer in FP32' last '0 1 2 3 4'
left_out 'by index' '[4, 5]' '0 1 2 3'
left_out 'by range' '"4-last"' '0 1 2 3'
left_out 'by name' '[fc3.weight, fc3.bias]' '0 1 2 3'
left_out 'by pattern' '"fc3.*"' '0 1 2 3'
left_out 'biases by pattern' "'*.bias'" '0 2 4'
left_out 'the first layer' first '1 2 3 4 5'

# The calls are fc3.weight, fc3.bias, fc2.weight ...: the table, in forward
# order, has each bias before its weights.
cat >turned.csv <<'END'
layer,name,count
0,fc1.bias,64
1,fc1.weight,4096
2,fc2.bias,64
3,fc2.weight,4096
4,fc3.bias,10
5,fc3.weight,640
END
policy backward.yaml -t 'layers: turned.csv' -t 'steps: {order: backward}' \
    -t 'log: {file: backward.csv, every: 11}' 'layers: last, format: fp32' \
    "$aps"
job 2 APSMPI_POLICY=backward.yaml $digits --epochs 1 --order backward
check 'order: backward, with a table' rewritten 55
check '... counts layers from the end' equal \
    "$(column layer backward.csv | tr '\n' ' ')" '4 3 2 1 0 '
check '... and names them' equal "$(column name backward.csv | tr '\n' ' ')" \
    'fc3.bias fc2.weight fc2.bias fc1.weight fc1.bias '
check '... without desync' not has err desync

policy back.yaml -t 'steps: {order: backward}' -t 'log: {file: back.csv, every: 5}' \
    'layers: last, format: fp32' "$aps"
job 2 APSMPI_POLICY=back.yaml $digits --epochs 1 --order backward
check 'order: backward, detected: the last layer is the first call' equal \
    "$(column count back.csv 'v["step"] == 5' | tr '\n' ' ')" \
    '10 4096 64 4096 64 '

sed 's/,640/,641/' layers.csv >other.csv
policy other.yaml -t 'layers: other.csv' -t 'log: {file: lost.csv}' "$aps"
job 2 APSMPI_POLICY=other.yaml $digits --epochs 1
check 'a table that does not fit the calls' has err desync
check '... rewrites only what came before' rewritten 4
check '... does not harm the training' trained
check '... is in the log' has lost.csv desync
check '... and is not said for every call' \
    test "$(grep -c desync err)" -le 16

# --- a fused buffer -----------------------------------------------------------

policy fused.yaml -t "$table" -t "$epochs" \
    -t 'log: {file: fused.csv, every: 10}' "$aps"
job 4 APSMPI_POLICY=fused.yaml $digits --epochs 2 --fused
check 'a fused gradient trains' trained 2
check '... one call a step' rewritten 22
check '... split into six layers' equal \
    "$(column layer fused.csv 'v["step"] == 10' | tr '\n' ' ')" '0 1 2 3 4 5 '
check '... of their own sizes' equal \
    "$(column count fused.csv 'v["step"] == 10' | tr '\n' ' ')" \
    '4096 64 4096 64 640 10 '
check '... with scales of their own' test \
    "$(distinct scale_exp fused.csv 'v["step"] == 10' | wc -w)" -ge 2
cp out fused
job 4 APSMPI_POLICY=fused.yaml APSMPI_LOG=single.csv $digits --epochs 2
check '... and the same bits as calls for each layer' cmp fused out

policy mixed.yaml -t "$table" -t 'log: {file: mixed.csv, every: 10}' \
    'layers: "fc3.*", format: fp32' "$aps"
job 2 APSMPI_POLICY=mixed.yaml $digits --epochs 1 --fused
check 'a fused gradient with an FP32 layer trains' trained
check '... and is split' equal "$(distinct layer mixed.csv)" '0 1 2 3'

# --- the summary --------------------------------------------------------------

job 2 APSMPI_POLICY=plain.yaml $digits --epochs 1
check 'the first rewritten call and the summary are a line each' \
    equal "$(wc -l <err)" 2
check '... that begin with apsmpi' equal "$(cut -c 1-8 err | uniq)" 'apsmpi: '
check '... the former comes first, and says what is done where' equal \
    "$(sed -n '1s/, [a-z0-9]* kernels$/, some kernels/p' err)" \
    "apsmpi: plain.yaml rewrites its first call, an MPI_Allreduce on \
MPI_COMM_WORLD: 2 ranks on 1 node, reduce: hierarchical in 1 group of 2 ranks, \
some kernels"
check '... and goes to standard error' not has out apsmpi
job 2 APSMPI_POLICY=plain.yaml APSMPI_SUMMARY=off $digits --epochs 1
check 'APSMPI_SUMMARY=off silences it' empty err
check '... while the job goes on' trained

finish

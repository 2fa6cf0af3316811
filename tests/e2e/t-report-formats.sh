#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Formats that are chosen while the program runs (format: {auto: ...}): a
# training program uses them, and apsmpi-report's table and page show the format
# of each layer from each step on.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

"$PYTHON3" -c '' 2>/dev/null || skip_all "$PYTHON3 is missing"
log=formats.csv

report()
{
    timed "$PYTHON3" "$report" "$@" $log
}
about()
{
    "$PYTHON3" "$top_srcdir/tests/e2e/page_check.py" page.html "$@"
}
cells()
{
    about texts "$1" | tee cells
    grep -qxF -e "$2" cells
}

# --- a log of two layers ------------------------------------------------------

header=time,comm,step,epoch,layer,name,count,format,scale,reduce,scale_exp,err_mean
header=$header,err_max,err_l2,snr_db,underflow,overflow,nonfinite,skipped,wire_bytes
echo "$header,fp32_bytes,usec,run" >$log
change='comm=world rule=0 epoch=0 target="snr 20dB"'
cat >>$log <<END
# run=a apsmpi=1 ranks=2
# auto run=a layer=0 name="conv 1" count=64 step=0 from=none to=e5m2 $change snr=24.5 wire_bytes=64 fp32_bytes=256
# auto run=a layer=1 name=fc count=32 step=0 from=none to=fp32 $change best=e5m2 snr=12
# auto run=a layer=0 name="conv 1" count=64 step=20 from=e5m2 to=e3m2 $change was=24 snr=23.5 wire_bytes=48 fp32_bytes=256
# world: something else
# auto run=a layer=0 name="conv 1" count=64 step=30 from=e3m2 to=fp32 $change was=-inf best=e5m2 snr=-inf
END
errors=0.1,0.1,0.1,20,0,0,0,0
for step in 0 20 39; do
    echo "1700000000,world,$step,0,0,conv 1,64,e5m2,aps,direct,3,$errors,64,256,1,a"
done >>$log
# an `auto` event that is cut in the middle counts like any other
echo '# auto run=a layer=0' >>$log

report --html page.html
check 'a log with changes of formats' status_is 0
check 'the table says them by layer' has out \
    '    0  conv 1     64  snr 20dB        2  fp32        -   100.0  e5m2 from 0, e3m2'
check '... also of a layer in FP32' has out \
    '    1  fc         32  snr 20dB        0  fp32        -   100.0  fp32 from 0'
check '... which is not an event any more' test "$(grep -c '^  1 x ' out)" -eq 2
check '... unlike others' has out '  1 x world: something else'
check 'the page is well-formed' about shape
check '... with the table' cells formats \
    '0|conv 1|64|snr 20dB|2|fp32|-|100.0|e5m2 from 0, e3m2 from 20, fp32 from 30'
for span in 'e5m2, steps 0 to 19, snr 24.5 ' 'e3m2, steps 20 to 29, snr 23.5 ' \
    'fp32, steps 30 to 39<'; do
    if grep -q 'The page has no figures' page.html; then
        skip "... and a figure: $span" 'there is no matplotlib 3.5 or later'
    else
        check "... and a figure: $span" has page.html "<title>0  conv 1: $span"
    fi
done
report --layers fc
check '--layers holds of them' not has out 'e3m2 from 20'

# --- a program ----------------------------------------------------------------

layer_table >layers.csv
rm -f $log
policy formats.yaml -t 'layers: layers.csv' -t "log: {file: $log, every: 20}" \
    'format: {auto: [e3m2, e4m3, e5m2, e5m10], target: snr 24dB, every: 20}, scale: aps'
# shellcheck disable=SC2086 # a command with arguments
job 2 APSMPI_POLICY=formats.yaml $digits --epochs 3
check 'digits trains' trained
check '... and the summary says how many layers have which format' \
    grep -q 'format: auto: .* layers at the end: [0-9]* in e' err
report --html page.html
check 'the report says which' has out 'formats chosen while the program ran'
check '... on a page, too' about shape
check '... for each layer once' test "$(about texts formats | grep -c '|snr 24dB|')" \
    -eq "$(grep -c '^# auto .* from=none' $log)"
timed "$top_builddir/apsmpi" check formats-policy.yaml
check 'the policy at the end is one' status_is 0
# shellcheck disable=SC2086
job 2 APSMPI_POLICY=formats-policy.yaml $digits --epochs 3
check '... with which digits trains' trained
finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# apsmpi suggest on logs of suggest_log.py: errors, the settings of each layer
# under each kind of target, and that `apsmpi check` accepts the policies.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

"$PYTHON3" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ||
    skip_all "$PYTHON3 is missing or older than 3.9"

# made FILE OPTION...: writes a log
made()
{
    "$PYTHON3" "$top_srcdir/tests/e2e/suggest_log.py" "$@"
}
# suggested ARGUMENT...: the policy is in `out`, and in policy.yaml
suggested()
{
    timed "$PYTHON3" "$suggest" "$@"
    cp out policy.yaml
    # Its comments, with their lines joined.
    sed -n 's/^ *# *//p' out | paste -s -d ' ' >told
}
# fails TEXT: the last command failed, with this text on standard error
fails()
{
    status_is 2 && empty out && has err "$1"
}
# rules TEXT: the policy's rules, as apsmpi explain prints them, are these:
# conditions>format scale, and so on
rules()
{
    "$apsmpi" check policy.yaml && "$apsmpi" explain --json policy.yaml >json &&
        equal "$("$PYTHON3" -c '
import json
for rule in json.load(open("json"))["rules"]:
    plan = rule["plan"] or {"format": "fp32", "scale": "-"}
    print("%s>%s %s" % (rule["when"], plan["format"], plan["scale"]), end="; ")
')" "$1"
}

# --- errors -------------------------------------------------------------------

suggested absent.csv
check 'a missing log is an error' fails 'apsmpi suggest: absent.csv: No such file'
suggested
check 'a missing log is an error' status_is 2
: >empty.csv
suggested empty.csv
check 'an empty log' fails 'empty.csv:1: the file is empty, and no round-off log'
made log.csv
head -n 2 log.csv >header.csv
suggested header.csv
check 'a log without rows' fails 'header.csv: a header and no rows'
suggested "$top_srcdir/tests/e2e/data/report.csv"
check 'a log without candidates says how to get one with' fails \
    'report.csv: no rows of candidates: all 17 rows are about reductions that'
check '... by which key' has err 'shadow: [e4m3, e5m2]'
echo 'layer,name,count' >table.csv
suggested table.csv
check 'a file that is not a log' \
    fails "table.csv:1: not a round-off log: no column 'time'"
for target in snr err=x bytes=0% snr=20% err=0.1dB bytes=25 size=3 snr=-201dB \
    bytes=101% bytes=-1% err=0 err=-1 err=1 err=1000 snr=--3dB; do
    suggested --target $target log.csv
    check "--target $target" fails "argument --target: '$target'"
done
suggested --target err=1000 log.csv
check '... which is reported for err=1000' \
    has err 'asks for nothing: zeros would meet it'
suggested --log '' log.csv
check 'a log without a name' fails 'argument --log: the name of a file is empty'
suggested -o - log.csv
check '-o - is standard output' has out 'version: 1'
check '... and no file' test ! -e ./-
suggested --margin x log.csv
check '--margin x' fails "'x' is no margin, such as 1dB"
suggested --every 0 log.csv
check '--every 0' fails "'0' is no whole number above 0"
suggested --steps many log.csv
check '--steps many' fails "'many' is neither auto nor"
suggested --candidates e4m2 log.csv
check 'an unknown candidate' fails "the log has no candidate 'e4m2', did you mean"
check '... with those that there are' has err 'it has e4m3 aps, e5m2 aps'
suggested --comm nobody log.csv
check 'an unknown communicator' fails "no candidates on the communicator 'nobody'"
suggested --run 17 log.csv
check 'an unknown run' fails "log.csv: has no run '17'; those with candidates are:"
check '... names them' has err '  20261123T060000.000000-1'
suggested -o no/such/policy.yaml log.csv
check 'a policy that cannot be written' fails 'no/such/policy.yaml: No such file'
cp log.csv kept.csv
suggested -o log.csv log.csv
check 'the log itself as the policy' fails \
    '--output log.csv would overwrite the file, which this command reads'
ln log.csv link.yaml
suggested -o link.yaml log.csv
check '... by another name' fails '--output link.yaml would overwrite log.csv, which'
check '... the log is as it was' cmp log.csv kept.csv
ln -s log.csv log.svg
for option in --csv --html --plot --plot-scales --plot-residuals; do
    timed "$PYTHON3" "$report" $option log.svg log.csv
    check "apsmpi-report $option with the log itself" fails \
        "$option log.svg would overwrite log.csv, which"
done
check '... the log is still as it was' cmp log.csv kept.csv
suggested --target bytes=20% log.csv
check 'a budget that no choice keeps' fails \
    'bytes=20%: the fewest bytes that the candidates allow are 25.00 %'
made headers.csv layers=4096 candidates=e4m3/aps/8.015625/20
suggested --target bytes=25% headers.csv
check '... headers are said to be the excess' fails \
    '25.05 %. What exceeds the bits of the values are headers and scales. Ask for'
suggested --target bytes=25.05% headers.csv
check '... with which the budget is kept' grep -q 'Expected: .*, 25.05 % of' told
made eighth.csv candidates=e4m3/aps/4.1/20
suggested --target bytes=12% eighth.csv
check '... the number is rounded up: 12.805 %' fails 'candidates allow are 12.81 %'
check '... it says what to ask for' fails 'Ask for --target bytes=12.81%, or measure a'
suggested --target bytes=12.81% eighth.csv
check '... and is enough' status_is 0
suggested --table nofile absent.csv
check 'a table that is missing is an error at once' fails \
    '--table nofile: No such file'
cut -d , -f 1-37 log.csv >old.csv
suggested --target bytes=30% old.csv
check 'a budget without norms' fails 'does not have the column ref_l2'
suggested old.csv
check '... which other targets do not need' status_is 0

# Several jobs in a log, several communicators, a line that is cut.
{
    cat log.csv
    made other.csv run=20261124T060000.000000-2 candidates=e3m4/aps/8/40
    sed 1d other.csv
} >jobs.csv
suggested jobs.csv
check 'a log of several jobs' fails 'jobs.csv: candidates of 2 runs; choose one by'
check '... names them' has err '  20261124T060000.000000-2'
check '... each in a line of its own' test "$(wc -l <err)" -eq 3
suggested --run last jobs.csv
check '... of which one may be chosen' rules 'layers 0-2>e3m4 aps; '
suggested --run 20261123T060000.000000-1 jobs.csv
check '... by its id, too' rules 'layers 0-2>e4m3 aps; '
# The run of the suggested policy comes last, and has no candidates.
{
    cat jobs.csv
    sed -n '3s/20261123T060000.000000-1/20261125T060000.000000-3/
        3s/,fp32,1,/,fp32,0,/p' log.csv
} >later.csv
suggested --run last later.csv
check 'the last run is the last that has candidates' rules 'layers 0-2>e3m4 aps; '
suggested --run 20261125T060000.000000-3 later.csv
check '... another one has none' fails \
    "no candidates in the run '20261125T060000.000000-3'; those with candidates are:"
check '... and those are named that have' has err '  20261124T060000.000000-2'
suggested --run 20261123T060000.000000-1 jobs.csv
check '... says what all send, too' has told 'e4m3 aps, sends 25.0 %, too.'
suggested log.csv other.csv
check 'several logs: no candidate was measured in both' rules 'layers 0-2>fp32 -; '
made other.csv layers=4096+128+640
suggested log.csv other.csv
check 'several logs of other layers' fails \
    'layer 1 is 64 elements in log.csv, and 128 elements in other.csv'
made named.csv layers=4096:fc1.weight+64:fc1.bias begin='steps=table table=two.csv'
for option in '' '--table two.csv'; do
    layer_table | head -n 3 >two.csv
    # shellcheck disable=SC2086 # an option and its value, or nothing
    suggested $option named.csv log.csv
    check "logs that identify layers differently ${option%% *}" fails \
        'named.csv identifies layers by a layer table, log.csv by steps: auto: give'
done
for wrong in '1,fc1.bias,65' '1,fc1.b,64' '2,fc1.bias,64' '1,fc1.bias,many' ''; do
    printf 'layer,name,count\n0,fc1.weight,4096\n%s\n' "$wrong" >two.csv
    suggested --table two.csv named.csv
    case $wrong in
    *65) text='layer 1 is fc1.bias of 65 elements, and fc1.bias of 64 elements in' ;;
    *b,64) text='layer 1 is fc1.b of 64 elements, and fc1.bias of 64 elements in' ;;
    2*) text="two.csv:3: layer index '2' out of order: expected 1" ;;
    *many) text="two.csv:3: count 'many' is not a whole number" ;;
    *) text='it has 1 layer, and named.csv has layer 1, fc1.bias of 64 elements' ;;
    esac
    check "a table that disagrees: '$wrong'" fails "$text"
done
suggested --table /dev/null named.csv
check 'a table without layers' fails '--table /dev/null: the table has no layers'
layer_table >two.csv
suggested --table two.csv log.csv
check 'a table with a log that found its layers by itself' fails \
    'two.csv: log.csv identifies layers by steps: auto, whose numbers are not those'
made counted.csv begin='steps="calls 3" order=backward per_epoch=11'
for option in '--steps 4' '--steps auto' '--order forward' '--per-epoch 5'; do
    # shellcheck disable=SC2086 # an option and its value
    suggested $option counted.csv
    check "$option against the log" fails \
        "$option: counted.csv "
done
suggested --order backward log.csv
check 'a log without order is of a run with forward' fails 'log.csv has order: forward'
suggested --steps 3 --order backward --per-epoch 11 counted.csv
check 'options that agree with the log' status_is 0
{
    cat log.csv
    made other.csv comm=tensor layers=4096+128+640
    sed 1,2d other.csv
} >comms.csv
suggested comms.csv
check 'communicators with other layers' fails \
    "layer 1 has 64 elements on the communicator 'MPI_COMM_WORLD', and 128 on 'te"
suggested --comm tensor comms.csv
check '... of which one may be chosen' rules 'layers 0-2>e4m3 aps; '
made other.csv comm=tensor candidates=e5m2/aps/8/18+e4m3/aps/8/15
{
    cat log.csv
    sed 1,2d other.csv
} >comms.csv
suggested comms.csv
check 'communicators with the same layers are taken together' has err \
    '2 communicators are taken together: MPI_COMM_WORLD, tensor'
check '... with the worse of their errors' rules 'layers 0-2>fp32 -; '
{
    cat log.csv
    tail -n 1 log.csv | head -c 50
} >cut.csv
suggested cut.csv
check 'a log that is cut within a row' rules 'layers 0-2>e4m3 aps; '
check '... is noted' has err 'truncated last line ignored'
sed '5s/,/;/' log.csv >malformed.csv
suggested malformed.csv
check 'a malformed row' has err 'malformed.csv:5: '
made named.csv layers=4096:fc1.weight+64:fc1.bias
suggested named.csv
check 'names without a table' fails 'name it by --table FILE'

# --- a bound of each layer ----------------------------------------------------

list=e3m0/aps/4/10+e3m2/aps/6/24,26,12+e4m3/aps/8/30+e5m2/none/8/26,20,30
made log.csv candidates=$list
suggested --target snr=20dB log.csv
check 'the cheapest candidate that keeps 20 dB' rules \
    'layers 0-1>e3m2 aps; layers 2>e4m3 aps; '
check '... with what it sends' has told 'sends 18.8 % of'
check '... and its worst epoch' has told 'at worst'
check '... and why no cheaper one' has told \
    'e3m0 aps would send fewer bytes, with 8.0 dB'
check '... what all of it sends' has told 'Expected: 3760 bytes a step that rank 0'
check '... and what one for all would' has told 'The best one for all layers, e4m3 aps'
check '... the ratio that the report will show' has told \
    'which apsmpi-report --last shows as snr_db of the total, 25.7 dB.'
check '... and what to watch' has told '(apsmpi-report --last roundoff.csv;'
for target in 'snr 20dB' snr:20dB 'snr = 20 dB'; do
    cp out before
    suggested --target "$target" log.csv
    check "the target in the form of policies: $target" cmp out before
done
suggested --target err=0.1 --margin 1 log.csv
check 'the same as an error' rules 'layers 0-1>e3m2 aps; layers 2>e4m3 aps; '
suggested --target err=0.1 log.csv
check '... with the margin of a factor of 2' rules 'layers 0-2>e4m3 aps; '
suggested --target snr=21dB log.csv
check '21 dB are kept by 22 dB' rules 'layers 0-1>e3m2 aps; layers 2>e4m3 aps; '
suggested --target snr=21dB --margin 1.5dB log.csv
check '... not with a margin of 1.5 dB: the last epoch counts' rules \
    'layers 0, 2>e4m3 aps; layers 1>e3m2 aps; '
suggested --target snr=21dB --margin 1.5dB --candidates e5m2,e3m2:aps log.csv
check '... of other candidates' rules \
    'layers 0, 2>e5m2 none; layers 1>e3m2 aps; '
made named.csv candidates=e8m7/aps-tight/16/60+e5m10/none/16/70
suggested --candidates bf16 named.csv
check 'bf16 is e8m7' rules 'layers 0-2>e8m7 aps-tight; '
suggested --candidates 'bf16:*,fp16' named.csv
check '... also in patterns, and fp16 is e5m10' rules 'layers 0-2>e5m10 none; '
made clips.csv candidates=e8m23/none/2/30+e4m3/aps/8/30
sed -i 's/,fp32,1,0,0,,/,fp32,1,0,0,ternary clip 2.5,/' clips.csv
for word in ternary 'ternary clip' 'ternary clip 2.5' 'ternary*'; do
    suggested --candidates "$word" clips.csv
    check "a compressor by its name: $word" has out '{ternary: {clip: 2.5}}'
done
suggested --candidates tern clips.csv
check '... not by a part of a word' fails "no candidate 'tern'"
suggested --candidates tf32 named.csv
check '... and what was not measured is refused' fails "no candidate 'tf32'"
{
    made powersgd.csv layers=4096+64+640 candidates=e8m23/aps/4/30,200,30
    head -n 2 powersgd.csv
    printf '# candidate run=%s rule=0 shadow=1 plan="%s"\n' \
        20261123T060000.000000-1 '{format: e8m23, scale: aps, compress: powersgd}'
    # The compressor leaves layer 1 to its plain format.
    sed '1,2d; /,1,,64,/!s/,fp32,1,0,0,,/,fp32,1,0,0,powersgd rank 4,/
        /,1,,64,/s/,direct,\(.*\),32,256,50,/,direct,\1,256,256,50,/' powersgd.csv
    made other.csv candidates=e4m3/aps/8/30
    sed '1,2d; s/,fp32,1,/,fp32,2,/' other.csv
} >fallback.csv
suggested --candidates powersgd fallback.csv
check 'a compressor comes with the layers that it leaves to its format' rules \
    'layers 0, 2>e8m23 aps; layers 1>fp32 -; '
suggested --candidates 'powersgd rank 4,e4m3' fallback.csv
check '... and with another candidate' status_is 0
sed '/,1,,64,e4m3,/d; s/,0,,4096,e8m23,/,0,,4096,e3m2,/' fallback.csv >lacks.csv
suggested --candidates e4m3 lacks.csv
check 'a layer without the candidates says its own' fails \
    '1 was not measured with any of the candidates that --candidates names: add one of'
check '... which may be added' has err 'add one of its own: e8m23 aps'
suggested --target snr=500dB log.csv
check 'a target that no candidate meets in any layer' has told \
    'No candidate meets snr=500dB in any layer, with a margin of 1 dB, and all layers'
check '... says which came nearest' has told \
    'FP32. e4m3 aps came nearest, with at worst 28.0 dB, in epoch 2 of layer 0.'
check '... which is noted, too' has err 'suggest: No candidate meets snr=500dB in any'
check '... and all is FP32' rules 'layers 0-2>fp32 -; '
suggested --target snr=25dB --candidates e3m2,e5m2 log.csv
check '... not where no candidate keeps it in all layers' not has err 'No candidate'
suggested --target snr=40dB log.csv
check 'a target that no candidate meets' rules 'layers 0-2>fp32 -; '
check '... says which came nearest' has told \
    'the best candidate, e4m3 aps, has 28.0 dB in epoch 2'
made wide.csv candidates=e8m23/none/32/150
suggested wide.csv
check 'a candidate that sends as much as FP32' has told \
    'no candidate that keeps the target sends less'
made inf.csv candidates=e5m2/none/8/30,-inf,30
suggested inf.csv
check 'an overflow meets no target' rules \
    'layers 0, 2>e5m2 none; layers 1>fp32 -; '

made poor.csv candidates=e3m0/aps/4/-3+e3m2/aps/6/0+e4m3/aps/8/30
suggested --target snr=-5dB poor.csv
check 'a ratio below 0 dB, as compressors have them' rules 'layers 0-2>e3m2 aps; '
check '... is printed as it was given' has out '--target snr=-5dB'
suggested --target snr=-7dB poor.csv
check '... which fewer bits keep' rules 'layers 0-2>e3m0 aps; '

made twins.csv candidates=e4m3/aps/8/10+e5m2/aps/8/15+e4m3/aps/8/30+e4m3/aps/8/12
suggested twins.csv
check 'candidates of one name: the rule says which of the list it has' has told \
    'candidate 3 of the list, sends 25.0 %'
made twins.csv candidates=e4m3/aps/8/10+e5m2/aps/8/30
suggested twins.csv
check '... every rule does' has told 'candidate 2 of the list, sends 25.0 %'

made one.csv epochs=1 samples=1
suggested one.csv
check 'one sample of every layer is refused' fails \
    'apsmpi suggest: one.csv: one sampled step, and a choice needs two at least'
check '... what to do' has err '`log: {every: N}`'
check '... if there is no step' has err '`steps: none`'
made one.csv epochs=1 samples=2
awk -F, '!($5 == 1 && $3 == 1)' one.csv >some.csv
suggested some.csv
check 'one sample of a layer: the choice hangs on it' has told \
    'The choice hangs on one sample of each candidate in 1 of 3 layers'
check '... also on the error stream' has err 'apsmpi suggest: The choice hangs on one'
suggested one.csv
check '... not with two' not has told 'hangs on'

made parts.csv epochs=1 samples=16
suggested parts.csv
check 'without epochs: eighths of the run' has told 'in 8 parts of the run'
check '... each keeps the target' has told 'kept snr=20dB in every part of the run'
made parts.csv epochs=1 samples=9 steps=2+3+4+5+6+7+8+9+8000
suggested parts.csv
check '... samples that follow each other are one part' has told \
    '9 samples a layer, in 2 parts of the run'

# Equal bytes: neighbours share a rule if they can.
made ties.csv layers=4096+4096+4096+4096+4096 \
    candidates=e4m3/aps/8/30,30,9,30,9+e5m2/aps/8/28,28,28,28,9+e3m4/aps/8/5,5,40,5,40
suggested ties.csv
check 'neighbours share a candidate, where it costs nothing' rules \
    'layers 0-3>e5m2 aps; layers 4>e3m4 aps; '

# Sizes instead of layers, and the second run's mapping to layers.
made sizes.csv sizes=1 layers=64+4096+640+128 \
    candidates=e3m2/aps/6/30,30,10,30+e4m3/aps/8/40
suggested sizes.csv
check 'a log without steps: rules by sizes' rules \
    'count <= 128>e3m2 aps; count >= 4096; count <= 4096>e3m2 aps; count >= 640; count <= 640>e4m3 aps; '
check '... without steps' not has out steps:
check '... with the least size' has out 'min_count: 64 '
made large.csv layers=4096+2048
{
    cat large.csv
    sed 1,2d sizes.csv
} >mixed.csv
suggested mixed.csv
check 'calls of known and of unknown steps: rules for the layers' rules \
    'layers 0-1>e4m3 aps; '
check '... says which calls it leaves out' has err \
    'Calls of 64 elements, 128 elements, 640 elements, 4096 elements are left out, because the library knew no layer'
check '... in the policy, too' has told 'Calls of 64 elements, 128'
suggested large.csv
check 'no such calls' not has err 'are left out'
check 'the default of min_count is left out' not has out min_count:
check 'steps as the log says: auto' grep -qx 'steps: auto' out
made steps.csv epochs=11 samples=11 candidates=e4m3/aps/8/60 \
    begin='apsmpi=1.0 steps="calls 3" order=backward per_epoch=11'
suggested steps.csv
check '... calls, order and epochs' grep -qx \
    'steps: {calls: 3, order: backward, per_epoch: 11}' out
check '... each epoch has a sample' grep -qx 'log: {file: roundoff.csv, every: 11}' out
suggested --every 20 steps.csv
check '... unless the user asks for fewer' grep -qx \
    'log: {file: roundoff.csv, every: 20}' out
check '... which the policy says' has told \
    'With every: 20 some epochs have no sample: an epoch has about 11 steps.'
made epochs.csv epochs=20 samples=2 candidates=e4m3/aps/8/60
suggested epochs.csv
check '... steps of an epoch by the rows' grep -q 'every: 2}' out
for steps in 5999:100 1000:100 999:99 99:9 19:1 2:1; do
    made long.csv epochs=1 samples=2 steps="0+$((${steps%:*} - 1))"
    suggested long.csv
    check "a run of ${steps%:*} steps: about 10 samples, or more" grep -q \
        "every: ${steps#*:}}" out
done
made silent.csv begin=apsmpi=1.0
suggested --order forward --per-epoch 5 --steps 3 silent.csv
check '... or as the options say, where the log does not' grep -qx \
    'steps: {calls: 3, order: forward, per_epoch: 5}' out
made ended.csv end=1
suggested ended.csv
check 'a run that ended' not has err 'ended'
suggested log.csv
check 'a run that did not end is noted' has err \
    'log.csv: the log does not say that run 20261123T060000.000000-1 ended: the job'
made lost.csv event='desync: call 3 has 7 elements'
suggested lost.csv
check 'desync events are noted' has err 'lost.csv: 1 desync event: where the step was'
layer_table >layers.csv
made named.csv layers=4096:fc1.weight+64:fc1.bias begin='table=layers.csv'
suggested --log second.csv --every 5 named.csv
check '... a table' rules 'layers 0-1>e4m3 aps; '
check '... by its name' grep -qx 'table: layers.csv' out
check '... and the log of the second run' grep -qx \
    'log: {file: second.csv, every: 5}' out
made named.csv layers=4096:fc1.weight+64:fc1.bias
suggested --table layers.csv -o named.yaml named.csv
check '... or of an option' grep -qx 'table: layers.csv' named.yaml

# The plans in events.
{
    head -n 2 log.csv
    printf '# candidate run=%s rule=0 shadow=2 plan="%s"\n' \
        20261123T060000.000000-1 \
        '{format: e3m2, scale: {fixed: 16}, rounding: {stochastic: {seed: 3}}}'
    sed 1,2d log.csv
} >plans.csv
suggested --target snr=21dB plans.csv
check 'a rule has all that the log says of the candidate' rules \
    'layers 0-1>e3m2 fixed; layers 2>e4m3 aps; '
check '... its rounding' has out 'rounding: {stochastic: {seed: 3}}'
check '... also in its name' has out 'name: e3m2-aps-stochastic'

made fixed.csv candidates=e4m3/fixed/8/30 factor=64
suggested fixed.csv
check 'the factor of a fixed scale is that of the log' rules 'layers 0-2>e4m3 fixed; '
check '... as check takes it' has out 'scale: {fixed: 64}'
check '... the log says it' not has told 'parameters of scales'
made fixed.csv candidates=e4m3/fixed/8/30 factor=0.1
suggested fixed.csv
check '... or a fraction' has out 'scale: {fixed: 0.1}'
made fixed.csv candidates=e4m3/fixed/8/30 factor=
suggested fixed.csv
check '... without it the policy says what to add' has told 'parameters of scales'

# --- by predicted time --------------------------------------------------------

# With a slow link only large layers gain, on any machine.
PATH=$top_builddir:$PATH
export PATH
made large.csv layers=4194304+64 candidates=e3m2/aps/6/30+e4m3/aps/8/35
suggested large.csv
check 'fewest bytes: a small layer in six bits' rules 'layers 0-1>e3m2 aps; '
suggested --hosts 16 --rate 1gbit large.csv
check '--hosts: in FP32 where that is faster' rules \
    'layers 0>e3m2 aps; layers 1>fp32 -; '
check '... says why' has told \
    'because no candidate that keeps the target is predicted to be faster than native'
check '... with the times of a rule' has told 's by native MPI in FP32.'
check '... and of a step' has told 'Predicted on 16 hosts of 1 rank: '
check '... and how it chose' has told 'Each layer gets the fastest candidate that kept'
made large.csv layers=4194304 candidates=e3m2/aps/6/5+e4m3/aps/8/35
suggested --hosts 16 --rate 1gbit large.csv
check '... why none that takes less time' has told \
    'e3m2 aps would take less time, with 3.0 dB'
made large.csv layers=4194304+64 candidates=e3m2/aps/6/30+e4m3/aps/8/35
suggested --target bytes=40% --hosts 16 --rate 1gbit large.csv
check '... within a budget' rules 'layers 0>e4m3 aps; layers 1>fp32 -; '
made large.csv layers=64+80 candidates=e3m2/aps/6/30
suggested --target bytes=50% --hosts 16 --rate 1gbit large.csv
check 'a budget that only slow candidates keep' fails \
    'allow are 100.00 %, where none may be slower than native MPI'
cp large.csv small.csv
made large.csv layers=4194304+64 candidates=e3m2/aps/6/5
suggested --hosts 16 --rate 1gbit large.csv
check 'the error comes before the time' has told \
    'the best candidate, e3m2 aps, has 3.0 dB'
{
    head -n 2 large.csv
    printf '# candidate run=%s rule=0 shadow=1 plan="%s"\n' \
        20261123T060000.000000-1 '{format: e3m2, scale: none, compress: topk}'
    sed 1,2d large.csv
} >plans.csv
suggested --target snr=1dB --hosts 16 --rate 1gbit plans.csv
check 'a compressor is not predicted, and not given' rules 'layers 0-1>fp32 -; '
check '... is noted' has err 'no time is predicted of e3m2 aps'
suggested --rate 1gbit small.csv
check "explain's errors: no hosts" fails \
    'apsmpi suggest: apsmpi explain: --rate needs --hosts or --measured'
suggested --hosts 16 --rate fast small.csv
check '... a wrong rate' fails "--rate 'fast' is not a rate"
suggested --measured none.txt small.csv
check '... a missing file' fails 'apsmpi explain: none.txt: No such file'
machine_file e3m2 >idle.yaml
suggested --measured idle.yaml small.csv
check 'a file that was measured on idle machines' not has err busy
{
    cat idle.yaml
    echo 'spread: 0.34'
} >busy.yaml
suggested --measured busy.yaml small.csv
check '... on busy ones is noted' has err \
    'busy.yaml was measured (repetitions disagree by 34 %): do not use these'
check '... in the policy, too' has told 'do not use these predictions, and measure'
timed env PATH=/nowhere "$(command -v "$PYTHON3")" "$suggest" --hosts 2 --rate 1gbit \
    small.csv
check 'without the command apsmpi' fails 'neither beside '

# --- a budget of bytes --------------------------------------------------------

made log.csv candidates=$list
suggested --target bytes=20% log.csv
check 'bytes=20%: more bits where they help most' rules \
    'layers 0>e3m2 aps; layers 1-2>e4m3 aps; '
check '... what it sends' has told '3776 bytes a step'
suggested --target bytes=19.6% log.csv
check '... with fewer bytes' rules 'layers 0-1>e3m2 aps; layers 2>e4m3 aps; '
suggested --target bytes=100% log.csv
check '... with all bytes' rules 'layers 0-2>fp32 -; '
made headers.csv candidates=e3m2/aps/6/24+e4m3/aps/8.005/30+e4m3/none/8.5/40
suggested --target bytes=25% headers.csv
check '... the best candidate that misses the budget by less than 1 %' has told \
    'e4m3 aps for all layers misses the budget by little, and has 28.9 dB: --target bytes=25.02% allows it.'
suggested --target bytes=25.02% headers.csv
check '... which that budget allows' rules 'layers 0-2>e4m3 aps; '
check '... and no further one' not has told 'misses the budget'
made log.csv candidates=$list norms=1+10+1
suggested --target bytes=20% log.csv
check '... where one layer is most of the gradient' rules \
    'layers 0, 2>e3m2 aps; layers 1>fp32 -; '

PYTHONPATH=$top_srcdir/scripts timed "$PYTHON3" \
    "$top_srcdir/tests/e2e/suggest_budget.py"
cp out budget
while read -r verdict name; do
    check "budget: ${name#* - }" test "$verdict" = ok
done <<END
$(sed 's/^not ok - /bad /; s/^ok - /ok /' budget)
END
check 'budget: all problems were tried' test "$(wc -l <budget)" -eq 16

# --- a program: one run with candidates, and one with the policy -----------------

cat >shadow.yaml <<'END'
version: 1
min_count: 1
steps: {calls: 6, per_epoch: 11}
log: {file: shadow.csv, every: 4}
shadow: [e3m0:aps, e3m1:aps, e3m2:aps, e3m3:aps, e4m3:aps]
END
# shellcheck disable=SC2086 # a command with arguments
job 2 APSMPI_POLICY=shadow.yaml $digits --epochs 8
check 'a run with candidates' trained
suggested shadow.csv
check '... its log says all of them' not has told 'The log does not say'
# met KIND VALUE [FP32]: a second run with the policy keeps the target
met()
{
    kind=$1
    suggested --target "$4" --log "$kind.csv" --every 1 shadow.csv
    check "--target $4: a policy" "$apsmpi" check policy.yaml
    # shellcheck disable=SC2086 # a command with arguments
    job 2 APSMPI_POLICY=policy.yaml $digits --epochs 8
    check '... with which the program trains' trained
    check '... and which keeps the target' \
        "$PYTHON3" "$top_srcdir/tests/e2e/suggest_met.py" "$kind" "$2" "$kind.csv" "$3"
    diag "$("$PYTHON3" "$top_srcdir/tests/e2e/suggest_met.py" "$kind" "$2" \
        "$kind.csv" "$3")"
}
met snr 20 0 snr=20dB
met err 0.15 0 err=0.15
met bytes 20 0 bytes=20%

# --- apsmpi suggest -----------------------------------------------------------

timed "$apsmpi" suggest --target snr=20dB log.csv
check 'apsmpi suggest is the same command' status_is 0
timed "$PYTHON3" "$suggest" --target snr=20dB log.csv
cp out wanted
timed "$apsmpi" suggest --target snr=20dB log.csv
check '... with the same policy' cmp out wanted
timed "$apsmpi" help suggest
check 'apsmpi help suggest' has out 'usage: apsmpi suggest '
mkdir alone
cp "$apsmpi" alone
timed alone/apsmpi suggest log.csv
check 'without apsmpi-suggest beside it' has err \
    "apsmpi suggest: cannot start $tmp/alone/apsmpi-suggest: No such file"
check '... it fails' status_is 1
timed "$PYTHON3" "$suggest" --version
check 'its version' equal "$(cat out)" "apsmpi-suggest $PACKAGE_VERSION"

finish

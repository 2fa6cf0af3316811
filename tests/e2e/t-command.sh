#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The apsmpi command: check and explain, messages, exit statuses.
#
# Uses $APSMPI, or the build's own command, and the sample policies of the sources.

here=$(cd "$(dirname "$0")" && pwd)
top=${top_srcdir:-$here/../..}
apsmpi=${APSMPI:-${top_builddir:-$top}/apsmpi}

if ! test -x "$apsmpi"; then
    echo "Bail out! no command at $apsmpi (set APSMPI)"
    exit 1
fi

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
LC_ALL=C
export LC_ALL
cd "$tmp" || exit 1

number=0
failed=0

# apsmpi ARGS: runs it; the results are $rc, out and err
apsmpi() {
    "$apsmpi" "$@" >out 2>err
    rc=$?
}

# result PASS NAME: prints one TAP line, with the last run's output if it failed
result() {
    number=$((number + 1))
    if test "$1" = 0; then
        echo "ok $number - $2"
    else
        failed=$((failed + 1))
        echo "not ok $number - $2"
        echo "# exit status $rc"
        sed 's/^/# out: /' out
        sed 's/^/# err: /' err
    fi
}

# status WANTED NAME: the exit status of the last run
status() {
    test "$rc" = "$1"
    result $? "$2"
}

# same out|err NAME: that output equals standard input
same() {
    diff - "$1" >changes
    same_rc=$?
    result $same_rc "$2"
    test $same_rc = 0 || sed 's/^/# /' changes
}

# has out|err TEXT NAME: a line of that output has the text
has() {
    grep -F -e "$2" "$1" >/dev/null
    result $? "$3"
}

# empty out|err NAME
empty() {
    ! test -s "$1"
    result $? "$2"
}

# --- options ------------------------------------------------------------------

apsmpi
status 2 'no subcommand is a usage error'
has err 'usage: apsmpi SUBCOMMAND' '... that shows the usage'

apsmpi explian
status 2 'an unknown subcommand is a usage error'
same err '... with the nearest name' <<'END'
apsmpi: unknown subcommand 'explian'; did you mean 'explain'?
END

apsmpi --json check table.yaml
status 2 'an option in front of the subcommand is a usage error'
same err '... that says where options stand' <<'END'
apsmpi: unknown option '--json'; options follow the subcommand, as in apsmpi check --json FILE
END

apsmpi check
status 2 'check without a file is a usage error'
same err '... that says what is missing and shows the usage' <<'END'
apsmpi: FILE is missing
usage: apsmpi check [--shadow FORMATS] [--json] [FILE...]
END

apsmpi explain
status 2 'explain without a file is a usage error'

apsmpi explain a.yaml b.yaml
status 2 'explain with two files is a usage error'

apsmpi check --quick a.yaml
status 2 'an unknown option is a usage error'
has err "apsmpi: unknown option '--quick'" '... that names it'
apsmpi explain a.yaml --epoch=3
status 2 'an option that is cut short is unknown'
has err "apsmpi: unknown option '--epoch'; did you mean '--epochs'?" \
    '... with the nearest option'
apsmpi check -q a.yaml
status 2 'there are no options of one letter but -h'
apsmpi explain a.yaml --epochs
has err 'apsmpi: --epochs needs a value' 'an option without its value'
apsmpi explain --layer-counts=2 a.yaml
has err 'apsmpi: --layer-counts takes no value' 'a value that is not wanted'
apsmpi check -- --quick
status 1 'behind -- there are no options'

apsmpi explain --epochs 9-3 a.yaml
status 2 'a range of epochs that runs backwards is a usage error'
same err '... with a line' <<'END'
apsmpi: --epochs '9-3' runs backwards
END

apsmpi help chekc
status 2 'help for an unknown subcommand is a usage error'

APSMPI_CPU=sse
export APSMPI_CPU
apsmpi cast e4m3 1
status 2 'a wrong APSMPI_CPU is refused'
same err '... with what it is' <<'END'
apsmpi: APSMPI_CPU='sse' is wrong; apsmpi info says which variants there are
END
APSMPI_CPU=PLAIN
APSMPI_ON_ERROR=Pass
export APSMPI_ON_ERROR
apsmpi info
status 0 'words of variables may be in capital letters'
has out 'APSMPI_ON_ERROR       pass ' '... and info prints small ones'
has out 'APSMPI_CPU            plain ' '... of all of them'
unset APSMPI_CPU APSMPI_ON_ERROR

apsmpi --version
status 0 '--version'
grep -E '^apsmpi [0-9]+\.[0-9]+' out >/dev/null
result $? '... prints name and version'

apsmpi help
status 0 'help'
has out '  check ' '... lists the subcommands'

apsmpi help explain
status 0 'help explain'
has out '--layer-counts' '... lists the options'

cp out wanted
apsmpi explain a.yaml b.yaml -h
status 0 'explain -h, after operands'
same out '... is the same text' <wanted
for subcommand in check explain formats cast info; do
    for option in -h --help; do
        apsmpi $subcommand $option
        status 0 "$subcommand $option"
        has out "usage: apsmpi $subcommand" '... shows the usage'
    done
    apsmpi $subcommand --version
    status 0 "$subcommand --version"
    grep -E -x 'apsmpi [0-9]+\.[0-9.]+' out >/dev/null
    result $? '... prints name and version'
done
apsmpi -h
has out 'usage: apsmpi SUBCOMMAND' '-h is --help'

# --- check --------------------------------------------------------------------

apsmpi check missing.yaml
status 1 'a missing policy'
same err '... is named with the cause' <<'END'
missing.yaml: No such file or directory
END

: >empty.yaml
apsmpi check empty.yaml
same err 'an empty policy' <<'END'
empty.yaml: the file is empty
END

printf 'version: 1\n\000\n' >binary.yaml
apsmpi check binary.yaml
same err 'a binary policy' <<'END'
binary.yaml: not a text file (it holds a NUL byte)
END

mkdir directory.yaml
apsmpi check directory.yaml
same err 'a directory' <<'END'
directory.yaml: Is a directory
END

dd if=/dev/zero bs=1048577 count=1 2>/dev/null | tr '\000' '#' >large.yaml
apsmpi check large.yaml
same err 'a policy that is too large' <<'END'
large.yaml: larger than 1 MiB
END

{
    printf 'version: 1\nrules: ['
    dd if=/dev/zero bs=10001 count=1 2>/dev/null | sed 's/\x00/[],/g'
    echo ']'
} >rules.yaml
apsmpi check rules.yaml
same err 'a policy of too many rules' <<'END'
rules.yaml:2:8: 'rules' has 10001 rules; the most is 10000
END

# A loop over all pairs would take a minute.
{
    printf 'version: 1\nrules:\n  - {format: e4m3, steps: "0'
    dd if=/dev/zero bs=400000 count=1 2>/dev/null | sed 's/\x00/,1/g'
    echo '"}'
} >items.yaml
apsmpi check items.yaml
same err 'a long list is read in a moment' </dev/null

cat >table.yaml <<'END'
version: 1
layers: tables/net.csv
rules:
  - layers: fc.*
    format: fp32
  - layers: last, 3-
    format: e5m2
  - format: e4m3
END
apsmpi check table.yaml
status 1 'a missing layer table'
same err '... is named where the policy names it' <<'END'
table.yaml:2:9: cannot read the layer table 'tables/net.csv': No such file or directory
END

cat >several.yaml <<'END'
version: 1
fuse: 12 parsecs
rules:
  - {layers: fc.*, format: e5m2, scale: {unit: table}}
  - {format: e4m3, scal: aps}
table: tables/net.csv
END
apsmpi check several.yaml
status 1 'a missing layer table in a policy with other errors'
same err '... hides none of them' <<'END'
several.yaml:2:10: unknown unit 'parsecs' of 'fuse'; one of KiB, MiB, GiB
several.yaml:5:20: unknown key 'scal'; did you mean 'scale'?
several.yaml:6:8: cannot read the layer table 'tables/net.csv': No such file or directory
END

mkdir tables
printf 'layer,name,count\n0,conv.weight,2048\n2,conv.bias,0\n' \
    >tables/net.csv
apsmpi check table.yaml
status 1 'a bad layer table'
same err '... has its own lines' <<'END'
tables/net.csv:3:1: layer index 2 out of order: expected 1
tables/net.csv:3:13: count must be above 0
END

cat >bad.yaml <<'END'
version: 1
steps: {order: backwards}
rules:
  - formt: e5m2
  - format: ternary
END
apsmpi check bad.yaml
status 1 'a bad policy'
empty out '... prints nothing on standard output'
same err '... but all its errors, with places and hints' <<'END'
bad.yaml:2:16: unknown order 'backwards'; did you mean 'backward'?
bad.yaml:4:5: unknown key 'formt'; did you mean 'format'?
bad.yaml:4:5: the rule has no 'format'
bad.yaml:5:13: unknown format 'ternary'; TernGrad is a compressor: compress: ternary
END

cat >clash.yaml <<'END'
version: 1
rules:
  - {max_count: 4999, format: e5m2, reduce: ring, group: 16}
  - {max_count: 5999, format: e5m2, reduce: master, group: 16, node: fp32}
  - {max_count: 6999, format: e5m2, reduce: auto, accumulate: kahan}
  - {max_count: 7999, format: e5m2, accumulate: kahan, scale: aps-tight}
  - {max_count: 8999, format: e5m2, reduce: rnig, accumulate: kahan}
END
apsmpi check clash.yaml
status 1 'settings that contradict the reduction'
same err '... are named with what they go with' <<'END'
clash.yaml:3:51: 'group' cannot be combined with reduce: ring; use it with hierarchical, master or auto
clash.yaml:4:64: 'node' cannot be combined with reduce: master; use it with hierarchical or auto
clash.yaml:5:51: accumulate: kahan cannot be combined with reduce: auto; use it with direct, hierarchical or gather
clash.yaml:6:56: scale aps-tight cannot be combined with accumulate: kahan (every sender would have its own scale); use aps
clash.yaml:7:45: unknown reduce 'rnig'; did you mean 'ring'?
END

awk 'BEGIN {
    print "version: 1\nrules:"
    for (i = 0; i < 60; i++) print "  - {format: e9m9}"
}' >many.yaml
apsmpi check many.yaml
test "$(wc -l <err)" = 51
result $? 'fifty errors are printed'
has err 'many.yaml: 10 more errors are not shown' '... and the others counted'

mkdir tables/policies
cp table.yaml tables/policies/net.yaml
sed -i 's,tables/net.csv,../net.csv,' tables/policies/net.yaml
cat >tables/net.csv <<'END'
layer,name,count
0,conv1.weight,9408
1,conv1.bias,64
2,conv2.weight,36864
3,conv2.bias,64
4,fc.weight,20480
5,fc.bias,10
END
apsmpi check tables/policies/net.yaml
status 0 'the path of a table counts from the policy'
same out '... which is summed up in a line' <<'END'
tables/policies/net.yaml: ok: 3 rules, 6 layers, steps: from the table
END
same err '... with a warning for a rule without a layer' <<'END'
tables/policies/net.yaml:6:5: warning: this rule applies to no layer: its layers have another type, fewer than 1024 elements (min_count) or match an earlier rule
END

echo 'version: 1
rules: [{name: gradients, min_count: 10, format: e5m2}]' >odd.yaml
apsmpi check odd.yaml
status 0 'a policy with a warning'
same out '... is right' <<'END'
odd.yaml: ok: 1 rule, no layer table, steps: not needed
END
same err '... and the warning has its place' <<'END'
odd.yaml:2:27: warning: min_count 10 has no effect: calls and layers of fewer than 1024 elements match no rule (min_count next to 'rules')
END
apsmpi explain odd.yaml
grep -q '^2 gradients ' out
result $? "a rule's name is printed with its line"

echo 'version: 1
rules: [{format: e5m2}]' >good.yaml
apsmpi check good.yaml bad.yaml many.yaml
status 1 'one bad policy of several'
same out '... does not hide the good ones' <<'END'
good.yaml: ok: 1 rule, no layer table, steps: not needed
END

for policy in "$top"/config/policies/*.yaml; do
    apsmpi check "$policy"
    status 0 "sample $(basename "$policy") is right"
    empty err '... without a warning'
    apsmpi explain "$policy"
    status 0 '... and can be explained'
done

# --- explain ------------------------------------------------------------------

apsmpi explain bad.yaml
status 1 'a bad policy is not explained'
empty out '... not even in part'

apsmpi explain --epochs 3 good.yaml
status 1 'epochs without a layer table'
same err '... are refused' <<'END'
apsmpi: --epochs needs a layer table in the policy
END

cat >rules.yaml <<'END'
version: 1
steps: {calls: 8, per_epoch: 100}
min_count: 512
rules:
  - {layers: "0-3, last", format: fp32}
  - {epochs: 0-9, min_count: 4096, format: bf16, scale: {fixed: 1024}, group: 4}
  - {steps: 500-, format: e4m3, reduce: direct}
  - {format: e3m0, accumulate: format, node: fp32, group: l3}
END
apsmpi explain rules.yaml
status 0 'a policy without a table'
same out '... is explained rule by rule' <<'END'
rules.yaml: 4 rules, no layer table, steps: 8 calls

line  when                           format  scale       reduce        group  node    accumulate  bytes/elem
   5  layers 0-3, 7              ->  native (by rule)                                                      4
   6  epochs 0-9; count >= 4096  ->  e8m7    fixed 1024  hierarchical  4      format  fp32                 2
   7  steps 500-                 ->  e4m3    aps-tight   direct        -      -       fp32                 1
   8  always                     ->  e3m0    aps         hierarchical  l3     fp32    format             0.5

node fp32: full floats travel inside a group, and values in the format between
  groups, whose bytes are shown. If all ranks are in one group, nothing is
  rounded: format, scale, accumulate and rounding have no effect.

The first rule that matches applies. Calls that no rule matches, and calls of
fewer than 512 elements (min_count), are left to MPI.
END

cat >scales.yaml <<'END'
version: 1
rules:
  - {max_count: 8191, format: e5m2, scale: {backoff: {window: 100}}}
  - {max_count: 9000, format: e4m3, scale: aps}
  - {format: e3m0, scale: {unit: {on_overflow: saturate}}}
END
apsmpi explain scales.yaml
same err 'a scale that can hardly work is a warning' <<'END'
scales.yaml:5:28: warning: with scale unit, values beyond 8 standard deviations overflow in e3m0, and a large layer has some at every call
END
sed -n '/^scale /,/^The first rule/p' out | sed '$d' >notes
same notes 'what scales do that keep a state' <<'END'
scale backoff (line 3): The scale starts at 2^14. A call in which a value
  overflows divides it by 2, and 100 calls without an overflow multiply it by
  2, within 1 ... 2^14. The policy looks for no steps: all layers of the same
  size share a scale (with 'steps: auto' beside 'rules', each has its own). A
  chunk in which a value overflows is reduced again with aps.

scale unit (line 5): The first call of a layer has the scale of aps, and the
  ranks exchange the mean square of the layer's values. From then on the scale
  is constant, and the root of that mean square becomes 1. The policy looks
  for no steps: all layers of the same size share a scale (with 'steps: auto'
  beside 'rules', each has its own). A value that overflows arrives as the
  largest one.

END

cat >inside.yaml <<'END'
version: 1
rules:
  - {max_count: 8191, format: mx-e4m3fn}
  - {max_count: 9999, format: e4m3, node: fp32}
  - {format: e4m3, node: fp32, accumulate: format}
END
apsmpi explain inside.yaml
same out 'blocks have scales of their own; sums inside a group may be FP32' <<'END'
inside.yaml: 3 rules, no layer table, steps: not needed

line  when               format     scale      reduce        group  node    accumulate  bytes/elem
   3  count <= 8191  ->  mx-e4m3fn  per block  hierarchical  node   format  fp32           1.03125
   4  count <= 9999  ->  e4m3       aps-tight  hierarchical  node   fp32    fp32                 1
   5  always         ->  e4m3       aps        hierarchical  node   fp32    format               1

node fp32: full floats travel inside a group, and values in the format between
  groups, whose bytes are shown. If all ranks are in one group, nothing is
  rounded: format, scale, accumulate and rounding have no effect.

The first rule that matches applies. Calls that no rule matches, and calls of
fewer than 1024 elements (min_count), are left to MPI.
END

cat >chunks.yaml <<'END'
version: 1
rules:
  - {max_count: 8191, format: e4m3, accumulate: {chunk: 8}}
  - {format: e4m3, reduce: gather, accumulate: {format: e6m9, chunk: 64}}
END
apsmpi explain chunks.yaml
status 0 'a policy with sums in chunks'
tail -n +3 out | head -n 3 >table
same table '... is explained' <<'END'
line  when               format  scale  reduce        group  node    accumulate      bytes/elem
   3  count <= 8191  ->  e4m3    aps    hierarchical  node   format  format chunk 8           1
   4  always         ->  e4m3    aps    gather        -      -       e6m9 chunk 64            1
END

cat >kinds.yaml <<'END'
version: 1
rules:
  - {max_count: 4095, format: e4m3, reduce: ring}
  - {max_count: 8191, format: e4m3, reduce: ring, accumulate: format}
  - {max_count: 16383, format: e5m2, reduce: master, group: 16}
  - {max_count: 32767, format: e5m2, reduce: master, accumulate: format}
  - {max_count: 65535, format: e3m3, reduce: gather, accumulate: kahan}
  - {max_count: 131071, format: e4m3, reduce: auto, group: 4, node: fp32}
  - {max_count: 262143, format: e4m3, reduce: ring, aps: on}
  - {format: e4m3, accumulate: kahan}
END
sed '1a\
pcontrol: off' rules.yaml >deaf.yaml
apsmpi explain deaf.yaml
has out '(pcontrol: off)' '... with what becomes of MPI_Pcontrol'
sed '1a\
threads: 4' rules.yaml >threads.yaml
apsmpi explain threads.yaml
has out 'threads: several threads of a rank encode' '... with the threads of a rank'
has out ', threads: 4' '... in the first line, too'

apsmpi explain kinds.yaml
status 0 'a policy with every reduction'
same out '... is explained with what each sends, once' <<'END'
kinds.yaml: 8 rules, no layer table, steps: not needed

line  when                 format  scale      reduce        group  node    accumulate  bytes/elem
   3  count <= 4095    ->  e4m3    aps-tight  ring          -      -       fp32               2.5
   4  count <= 8191    ->  e4m3    aps        ring          -      -       format               1
   5  count <= 16383   ->  e5m2    aps-tight  master        16     -       fp32                 1
   6  count <= 32767   ->  e5m2    aps        master        node   -       format               1
   7  count <= 65535   ->  e3m3    aps        gather        -      -       kahan            0.875
   8  count <= 131071  ->  e4m3    aps-tight  auto          4      fp32    fp32                 1
   9  count <= 262143  ->  e4m3    aps        ring          -      -       fp32               2.5
  10  always           ->  e4m3    aps        hierarchical  node   format  kahan                1

ring, accumulate fp32: partial sums travel in FP32, and the result in the
  format; bytes/elem is the mean of both.

ring, accumulate format: partial sums and the result travel in the format;
  each rank rounds.

master, accumulate fp32: the members of a group send their contributions to
  their master in the format, and get the result from it in the format;
  between the masters partial sums travel in FP32, whose bytes are not in the
  table.

master, accumulate format: the members of a group send their contributions to
  their master in the format, and get the result from it in the format;
  between the masters partial sums travel in the format, and each master
  rounds.

gather: every rank gets the e3m3 of all p ranks and adds it up itself. That
  takes p/2 times the bytes shown, which is no less than FP32 from 10 ranks
  on. The sum is not encoded.

auto: the library measures native MPI_Allreduce, hierarchical, direct and ring
  with the first calls of each class of sizes, eight times each (16 below 64
  Ki elements), and keeps native unless it takes more than 1.1 times as long
  as the fastest, plus 5 us. The bytes shown are those of hierarchical and
  direct.

node fp32: full floats travel inside a group, and values in the format between
  groups, whose bytes are shown. If all ranks are in one group, nothing is
  rounded: format, scale, accumulate and rounding have no effect.

The first rule that matches applies. Calls that no rule matches, and calls of
fewer than 1024 elements (min_count), are left to MPI.
END

cat >net.yaml <<'END'
version: 1
layers: tables/net.csv
steps: {per_epoch: 10}
rules:
  - layers: fc.*
    format: fp32
  - epochs: 0-4, 20-24
    format: e5m10
  - layers: 0
    epochs: 5-
    format: e4m3
  - epochs: 30-
    format: e3m0
END
apsmpi explain net.yaml
status 0 'a policy with a table'
empty err '... without warnings'
same out '... is explained layer by layer and epoch by epoch' <<'END'
net.yaml: 4 rules, 6 layers, steps: from the table

layers   name          count  epochs      format  scale      reduce        group  node    accumulate  line  bytes/elem  saved/step
0        conv1.weight   9408  0-4     ->  e5m10   aps-tight  hierarchical  node   format  fp32           7           2       18816
                              5-19    ->  e4m3    aps-tight  hierarchical  node   format  fp32           9           1       28224
                              20-24   ->  e5m10   aps-tight  hierarchical  node   format  fp32           7           2       18816
                              25-     ->  e4m3    aps-tight  hierarchical  node   format  fp32           9           1       28224
2        conv2.weight  36864  0-4     ->  e5m10   aps-tight  hierarchical  node   format  fp32           7           2       73728
                              5-19    ->  native (no rule matches)                                       -           4           0
                              20-24   ->  e5m10   aps-tight  hierarchical  node   format  fp32           7           2       73728
                              25-29   ->  native (no rule matches)                                       -           4           0
                              30-     ->  e3m0    aps-tight  hierarchical  node   format  fp32          12         0.5      129024
4        fc.weight     20480  all     ->  native (by rule)                                               5           4           0
3 small                  138  all     ->  native (count < min_count 1024)                                -           4           0

total (one encoded copy of every layer)
epochs  bytes/step  native  saved
0-4         175016  267560  34.6%
5-19        239336  267560  10.5%
20-24       175016  267560  34.6%
25-29       239336  267560  10.5%
30-         110312  267560  58.8%
END

apsmpi explain --epochs 0-4 --type bf16 net.yaml
status 0 'elements of another type'
same out '... whose bytes are those of MPI' <<'END'
net.yaml: 4 rules, 6 layers, steps: from the table

layers   name                          count  epochs      format  scale      reduce        group  node    accumulate  line  bytes/elem  saved/step
0-2      conv1.weight .. conv2.weight  46272  0-4     ->  e5m10   aps-tight  hierarchical  node   format  fp32           7           2           0
4        fc.weight                     20480  0-4     ->  native (by rule)                                               5           2           0
3 small                                  138  all     ->  native (count < min_count 1024)                                -           2           0

total (one encoded copy of every layer)
epochs  bytes/step  native  saved
0-4         133780  133780   0.0%
END
apsmpi explain --type half net.yaml
status 2 'an unknown type is a usage error'
same err '... with a line' <<'END'
apsmpi: --type 'half': the types are float, bf16, fp16 and double
END
apsmpi explain --type bf16 good.yaml
status 1 'a type without a layer table'
same err '... is refused' <<'END'
apsmpi: --type needs a layer table in the policy
END

apsmpi explain --epochs 4-21 --layer-counts net.yaml
status 0 'some epochs, each layer'
same out '... one row each' <<'END'
net.yaml: 4 rules, 6 layers, steps: from the table

layers  name          count  epochs      format  scale      reduce        group  node    accumulate  line  bytes/elem  saved/step
0       conv1.weight   9408  4       ->  e5m10   aps-tight  hierarchical  node   format  fp32           7           2       18816
                             5-19    ->  e4m3    aps-tight  hierarchical  node   format  fp32           9           1       28224
                             20-21   ->  e5m10   aps-tight  hierarchical  node   format  fp32           7           2       18816
1       conv1.bias       64  4-21    ->  native (count < min_count 1024)                                -           4           0
2       conv2.weight  36864  4       ->  e5m10   aps-tight  hierarchical  node   format  fp32           7           2       73728
                             5-19    ->  native (no rule matches)                                       -           4           0
                             20-21   ->  e5m10   aps-tight  hierarchical  node   format  fp32           7           2       73728
3       conv2.bias       64  4-21    ->  native (count < min_count 1024)                                -           4           0
4       fc.weight     20480  4-21    ->  native (by rule)                                               5           4           0
5       fc.bias          10  4-21    ->  native (count < min_count 1024)                                -           4           0

total (one encoded copy of every layer)
epochs  bytes/step  native  saved
4           175016  267560  34.6%
5-19        239336  267560  10.5%
20-21       175016  267560  34.6%
END

cat >compressed.yaml <<'END'
version: 1
table: shapes.csv
steps: {per_epoch: 10}
rules:
  - {layers: 0-3, epochs: 0-4, compress: {powersgd: 4}}
  - {layers: 4, format: bf16, compress: {powersgd: {rank: 1, min_ratio: 4}}, feedback: off}
  - {format: e4m3, compress: {threshold: {value: 1e-3, density: 0.05}}}
END
cat >shapes.csv <<'END'
layer,name,count,shape
0,one,3072,64x48
1,two,2310,33x7x10
2,vector,2000,2000
3,square,16384,
4,thin,2000,2x1000
5,tiny,100,100
END
apsmpi explain compressed.yaml
same out 'compressors: what is sent, and what is not compressed' <<'END'
compressed.yaml: 3 rules, 6 layers, steps: from the table

layers   name           count  epochs      format                    scale      reduce        group  node    accumulate  line  bytes/elem  saved/step
0-3      one .. square  23766  0-4     ->  powersgd rank 4 in e8m23  aps-tight  hierarchical  node   format  fp32           5       0.654       79528
                               5-      ->  threshold 0.001 in e4m3   aps-tight  gather        -      -       fp32           7       0.139       91768
4        thin            2000  all     ->  powersgd rank 1 in e8m7   aps-tight  hierarchical  node   format  fp32           6           2        4000
1 small                   100  all     ->  native (count < min_count 1024)                                                  -           4           0

total (one encoded copy of every layer)
epochs  bytes/step  native  saved
0-4          19936  103464  80.7%
5-            7696  103464  92.6%

compress powersgd rank 4 (line 5): Two small matrices travel in place of a
  layer, as full floats. 1 of 4 layers is not compressed: 1 is a vector; it
  travels as full floats. 1 layer has no shape in the layer table, and is
  treated as a square matrix. What a call leaves out is added to the layer's
  next call; a rank keeps 4 bytes an element for it. The next call begins with
  the layer's Q (warm: on); a rank also keeps 16 bytes of it for each column
  of the matrix, 3936 bytes together.

compress powersgd rank 1 (line 6): Two small matrices travel in place of a
  layer, as e8m7. 1 of 1 layer is not compressed: 1 would not become smaller
  by min_ratio 4; it travels as e8m7. What a call leaves out is lost
  (feedback: off).

compress threshold 0.001 (line 7): Each rank sends some of a layer's elements,
  as e4m3, and their indices, to all others. That takes p/2 times the bytes
  shown, which is no less than FP32 from 58 ranks on. The bytes are the most:
  they follow the rank that selects most elements. What a call leaves out is
  added to the layer's next call; a rank keeps 4 bytes an element for it.
END

same err '... with warnings of a compressor without shapes, or without layers' <<'END'
compressed.yaml:5:5: warning: compress: powersgd takes 1 layer without a shape in the layer table as square matrices, and loses accuracy by it; add the shapes, which apsmpi-layers writes
compressed.yaml:6:5: warning: compress: powersgd takes no layer of this rule: they are vectors, or two small matrices would not save enough (rank, min_ratio); the layers travel as without it
END

cat >ranks.yaml <<'END'
version: 1
table: shapes.csv
rules:
  - {layers: 0, compress: mstopk}
  - {compress: mstopk, reduce: direct}
END
apsmpi explain ranks.yaml
tr '\n' ' ' <out | tr -s ' ' >flat
has flat 'bytes shown: those of rules with reduce: gather are what 2 ranks send, '\
'those of compressors with other reductions what 8 ranks send.' \
    'bytes of different numbers of ranks are not compared in silence'

cat >squares.yaml <<'END'
version: 1
steps: auto
rules:
  - {max_count: 8191, compress: {powersgd: 4}}
  - {compress: {topk: 1}}
END
apsmpi explain squares.yaml
sed -n '/^compress /,/^The first rule/p' out | sed '$d' >notes
same notes '... without a layer table' <<'END'
compress powersgd rank 4 (line 4): Two small matrices travel in place of a
  layer, as full floats. Without a layer table every layer is treated as a
  square matrix. Layers that would not become smaller by min_ratio 2 are not
  compressed: they travel as full floats. What a call leaves out is added to
  the layer's next call; a rank keeps 4 bytes an element for it. The next call
  begins with the layer's Q (warm: on); a rank also keeps 16 bytes of it for
  each column of the matrix.

compress topk 1 (line 5): Each rank sends some of a layer's elements, as full
  floats, and their indices, to all others. That takes p/2 times the bytes
  shown by apsmpi explain with a layer table, which is no less than FP32 from
  2 ranks on, with layers of 2^20 elements. What a call leaves out is added to
  the layer's next call; a rank keeps 4 bytes an element for it.

END

flat()
{
    tr '\n' ' ' <out | tr -s ' ' >flat
}
flat
has flat 'count as one layer: what one leaves out is added to the other;' \
    '... that steps: auto may take layers for one'
sed 's/steps: auto/steps: {calls: 2}/' squares.yaml >called.yaml
apsmpi explain called.yaml
flat
! grep 'count as one layer' flat >/dev/null
result $? '... which steps: {calls: N} does not'
cat >shared.yaml <<'END'
version: 1
steps: auto
rules:
  - {max_count: 8191, format: e3m0, feedback: on}
  - {max_count: 9999, compress: powersgd, feedback: off}
  - {format: e5m2, scale: delayed}
END
apsmpi explain shared.yaml
flat
has flat "layer: they share the state of a scale, they share what the compressor \
keeps, and what one leaves out is added to the other; a layer table or steps:" \
    '... nor apart what a scale or a compressor keeps'
has flat 'lost (feedback: off). The next call begins with the layer'"'s Q (warm: \
on); a rank keeps 16 bytes of it for each column of the matrix." \
    'without feedback Q is kept all the same'

cat >ring.yaml <<'END'
version: 1
layers: tables/net.csv
min_count: 10
steps: {per_epoch: 10}
rules:
  - {layers: last, format: e3m0, reduce: ring}
  - {layers: 0-3, epochs: 5-, format: e4m3, reduce: gather}
  - {layers: 4, format: e4m3, reduce: ring}
END
apsmpi explain --epochs 0-4 ring.yaml
same out 'a ring of FP32 sums saves bytes on the way back only' <<'END'
ring.yaml: 3 rules, 6 layers, steps: from the table

layers  name                        count  epochs      format  scale      reduce  group  node  accumulate  line  bytes/elem  saved/step
0-3     conv1.weight .. conv2.bias  46400  0-4     ->  native (no rule matches)                               -           4           0
4       fc.weight                   20480  0-4     ->  e4m3    aps-tight  ring    -      -     fp32           8         2.5       30720
5       fc.bias                        10  0-4     ->  e3m0    aps-tight  ring    -      -     fp32           6        2.25          17

total (one encoded copy of every layer)
epochs  bytes/step  native  saved
0-4         236823  267560  11.5%

ring, accumulate fp32: partial sums travel in FP32, and the result in the
  format; bytes/elem is the mean of both.
END

cat >steps.yaml <<'END'
version: 1
layers: tables/net.csv
steps: {per_epoch: 10}
rules:
  - steps: 5-14
    format: e4m3
  - epochs: 2
    format: e5m2
END
apsmpi explain steps.yaml
same out 'rules by step are explained in steps' <<'END'
steps.yaml: 2 rules, 6 layers, steps: from the table

layers   name                       count  steps      format  scale      reduce        group  node    accumulate  line  bytes/elem  saved/step
0-4      conv1.weight .. fc.weight  66752  0-4    ->  native (no rule matches)                                       -           4           0
                                           5-14   ->  e4m3    aps-tight  hierarchical  node   format  fp32           5           1      200256
                                           15-19  ->  native (no rule matches)                                       -           4           0
                                           20-29  ->  e5m2    aps-tight  hierarchical  node   format  fp32           7           1      200256
                                           30-    ->  native (no rule matches)                                       -           4           0
3 small                               138  all    ->  native (count < min_count 1024)                                -           4           0

total (one encoded copy of every layer)
steps  bytes/step  native  saved
0-4        267560  267560   0.0%
5-14        67304  267560  74.8%
15-19      267560  267560   0.0%
20-29       67304  267560  74.8%
30-        267560  267560   0.0%
END

apsmpi explain --epochs 1 steps.yaml
same out '... of the epochs asked for' <<'END'
steps.yaml: 2 rules, 6 layers, steps: from the table

layers   name                       count  steps      format  scale      reduce        group  node    accumulate  line  bytes/elem  saved/step
0-4      conv1.weight .. fc.weight  66752  10-14  ->  e4m3    aps-tight  hierarchical  node   format  fp32           5           1      200256
                                           15-19  ->  native (no rule matches)                                       -           4           0
3 small                               138  all    ->  native (count < min_count 1024)                                -           4           0

total (one encoded copy of every layer)
steps  bytes/step  native  saved
10-14       67304  267560  74.8%
15-19      267560  267560   0.0%
END

cat >calls.yaml <<'END'
version: 1
steps: {per_epoch: 10}
progress: thread
fuse: 1536KiB
rules:
  - {calls: [allreduce, reduce], layers: 0-3, epochs: 5-, format: e5m2}
  - {calls: [reduce_scatter, allgather], min_count: 4096, format: e4m3, accumulate: kahan}
  - {calls: allgather, format: bf16, scale: {fixed: 8}}
  - {calls: reduce, format: fp32}
END
apsmpi check calls.yaml
same out 'check sums up nonblocking calls' <<'END'
calls.yaml: ok: 4 rules, no layer table, steps: auto, progress: thread, fuse: 1536 KiB
END
apsmpi explain calls.yaml
status 0 'rules for other calls'
same out '... have a table of their own' <<'END'
calls.yaml: 4 rules, no layer table, steps: auto, progress: thread, fuse: 1536 KiB

line  when                       format  scale      reduce        group  node    accumulate  bytes/elem
   6  layers 0-3; epochs 5-  ->  e5m2    aps-tight  hierarchical  node   format  fp32                 1

progress thread: a progress thread of the library carries nonblocking calls on
  while the program computes. For it the library initialises MPI with
  MPI_THREAD_MULTIPLE. If MPI does not give that level, the program's own
  calls of MPI carry nonblocking calls on.

fuse 1536 KiB: nonblocking all-reduces that follow each other form a batch,
  which is reduced together. The call with which a batch reaches this size in
  FP32 closes it; a call of this size is reduced alone. Calls that are left to
  MPI do not count. Each layer has the scale that it has alone. The ranks
  agree on the aps exponents of a batch by one message.

other calls
line  calls                      when               format  scale      accumulate  bytes/elem
   6  reduce                     epochs 5-      ->  e5m2    aps-tight  fp32                 1
   7  reduce_scatter, allgather  count >= 4096  ->  e4m3    aps        kahan                1
   8  allgather                  always         ->  e8m7    fixed 8    -                    2
   9  reduce                     always         ->  native (by rule)                        4

reduce_scatter: every rank sends each block of its contribution, encoded, to
  the block's owner, which adds them up. The sum is not encoded. Nonblocking
  calls do the same.

allgather: every rank sends its block, encoded, to all ranks. Nothing is added
  up. Nonblocking calls do the same.

reduce: every rank sends each slice of its contribution, encoded, to the
  slice's owner, which adds them up and sends the encoded sum to the root.
  Nonblocking calls do the same.

The first rule that matches applies. Calls that no rule matches, and calls of
fewer than 1024 elements (min_count), are left to MPI.
Until the program has repeated its step three times, all all-reduces are left to
MPI (steps: auto).
END

cat >others.yaml <<'END'
version: 1
rules:
  - {calls: reduce_scatter, format: e4m3, aps: on, reduce: auto}
END
apsmpi explain others.yaml
same out 'a policy without a rule for all-reduces is reported' <<'END'
others.yaml: 1 rule, no layer table, steps: not needed

No rule is for all-reduces: all of them are left to MPI.

other calls
line  calls           when        format  scale  accumulate  bytes/elem
   3  reduce_scatter  always  ->  e4m3    aps    fp32                 1

reduce_scatter: every rank sends each block of its contribution, encoded, to
  the block's owner, which adds them up. The sum is not encoded. Nonblocking
  calls do the same.

With reduce: auto the library measures native MPI and its own algorithm with
  the first calls of each class of sizes, and keeps native unless it takes
  more than 1.1 times as long, plus 5 us.

The first rule that matches applies. Calls that no rule matches, and calls of
fewer than 1024 elements (min_count), are left to MPI.
END

# The first layer has exactly these bytes. The table shows neither the epochs
# and steps nor the layers of rules for other calls.
cat >fuse.yaml <<'END'
version: 1
layers: tables/net.csv
steps: {per_epoch: 10, order: forward}
fuse: 37632
rules:
  - {calls: reduce, steps: 7-, epochs: 3-, format: e3m0}
  - {calls: [allreduce, allgather], layers: fc.bias, format: fp32}
  - {epochs: 0-1, layers: conv2.*, format: fp32}
  - {format: e5m2, aps: on}
END
apsmpi explain fuse.yaml
empty err 'no warning for a rule that other calls get'
same out 'the batches of a step are counted' <<'END'
fuse.yaml: 4 rules, 6 layers, steps: from the table, fuse: 37632 bytes

layers   name          count  epochs      format  scale  reduce        group  node    accumulate  line  bytes/elem  saved/step
0        conv1.weight   9408  all     ->  e5m2    aps    hierarchical  node   format  fp32           9           1       28224
2        conv2.weight  36864  0-1     ->  native (by rule)                                           8           4           0
                              2-      ->  e5m2    aps    hierarchical  node   format  fp32           9           1      110592
4        fc.weight     20480  all     ->  e5m2    aps    hierarchical  node   format  fp32           9           1       61440
3 small                  138  all     ->  native (count < min_count 1024)                            -           4           0

total (one encoded copy of every layer)
epochs  bytes/step  native  saved  batches
0-1         177896  267560  33.5%        2
2-           67304  267560  74.8%        3

fuse 37632 bytes: nonblocking all-reduces that follow each other form a batch,
  which is reduced together. The call with which a batch reaches this size in
  FP32 closes it; a call of this size is reduced alone. Calls that are left to
  MPI do not count. Each layer has the scale that it has alone. The ranks
  agree on the aps exponents of a batch by one message. The batches above are
  those of a program that reduces each layer by a call of its own, first layer
  first.

other calls
line  calls      when                     format  scale      accumulate  bytes/elem
   6  reduce     epochs 3-; steps 7-  ->  e3m0    aps-tight  fp32               0.5
   7  allgather  always               ->  native (by rule)                        4

reduce: every rank sends each slice of its contribution, encoded, to the
  slice's owner, which adds them up and sends the encoded sum to the root.
  Nonblocking calls do the same.
END

# batches ORDER BYTES WANTED NAME: checks the batches of a step from epoch 2 on
batches() {
    sed "s/forward/$1/; s/37632/$2/" fuse.yaml >order.yaml
    apsmpi explain order.yaml
    test "$(awk '$1 == "2-" && NF == 5 { print $5 }' out)" = "$3"
    result $? "$4"
}

batches forward 37633 3 'a byte more, and the next layer is too large to join'
has out 'own, first layer' \
    '... first layer first'
batches backward 37633 3 'in the other order these are other batches'
has out 'own, last layer' \
    '... last layer first'
batches backward 81920 3 'the last layer alone reaches it'
batches backward 185089 2 '... or with the next one'
batches backward 1GiB 1 'a batch that nothing closes is one'
batches backward 1 3 'with a byte every layer is a batch'
batches forward off '' 'without fuse there are no batches'

# Settings without effect, or that the table does not show, are not printed.
printf 'version: 1\nrules: [{compress: ternary}]\n' >ternary.yaml
apsmpi explain ternary.yaml
has out 'ternary clip 2.5  -      direct' 'explain: ternary has no scale'
! grep -q 'bytes shown' out
result $? '... and without a layer table no bytes are shown'
apsmpi explain --json ternary.yaml
has out '"scale":null' '... as JSON'

echo "1..$number"
test $failed = 0

# SPDX-License-Identifier: BSD-3-Clause
# Formats that are chosen while the program runs (format: {auto: ...}): the
# cheapest format that meets the target, the same on all ranks, from
# measurements that are in the log.
. "$top_srcdir/tests/mpi/layered.sh"

formats='[e3m2, e4m3, e5m2, e5m10]'

# policy NAME RULE [TOP]
policy()
{
    printf 'version: 1\ntable: layers.csv\nlog: {file: %s.csv, every: 100}\n%s\n' \
        "$1" "$3" >"$1.yaml"
    printf 'rules:\n  - {%s}\n' "$2" >>"$1.yaml"
    rm -f "$1.csv"
}

# job RANKS POLICY HOW STEPS [SHIFT FROM TO [EVERY]]
job()
{
    layered_job autoformat "$@"
}

# events LOG: "layer step from to" of each change, in its order
events()
{
    sed -n 's/^# auto .* layer=\([0-9-]*\) .* step=\([0-9]*\) .* from=\([^ ]*\) to=\([^ ]*\) .*/\1 \2 \3 \4/p' \
        "$1"
}

# alike TEXT: in the last job all ranks had the same sums, in all steps
alike()
{
    [ "$(grep -c '^sums' said)" -eq "$steps" ] && ! grep -qv '^sums' said
    check $? "$1: the same bits on all ranks"
}

# named RULE LOG: a policy that names the formats of the layers in the log
named()
{
    printf 'version: 1\ntable: layers.csv\nrules:\n'
    events "$2" | while read -r layer _ _ to; do
        [ "$to" = fp32 ] || printf '  - {layers: %s, format: %s, %s}\n' "$layer" \
            "$to" "$1"
    done
}

# --- the choice ---------------------------------------------------------------

more='-genv APSMPI_TEST_NODES 2'
steps=36
policy auto "format: {auto: $formats, target: snr 20dB, every: 4}, scale: none"
job 4 auto.yaml blocking 12
alike "4 ranks"
policy shadow "scale: none, format: e3m2"
printf 'version: 1\ntable: layers.csv\nlog: {file: shadow.csv, every: 4}\nshadow:\n' \
    >shadow.yaml
for format in e3m2 e4m3 e5m2 e5m10; do
    echo "  - {format: $format, scale: none}"
done >>shadow.yaml
job 4 shadow.yaml blocking 12
"$PYTHON3" "$top_srcdir/scripts/apsmpi-suggest" --target snr=20dB --margin 3 \
    --table layers.csv -o suggested.yaml shadow.csv 2>why || sed 's/^/# /' why >&2
"$top_builddir/apsmpi" explain --json suggested.yaml >suggested.json
"$PYTHON3" - <<'END' >wanted
import json
for layer in json.load(open("suggested.json"))["layers"]:
    plan = layer["spans"][0]["plan"]
    print(layer["layer"], 0, "none", plan["format"] if plan else "fp32")
END
events auto.csv >got
[ -s wanted ] && diff wanted got >&2
check $? "the formats are those that apsmpi suggest takes from a run with candidates"

"$PYTHON3" - <<'END'
import csv
def rows(path):
    with open(path) as file:
        return [row for row in csv.DictReader(l for l in file if l[0] != "#")
                if row["shadow"] != "0"]
others = {"time", "usec", "agree_usec", "run", "rule"}
mine, theirs = rows("auto.csv"), rows("shadow.csv")
assert mine and len(mine) == len(theirs)
for a, b in zip(mine, theirs):
    assert all(a[name] == b[name] for name in a if name not in others), (a, b)
END
check $? "and the rows of the formats are those of candidates"

# same_as_named TEXT HOW RANKS RULE [TOP]
same_as_named()
{
    policy auto "format: {auto: $formats, target: snr 18dB, every: 100}, $4" "$5"
    job "$3" auto.yaml "$2" 12
    alike "$1"
    mv said auto
    named "$4" auto.csv >named.yaml
    [ -z "$5" ] || echo "$5" >>named.yaml
    grep -q 'format: [^f]' named.yaml && job "$3" named.yaml "$2" 12 &&
        cmp said auto >&2
    check $? "$1: the sums are those of a policy that names the formats"
    "$top_builddir/apsmpi" check auto-policy.yaml >&2 &&
        ! grep -q 'auto:' auto-policy.yaml && job "$3" auto-policy.yaml "$2" 12 &&
        cmp said auto >&2
    check $? "$1: and of the policy that is written at its end"
}
same_as_named "blocking" blocking 4 'scale: none'
same_as_named "in place, aps" in-place 3 'scale: aps, reduce: direct'
same_as_named "all layers in one call" together 2 'scale: aps-tight'
same_as_named "a scale with a state" blocking 2 'scale: {backoff: {scope: layer}}'
same_as_named "error feedback" blocking 2 'scale: aps, feedback: on'
same_as_named "a ring" blocking 3 'scale: aps, reduce: ring, accumulate: format'
same_as_named "drawn roundings" blocking 2 \
    'reduce: direct, rounding: {stochastic: {seed: 3}}'
if can_be_driven; then
    same_as_named "nonblocking" nonblocking 3 'scale: none'
    same_as_named "nonblocking, fused" nonblocking 3 'scale: aps' 'fuse: 1MiB'
    same_as_named "nonblocking, fused, feedback" nonblocking 2 \
        'scale: aps, feedback: on' 'fuse: 1MiB'
    same_as_named "nonblocking, fused, a scale with a state" nonblocking 2 \
        'scale: {backoff: {scope: layer}}' 'fuse: 1MiB'
    if grep -q '^#define HAVE_PMPI_ALLREDUCE_INIT' "$top_builddir/config.h"; then
        same_as_named "persistent" persistent 2 'scale: aps'
    fi
fi
steps=24
policy auto "format: {auto: $formats, target: snr 18dB, every: 4}, scale: none"
job 4 auto.yaml halves 8
alike "a communicator that the program has made"
[ "$(events auto.csv | wc -l)" -eq 3 ]
check $? "which chooses for itself"

# --- when gradients change ----------------------------------------------------

# Greater by 2^10 from step 9 to step 17: e3m2 without a scale overflows.
cat >wanted <<END
0 0 none e3m2
0 12 e3m2 e5m2
0 20 e5m2 e3m2
1 0 none e3m2
1 12 e3m2 e5m2
1 20 e5m2 e3m2
2 0 none e3m2
2 12 e3m2 e5m2
2 20 e5m2 e3m2
END
# follows TEXT HOW RANKS [TOP]
follows()
{
    steps=96
    policy auto "format: {auto: $formats, target: snr 15dB, every: 4}, scale: none" "$4"
    job "$3" auto.yaml "$2" 32 10 9 18
    alike "$1, greater by 2^10 for some steps"
    events auto.csv | sort -s -n -k 1,1 >got
    diff wanted got >&2
    check $? "$1: that is followed at the next measurement, and back, once each"
}
follows blocking blocking 3
if can_be_driven; then
    follows nonblocking nonblocking 2
    follows fused nonblocking 3 'fuse: 1MiB'
fi

# The library prints ever fewer of many changes, and counts the others.
steps=288
policy auto "format: {auto: $formats, target: snr 15dB, every: 4}, scale: none"
job 2 auto.yaml blocking 96 10 9 18 32
alike "greater by 2^10 again and again"
lines=$(grep -c '^apsmpi: MPI_COMM_WORLD: layer .* (target snr 15dB)' stderr)
all=$(events auto.csv | wc -l)
told=$(sed -n 's/^apsmpi: .*(target .*); \([0-9]*\) such lines* w.* left out .*/\1/p' \
    stderr)
echo "# $lines lines of $all, $told" >&2
[ "$all" -gt 16 ] && [ "$lines" -eq 11 ] && [ "$told" = 5 ]
check $? "... the 16th line says that the five before it were left out"
grep -q "format: auto: .* ($((all - lines)) lines* about formats left out); layers" \
    stderr
check $? "... and the summary, how many were in all"

# --- MPI_Pcontrol -------------------------------------------------------------

# Off in the steps 9 to 12, in which the formats would have changed; a mark before the
# first step, and another one before the 13th.
cat >wanted <<END
0 0 0 none e3m2
0 13 1 e3m2 e5m2
0 21 1 e5m2 e3m2
1 0 0 none e3m2
1 13 1 e3m2 e5m2
1 21 1 e5m2 e3m2
2 0 0 none e3m2
2 13 1 e3m2 e5m2
2 21 1 e5m2 e3m2
END
# lines FILE FIRST LAST: the lines of these steps
lines()
{
    awk -v first="$2" -v last="$3" '$2 >= first && $2 <= last' "$1"
}
# controlled TEXT HOW RANKS [TOP]
controlled()
{
    steps=96
    policy auto "format: {auto: $formats, target: snr 15dB, every: 4}, scale: none" "$4"
    job "$3" none "$2" 32 10 9 18
    mv said native
    job "$3" auto.yaml "$2" 32 10 9 18
    mv said uncontrolled
    rm -f auto.csv
    others=$more
    more="$others -genv AUTOFORMAT_CONTROL 3@0,0@9,3@13,1@13"
    job "$3" auto.yaml "$2" 32 10 9 18
    more=$others
    alike "$1, MPI_Pcontrol"
    lines native 9 12 >there
    lines said 9 12 | cmp there - >&2
    check $? "$1: where it is off, sums are MPI's own"
    lines uncontrolled 0 8 >there
    lines said 0 8 | cmp there - >&2 && ! lines native 0 8 | cmp -s there -
    check $? "$1: before that they are those of the formats"
    lines uncontrolled 13 16 >there
    lines said 13 16 | cmp there - >&2
    check $? "$1: ... and behind it: the layers are measured where it is on again"
    sed -n 's/^# auto .* layer=\([0-9]*\) .* step=\([0-9]*\) epoch=\([0-9]*\) from=\([^ ]*\) to=\([^ ]*\) .*/\1 \2 \3 \4 \5/p' \
        auto.csv | sort -s -n -k 1,1 >got
    diff wanted got >&2
    check $? "$1: at the next due step, in the epoch of the marks"
}
controlled blocking blocking 3
if can_be_driven; then
    controlled nonblocking nonblocking 2
    controlled fused nonblocking 3 'fuse: 1MiB'
fi

# --- layers that no rule matches ----------------------------------------------

# unmatched TEXT HOW RANKS [TOP]: no rule matches the second layer
unmatched()
{
    steps=24
    job "$3" none "$2" 8
    mv said native
    policy auto \
        "layers: \"0, 2\", format: {auto: $formats, target: snr 18dB, every: 4}" "$4"
    job "$3" auto.yaml "$2" 8
    alike "$1, a layer without a rule"
    grep ' 1 [0-9a-f]*$' native >there
    grep ' 1 [0-9a-f]*$' said | cmp there - >&2
    check $? "$1: its sums are MPI's own"
    grep ' [02] [0-9a-f]*$' said >others
    [ "$(grep -c '' others)" -eq 16 ] && ! grep -qxF -f native others
    check $? "$1: and those of others are not"
    [ "$(events auto.csv | cut -d' ' -f1 | sort -u | tr '\n' ' ')" = '0 2 ' ] &&
        [ "$(grep -v '^[#t]' auto.csv | cut -d, -f5,25 | sort -u | tr '\n' ' ')" = \
            '0,0 2,0 ' ]
    check $? "$1: the log has neither an event nor a row of it"
    grep -q 'passed: 8 (no rule matched, or a rule says fp32)' stderr
    check $? "$1: and the summary counts its calls"
    "$top_builddir/apsmpi" check auto-policy.yaml >&2 &&
        job "$3" auto-policy.yaml "$2" 8 &&
        grep ' 1 [0-9a-f]*$' said | cmp there - >&2
    check $? "$1: nor does the policy at the end take it"
}
unmatched blocking blocking 3
if can_be_driven; then
    unmatched nonblocking nonblocking 2
    unmatched fused nonblocking 3 'fuse: 1MiB'
fi

# --- sizes for which reductions are prepared ----------------------------------

# The library prepares a hierarchical reduction for vectors up to a size, and for the
# granule of formats: layers on both sides of each size, in formats of several granules.
cp layers.csv kept.csv
before=$formats others=$more
formats='[bfp3/64, mx-e4m3fn, e4m3, e5m10]'
for counts in 1000,1023,1024 16383,16384,16385 1500,16384,1023; do
    steps=36
    # shellcheck disable=SC2046 # three words
    printf 'layer,name,count\n0,a,%s\n1,b,%s\n2,c,%s\n' $(echo $counts | tr , ' ') \
        >layers.csv
    more="$others -genv LAYERED_COUNTS $counts"
    same_as_named "$counts elements" blocking 4 'reduce: hierarchical' 'min_count: 1'
    same_as_named "$counts elements in one call" together 4 'reduce: hierarchical' \
        'min_count: 1'
    if can_be_driven; then
        same_as_named "$counts elements, fused" nonblocking 4 'reduce: hierarchical' \
            'min_count: 1
fuse: 1MiB'
    fi
    # Times decide: the test does not know the reductions.
    steps=240
    policy auto "format: {auto: $formats, target: snr 18dB, every: 8}, reduce: auto" \
        'min_count: 1'
    job 4 auto.yaml blocking 80
    alike "$counts elements, reduce: auto"
    [ "$(grep -c '^# .*: auto: [0-9]* to [0-9]* elements: ' auto.csv)" -ge 2 ]
    check $? "... which settles, for each class of sizes"
done
formats=$before more=$others
mv kept.csv layers.csv

# --- the margin, and FP32 -----------------------------------------------------

# first MARGIN: the format of the first layer, whose e3m2 has some 23 dB
first()
{
    steps=12
    policy auto "scale: none, format: {auto: $formats, target: snr 21dB, margin: $1}"
    job 2 auto.yaml blocking 4
    events auto.csv | sed -n 's/^0 0 none //p'
}
[ "$(first 0dB)" = e3m2 ] && [ "$(first 3dB)" = e4m3 ]
check $? "a format is taken if it is better than the target by the margin"

steps=24
job 3 none blocking 8
mv said native
policy auto "format: {auto: $formats, target: snr 90dB, every: 2}"
job 3 auto.yaml blocking 8
cmp said native >&2
check $? "where no format meets the target, sums are MPI's own"
[ "$(events auto.csv | grep -c ' 0 none fp32$')" -eq 3 ] &&
    [ "$(events auto.csv | wc -l)" -eq 3 ] &&
    grep -q 'to=fp32 .* best=e5m10 snr=' auto.csv
check $? "which the log says once a layer, with the best format"
grep -q '(left to MPI by format: auto)' stderr &&
    grep -q 'format: auto: 12 measurements took .* s and 49.2 KB of memory, .* changed 0 times; .* end: 3 in fp32$' stderr
check $? "and the summary"

# Nonblocking calls are queued, whatever their format: the library reduces FP32, too.
if can_be_driven; then
    policy auto "format: {auto: $formats, target: snr 90dB, every: 2}, reduce: direct"
    job 3 auto.yaml nonblocking 8
    alike "FP32, nonblocking"
    mv said auto
    policy full "format: e8m23, scale: none, reduce: direct"
    job 3 full.yaml nonblocking 8
    cmp said auto >&2
    check $? "FP32 of nonblocking calls is the library's reduction of full floats"
fi

# --- the policy at the end ----------------------------------------------------

steps=12
policy auto "format: {auto: $formats, target: snr 18dB}, name: some, scale: none"
rm -f auto-policy.yaml
more="-genv APSMPI_FINAL_POLICY $tmp/named/final.yaml"
job 2 auto.yaml blocking 4
alike "a policy that cannot be written"
grep -q "named/final.yaml cannot be written: No such file" stderr
check $? "which a line says"
# before_the_first TEXT OTHER: a line has the text, before any that has the other
before_the_first()
{
    awk -v first="$1" -v second="$2" '
        index($0, second) { exit !found }
        index($0, first) { found = 1 }' stderr
}
before_the_first 'for the formats that layers have at the end, cannot be written: No' \
    ' elements, step 0: '
check $? "at the start, too"
mkdir named
job 2 auto.yaml blocking 4
[ "$(ls named)" = final.yaml ] && [ ! -e auto-policy.yaml ] &&
    grep -q '^  # layer 1 (second), 1500 elements: e.*m.*, snr .*dB, .* % of the bytes' \
        named/final.yaml
check $? "APSMPI_FINAL_POLICY names the file, in which comments say what was measured"
more="-genv APSMPI_FINAL_POLICY auto.yaml"
cp auto.yaml before
job 2 auto.yaml blocking 4
cmp auto.yaml before >&2 && grep -q 'auto.yaml is the policy of this run' stderr
check $? "the policy of the run itself is left as it is"
more="-genv AUTOFORMAT_WRITES auto-policy.yaml"
for old in '' 'an earlier job'; do
    rm -f auto-policy*.yaml
    [ -z "$old" ] || echo "# $old's" >auto-policy.yaml
    job 2 auto.yaml blocking 4
    run=$(sed -n 's/^# run=\([^ ]*\) .*/\1/p' auto.csv | tail -n 1)
    [ "$(cat auto-policy.yaml)" = "# another job's" ] &&
        "$top_builddir/apsmpi" check "auto-policy-$run.yaml" >&2 &&
        grep -q "^apsmpi: auto-policy.yaml was written by another job while this" \
            stderr && grep -q "^apsmpi: auto-policy-$run.yaml: a policy with" stderr
    check $? "what another job has written meanwhile stays${old:+ (after $old)}"
done
more=
rm -f auto-policy*.yaml
job 2 auto.yaml blocking 4
cp auto-policy.yaml one
job 2 auto.yaml blocking 4
[ "$(ls auto-policy*)" = auto-policy.yaml ] && ! cmp -s one auto-policy.yaml
check $? "what an earlier job has written is replaced"
rm -f auto-policy.yaml
sed '/^log:/d' auto.yaml >unlogged.yaml
job 2 unlogged.yaml blocking 4
grep -q 'will be written nowhere: no log is a file, and APSMPI_FINAL_POLICY' stderr &&
    [ "$(ls ./*-policy*.yaml 2>/dev/null)" = "" ]
check $? "without a log a line says that the formats will be written nowhere"

# --- inputs that say nothing --------------------------------------------------

for how in zeros infinite; do
    policy auto "format: {auto: $formats, target: snr 15dB, every: 100}"
    job 2 auto.yaml $how 8
    [ "$(events auto.csv | sort -n | tr '\n' ,)" = \
        '0 3 none e3m2,1 3 none e3m2,2 3 none e3m2,' ]
    check $? "sums that are $how say nothing: later ones are measured"
done

finish

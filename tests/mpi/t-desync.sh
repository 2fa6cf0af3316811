# SPDX-License-Identifier: BSD-3-Clause
# Steps that are stated, found, lost and found again; fused buffers. The calls
# and what is expected of each: see desync.c.
. "$top_srcdir/tests/mpi/run.sh"

calls()
{
    name=$1
    shift
    run "$name" 2 -genv APSMPI_POLICY "$tmp/policy.yaml" "$mpi/desync" "$@"
}

# policy STEPS RULE...
policy()
{
    {
        printf 'version: 1\nmin_count: 10\n%s\nrules:\n' "$1"
        shift
        printf '  - {%s}\n' "$@"
    } >"$tmp/policy.yaml"
}

rounded='format: e3m0, scale: none'

policy 'steps: {calls: 3}' "layers: 0-2, $rounded"
calls "stated: no desync" '4*(' 100:r 200:r 300:r ')'
says 'desync' 0 "stated: no desync is reported"
calls "stated: a call out of order" '2*(' 100:r 200:r 300:r ')' \
    200:n '3*(' 100 200 300 ')' '2*(' 100:r 200:r 300:r ')'
says 'desync: call 6 has 200 elements, but the step has 100' 1 \
    "stated: a call out of order: said once, with the call"
calls "stated: two in the middle change places" '2*(' 100:r 200:r 300:r ')' \
    100:r 300:n 200:n '3*(' 100 200 300 ')' '2*(' 100:r 200:r 300:r ')'
calls "stated: small calls do not count" \
    '2*(' 9:n 100:r 1:n 200:r 9:n 300:r ')'
calls "stated: other counts from now on" '2*(' 100:r 200:r 300:r ')' \
    '2*(' 50:n 60:n 70:n ')' '2*(' 50:r 60:r 70:r ')'

# The first layer is left alone: after a desync the layers are the same as before.
policy 'steps: {calls: 3}' 'layers: 0, format: fp32' "$rounded"
calls "layers after an extra call" '2*(' 100:n 200:r 300:r ')' \
    100:n 999:n 200:n 300:n '3*(' 100 200 300 ')' '2*(' 100:n 200:r 300:r ')'
calls "layers after a missing call" '2*(' 100:n 200:r 300:r ')' \
    100:n 300:n '3*(' 100 200 300 ')' '2*(' 100:n 200:r 300:r ')'

policy 'steps: auto' "layers: 0-, $rounded"
calls "auto: seen once, repeated twice" '3*(' 100:n 200:n 300:n ')' \
    '2*(' 100:r 200:r 300:r ')'
calls "auto: one call a step" '3*(' 100:n ')' '4*(' 100:r ')'
calls "auto: an evaluation between steps" '3*(' 100:n 200:n 300:n ')' \
    '20*(' 100:r 200:r 300:r ')' 50:n 60:n 300:n \
    '3*(' 100:r 200:r 300:r ')' 60:n '2*(' 100:r 200:r 300:r ')'
says 'passed: .* 4 (outside the step)' 1 \
    "auto: an evaluation between steps: counted"
says 'desync' 0 "auto: an evaluation between steps: and no desync"
calls "auto: another step after an evaluation" '3*(' 100:n 200:n 300:n ')' \
    '20*(' 100:r 200:r 300:r ')' '3*(' 50:n 60:n 70:n 80:n ')' \
    '2*(' 50:r 60:r 70:r 80:r ')'
says 'desync: call 80 has 80 elements, but the step has 100' 1 \
    "auto: another step after an evaluation: said when it is known"
calls "auto: an evaluation before the step is trusted" \
    '3*(' 100:n 200:n 300:n ')' '4*(' 100:r 200:r 300:r ')' 50:n \
    '8*(' 100 200 300 ')' '3*(' 100:r 200:r 300:r ')'
calls "auto: a call out of order" '3*(' 100:n 200:n 300:n ')' \
    '130*(' 100:r 200:r 300:r ')' 100:r 300:n \
    '3*(' 100 200 300 ')' '2*(' 100:r 200:r 300:r ')'
says 'desync' 1 "auto: a call out of order: said once"
calls "auto: no step" 11:n 12:n 13:n 14:n 15:n 11:n 16:n 12:n 17:n
says 'desync' 0 "auto: no step is reported"

policy 'steps: auto' 'layers: 0, format: fp32' "$rounded"
calls "auto: layers after a missing call" '3*(' 100:n 200:n 300:n ')' \
    '130*(' 100:n 200:r 300:r ')' 100:n 300:n \
    '3*(' 100 200 300 ')' '2*(' 100:n 200:r 300:r ')'
# A network that repeats blocks: the library finds the step in the end, and its
# first layer is the first call.
calls "auto: blocks inside a step" \
    '20*(' 100 200 200 200 200 200 300 ')' \
    '2*(' 100:n 200:r 200:r 200:r 200:r 200:r 300:r ')'

# Calls are not layers here, and the library does not search steps.
policy 'steps: auto' "min_count: 200, max_count: 299, $rounded"
calls "no step needed" 200:r 199:n 299:r 300:n 1000:n 250:r

cat >"$tmp/layers.csv" <<END
layer,name,count
0,conv1,100
1,conv2,200
2,bn,50
3,fc,300
END
fused='layers: layers.csv'
policy "$fused" 'layers: fc, format: fp32' \
    'layers: conv*, format: e3m0, scale: none, reduce: direct' "$rounded"
calls "table: a call a layer" '2*(' 100:r 200:r 50:r 300:n ')'
calls "table: one call" '2*(' 100+200+50+300:rrrn ')'
calls "table: fused in several ways" 100+200:rr 50+300:rn \
    100:r 200+50:rr 300:n 100+200+50:rrr 300:n
calls "table: a call that does not tile" 100:r 200:r 120:n \
    100:n 200+50:nn 300:n '2*(' 100+200:rr 50+300:rn ')'
says 'desync: call 2 has 120 elements, but layer 2 (bn) has 50' 1 \
    "table: a call that does not tile: said once"

calls "table: calls between steps, as of an evaluation" '2*(' 100:r 200:r 50:r \
    300:n ')' 120:n 7:n 200:n 120:n 100:r 200:r 50:r 300:n
says 'passed: .*3 (outside the step)' 1 "table: calls between steps: counted"
says 'desync' 0 "table: calls between steps: and no desync"

calls "table: lost again and again" '11*(' 100 200 50 300 100 200 50 300 \
    100 200 50 120 ')'
for time in '' ', 2 times by now' ', 4 times by now' \
    ', 8 times by now'; do
    says "desync$time: call" 1 "table: lost again and again: said${time:-, once}"
done
says 'desync' 5 "table: lost again and again: and not each time"
says 'desync: the step was lost 11 times in all' 1 \
    "table: lost again and again: but how often"

# varied CALLS: calls of 20 sizes, in no order
varied()
{
    awk -v calls="$1" 'BEGIN {
        for (i = 0; i < calls; i++) {
            drawn = (drawn * 1103 + 12345) % 65536
            print 100 + int(drawn / 256) % 20
        }
    }'
}
why="they repeat no step of equal calls: for a program whose calls vary, name a"
why="calls passed through unchanged, because $why layer table, or write 'steps: none'"
policy 'steps: auto' "layers: 0-, $rounded"
# shellcheck disable=SC2046 # each size is an argument
calls "auto: calls that vary" $(varied 300)
says "[12][0-9][0-9] of [12][0-9][0-9] eligible $why" 1 \
    "auto: calls that vary: said once, with what to write"
# shellcheck disable=SC2046 # each size is an argument
calls "auto: a long step" '4*(' $(seq 101 160) ')'
says "$why" 0 "auto: a long step: not before it can be known"
printf 'layer,name,count\n0,conv1,100\n1,conv2,50\n' >"$tmp/other.csv"
policy 'layers: other.csv' "layers: 0-, $rounded"
# shellcheck disable=SC2046 # each size is an argument
calls "table: of another program" $(varied 300)
why="they do not follow the layer table: check its rows and 'order'; write "
says "$why'steps: {order: any}' .* the column 'network'" 1 \
    "table: of another program: said, with what to write"

policy "$fused" 'layers: bn, format: fp32' 'layers: first, format: fp32' \
    'layers: fc, format: e3m0, scale: none, reduce: direct' "$rounded"
calls "table: native and rewritten in one call" '2*(' 100+200+50+300:nrnr ')'

policy 'steps: {order: backward}
layers: layers.csv' 'layers: fc, format: fp32' "$rounded"
calls "table backward: a call a layer" '2*(' 300:n 50:r 200:r 100:r ')'
calls "table backward: one call" '2*(' 300+50+200+100:nrrr ')'
calls "table backward: forward calls do not tile" '2*(' 100:n 200:n 50:n ')' \
    300:n 50+200:nn 100:n 300+50:nr 200+100:rr

policy 'steps: {calls: 3, order: backward}' 'layers: 0, format: fp32' \
    'layers: last, format: e3m0, scale: none, reduce: direct' "$rounded"
calls "stated backward" 100:r 200:r 300:n 100:r 200:r 300:n

policy 'steps: {calls: 2, per_epoch: 2}' 'epochs: 1, format: fp32' \
    'steps: 6-, format: fp32' "$rounded"
calls "epochs and steps" '2*(' 100:r 200:r ')' '2*(' 100:n 200:n ')' \
    '2*(' 100:r 200:r ')' '2*(' 100:n 200:n ')'
finish
